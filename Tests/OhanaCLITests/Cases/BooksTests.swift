import Foundation
import OhanaTestSupport
import Testing

/// Every record read is accounted for, per run, stage and input (DESIGN 7), as the report tells.
@Suite("Books") struct BooksTests {
  struct Report: Decodable {
    struct Books: Decodable {
      struct Input: Decodable { var name: String, read, written, made, dropped, merged, rejected, blankLines: Int }
      struct Stage: Decodable { var text: String, input, output, made, dropped, merged: Int }
      struct Output: Decodable { var name: String, records, bytes: Int, role: String }
      var inputs: [Input], stages: [Stage], outputs: [Output]
      var read, written, made, dropped, merged, rejected: Int
      var stoppedEarly: Bool
    }
    struct Failure: Decodable { var code: String }
    var exit: Int
    var books: Books
    var failure: Failure?
  }

  static func run(_ words: [String], _ files: [String: String], status: Int32 = 0) throws -> Report {
    let folder = try Workdir()
    for (name, text) in files { try folder.write(name, text) }
    let result = try folder.run(
      ["run"] + words.prefix { $0 != "then" } + ["--report", "report.json", "-o", "out.ndjson"] + words.drop { $0 != "then" })
    #expect(result.status == status, "\(result.err)")
    let report = try JSONDecoder().decode(Report.self, from: folder.read("report.json"))
    let books = report.books
    if status == 0 {
      #expect(books.read + books.made == books.written + books.rejected + books.dropped + books.merged)
      for input in books.inputs {
        #expect(input.read + input.made == input.written + input.rejected + input.dropped + input.merged, "\(input)")
      }
      for stage in books.stages { #expect(stage.input + stage.made == stage.output + stage.dropped + stage.merged, "\(stage)") }
      #expect(books.inputs.reduce(0) { $0 + $1.read } == books.read)
      let lines = try folder.text("out.ndjson").split(separator: "\n").count
      #expect(books.written == lines)
      #expect(books.outputs.first { $0.role == "main" }?.records == lines)
    }
    return report
  }
  static func records(_ range: Range<Int>) -> String { range.map { "{\"id\":\($0),\"k\":\($0 % 5)}\n" }.joined() }

  @Test("a limit with bad records behind it: they are neither read nor an error", arguments: ["1", "8"]) func limit(threads: String) throws
  {
    let report = try Self.run(
      ["a.ndjson", "b.ndjson", "--threads", threads, "then", "limit", "3"],
      ["a.ndjson": Self.records(0..<3) + "bad\n" + Self.records(3..<9), "b.ndjson": "bad\n"])
    #expect(report.books.read == 3 && report.books.written == 3 && report.books.rejected == 0 && report.books.stoppedEarly)
    #expect(report.books.inputs.map(\.read) == [3, 0])
  }
  @Test(
    "a limit behind what was held back: all of it is in the books, in batches of any size",
    arguments: [
      ["reverse", "then", "limit", "7"], ["sort", "id:number:desc", "then", "filter", "k <> 3", "then", "limit", "7"],
      ["any", "{", "skip", "2", "}", "{", "limit", "5000", "}", "then", "limit", "7"],
      ["dedupe", "--by", "id", "--keep", "last", "then", "limit", "7"],
      ["count-by", "id", "then", "limit", "7"], ["dedupe", "--by", "id", "then", "limit", "7"],
    ])
  func limitBehindHeldBack(chain: [String]) throws {
    var seen: Report.Books.Stage?
    for options in [["--threads", "1", "--memory", "16M"], ["--threads", "8"]] {
      let report = try Self.run(
        ["a.ndjson", "b.ndjson"] + options + ["then"] + chain,
        ["a.ndjson": Self.records(0..<30_000), "b.ndjson": Self.records(30_000..<60_000)])
      #expect(report.books.written == 7)
      let last = try #require(report.books.stages.last)
      #expect(last.text == "limit 7" && last.output == 7)
      if let seen { #expect(last.dropped == seen.dropped && last.input == seen.input) }
      seen = last
    }
  }
  @Test("a bad record in front of the one that fills it is one") func limitBehindBad() throws {
    let failed = try Self.run(
      ["a.ndjson", "then", "limit", "3"], ["a.ndjson": Self.records(0..<2) + "bad\n" + Self.records(2..<9)], status: 3)
    #expect(failed.exit == 3)
    let report = try Self.run(
      ["a.ndjson", "--max-rejects", "1", "then", "limit", "3"],
      ["a.ndjson": Self.records(0..<2) + "bad\n" + Self.records(2..<9) + "bad\nbad\n"])
    #expect(report.books.read == 4 && report.books.written == 3 && report.books.rejected == 1)
  }
  @Test("a tee in front makes the run read to the end") func limitBehindTee() throws {
    _ = try Self.run(["a.ndjson", "then", "tee", "t.ndjson", "then", "limit", "1"], ["a.ndjson": Self.records(0..<2) + "bad\n"], status: 3)
    let report = try Self.run(["a.ndjson", "then", "tee", "t.ndjson", "then", "limit", "1"], ["a.ndjson": Self.records(0..<5)])
    #expect(report.books.read == 5 && report.books.written == 1 && report.books.dropped == 4)
    #expect(report.books.outputs.first { $0.role == "tee" }?.records == 5)
  }
  @Test("drops are told by stage and by input") func drops() throws {
    let report = try Self.run(
      [
        "a.ndjson", "b.ndjson", "then", "filter", "id >= 2", "then", "dedupe", "--by", "k", "--duplicates", "d.ndjson", "then", "sort",
        "id:number:desc", "then", "skip", "1",
      ],
      ["a.ndjson": Self.records(0..<10) + "\n\n", "b.ndjson": Self.records(10..<20)])
    let books = report.books
    #expect(books.stages.map(\.dropped) == [2, 13, 0, 1])
    #expect(books.stages.map(\.input) == [20, 18, 5, 5])
    #expect(books.inputs.map(\.written) == [4, 0])
    #expect(books.inputs.map(\.read) == [10, 10])
    #expect(books.inputs[0].blankLines == 2)
    #expect(books.outputs.first { $0.role == "duplicates" }?.records == 13)
  }
  @Test("what a stage makes of others is merged and made") func countBy() throws {
    let books = try Self.run(
      ["a.ndjson", "b.ndjson", "then", "count-by", "k"], ["a.ndjson": Self.records(0..<10), "b.ndjson": Self.records(10..<13)]
    ).books
    #expect(books.written == 5)
    #expect(books.stages[0].input == 13 && books.stages[0].output == 5)
  }
  @Test("guards publish nothing, and the report is there", arguments: [["--min-records", "99"], ["--max-drop", "10%"]]) func guards(
    options: [String]
  ) throws {
    let report = try Self.run(["a.ndjson"] + options + ["then", "filter", "k = 1"], ["a.ndjson": Self.records(0..<20)], status: 8)
    #expect(report.exit == 8)
  }
  @Test("the report destroys nothing") func report() throws {
    let folder = try Workdir()
    try folder.write("a.csv", "n\n1\n")
    try folder.write("old.json", "old\n")
    for (words, file, content) in [
      (["convert", "a.csv", "-o", "o.csv", "--report", "a.csv"], "a.csv", "n\n1\n"),
      (["convert", "a.csv", "-o", "o.csv", "--report", "a.csv", "--overwrite"], "a.csv", "n\n1\n"),
      (["convert", "a.csv", "-o", "o.csv", "--report", "old.json"], "old.json", "old\n"),
    ] {
      let result = try folder.run(words)
      #expect(result.status == 2, "\(words) \(result.err)")
      #expect(try folder.text(file) == content)
      #expect(!folder.exists("o.csv"))
    }
    let both = try folder.run(["convert", "a.csv", "-o", "z", "--to", "csv", "--report", "z"])
    #expect(both.status == 2 && !folder.exists("z"), "\(both.err)")
    #expect(try folder.run(["convert", "a.csv", "-o", "o.csv", "--report", "old.json", "--overwrite"]).status == 0)
    #expect(try folder.text("old.json").contains("\"written\" : 1"))
    let missing = try folder.run(["convert", "nofile.csv", "-o", "p.csv", "--report", "r.json"])
    #expect(missing.status == 4 && folder.exists("r.json"), "a failed run has a report too")
  }
}
