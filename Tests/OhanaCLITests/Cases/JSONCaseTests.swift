import Foundation
import OhanaTestSupport
import Testing

/// Faults that users met in other readers of JSON, as the tool shows them to have been avoided.
@Suite("JSON cases") struct JSONCaseTests {
  static let big =
    "{\"id\":125550100000000013,\"n\":\"a\"}\n{\"id\":9007199254740993,\"n\":\"b\"}\n{\"id\":-9223372036854775808,\"n\":\"c\"}\n"
  static let duplicate =
    "{\"id\":1,\"email\":\"old@x\",\"email\":\"kim@x\"}\n{\"id\":2,\"email\":\"lee@x\"}\n{\"bad\",\"line\"}\n{\"id\":3,\"email\":\"max@x\"}\n"
  static let cases: [ToolCase] = [
    ToolCase("json-001: long integers keep their digits", ["a.ndjson": big], ["filter", "n IS NOT NULL", "a.ndjson"], out: big),
    ToolCase(
      "json-001: in CSV too", ["a.ndjson": big], ["convert", "a.ndjson", "--to", "csv"],
      out: "id,n\n125550100000000013,a\n9007199254740993,b\n-9223372036854775808,c\n"),
    ToolCase(
      "json-002: ids that are one as doubles are three",
      ["a.ndjson": "{\"id\":70000000055501001}\n{\"id\":70000000055501002}\n{\"id\":70000000055501003}\n"],
      ["dedupe", "--by", "id", "a.ndjson"], out: "{\"id\":70000000055501001}\n{\"id\":70000000055501002}\n{\"id\":70000000055501003}\n"),
    ToolCase(
      "json-004: an unsigned 64-bit id equals its text",
      [
        "a.ndjson":
          "{\"id\":18446744073709551615,\"s\":\"18446744073709551615\"}\n{\"id\":13835058055282163713,\"s\":\"13835058055282163714\"}\n"
      ],
      ["filter", "CAST(id AS TEXT) = s", "a.ndjson"], out: "{\"id\":18446744073709551615,\"s\":\"18446744073709551615\"}\n"),
    ToolCase(
      "json-005: half a surrogate pair is refused", ["a.ndjson": "{\"n\":\"ok\"}\n{\"n\":\"x\\udc00y\"}\n{\"n\":\"end\"}\n"],
      ["convert", "a.ndjson", "--to", "csv"],
      status: 3, error: "a.ndjson:2:8: half of a surrogate pair stands alone" + overBudget),
    ToolCase(
      "json-005: its neighbours are unharmed", ["a.ndjson": "{\"n\":\"ok\"}\n{\"n\":\"x\\udc00y\"}\n{\"n\":\"end\"}\n"],
      ["convert", "a.ndjson", "--to", "csv", "--max-rejects", "1"], out: "n\nok\nend\n"),
    ToolCase(
      "json-007: a pair is one character, escaped or not", ["a.ndjson": "{\"n\":\"\\ud83d\\udd25 Kim\"}\n{\"n\":\"🔥 Kim\"}\n"],
      ["dedupe", "--by", "n", "a.ndjson"], out: "{\"n\":\"\\ud83d\\udd25 Kim\"}\n"),
    ToolCase(
      "json-008: a repeated key's last value counts", ["a.ndjson": duplicate], ["keep", "id,email", "a.ndjson", "--max-rejects", "1"],
      out: "{\"id\":1,\"email\":\"kim@x\"}\n{\"id\":2,\"email\":\"lee@x\"}\n{\"id\":3,\"email\":\"max@x\"}\n", says: ["rejected: 1 record"]),
    ToolCase(
      "json-008: a record that repeats a used key is written anew, key once",
      ["a.ndjson": "{\"e\":\"old\", \"id\":1,\"e\":\"new\"}\n{\"e\":\"x\", \"id\":2}\n"],
      ["filter", "e <> 'old'", "a.ndjson"], out: "{\"e\":\"new\",\"id\":1}\n{\"e\":\"x\", \"id\":2}\n"),
    ToolCase(
      "json-010: only LF ends a record", ["a.ndjson": "{\"n\":\"a\u{85}b\\u000b\"}\n{\"n\":\"c\"}\n"],
      ["convert", "a.ndjson", "--to", "ndjson"],
      out: "{\"n\":\"a\u{85}b\\u000b\"}\n{\"n\":\"c\"}\n"),
    ToolCase(
      "json-011: U+2028 and U+2029 are text", ["a.ndjson": "{\"n\":\"Kim\u{2028}Alder\",\"p\":\"x\u{2029}y\"}\n{\"n\":\"Lee\"}\n"],
      ["convert", "a.ndjson", "--to", "csv"], out: "n,p\nKim\u{2028}Alder,x\u{2029}y\nLee,\n"),
    ToolCase(
      "json-013: blank lines, white space too", ["a.ndjson": "{\"n\":1}\n\n \t\r\n{\"n\":2}\n\n\n"], ["count", "a.ndjson"], out: "2\n"),
    ToolCase(
      "json-014: CRLF ends a record, and is kept inside a string",
      ["a.ndjson": "{\"n\":\"a\",\"t\":\"x\\r\\n\"}\r\n{\"n\":\"b\",\"t\":\"y\"}\r\n"],
      ["sort", "n:desc", "a.ndjson"], out: "{\"n\":\"b\",\"t\":\"y\"}\n{\"n\":\"a\",\"t\":\"x\\r\\n\"}\n"),
    ToolCase(
      "json-017: NaN and Infinity are no JSON, used or not",
      ["a.ndjson": "{\"n\":\"a\",\"age\":NaN}\n{\"n\":\"b\",\"age\":-Infinity}\n{\"n\":\"c\",\"age\":7}\n"],
      ["keep", "n", "a.ndjson", "--max-rejects", "2"], out: "{\"n\":\"c\"}\n", says: ["rejected: 2 records (2 invalid-json)"]),
    ToolCase(
      "json-019: one array of objects", ["a.json": "[{\"n\":\"a\"},\n {\"n\":\"b\"}]\n"], ["convert", "a.json", "--to", "ndjson"],
      out: "{\"n\":\"a\"}\n{\"n\":\"b\"}\n"),
    ToolCase(
      "json-019: objects spread over lines", ["a.json": "{\n  \"n\": \"a\"\n}\n{\n  \"n\": \"b\"\n}\n"],
      ["keep", "n", "a.json", "--to", "ndjson"],
      out: "{\"n\":\"a\"}\n{\"n\":\"b\"}\n"),
    ToolCase(
      "json-020: a byte order mark is skipped", bytes: ["a.ndjson": [0xef, 0xbb, 0xbf] + Array("{\"n\":\"a\"}\n{\"n\":\"b\"}\n".utf8)],
      ["convert", "a.ndjson", "--to", "ndjson"],
      out: "{\"n\":\"a\"}\n{\"n\":\"b\"}\n"),
  ]

  @Test("give what is written", arguments: cases) func given(_ c: ToolCase) throws { try c.check() }

  @Test("json-016: nesting from outside crashes nothing", arguments: [100_000, 10_000])
  func deep(levels: Int) throws {
    let folder = try Workdir()
    let arrays = "{\"n\":" + String(repeating: "[", count: levels) + String(repeating: "]", count: levels) + "}"
    let objects = "{\"n\":" + String(repeating: "{\"a\":", count: levels) + "1" + String(repeating: "}", count: levels) + "}"
    try folder.write("deep.ndjson", [arrays, "{\"n\":\"Kim\"}", objects].joined(separator: "\n") + "\n")
    for chain in [["convert"], ["keep", "n"], ["distinct"], ["sort", "n"], ["dedupe", "--by", "n"]] {
      let going = try folder.run(chain + ["deep.ndjson", "--to", "ndjson", "--max-rejects", "2"])
      #expect(going.status == 0, "\(going.err)")
      #expect(going.text == "{\"n\":\"Kim\"}\n")
      #expect(going.err.contains("rejected: 2 records (2 nesting-too-deep)"))
      let strict = try folder.run(chain + ["deep.ndjson", "--to", "ndjson"])
      #expect(strict.status == 3)
      #expect(strict.err.contains("ohana: deep.ndjson:1:") && strict.err.contains("nested too deep"))
    }
  }

  @Test("nesting of 1,024 is read, one more is not") func nestingLimit() throws {
    let folder = try Workdir()
    func record(_ levels: Int) -> String {
      "{\"n\":" + String(repeating: "[", count: levels - 1) + String(repeating: "]", count: levels - 1) + "}\n"
    }
    try folder.write("a.ndjson", record(1024))
    try folder.write("b.ndjson", record(1025))
    #expect(try folder.run(["convert", "a.ndjson", "--to", "ndjson"]).text == record(1024))
    #expect(try folder.run(["convert", "b.ndjson", "--to", "ndjson"]).status == 3)
  }
}
