import Foundation
import OhanaCore
import OhanaFormats
import OhanaTestSupport
import Testing

@Suite("JSON arrays and spread objects") struct NDJSONUnfolderTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let rule: String
    let text: String
    /// 1-based line and text
    var records: [String] = []
    /// reason, 1-based line, byte column
    var rejects: [String] = []
    var testDescription: String { rule }
  }
  static let cases = [
    Case(rule: "one array of objects", text: "[{\"n\":\"a\"},\n {\"n\":\"b\"}]\n", records: [#"1 {"n":"a"}"#, #"2 {"n":"b"}"#]),
    Case(
      rule: "on one line, without a line end", text: #"[{"n":"a"},{"n":[1, {"m":2}]}]"#,
      records: [#"1 {"n":"a"}"#, #"1 {"n":[1, {"m":2}]}"#]),
    Case(rule: "an empty array", text: " [ \n] \n"),
    Case(
      rule: "indented", text: "\u{feff}[\r\n  {\r\n    \"n\": \"a b\"\r\n  },\r\n  {\r\n    \"n\": \"]}\\\"\"\r\n  }\r\n]\r\n",
      records: [#"2 {"n":"a b"}"#, #"5 {"n":"]}\""}"#]),
    Case(
      rule: "objects spread over lines", text: "{\n  \"n\": \"a\"\n}\n{\n  \"n\": \"b\"\n}\n", records: [#"1 {"n":"a"}"#, #"4 {"n":"b"}"#]),
    Case(rule: "one of them, cut off", text: "{\n \"n\": \"a\"\n}\n{\n \"n\": 1", records: [#"1 {"n":"a"}"#], rejects: ["invalidJSON 5 8"]),
    Case(
      rule: "an element that JSON forbids costs no other, and is placed where it stands",
      text: "[\n  {\n    \"n\": 1\n  },\n  {\n    \"n\": 01\n  },\n  {\n    \"n\": 2\n  }\n]", records: [#"2 {"n":1}"#, #"8 {"n":2}"#],
      rejects: ["invalidJSON 6 11"]),
    Case(
      rule: "a string without an end costs its record, up to the next that begins as records do",
      text: "[\n  {\n    \"n\": \"x\n  },\n  {\n    \"n\": [\n      {}\n    ]\n  }\n]", records: [#"5 {"n":[{}]}"#],
      rejects: ["invalidJSON 3 12"]),
    Case(
      rule: "brackets that do not match too", text: "{\n\"n\":1}\n{\n  \"n\": [1}\n}\n{\n  \"n\": 2\n}\n",
      records: [#"1 {"n":1}"#, #"6 {"n":2}"#], rejects: ["invalidJSON 4 10"]),
    Case(
      rule: "elements that are no objects", text: "[{}, 5, \"x,]\", [1,2], null, {\"a\":1}]", records: ["1 {}", #"1 {"a":1}"#],
      rejects: ["notAnObject 1 6", "notAnObject 1 9", "notAnObject 1 16", "notAnObject 1 23"]),
    Case(rule: "a comma too much", text: "[{},]", records: ["1 {}"], rejects: ["invalidJSON 1 5"]),
    Case(rule: "two commas", text: "[{},,{}]", records: ["1 {}", "1 {}"], rejects: ["invalidJSON 1 5"]),
    Case(rule: "a comma too few", text: "[{}\n{\"a\":1},{}]", records: ["1 {}", "2 {}"], rejects: ["invalidJSON 2 1"]),
    Case(rule: "no closing bracket", text: "[{},\n{}\n", records: ["1 {}", "2 {}"], rejects: ["invalidJSON 3 1"]),
    Case(rule: "text behind the array", text: "[{}]\n[{}]\n\nx\n", records: ["1 {}"], rejects: ["invalidJSON 2 1", "invalidJSON 4 1"]),
    Case(rule: "text between objects", text: "{\n\"a\":1},\n{}\n", records: [#"1 {"a":1}"#, "3 {}"], rejects: ["invalidJSON 2 7"]),
    Case(
      rule: "bad UTF-8 and lone surrogates", text: "[\n{\"a\":\"\\ud800\"},\n{\"a\":\"\u{e9}\"}]", records: ["3 {\"a\":\"\u{e9}\"}"],
      rejects: ["loneSurrogate 2 7"]),
    Case(
      rule: "nesting over 1,024",
      text: "[{\"a\":" + String(repeating: "[", count: 5_000) + String(repeating: "]", count: 5_000) + "},\n{}]", records: ["2 {}"],
      rejects: ["tooDeep 1 1030"]),
    Case(
      rule: "what stood in one line keeps its spelling", text: "[ {\"a\" : 1.0},{\"a\":\"x\\\\\"} ]",
      records: ["1 {\"a\" : 1.0}", "1 {\"a\":\"x\\\\\"}"]),
    Case(
      rule: "a line end behind a backslash", text: "[{\"a\":\"x\\\n\"},\n{\"a\":1}]",
      records: ["3 {\"a\":1}"], rejects: ["invalidJSON 1 10"]
    ),
    Case(
      rule: "faults in one line", text: "[{\"a\":1},{\"a\":01},{\"a\":2}, {\"a\":[1}},\n{\"a\":3}]",
      records: ["1 {\"a\":1}", "1 {\"a\":2}", "2 {\"a\":3}"], rejects: ["invalidJSON 1 16", "invalidJSON 1 35"]),
    // These are lines all the same.
    Case(
      rule: "an array of no objects is lines", text: "[1]\n{}\n[2]\n", records: ["2 {}"], rejects: ["notAnObject 1 1", "notAnObject 3 1"]),
    Case(
      rule: "a first line cut off is one reject", text: "{\"a\":1,\n{\"a\":2}\n{\"a\":3}\n", records: [#"2 {"a":2}"#, #"3 {"a":3}"#],
      rejects: ["invalidJSON 1 8"]),
    Case(
      rule: "so is one cut off behind a colon", text: "{\"a\":\n{\"a\":2}\n{\"a\":3}\n", records: [#"2 {"a":2}"#, #"3 {"a":3}"#],
      rejects: ["invalidJSON 1 6"]),
  ]

  @Test("reads", arguments: cases) func reads(_ c: Case) throws {
    for batchBytes in [1, 20, 1 << 20] {
      for pieces in [[], [1], [3, 7]] {
        var reading = Reading(names: ["a"], batchBytes: batchBytes, pieces: pieces)
        reading.wantsMembers = true
        let result = try reading.read(Array(c.text.utf8))
        #expect(result.records.map { "\($0.line + 1) \($0.text)" } == c.records)
        #expect(result.rejects.map { "\($0.reason) \($0.line + 1) \($0.column)" } == c.rejects)
        if result.records.count + result.rejects.count > 0, pieces.isEmpty {
          // Line ends behind the last record need not be counted.
          #expect(c.text.utf8.count { $0 == 0x0a } - result.lines <= 3)
        }
      }
    }
  }

  @Test("rejects hold the source's own text and place") func rawText() throws {
    let text = "[\n  { \"a\": 1 },\n  {\n    \"a\": x\n  },\n  { \"a\": \"\n  } ,\n  {}\n]"
    for batchBytes in [1, 1 << 20] {
      let result = try Reading(batchBytes: batchBytes).read(Array(text.utf8))
      #expect(result.rejects.map { String(decoding: $0.raw ?? [], as: UTF8.self) } == ["{\n    \"a\": x\n  }", "{ \"a\": \"\n  } ,"])
      #expect(result.rejects.map(\.offset) == [18, 38])
      #expect(result.rejects.map(\.ordinal) == [1, 1])
      #expect(result.records.map(\.text) == [#"{ "a": 1 }"#, "{}"])
    }
  }

  @Test("records over the limit are not held", arguments: [1, 1 << 20]) func tooLong(batchBytes: Int) throws {
    let long = "{\"a\": \"" + String(repeating: "x", count: 300_000) + "\"}"
    let result = try Reading(batchBytes: batchBytes, maxRecordBytes: 1_000).read(Array("[{\"a\":1},\n\(long),\n{\"a\":2}]".utf8))
    #expect(result.records.map(\.text) == [#"{"a":1}"#, #"{"a":2}"#])
    #expect(result.rejects.map { "\($0.reason) \($0.line) \($0.offset) \($0.length)" } == ["tooLong 1 10 300009"])
    #expect(result.rejects[0].raw == nil)
  }

  @Test("a broken stream cuts no record out of its rest") func broken() throws {
    let failure = OhanaError(.badInput, "broken", "broken")
    var records = 0
    #expect(throws: failure) {
      _ = try Reading().read(Array("[{\"a\":1},\n{\"a\":2},{\"a\"".utf8), failure: failure) { records += $0.recordCount + $0.rejects.count }
    }
    #expect(records == 2)
    let stream = FaultRecordingStream(ChoppedStream(Array("[{\"a\":1},\n{\"a\":2},{\"a\"".utf8), failure: failure))
    let framer = NDJSONFramer(stream)
    let batch = RecordBatch()
    #expect(try framer.next(into: batch))
    _ = try NDJSONParser(fields: []).process(batch)
    #expect(batch.recordCount == 2 && batch.rejects.isEmpty)
    batch.recycle(limit: 0)
    #expect(try !framer.next(into: batch))
  }

  @Test("random records come out of an array, indented or not, as out of lines", arguments: 0..<60 as Range<UInt64>)
  func equalsLines(seed: UInt64) throws {
    var maker = JSONMaker(seed: seed)
    maker.repeatsNestedKeys = false
    let models = (0..<30).map { _ in maker.record(repeating: 0).resolved }
    let lines = models.map { maker.spell($0) }
    let asLines = try Reading(names: ["email", "tags"], wantsMembers: true).read(Array(lines.joined(separator: "\n").utf8))
    #expect(asLines.records.count == 30)
    let objects = try JSONSerialization.jsonObject(with: Data("[\(lines.joined(separator: ","))]".utf8))
    // Foundation rewrites numbers, so only the texts made here are compared byte for byte.
    let array = "[" + lines.map { maker.gap() + "\n" + maker.gap() + $0 }.joined(separator: ",") + "\n]"
    let pretty = try JSONSerialization.data(withJSONObject: objects, options: .prettyPrinted)
    for (index, text) in [Array(array.utf8), Array(pretty)].enumerated() {
      let reading = Reading(
        names: ["email", "tags"], batchBytes: Int.random(in: 1...2_000, using: &maker.generator),
        pieces: (0..<4).map { _ in Int.random(in: 1...300, using: &maker.generator) }, wantsMembers: true)
      let result = try reading.read(text)
      #expect(result.rejects.isEmpty)
      try #require(result.records.count == 30)
      for (found, wanted) in zip(result.records, asLines.records) {
        #expect(Set(found.members.keys) == Set(wanted.members.keys))
        #expect(found.fields[0].kind == wanted.fields[0].kind)
        guard index == 0 else { continue }
        #expect(found.fields[0].text == (wanted.fields[0].kind == .string ? wanted.fields[0].text : found.fields[0].text))
        #expect(!found.text.contains("\n"))
      }
    }
  }

  @Test("any batch size and any split of a damaged input give the same", arguments: 0..<80 as Range<UInt64>) func splits(seed: UInt64)
    throws
  {
    var maker = JSONMaker(seed: seed)
    let isArray = maker.chance(60)
    let space = maker.chance(50) ? "\n" : ""
    var text = Array((isArray ? "[" : "{\n\"first\":1}\n").utf8)
    for index in 0..<20 {
      var line = maker.spell(maker.record())
      if maker.chance(40) { line = line.replacingOccurrences(of: ":", with: ":\n") }
      text += Array(((index > 0 && isArray ? "," : "") + space + line).utf8)
    }
    if isArray { text.append(0x5d) }
    for _ in 0..<Int.random(in: 0...6, using: &maker.generator) {
      let at = Int.random(in: 12..<text.count, using: &maker.generator)
      text[at] = Array("\"{}[],\\\n x".utf8).randomElement(using: &maker.generator)!
    }
    var whole = try Reading(names: ["email", "address.city"]).read(text)
    whole.batches = 0
    // Line ends behind the last record or reject may or may not be counted with a batch.
    whole.lines = 0
    for batchBytes in [1, 50, 700] {
      let pieces = (0..<3).map { _ in Int.random(in: 1...(batchBytes + 30), using: &maker.generator) }
      var result = try Reading(names: ["email", "address.city"], batchBytes: batchBytes, pieces: pieces).read(text)
      result.batches = 0
      result.lines = 0
      #expect(result == whole)
    }
    #expect(whole.records.count + whole.rejects.count > 1)
  }
}
