import Foundation
import OhanaTestSupport
import Testing

/// Faults that users met in other sorts, as the tool shows them to have been avoided.
@Suite("Sort cases") struct SortCaseTests {
  static func lines(_ header: String, _ rows: [String]) -> String { ([header] + rows).joined(separator: "\n") + "\n" }
  static func column(
    _ name: String, _ rows: [String], _ key: String, gives: [String], header: String = "name", options: [String] = [],
    environment: [String: String] = [:]
  ) -> ToolCase {
    ToolCase(name, ["a.csv": lines(header, rows)], ["sort", key, "a.csv"] + options, out: lines(header, gives), environment: environment)
  }
  static let accents = ["Zimmer", "Édouard", "Ellis", "Éclair", "Eden"]
  static let letters = ["Zoe", "anna", "Hugo", "Anna", "Émile", "Wren"]
  static let blanks = ["Degroot", "Dean", "de Groot", "De Groot", "O'Brien", "OBrien", "O Brien"]
  static let empties = ["1,Max", "2,", "3,Ann", "4,\"\"", "5,Kim", "6,"]

  static let cases: [ToolCase] = [
    column("sort-001: accented capitals stand by their letter", accents, "name", gives: ["Éclair", "Eden", "Édouard", "Ellis", "Zimmer"]),
    column(
      "sort-001: in French and English too", accents, "name:locale/fr", gives: ["Éclair", "Eden", "Édouard", "Ellis", "Zimmer"],
      options: ["--locale", "en"]),
    column("sort-002: case is the last difference, small first", letters, "name", gives: ["anna", "Anna", "Émile", "Hugo", "Wren", "Zoe"]),
    column("sort-002: bytes on request", letters, "name:binary", gives: ["Anna", "Hugo", "Wren", "Zoe", "anna", "Émile"]),
    column(
      "sort-004: blanks and marks count, in any environment", blanks, "name",
      gives: ["de Groot", "De Groot", "Dean", "Degroot", "O Brien", "O'Brien", "OBrien"],
      environment: ["LC_ALL": "de_DE.UTF-8", "LANG": "sv_SE"]),
    column(
      "sort-005: empty keys stand together at the end, in input order", empties, "name",
      gives: ["3,Ann", "5,Kim", "1,Max", "2,", "4,\"\"", "6,"], header: "id,name"),
    column(
      "sort-005: downwards too", empties, "name:desc", gives: ["1,Max", "5,Kim", "3,Ann", "2,", "4,\"\"", "6,"], header: "id,name"),
    column(
      "sort-005: or first", empties, "name:nulls-first", gives: ["2,", "4,\"\"", "6,", "3,Ann", "5,Kim", "1,Max"], header: "id,name"),
    column(
      "sort-007: the second key counts where the first is empty", [",Max", ",Ann", ",Kim"], "city,name", gives: [",Ann", ",Kim", ",Max"],
      header: "city,name"),
    column(
      "sort-008: text upwards, then numbers downwards", ["Town,9,Kim", "Ark,30,Lee", "Town,30,Max", "Ark,4,Ann", "Town,100,Joe"],
      "city,age:number:desc",
      gives: ["Ark,30,Lee", "Ark,4,Ann", "Town,100,Joe", "Town,30,Max", "Town,9,Kim"], header: "city,age,name"),
    column(
      "sort-010: natural order", ["Unit 10", "Unit 9", "unit 1", "Unit 010"], "name:natural",
      gives: ["unit 1", "Unit 9", "Unit 10", "Unit 010"]),
    column(
      "numbers by value, others behind them by bytes", ["b", "10", "9", "-1", "1e2", "a", ""], "n:number",
      gives: ["-1", "9", "10", "1e2", "a", "b"], header: "n"),
    ToolCase(
      "an unknown language is a usage error", ["a.csv": "name\nb\na\n"], ["sort", "name:locale/xq", "a.csv"], status: 2, out: "",
      says: ["xq"]),
    ToolCase(
      "an unknown order is a usage error", ["a.csv": "name\nb\na\n"], ["sort", "name:bynary", "a.csv"], status: 2, out: "",
      says: ["bynary", "binary"]),
  ]

  @Test("give what is written", arguments: cases) func given(_ c: ToolCase) throws { try c.check() }

  /// sort-011: more runs than descriptors.
  @Test("sort-011: many runs and few descriptors give the same bytes") func manyRuns() throws {
    let folder = try Workdir()
    try folder.run([], shell: "\"$OHANA\" generate --rows 60000 -o a.ndjson -q")
    let much = try folder.run(["sort", "last,first", "a.ndjson", "--memory", "1G"])
    #expect(much.status == 0, "\(much.err)")
    let little = try folder.run([], shell: "ulimit -n 64; \"$OHANA\" sort last,first a.ndjson --memory 16M")
    #expect(little.status == 0, "\(little.err)")
    #expect(much.out.count > 5_000_000)
    #expect(little.out == much.out)
    #expect(folder.isTemporaryEmpty)
  }

  /// sort-013: nothing is as common as a full temporary folder.
  @Test("sort-013: a full temporary folder is told, and nothing is published", .enabled(if: Mounts.canMount, "mounting a tmpfs takes root"))
  func fullTemporaryFolder() throws {
    let folder = try Workdir()
    try folder.run([], shell: "\"$OHANA\" generate --rows 150000 -o a.ndjson -q")
    let mount = try Mounts.tmpfs(at: folder.path("small"), size: "4m")
    defer { mount.unmount() }
    let result = try folder.run(["sort", "last,first", "a.ndjson", "-o", "o.ndjson", "--memory", "16M", "--temp-dir", "small"])
    #expect(result.status == 4)
    #expect(result.err.contains("no space left") && result.err.contains("small"), "\(result.err)")
    #expect(!folder.exists("o.ndjson"))
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path("small")).isEmpty)
    #expect(folder.names == ["a.ndjson", "small", "tmp"])
  }
}

/// A small file system of its own, where the tests may mount one.
struct Mounts {
  let path: String
  static let canMount: Bool = {
    guard geteuid() == 0, let folder = try? Workdir() else { return false }
    return (try? tmpfs(at: folder.path("probe"), size: "1m"))?.unmount() ?? false
  }()
  static func tmpfs(at path: String, size: String) throws -> Mounts {
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    struct CannotMount: Error {}
    guard run("/bin/mount", ["-t", "tmpfs", "-o", "size=\(size)", "tmpfs", path]) == 0 else { throw CannotMount() }
    return Mounts(path: path)
  }
  @discardableResult func unmount() -> Bool { Self.run("/bin/umount", [path]) == 0 }
  private static func run(_ tool: String, _ words: [String]) -> Int32 {
    let process = Process()
    process.executableURL = URL(filePath: tool)
    process.arguments = words
    process.standardError = FileHandle.nullDevice
    guard (try? process.run()) != nil else { return -1 }
    process.waitUntilExit()
    return process.terminationStatus
  }
}
