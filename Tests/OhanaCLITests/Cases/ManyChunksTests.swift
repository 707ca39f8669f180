import Foundation
import OhanaTestSupport
import Testing

/// More chunk files than a process may hold open: none stays open for longer than it is read, and none is lost (ops-008).
@Suite("3,000 chunks under ulimit -n 256") struct ManyChunksTests {
  static let chunkCount = 3_000
  /// The record of each chunk: its number, and a key that three chunks share.
  static let records = (0..<chunkCount).map { (id: $0, key: "k\($0 &* 7_919 % 1_000)") }
  static let firsts = {
    var seen = Set<String>()
    return records.filter { seen.insert($0.key).inserted }.map(\.id)
  }()
  static let sorted = records.sorted {
    ($0.key.utf8.lexicographicallyPrecedes($1.key.utf8) ? -1 : $0.key == $1.key ? $0.id - $1.id : 1) < 0
  }
  .map(\.id)

  struct Format: Sendable, CustomTestStringConvertible {
    let name: String
    let head: String
    let line: @Sendable (Int, String) -> String
    var testDescription: String { name }
    func text(_ ids: [Int]) -> String { head + ids.map { line($0, records[$0].key) }.joined() }
  }
  static let formats = [
    Format(name: "ndjson", head: "") { "{\"id\":\($0),\"key\":\"\($1)\"}\n" },
    Format(name: "csv", head: "id,key\n") { "\($0),\($1)\n" },
  ]

  @Test("deduplicate and sort whole", arguments: formats) func many(_ format: Format) throws {
    let folder = try Workdir()
    for id in 0..<Self.chunkCount {
      try folder.write("in/\(String(10_000 + id)).\(format.name)", format.text([id]))
    }
    for (stage, expected) in [(["dedupe", "--by", "key"], Self.firsts), (["sort", "key:binary"], Self.sorted)] {
      let words = stage.map { "'\($0)'" }.joined(separator: " ")
      let result = try folder.run(
        [], shell: "ulimit -n 256; \"$OHANA\" run in --memory 16M --threads 8 -o out.\(format.name) --overwrite then \(words)")
      #expect(result.status == 0, "\(result.err)")
      #expect(result.err.contains("read 3,000 records from 3000 inputs"), "\(result.err)")
      #expect(try folder.text("out.\(format.name)") == format.text(expected), "\(words)")
    }
    #expect(Self.firsts.count == 1_000 && Self.sorted.count == 3_000)
    #expect(folder.isTemporaryEmpty && folder.names == ["in", "out.\(format.name)", "tmp"])
  }

  @Test("and are written as many chunks again") func written() throws {
    let folder = try Workdir()
    try folder.write("in.csv", Self.formats[1].text(Array(0..<300)))
    try folder.write("out/keep", "")
    let result = try folder.run([], shell: "ulimit -n 48; \"$OHANA\" convert in.csv -o 'out/{n:4}.csv.gz' --chunk-records 1")
    #expect(result.status == 0, "\(result.err)")
    let back = try folder.run([], shell: "ulimit -n 64; \"$OHANA\" convert 'out/*.csv.gz' --to csv")
    #expect(back.text == Self.formats[1].text(Array(0..<300)), "\(back.err)")
  }
}
