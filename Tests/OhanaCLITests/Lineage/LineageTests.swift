import Foundation
import Testing

/// Every feature of the systems Ohana comes from has a row on the page `Lineage.md`, with the tests that prove it or why it was left.
///
/// `rows.tsv` names the rows. A test proves a row by bearing its number in its name, or by being named in the row. The page is written anew
/// with `OHANA_WRITE_PAGES=1 swift test --filter LineageTests`.
@Suite("Lineage") struct LineageTests {
  struct Row {
    let id: String
    let title: String
    /// Why the row has no test.
    let reason: String?
    let tests: [String]
    /// What of the row the tests do not prove, and why.
    let rest: String?
  }

  static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  /// Names of all tests, in order.
  static let testNames: [String] = {
    let folder = root.appending(path: "Tests")
    let paths = FileManager.default.enumerator(atPath: folder.path)!.compactMap { $0 as? String }.filter { $0.hasSuffix(".swift") }
    let names = paths.flatMap { path in
      try! String(contentsOf: folder.appending(path: path), encoding: .utf8)
        .matches(of: /@(?:Test|Suite)\(\s*"((?:[^"\\]|\\.)+)"/).map { String($0.output.1).replacing("\\\"", with: "\"") }
    }
    return Array(Set(names)).sorted()
  }()

  static let rows: [Row] = {
    let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "rows.tsv")
    return try! String(contentsOf: file, encoding: .utf8).split(separator: "\n").map { line in
      let cells = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
      let id = cells[0]
      let proof = cells.count > 2 ? cells[2] : ""
      // `left: why` and `held: by what` stand for themselves.
      let isReason = proof.hasPrefix("left: ") || proof.hasPrefix("held: ")
      let named = isReason ? [] : proof.matches(of: /"([^"]+)"/).map { String($0.output.1) }
      let number = try! Regex("\\b\(id)\\b")
      let bearing = testNames.filter { $0.contains(number) && !named.contains($0) }
      // What stands in parentheses behind the tests' names.
      let rest = isReason ? "" : proof.replacing(/"[^"]+"/, with: "").trimmingCharacters(in: CharacterSet(charactersIn: " ·"))
      return Row(
        id: id, title: cells[1], reason: isReason ? proof : nil, tests: named + bearing, rest: rest.isEmpty ? nil : rest)
    }
  }()

  @Test("every row is proved by a test that exists, or says why it was left") func isProved() {
    #expect(Self.rows.count == 133)
    #expect(Set(Self.rows.map(\.id)).count == Self.rows.count)
    let known = Set(Self.testNames)
    for row in Self.rows {
      #expect(row.reason != nil || !row.tests.isEmpty, "\(row.id) has no proof")
      for test in row.tests { #expect(known.contains(test), "\(row.id): there is no test \"\(test)\"") }
    }
  }

  @Test("what of a row is left is told, with its reason, behind the tests that prove the others") func isToldOf() {
    for row in Self.rows {
      guard let rest = row.rest else { continue }
      #expect(rest.wholeMatch(of: /\([^()]+ (is|are) left: [^()]+\)/) != nil, "\(row.id): \(rest)")
    }
    #expect(Self.rows.contains { $0.id == "O-74" && $0.rest?.contains("clusters") == true })
    for id in ["O-25", "O-26"] { #expect(Self.rows.contains { $0.id == id && $0.reason?.hasPrefix("left: ") == true }, "\(id)") }
  }

  @Test("the page says so") func isWritten() throws {
    let page = Self.root.appending(path: "Sources/Ohana/Ohana.docc/Lineage.md")
    var lines = [
      "# Where it comes from",
      "",
      "What Uber's Ohana (O) and UberSignals (S) and BendingSpoons' Katana (K, and its guidelines G) can do, and what proves it here. Where",
      "Ohana deliberately does otherwise, the page on deviations says so.",
      "",
      "| row | what | proof |",
      "|---|---|---|",
    ]
    for row in Self.rows {
      let tests = row.tests.map { "“\($0.replacing("|", with: "\\|"))”" }
      let proof = row.reason ?? (tests + [row.rest].compactMap(\.self)).joined(separator: "<br>")
      lines.append("| \(row.id) | \(row.title) | \(proof) |")
    }
    let text = lines.joined(separator: "\n") + "\n"
    if ProcessInfo.processInfo.environment["OHANA_WRITE_PAGES"] != nil {
      try text.write(to: page, atomically: true, encoding: .utf8)
    }
    #expect(try String(contentsOf: page, encoding: .utf8) == text, "write it anew with OHANA_WRITE_PAGES=1")
  }

  @Test(
    "O-96: a target imports what lies below it, and nothing else of ours",
    arguments: [
      ("OhanaCore", []),
      ("OhanaFormats", ["OhanaCore"]),
      ("OhanaStages", ["OhanaCore"]),
      ("OhanaEngine", ["OhanaCore"]),
      ("OhanaRun", ["OhanaCore", "OhanaFormats", "OhanaStages", "OhanaEngine"]),
      ("Ohana", ["OhanaCore", "OhanaFormats", "OhanaStages", "OhanaEngine", "OhanaRun"]),
      ("OhanaCLI", ["Ohana"]),
    ] as [(String, [String])]) func layers(target: String, below: [String]) throws
  {
    let folder = Self.root.appending(path: "Sources/\(target)")
    let paths = FileManager.default.enumerator(atPath: folder.path)!.compactMap { $0 as? String }.filter { $0.hasSuffix(".swift") }
    #expect(!paths.isEmpty)
    for path in paths {
      let text = try String(contentsOf: folder.appending(path: path), encoding: .utf8)
      for match in text.matches(of: /(?m)^\s*(?:@\w+ )?(?:\w+ )?import (\w+)/) {
        let name = String(match.output.1)
        if name.hasPrefix("Ohana") { #expect(below.contains(name), "\(target)/\(path) imports \(name)") }
        #expect(
          name != "Foundation" || target == "OhanaRun" || target == "Ohana" || target == "OhanaCLI", "\(target)/\(path) imports Foundation")
      }
    }
  }
}
