import Foundation
import OhanaTestSupport
import Testing

/// CSV made of NDJSON by chains that stop reading: its columns are those of the records up to the one that filled the limit, for any memory,
/// threads and destination (DESIGN 4, and the stage table's `limit`).
@Suite("Columns of CSV where a stage stops reading") struct StoppedColumnsTests {
  /// A record of the test's: an id, a group, and now and then a key that no record before had.
  struct Record: Sendable {
    let id: Int
    var late: String? { id % 3_000 == 2_999 ? "k\(id / 3_000)" : nil }
    var json: String { "{\"id\":\(id),\"g\":\(id % 7)\(late.map { ",\"\($0)\":1" } ?? "")}" }
  }

  /// A chain of stages, and what comes of it, worked out record by record.
  struct Chain: Sendable, CustomTestStringConvertible {
    let words: String
    /// Records of the input.
    var count = 20_000
    /// Records that give columns.
    let counting: Int
    /// Ids of the records written, in order.
    let written: [Int]
    /// Columns that are not the input's: made by a stage, by the keys of a record.
    var columns: @Sendable ([String]) -> [String] = { $0 }
    var cells: @Sendable (Record, String) -> String = { record, column in
      switch column {
      case "id": "\(record.id)"
      case "g": "\(record.id % 7)"
      default: record.late == column ? "1" : ""
      }
    }
    /// A file that the chain writes besides, of which the same is expected, but for the records.
    var side: (name: String, written: [Int])?
    /// With 16 MiB the keys of the records before the limit are too many, so that the whole input is read.
    var spills = false
    var testDescription: String { words }

    func expected(_ ids: [Int]) -> String {
      var names: [String] = []
      for id in 0..<counting {
        for name in columns(["id", "g"] + (Record(id: id).late.map { [$0] } ?? [])) where !names.contains(name) { names.append(name) }
      }
      if names.isEmpty { return String(repeating: "\n", count: ids.count) }
      return ([names.joined(separator: ",")] + ids.map { id in names.map { cells(Record(id: id), $0) }.joined(separator: ",") })
        .map { $0 + "\n" }.joined()
    }
  }

  static let all = 20_000
  static let chains = [
    Chain(words: "limit 5", counting: 5, written: Array(0..<5)),
    Chain(words: "limit 2999", counting: 2_999, written: Array(0..<2_999)),
    Chain(words: "limit 3000", counting: 3_000, written: Array(0..<3_000)),
    Chain(words: "limit 30000", counting: all, written: Array(0..<all)),
    Chain(words: "limit 0", counting: 0, written: []),
    Chain(words: "dedupe --by id then limit 7000", counting: 7_000, written: Array(0..<7_000)),
    Chain(words: "dedupe --by g then limit 7", counting: 7, written: Array(0..<7)),
    Chain(words: "distinct --by g then limit 8", counting: all, written: Array(0..<7)),
    Chain(
      words: "dedupe --by id then limit 100000", count: 120_000, counting: 100_000, written: Array(0..<100_000), spills: true),
    Chain(words: "filter 'id > 5900' then limit 50", counting: 5_951, written: Array(5_901..<5_951)),
    Chain(words: "filter 'id > 5900' then limit 200", counting: 6_101, written: Array(5_901..<6_101)),
    Chain(words: "skip 6000 then limit 10", counting: 6_010, written: Array(6_000..<6_010)),
    Chain(words: "select --max 4000 --on-exceed stop", counting: 4_000, written: Array(0..<4_000)),
    Chain(words: "select --max 4000 --on-exceed trim", counting: all, written: Array(0..<4_000)),
    Chain(words: "limit 4000 then sort id:number:desc", counting: 4_000, written: Array((0..<4_000).reversed())),
    Chain(words: "sort id:number:desc then limit 3", counting: all, written: [19_999, 19_998, 19_997]),
    Chain(words: "limit 9000 then filter 'id > 100' then limit 50", counting: 151, written: Array(101..<151)),
    Chain(words: "limit 100 then filter 'id > 98' then limit 50", counting: 100, written: [99]),
    Chain(words: "limit 6500 then reverse then limit 3", counting: 6_500, written: [6_499, 6_498, 6_497]),
    Chain(
      words: "limit 3500 then tee t.csv then filter 'id < 3'", counting: 3_500, written: [0, 1, 2], side: ("t.csv", Array(0..<3_500))),
    Chain(words: "tee t.csv then limit 5", counting: all, written: Array(0..<5), side: ("t.csv", Array(0..<all))),
    Chain(
      words: "limit 3500 then tee t.csv then limit 2", counting: 3_500, written: [0, 1], side: ("t.csv", Array(0..<3_500))),
    Chain(
      words: "rename g=h then limit 3000", counting: 3_000, written: Array(0..<3_000), columns: { $0.map { $0 == "g" ? "h" : $0 } },
      cells: { $1 == "id" ? "\($0.id)" : $1 == "h" ? "\($0.id % 7)" : $0.late == $1 ? "1" : "" }),
    Chain(
      words: "limit 3000 then drop g,id", counting: 3_000, written: Array(0..<3_000), columns: { $0.filter { $0 != "g" && $0 != "id" } },
      cells: { $0.late == $1 ? "1" : "\"\"" }),
    Chain(
      words: "set \"n = 'x'\" then drop g then limit 3100", counting: 3_100, written: Array(0..<3_100),
      columns: { $0.filter { $0 != "g" && !$0.hasPrefix("k") } + ["n"] + $0.filter { $0.hasPrefix("k") } },
      cells: { $1 == "id" ? "\($0.id)" : $1 == "n" ? "x" : $0.late == $1 ? "1" : "" }),
    Chain(words: "keep id,k0 then limit 3", counting: 3, written: [0, 1, 2], columns: { _ in ["id", "k0"] }),
    Chain(
      words: "count-by g then limit 2", counting: 2, written: [0, 1], columns: { _ in ["g", "count"] },
      cells: { $1 == "g" ? "\($0.id)" : "\((20_000 - $0.id + 6) / 7)" }),
  ]

  @Test("are those of the records up to the stop", arguments: chains) func stops(_ chain: Chain) throws {
    let folder = try Workdir()
    try folder.write("a.ndjson", (0..<chain.count).map { Record(id: $0).json + "\n" }.joined())
    let expected = chain.expected(chain.written)
    let side = chain.side.map { chain.expected($0.written) }
    func check(_ what: String, _ command: String, _ threads: Int, _ memory: String, _ collect: String, input: String = "a.ndjson") throws {
      let line =
        "rm -f o* t.csv; $OHANA run \(input) -q --threads \(threads) --memory \(memory) \(command) then \(chain.words) || exit; \(collect)"
      let result = try folder.run([], shell: line)
      #expect(result.status == 0, "\(what), --threads \(threads) --memory \(memory): \(result.err)")
      // Whole texts are long: only what differs is of interest.
      if result.text != expected {
        let (found, wanted) = (result.text.prefix(120), expected.prefix(120))
        Issue.record("\(what), --threads \(threads) --memory \(memory): \(found) … instead of \(wanted) …")
      }
      if let side, let name = chain.side?.name {
        #expect(try folder.text(name) == side, "\(name), \(what), --threads \(threads) --memory \(memory)")
      }
    }
    for (threads, memory) in [(1, "16M"), (8, "16M"), (1, "256M"), (8, "256M")] {
      try check("file", "-o o.csv", threads, memory, "cat o.csv")
    }
    for (threads, memory) in [(8, "16M"), (1, "256M")] {
      try check("gz", "-o o.csv.gz", threads, memory, "gzip -dc o.csv.gz")
      try check("stdout", "--to csv", threads, memory, "")
      let hasHeader = !expected.isEmpty && !expected.hasPrefix("\n")
      try check(
        "chunks", "-o 'o{n:3}.csv' --chunk-records 1100", threads, memory,
        hasHeader ? "head -qn 1 o*.csv | sort -u && for f in o*.csv; do tail -n +2 $f; done" : "cat o*.csv")
    }
    // What can be read only once is read twice all the same.
    try check("stdin to stdout", "--to csv < a.ndjson", 8, "16M", "", input: "-")
    if chain.spills {
      let result = try folder.run([], shell: "rm -f o*; $OHANA run a.ndjson --memory 16M -o o.csv then \(chain.words)")
      #expect(result.status == 0 && result.err.contains("read 120,000 records"), "nothing was spilled: \(result.err)")
    }
  }

  @Test(
    "what is behind the stop is no error, and what is before it is the same one everywhere",
    arguments: [
      ("limit 3000", 2_998, true), ("limit 3000", 2_999, true), ("limit 3000", 3_000, false), ("limit 3000", 8_000, false),
      ("limit 30000", 8_000, true), ("filter 'id >= 0' then limit 3000", 2_999, true), ("filter 'id >= 0' then limit 3000", 3_000, false),
      ("limit 3000 then filter 'id < 7'", 2_999, true), ("limit 3000 then filter 'id < 7'", 3_000, false),
      ("limit 3000 then sort id", 2_999, true), ("limit 3000 then sort id", 3_000, false), ("sort id then limit 3", 8_000, true),
      ("tee t.csv then limit 5", 8_000, true), ("limit 3000 then tee t.csv", 2_999, true), ("limit 3000 then tee t.csv", 3_000, false),
      ("select --max 3000 --on-exceed stop", 2_999, true), ("select --max 3000 --on-exceed stop", 3_000, false),
    ]) func conflicts(chain: String, place: Int, isError: Bool) throws
  {
    for conflict in [["{\"a.b\":1,\"a\":{\"b\":2}}"], ["{\"a\":{\"b\":2}}", "{\"id\":0,\"a.b\":1}"]] {
      let folder = try Workdir()
      var lines = (0..<9_000).map { "{\"id\":\($0)}" }
      lines[place] = conflict[0]
      if conflict.count == 2 { lines[7] = conflict[1] }
      try folder.write("a.ndjson", lines.map { $0 + "\n" }.joined())
      var errors: Set<String> = []
      for (threads, memory) in [(1, "16M"), (8, "16M"), (8, "256M")] {
        for output in ["-o o.csv", "-o 'o{n}.csv.gz' --chunk-records 700", "--to csv"] {
          let result = try folder.run(
            [], shell: "rm -f o* t.csv; $OHANA run a.ndjson -q --threads \(threads) --memory \(memory) \(output) then \(chain)")
          #expect(result.status == (isError ? 3 : 0), "\(output), --threads \(threads) --memory \(memory): \(result.err)")
          errors.insert(result.err)
          if isError { #expect(result.out.isEmpty && folder.names == ["a.ndjson", "tmp"], "\(output): \(folder.names)") }
        }
      }
      #expect(errors.count == 1 && errors.first?.contains("would share one column") == isError, "\(errors)")
    }
  }

  @Test(
    "an input without end is read to the stop only",
    arguments: [
      ("limit 3", "a\n1\n1\n1\n"), ("filter 'a = 1' then select --max 2 --on-exceed stop", "a\n1\n1\n"),
      ("limit 4 then sort a then limit 1", "a\n1\n"), ("keep b,a then limit 1", "b,a\n,1\n"),
    ]) func endless(chain: String, expected: String) throws
  {
    let folder = try Workdir()
    let result = try folder.run([], shell: "yes '{\"a\":1}' | $OHANA run - --to csv -q --optional all then \(chain)")
    #expect(result.status == 0 && result.text == expected, "\(result.err)")
  }
}
