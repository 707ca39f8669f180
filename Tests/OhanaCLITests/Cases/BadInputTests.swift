import Foundation
import OhanaTestSupport
import Testing

/// What no reader can read, and what becomes of the run (DESIGN 7).
@Suite("Bad input") struct BadInputTests {
  static let rest = "{\"a\":2}\n{\"a\":3}\n"
  /// One bad first line of NDJSON: its place and reason, and that the records behind it come through.
  static func line(_ name: String, _ bytes: [UInt8], at byte: Int, _ reason: String) -> [ToolCase] {
    let file = ["a.ndjson": bytes + Array(("\n" + rest).utf8)]
    return [
      ToolCase(
        name, bytes: file, ["convert", "a.ndjson", "-o", "o.ndjson"], status: 3, error: "a.ndjson:1:\(byte): \(reason)" + overBudget,
        leavesNot: ["o.ndjson"]),
      ToolCase(
        name + ", within the budget", bytes: file, ["convert", "a.ndjson", "-o", "o.ndjson", "--max-rejects", "1"],
        says: ["rejected: 1 record ("], leaves: ["o.ndjson": rest]),
      ToolCase(
        name + ", as a share", bytes: file, ["convert", "a.ndjson", "-o", "o.ndjson", "--max-rejects", "34%"], leaves: ["o.ndjson": rest]),
      ToolCase(
        name + ", over the share", bytes: file, ["convert", "a.ndjson", "-o", "o.ndjson", "--max-rejects", "33%"], status: 3,
        leavesNot: ["o.ndjson"]),
    ]
  }
  static let lines: [ToolCase] = [
    line("a trailing comma", Array("{\"a\":1,}".utf8), at: 8, "expected a key in double quotes"),
    line("NaN", Array("{\"a\":NaN}".utf8), at: 6, "expected a value"),
    line("a raw NUL", Array("{\"a\":\"\u{0}\"}".utf8), at: 7, "a control character inside a string has to be escaped"),
    line("invalid UTF-8", Array("{\"a\":\"".utf8) + [0xff] + Array("\"}".utf8), at: 7, "not UTF-8"),
    line("a lone surrogate", Array("{\"a\":\"\\ud800\"}".utf8), at: 7, "half of a surrogate pair stands alone"),
    line("text behind the value", Array("{\"a\":1}{\"a\":2}".utf8), at: 8, "text after the value"),
    line("no object", Array("[1,2]".utf8), at: 1, "a record has to be a JSON object"),
  ].flatMap { $0 }

  @Test("a bad line is named, and costs itself alone", arguments: lines) func badLine(_ c: ToolCase) throws { try c.check() }

  static let cases: [ToolCase] = [
    ToolCase(
      "with --rejects all are counted, the first three named", ["a.ndjson": "1\n{\"a\":1}\n2\n3\n4\n{\"a\":2}\n"],
      ["convert", "a.ndjson", "-o", "o.ndjson", "--rejects", "r.ndjson"], status: 3,
      error:
        "a.ndjson:1:1: a record has to be a JSON object (then a.ndjson:3:1: a record has to be a JSON object, a.ndjson:4:1: a record has to be a JSON object), 4 unreadable records in all"
        + overBudget + orCSV,
      leaves: [
        "r.ndjson": [(1, 0, "1"), (3, 10, "2"), (4, 12, "3"), (5, 14, "4")].map { line, byte, raw in
          "{\"source\":\"a.ndjson\",\"line\":\(line),\"byte\":\(byte),\"column\":1,\"reason\":\"not-an-object\",\"detail\":\"a record has to be a JSON object\",\"length\":1,\"raw\":\"\(raw)\",\"format\":\"ndjson\"}\n"
        }.joined()
      ], leavesNot: ["o.ndjson"]),
    ToolCase(
      "rejects of CSV carry dialect and columns", ["a.csv": "n;p\nKim;1\n\"x\"y;2\nLee;3\n"],
      ["convert", "a.csv", "--to", "ndjson", "--max-rejects", "1", "--rejects", "r.ndjson"],
      out: "{\"n\":\"Kim\",\"p\":\"1\"}\n{\"n\":\"Lee\",\"p\":\"3\"}\n",
      leaves: [
        "r.ndjson":
          "{\"source\":\"a.csv\",\"line\":3,\"byte\":10,\"column\":4,\"reason\":\"text-after-quote\",\"detail\":\"text follows a closing quote\",\"length\":6,\"raw\":\"\\\"x\\\"y;2\",\"format\":\"csv\",\"dialect\":{\"delimiter\":\";\",\"quote\":\"\\\"\",\"escape\":\"\"},\"columns\":[\"n\",\"p\"]}\n"
      ]),
    ToolCase(
      "and are read back",
      [
        "r.ndjson":
          "{\"source\":\"a.csv\",\"line\":3,\"reason\":\"x\",\"raw\":\"Max;2\",\"format\":\"csv\",\"dialect\":{\"delimiter\":\";\",\"quote\":\"\\\"\",\"escape\":\"\"},\"columns\":[\"n\",\"p\"]}\n"
      ],
      ["convert", "r.ndjson", "--from", "rejects", "--to", "ndjson"], out: "{\"n\":\"Max\",\"p\":\"2\"}\n"),
    ToolCase(
      "no message holds a value", ["a.ndjson": "{\"secret\":\"kim@example.com\"x}\n"], ["convert", "a.ndjson", "-o", "o.csv"], status: 3,
      neverSays: ["kim", "secret"]),
    ToolCase(
      "a table named NDJSON is read as one, and said to be", ["x.ndjson": "name,phone\nKim,1\n"], ["sort", "name", "x.ndjson"],
      out: "name,phone\nKim,1\n", says: ["note: x.ndjson: read as the CSV that its text is; --from ndjson goes by the name"]),
    ToolCase(
      "NDJSON named a table too", ["x.csv": "{\"n\":1}\n"], ["sort", "n", "x.csv"], out: "{\"n\":1}\n",
      says: ["note: x.csv: read as the NDJSON that its text is; --from csv goes by the name"]),
    ToolCase(
      "unless --from goes by the name", ["x.ndjson": "name,phone\nKim,1\n"], ["sort", "name", "x.ndjson", "--from", "ndjson"], status: 3,
      says: ["x.ndjson:1:2: "]),
    ToolCase(
      "what may be either goes by the name, and --from is named", ["x.ndjson": "name\nKim\n"], ["sort", "name", "x.ndjson"], status: 3,
      out: "", says: ["x.ndjson:1:2: ", "--from csv reads CSV"]),
    ToolCase(
      "tables and NDJSON do not mix, whatever the names", ["a.ndjson": "{\"n\":1}\n", "b.ndjson": "n,m\n1,2\n"],
      ["sort", "n", "a.ndjson", "b.ndjson"], status: 2, out: "", says: ["a.ndjson: this input is NDJSON, and b.ndjson is CSV", "--from"]),
    ToolCase("empty NDJSON", ["a.ndjson": ""], ["sort", "n", "a.ndjson"], out: "", says: ["note: a.ndjson: the file is empty"]),
    ToolCase("header only", ["a.csv": "n\n"], ["sort", "n", "a.csv"], out: "n\n", says: ["note: a.csv: there is no record in it"]),
    ToolCase("header only, to NDJSON", ["a.csv": "n\n"], ["sort", "n", "a.csv", "-o", "o.ndjson"], leaves: ["o.ndjson": ""]),
    ToolCase(
      "an unknown field of CSV", ["a.csv": "name,phone\nKim,1\n"], ["sort", "nmae", "a.csv", "-o", "o.csv"], status: 2,
      error:
        "nmae: sort: no input has a field of this name; did you mean name? there are name, phone, or --optional nmae where it may be missing",
      leavesNot: ["o.csv"]),
    ToolCase(
      "an unknown field of NDJSON, in every kind of stage", ["a.ndjson": "{\"name\":\"Kim\"}\n"],
      ["run", "a.ndjson", "-o", "o.csv", "then", "filter", "nmae = '1'"], status: 2, says: ["nmae", "name", "--optional"],
      leavesNot: ["o.csv"]),
    ToolCase(
      "which may be optional", ["a.ndjson": "{\"name\":\"Kim\"}\n"], ["filter", "nmae IS NULL", "a.ndjson", "--optional", "nmae"],
      out: "{\"name\":\"Kim\"}\n"),
    ToolCase(
      "a field of some chunks only is never an error", ["a.csv": "n\n1\n", "b.csv": "n,m\n2,x\n"],
      ["filter", "m IS NULL", "a.csv", "b.csv", "--to", "ndjson"], out: "{\"n\":\"1\"}\n"),
    ToolCase(
      "duplicate keys that nobody uses keep their bytes", ["a.ndjson": "{\"a\":1,\"a\":2}\n"], ["convert", "a.ndjson", "--to", "ndjson"],
      out: "{\"a\":1,\"a\":2}\n"),
    ToolCase(
      "an unclosed quote rejects its first line alone", ["a.csv": "n,p\nKim,1\n\"open,2\nLee,3\n"],
      ["convert", "a.csv", "--to", "csv", "--max-rejects", "1"], out: "n,p\nKim,1\nLee,3\n"),
    ToolCase(
      "and is named where it opened", ["a.csv": "n,p\nKim,1\nx,\"open\nLee,3\n"], ["convert", "a.csv", "-o", "o.csv"], status: 3,
      error: "a.csv:3:3: the quote is never closed" + overBudget, leavesNot: ["o.csv"]),
    ToolCase("check says no with 1", ["a.ndjson": "{\"a\":1}\n{\n"], ["check", "a.ndjson"], status: 1),
    ToolCase("and yes with 0", ["a.ndjson": "{\"a\":1}\n"], ["check", "a.ndjson"], status: 0),
  ]
  @Test("gives what is written", arguments: cases) func given(_ c: ToolCase) throws { try c.check() }

  @Test("a quote open to the end of 40 MB costs its line and little memory", .enabled(if: Measured.canMeasure, "needs GNU time"))
  func openQuote() throws {
    let folder = try Workdir()
    let rows = 1_500_000
    try folder.write(
      "a.csv",
      Data("n,p\nKim,1\n\"open,2\n".utf8) + Data(String(repeating: "Lee,3,\n", count: 1).utf8)
        + Data(String(repeating: "someone,555-0100-and-more\n", count: rows).utf8))
    let run = try Measured.run(["count", "a.csv", "--max-rejects", "1", "--max-record", "1M", "--memory", "64M"], in: folder)
    #expect(run.status == 0, "\(run.err)")
    #expect(run.out == "\(rows + 2)\n")
    #expect((5...150).contains(run.peakMiB), "\(run.peakMiB) MiB")
  }

  @Test("1,000 levels are hashed and sorted on small stacks", arguments: ["distinct", "dedupe --by a", "count-by a", "sort a"])
  func deepNesting(stage: String) throws {
    let folder = try Workdir()
    func record(_ inner: Int) -> String {
      "{\"a\":" + String(repeating: "[{\"b\":", count: 500) + "\(inner)" + String(repeating: "}]", count: 500) + "}\n"
    }
    try folder.write("a.ndjson", (0..<20).map { record($0 % 2) }.joined())
    let result = try folder.run([], shell: "ulimit -s 256; \"$OHANA\" run a.ndjson then \(stage)")
    #expect(result.status == 0, "\(result.err)")
    #expect(result.lines.count == (stage == "sort a" ? 20 : 2))
  }

  @Test(
    "1,023 levels become columns on small stacks",
    arguments: [
      "convert", "sort z", "reverse", "stats", "drop PATH", "rename PATH=q", "tee t.csv", "set \"x = PATH\"", "dedupe --by z --keep last",
    ])
  func deepObjects(verb: String) throws {
    let folder = try Workdir()
    let depth = 1_023
    let path = (1..<depth).map { "k\($0)" }.joined(separator: ".")
    let keys = (1..<depth).map { "{\"k\($0)\":" }.joined()
    try folder.write(
      "a.ndjson",
      (0..<3).map { "{\"z\":\($0)," + keys.dropFirst() + "\"x\($0)\"" + String(repeating: "}", count: depth - 1) + "\n" }.joined())
    let words = verb.replacing("PATH", with: path)
    let result = try folder.run([], shell: "ulimit -s 256; \"$OHANA\" \(words) a.ndjson --to csv")
    #expect(result.status == 0, "\(result.err)")
    #expect(verb == "stats" || result.lines.count == 4)
    if verb == "convert" {
      #expect(result.lines[0] == "z,\(path)")
      #expect(result.lines[1] == "0,x0")
    }
  }

  @Test("1,023 dots become objects on small stacks") func deepColumns() throws {
    let folder = try Workdir()
    try folder.write("a.csv", String(repeating: "a.", count: 1_022) + "a\n1\n")
    let result = try folder.run([], shell: "ulimit -s 256; \"$OHANA\" convert a.csv --to ndjson --unflatten")
    #expect(result.status == 0, "\(result.err)")
    #expect(result.text == String(repeating: "{\"a\":", count: 1_023) + "\"1\"" + String(repeating: "}", count: 1_023) + "\n")
  }

  @Test("a line of 100 MB is rejected without being held", .enabled(if: Measured.canMeasure, "needs GNU time")) func longLine() throws {
    let folder = try Workdir()
    try folder.write(
      "a.ndjson", Data("{\"a\":1}\n{\"a\":\"".utf8) + Data(repeating: 0x78, count: 100_000_000) + Data("\"}\n{\"a\":2}\n".utf8))
    let run = try Measured.run(
      ["convert", "a.ndjson", "--to", "ndjson", "--max-rejects", "1", "--memory", "64M", "--rejects", "r.ndjson"], in: folder)
    #expect(run.status == 0, "\(run.err)")
    #expect(run.out == "{\"a\":1}\n{\"a\":2}\n")
    #expect((5...150).contains(run.peakMiB), "\(run.peakMiB) MiB")
    let reject = try folder.text("r.ndjson")
    #expect(reject.contains("\"byte\":8,") && reject.contains("\"length\":100000008") && !reject.contains("raw"), "\(reject.prefix(300))")
    // What the limit allows but memory cannot hold is never another result.
    let small = try folder.run(["convert", "a.ndjson", "--to", "ndjson", "--memory", "16M", "--max-record", "200M"])
    #expect(small.status == 5 || small.status == 0 && small.out.count > 100_000_000, "\(small.err)")
  }
}
