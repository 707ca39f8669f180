import Foundation
import OhanaTestSupport
import Testing

/// row O-69 to O-72: composites, with branches whose outputs are fixed.
@Suite("all, any, odd: rows O-69 to O-72") struct GroupConformanceTests {
  static let input = ["a", "b", "c", "d"].map { "{\"id\":\"\($0)\"}\n" }.joined()

  /// A branch that gives just these, in this order.
  static func branch(_ ids: String) -> [String] {
    if ids.isEmpty { return ["{", "limit", "0", "}"] }
    let list = ids.map { "'\($0)'" }.joined(separator: ",")
    let order = "CASE id " + ids.enumerated().map { "WHEN '\($0.element)' THEN \($0.offset)" }.joined(separator: " ") + " END:number"
    return ["{", "filter", "id IN (\(list))", "then", "sort", order, "}"]
  }

  static func expect(_ words: String, _ branches: [String], _ ids: String, order: String? = nil) throws {
    try Conformance.expect(
      input, [words] + branches.flatMap(branch) + (order.map { ["--order", $0] } ?? []), gives: ids.map { String($0) })
  }

  @Test("O-69 AND: in the order of the first branch") func and() throws {
    try Self.expect("all", ["cab", "ac"], "ca")
    try Self.expect("all", ["a", "b"], "")
    try Self.expect("all", ["a", ""], "")
    try Self.expect("all", [""], "")
    try Self.expect("all", ["dcba", "abcd", "cd"], "dc")
  }

  @Test("O-70 OR: in the order of the branches, or of the input") func or() throws {
    try Self.expect("any", ["bc", "ac"], "bca", order: "branch")
    try Self.expect("any", ["bc", "ac"], "abc", order: "input")
    try Self.expect("any", ["bc", "ac"], "abc")
    try Self.expect("any", ["a", "a"], "a")
  }

  @Test("O-71 XOR: an odd number of branches, survivors first, then what is new") func xor() throws {
    try Self.expect("odd", ["abd", "bcd"], "ac")
    try Self.expect("odd", ["abd", "bc", "a"], "dc")
    try Self.expect("odd", ["a", "a"], "")
    try Self.expect("odd", ["abd", "bc", ""], "adc")
    try Self.expect("odd", ["ab", "bc", "bd"], "acbd")
    try Self.expect("odd", ["abd", "bc", ""], "acd", order: "input")
  }

  @Test("O-71 XOR, a deviation: an empty result in between does not end it, so that A, A, B is B") func deviation() throws {
    try Self.expect("odd", ["a", "a", "b"], "b")
  }

  @Test("O-17: records that hold the same are two all the same") func identity() throws {
    let input = String(repeating: "{\"id\":\"a\"}\n", count: 3)
    try Conformance.expect(input, ["any", "{", "limit", "1", "}", "{", "skip", "2", "}", "--order", "branch"], gives: ["a", "a"])
  }

  static let both = """
    {"id":"P","phone":"p1","phone_2":"p2","email":"e1","city":"Oslo"}
    {"id":"Q","fields":[{"type":"email","value":"e2"},{"type":"phone","value":"p3"}]}

    """

  @Test("O-70, O-72 OR: a phone split and an e-mail split, sorted behind the group, and in a nested one") func splits() throws {
    let splits = ["any", "{", "split", "--on", "phone", "}", "{", "split", "--on", "email", "}"]
    let phones = [
      #"{"id":"P","phone":"p1","city":"Oslo"}"#, #"{"id":"P","phone":"p2","city":"Oslo"}"#,
      #"{"id":"Q","fields":[{"type":"phone","value":"p3"}]}"#,
    ]
    let emails = [#"{"id":"P","email":"e1","city":"Oslo"}"#, #"{"id":"Q","fields":[{"type":"email","value":"e2"}]}"#]
    func text(_ lines: [String]) -> String { lines.map { $0 + "\n" }.joined() }
    try Conformance.expect(Self.both, splits, gives: text([phones[0], phones[1], emails[0], phones[2], emails[1]]))
    try Conformance.expect(Self.both, splits + ["--order", "branch"], gives: text(phones + emails))
    try Conformance.expect(
      Self.both, splits + ["then", "sort", "id:desc"], gives: text([phones[2], emails[1], phones[0], phones[1], emails[0]]),
      stageBytes: 4096)
    try Conformance.expect(
      Self.both, ["all", "{"] + splits + ["}", "{", "tag", "x", "}"], gives: "")  // rows are others than the records they were made of
    try Conformance.expect(
      Self.both, ["any", "{"] + splits + ["then", "filter", "phone IS NOT NULL", "}", "{", "limit", "1", "}", "--order", "branch"],
      gives: text([phones[0], phones[1]]) + "{\"id\":\"P\",\"phone\":\"p1\",\"phone_2\":\"p2\",\"email\":\"e1\",\"city\":\"Oslo\"}\n")
    try Conformance.expect(
      "name,phone,email,phone_2,city\nA,1,a@b,2,Oslo\nB,,b@c,,Rome\n", splits,
      gives: "name,phone,email,city\nA,1,,Oslo\nA,2,,Oslo\nA,,a@b,Oslo\nB,,b@c,Rome\n", file: "in.csv")
  }

  @Test("O-69 to O-72: groups over many batches give what their rules say, nested ones too, at any threads and on disk") func many() throws
  {
    let padding = String(repeating: "x", count: 900)
    let ids = (0..<12_000).map { $0 * 7_919 % 12_000 }
    let input = ids.map { "{\"id\":\"\($0)\",\"n\":\($0),\"pad\":\"\(padding)\"}\n" }.joined()
    let (third, sorted) = (["{", "filter", "n % 3 = 0", "}"], ["{", "sort", "n:number", "then", "filter", "n % 2 = 0", "}"])
    let names = { (ids: [Int]) in ids.map { String($0) } }
    let chosen = Set(ids.filter { $0 % 3 == 0 || $0 % 2 == 0 })
    try Conformance.expect(input, ["any"] + third + sorted, gives: names(ids.filter { chosen.contains($0) }), stageBytes: nil)
    try Conformance.expect(
      input, ["any"] + third + sorted + ["--order", "branch"],
      gives: names(ids.filter { $0 % 3 == 0 } + (0..<12_000).filter { $0 % 2 == 0 && $0 % 3 != 0 }), stageBytes: nil)
    try Conformance.expect(input, ["all"] + sorted + third, gives: names((0..<12_000).filter { $0 % 6 == 0 }), stageBytes: nil)
    try Conformance.expect(
      input,
      ["odd", "{", "any"] + third + sorted + ["}", "{", "all"] + sorted + third + ["then", "set", "x = 1", "}"] + [
        "{", "skip", "11000", "}",
      ],
      gives: {
        let one = ids.filter { chosen.contains($0) }
        let two = one.filter { $0 % 6 != 0 }
        let last = Array(ids.dropFirst(11_000))
        let (inTwo, inLast) = (Set(two), Set(last))
        return names(two.filter { !inLast.contains($0) } + last.filter { !inTwo.contains($0) })
      }(), stageBytes: nil)
  }

  @Test("a record keeps what the branch it is taken from did") func contents() throws {
    try Conformance.expect(
      Self.input, ["any", "{", "limit", "1", "then", "set", "x = 1", "}", "{", "skip", "2", "then", "set", "y = 2", "}"],
      gives: "{\"id\":\"a\",\"x\":1}\n{\"id\":\"c\",\"y\":2}\n{\"id\":\"d\",\"y\":2}\n")
    try Conformance.expect(
      "id,c\na,1\nb,2\n", ["any", "{", "limit", "1", "then", "drop", "c", "}", "{", "set", "x = upper(id)", "}"],
      gives: "id,c,x\na,,\nb,2,B\n",
      file: "in.csv")
    let folder = try Workdir()
    try folder.write("in.ndjson", Self.input)
    let differ = try folder.run(["run", "in.ndjson", "then", "any", "{", "limit", "1", "}", "{", "keep", "id", "}"])
    #expect(differ.status == 2 && differ.err.contains("branches"))
  }

  @Test("predicates alone stream, short form and pipeline file understand braces") func forms() throws {
    let input = "{\"id\":\"1\",\"a\":1}\n{\"id\":\"2\",\"b\":1}\n{\"id\":\"3\",\"a\":1,\"b\":1}\n{\"id\":\"4\"}\n"
    try Conformance.expect(input, ["any", "{", "require", "a", "}", "{", "require", "b", "}"], gives: ["1", "2", "3"])
    try Conformance.expect(input, ["all", "{", "require", "a", "}", "{", "require", "b", "}"], gives: ["3"])
    try Conformance.expect(input, ["odd", "{", "require", "a", "}", "{", "require", "b", "}", "--order", "input"], gives: ["1", "2"])
    let folder = try Workdir()
    try folder.write("in.ndjson", input)
    try folder.write("p.json", #"{inputs: ["in.ndjson"], stages: ["any { require a } { require b --nonempty }"]}"#)
    #expect(try folder.run(["run", "-f", "p.json"]).lines.count == 3)
    #expect(try folder.run(["any", "{", "require", "a", "--nonempty", "}", "{", "require", "b", "}", "in.ndjson"]).lines.count == 3)
    let plan = try folder.run(["plan", "run", "in.ndjson", "then", "any", "{", "require", "a", "}", "{", "limit", "1", "}"])
    #expect(plan.text.contains("any { require a } { limit 1 }"), "\(plan.text)\(plan.err)")
  }

  @Test("the books count a group as one stage, with what its branches made") func books() throws {
    let folder = try Workdir()
    try folder.write("in.ndjson", Self.both)
    let result = try folder.run([
      "run", "in.ndjson", "--report", "r.json", "then", "any", "{", "split", "--on", "phone", "}", "{", "limit", "1", "}",
    ])
    #expect(result.status == 0, "\(result.err)")
    let report = try #require(try JSONSerialization.jsonObject(with: folder.read("r.json")) as? [String: Any])
    let stages = try #require((report["books"] as? [String: Any])?["stages"] as? [[String: Any]])
    #expect(stages.count == 1)
    #expect(stages[0]["input"] as? Int == 2 && stages[0]["made"] as? Int == 3 && stages[0]["dropped"] as? Int == 1)
  }

  @Test("a tee and duplicates within a branch are written") func outputs() throws {
    let folder = try Workdir()
    try folder.write("in.ndjson", "{\"id\":1,\"e\":\"x\"}\n{\"id\":2,\"e\":\"x\"}\n{\"id\":3}\n")
    let result = try folder.run([
      "run", "in.ndjson", "then", "any", "{", "dedupe", "--by", "e", "--duplicates", "d.ndjson", "}", "{", "tee", "t.ndjson", "then",
      "limit", "0", "}",
    ])
    #expect(result.status == 0, "\(result.err)")
    #expect(result.text == "{\"id\":1,\"e\":\"x\"}\n{\"id\":3}\n")
    #expect(try folder.text("t.ndjson").split(separator: "\n").count == 3)
    #expect(try folder.text("d.ndjson").hasPrefix("{\"id\":2,\"e\":\"x\""))
  }
}
