import Foundation
import OhanaTestSupport
import Testing

/// row O-80 to O-88 in batch form: the whole stream is one attempt.
@Suite("select: rows O-80 to O-88") struct SelectionTests {
  static let people = ["A", "B", "C", "D"].map { "{\"id\":\"\($0)\"}\n" }.joined()

  private func status(_ words: [String], _ input: String = people, lines: Int = 0) throws {
    let folder = try Workdir()
    try folder.write("in.ndjson", input)
    for setting in Conformance.settings {
      let result = try folder.run(["run", "in.ndjson", "-o", "out.ndjson"] + setting + ["then", "select"] + words)
      #expect(result.status == 8, "\(words) \(result.err)")
      #expect(!folder.exists("out.ndjson") && result.err.split(separator: "\n").count == 1)
      #expect(folder.isTemporaryEmpty)
    }
    let piped = try folder.run(["run", "in.ndjson", "then", "select"] + words)
    #expect(piped.status == 8 && piped.lines.count == lines, "\(words)")
  }

  @Test("O-84 SEL: an attempt over the maximum is refused as a whole, with exit 8 and nothing selected") func refuse() throws {
    try status(["--max", "3"])
    try status(["--max", "1", "--on-exceed", "refuse"])
    try Conformance.expect(Self.people, ["select", "--max", "4"], gives: ["A", "B", "C", "D"])
    try Conformance.expect(Self.people, ["select", "--max", "9"], gives: ["A", "B", "C", "D"])
  }

  @Test("O-84 SEL: no maximum is 0") func unlimited() throws {
    try Conformance.expect(Self.people, ["select", "--max", "0"], gives: ["A", "B", "C", "D"])
  }

  @Test("O-84 SEL: trim keeps the first, stop reads no further") func trim() throws {
    try Conformance.expect(Self.people, ["select", "--max", "2", "--on-exceed", "trim"], gives: ["A", "B"])
    let folder = try Workdir()
    try folder.write("in.ndjson", "{\"id\":\"A\"}\n{\"id\":\"B\"}\nbroken\n")
    #expect(try folder.run(["select", "--max", "2", "--on-exceed", "stop", "in.ndjson"]).text == "{\"id\":\"A\"}\n{\"id\":\"B\"}\n")
    #expect(try folder.run(["select", "--max", "2", "--on-exceed", "trim", "in.ndjson"]).status == 3)
  }

  @Test("O-85 SEL: fewer than the minimum is exit 8") func minimum() throws {
    try status(["--min", "5"], lines: 4)
    try Conformance.expect(Self.people, ["select", "--min", "4"], gives: ["A", "B", "C", "D"])
    try Conformance.expect("", ["select", "--min", "0"], gives: "")
    try status(["--min", "1"], "")
  }

  @Test("O-86, O-87 SEL: filters work in the order they are written") func order() throws {
    let input = "{\"id\":\"n\"}\n{\"id\":\"p\",\"phone\":\"1\"}\n"
    try Conformance.expect(input, ["select", "--require-type", "phone", "--max", "1"], gives: ["p"])
    try status(["--max", "1", "--require-type", "phone"], input)
  }

  @Test("O-80 SEL: --emit gives the selected, the others, or both, marked and in the order they came in") func emit() throws {
    let input = "{\"id\":\"n\"}\n{\"id\":\"p\",\"phone\":\"1\"}\n{\"id\":\"q\",\"phone\":\"2\"}\n"
    let rules = ["select", "--require-type", "phone", "--max", "1", "--on-exceed", "trim"]
    try Conformance.expect(input, rules + ["--emit", "selected"], gives: ["p"])
    try Conformance.expect(input, rules + ["--emit", "rejected"], gives: ["n", "q"])
    try Conformance.expect(
      input, rules + ["--emit", "both", "then", "keep", "id,selected"],
      gives: "{\"id\":\"n\",\"selected\":false}\n{\"id\":\"p\",\"selected\":true}\n{\"id\":\"q\",\"selected\":false}\n")
    try status(["--max", "1", "--emit", "both"], input)
    try status(["--max", "1", "--emit", "rejected"], input)
  }

  @Test("O-12 SEL: a field called selected is never written over: it is renamed or dropped first, or the run is refused")
  func markIsTaken() throws {
    let folder = try Workdir()
    try folder.write("in.ndjson", "{\"id\":\"A\"}\n{\"id\":\"B\",\"selected\":\"mine\"}\n")
    try folder.write("in.csv", "id,selected\nA,\nB,mine\n")
    try folder.write("plain.csv", "id\nA\nB\n")
    try folder.write("ids.txt", "A\n")
    let stages = [["select", "--max", "1", "--on-exceed", "trim", "--emit", "both"], ["deselect", "--ids", "ids.txt", "--emit", "both"]]
    for stage in stages {
      func run(_ words: [String]) throws -> Workdir.Result {
        try folder.run(["run"] + words + stage)
      }
      let taken = [
        ["in.ndjson", "then"], ["in.csv", "then"], ["plain.csv", "then", "set", "selected = 1", "then"],
        ["plain.csv", "then", "rename", "id=selected", "then", "set", "id = selected", "then"],
        ["plain.csv", "then"] + stage + ["then"], ["in.ndjson", "then", "drop", "selected", "then"] + stage + ["then"],
      ]
      for words in taken {
        let result = try run(["-o", "out"] + words)
        #expect(result.status == 2 && result.err.contains("'rename selected=NAME'"), "\(words) \(result.err)")
        #expect(!folder.exists("out"))
      }
      // Columns are known before reading.
      #expect(try folder.run(["plan", "in.csv", "then"] + stage).status == 2)
      let free = [
        ["in.ndjson", "then", "drop", "selected", "then"], ["in.csv", "then", "rename", "selected=chosen", "then"],
        ["in.csv", "then", "keep", "id", "then"], ["plain.csv", "then", "filter", "id <> 'x'", "then"],
      ]
      for words in free {
        let result = try run(["--to", "ndjson"] + words)
        #expect(result.status == 0, "\(words) \(result.err)")
        let marks = result.lines.map { $0.contains("\"selected\":true") }
        #expect(marks == (stage[0] == "select" ? [true, false] : [false, true]), "\(words)")
      }
      let chosen = try run(["in.csv", "--to", "ndjson", "then", "rename", "selected=chosen", "then"])
      #expect(chosen.lines.last?.contains("\"chosen\":\"mine\"") == true)
    }
    // The others come out without a mark.
    let rejected = try folder.run(["select", "--max", "1", "--on-exceed", "trim", "--emit", "rejected", "in.csv"])
    #expect(rejected.text == "id,selected\nB,mine\n")
  }

  @Test("O-81 O-85 SEL: deselect takes what a list names out, and is refused as a whole where too few would stay") func deselect() throws {
    let folder = try Workdir()
    try folder.write("in.ndjson", Self.people)
    try folder.write("out.txt", "B\nD\nX\n")
    for setting in Conformance.settings {
      func ids(_ words: [String], status: Int32 = 0) throws -> [String] {
        let chain = ["then", "select", "--max", "4", "then", "deselect", "--ids", "out.txt"] + words
        let result = try folder.run(["run", "in.ndjson"] + setting + chain)
        #expect(result.status == status, "\(words) \(result.err)")
        return result.lines
      }
      func lines(_ ids: String, _ more: String = "") -> [String] { ids.map { "{\"id\":\"\($0)\"\(more)}" } }
      #expect(try ids([]) == lines("AC"))
      #expect(try ids(["--min", "2"]) == lines("AC"))
      #expect(try ids(["--emit", "rejected"]) == lines("BD"))
      #expect(try ids(["--emit", "both", "then", "filter", "selected = true"]) == lines("AC", ",\"selected\":true"))
      for emission in ["rejected", "both"] { #expect(try ids(["--min", "3", "--emit", emission], status: 8).isEmpty) }
      let refused = try folder.run(
        ["run", "in.ndjson", "-o", "out.ndjson"] + setting + ["then", "deselect", "--ids", "out.txt", "--min", "3"])
      #expect(refused.status == 8 && !folder.exists("out.ndjson"))
    }
  }

  @Test("O-28, O-88 SEL: a saved selection is applied by id, with a list that spills too") func ids() throws {
    let folder = try Workdir()
    var people = ""
    for id in 0..<60000 { people += "{\"id\":\"\(id)\",\"pad\":\"\(String(repeating: "x", count: id % 40))\"}\n" }
    people += "{\"pad\":\"no id\"}\n{\"id\":null}\n"
    try folder.write("in.ndjson", people)
    try folder.write("ids.txt", (0..<40000).map { "\($0 * 3)\n" }.joined())
    for setting in Conformance.settings {
      let result = try folder.run(["run", "in.ndjson"] + setting + ["then", "select", "--ids", "ids.txt", "then", "keep", "id"])
      #expect(result.status == 0, "\(result.err)")
      #expect(result.lines == (0..<20000).map { "{\"id\":\"\($0 * 3)\"}" }, "\(setting)")
    }
    let saved = try folder.run(["run", "in.ndjson", "-o", "chosen.csv", "then", "limit", "2", "then", "keep", "id"])
    #expect(saved.status == 0)
    #expect(try folder.run(["run", "in.ndjson", "then", "select", "--ids", "chosen.csv"]).lines.count == 2)
    #expect(try folder.run(["run", "in.ndjson", "then", "select", "--ids", "none.csv"]).status == 4)
  }

  @Test(
    "mistakes are usage errors",
    arguments: [
      [], ["--max"], ["--max", "-1"], ["--on-exceed", "trim", "--min", "1"], ["--max", "1", "--on-exceed", "x"],
      ["--by", "id", "--max", "2"], ["--max", "1", "--emit", "x"], ["--max", "1", "--on-exceed", "stop", "--emit", "both"],
      ["--require-type", "fax"],
    ] as [[String]])
  func usage(words: [String]) throws {
    let folder = try Workdir()
    try folder.write("in.ndjson", Self.people)
    #expect(try folder.run(["run", "in.ndjson", "then", "select"] + words).status == 2)
  }
}
