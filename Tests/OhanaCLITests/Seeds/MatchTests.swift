import Foundation
import OhanaTestSupport
import Testing

@Suite("match: rows O-90 to O-95") struct MatchTests {
  static let input = """
    {"id":"W","full_name":"Test Contact","fields":[{"type":"phone","value":"+1 (555) 123-4567"}]}
    {"id":"X","full_name":"Another Test Contact"}
    {"id":"Y","full_name":"Third Test Contact","first":"contact"}
    {"id":"Z","first":"contact","fields":[{"type":"email","value":"low-test@example.org"},{"type":"email","value":"high-test@example.org"}]}

    """

  @Test(
    "O-90 FUZZY: the characters in order, in any case, in the full name or a field",
    arguments: [
      ("contact", ["W", "X", "Y"]), ("5551357", ["W"]), ("CNT", ["W", "X", "Y"]), ("high", ["Z"]), ("(", ["W"]), ("zzz", []),
    ] as [(String, [String])])
  func matches(query: String, ids: [String]) throws {
    try Conformance.expect(Self.input, ["match", query], gives: ids)
  }

  @Test("O-91: an empty query is a usage error") func empty() throws {
    let folder = try Workdir()
    try folder.write("in.ndjson", Self.input)
    for words in [["match", ""], ["match"], ["match", "a", "b"], ["match", "a", "--top", "x"]] {
      #expect(try folder.run(["run", "in.ndjson", "then"] + words).status == 2, "\(words)")
    }
    try folder.write("in.csv", "id,name\n1,Test\n")
    #expect(try folder.run(["match", "t", "in.csv"]).status == 2)
    #expect(try folder.run(["match", "t", "--in", "name", "in.csv"]).text == "id,name\n1,Test\n")
  }

  @Test("O-94: characters mean themselves") func literal() throws {
    let input = "{\"id\":\"1\",\"full_name\":\"axb\"}\n{\"id\":\"2\",\"full_name\":\"a.b\"}\n{\"id\":\"3\",\"full_name\":\"a [x] .b\"}\n"
    try Conformance.expect(input, ["match", "a.b"], gives: ["2", "3"])
    try Conformance.expect(input, ["match", "[x"], gives: ["3"])
  }

  @Test("O-90: a line break stops a match; accents and case do not depend on how they are composed") func text() throws {
    let input = """
      {"id":"1","full_name":"con\\ntact"}
      {"id":"2","full_name":"x\\ncontact"}
      {"id":"3","full_name":"con\\u2028tact"}
      {"id":"4","full_name":"Éva Stra\\u00dfe"}
      {"id":"5","full_name":"e\\u0301va strasse"}

      """
    try Conformance.expect(input, ["match", "contact"], gives: ["2"])
    try Conformance.expect(input, ["match", "évs"], gives: ["4", "5"])
    try Conformance.expect(input, ["match", "STRASSE"], gives: ["4", "5"])
  }

  @Test("O-93: the best first, ties in order, no more than asked for") func scores() throws {
    let input =
      "{\"id\":\"1\",\"n\":\"x t e s t\"}\n{\"id\":\"2\",\"n\":\"test\"}\n{\"id\":\"3\",\"n\":\"zztezzst\"}\n{\"id\":\"4\",\"n\":\"test\"}\n{\"id\":\"5\",\"n\":\"no\"}\n"
    try Conformance.expect(input, ["match", "test", "--in", "n", "--score", "score"], gives: ["1", "2", "4", "3"])
    try Conformance.expect(input, ["match", "test", "--in", "n", "--top", "2"], gives: ["1", "2"])
    try Conformance.expect(
      input, ["match", "st", "--in", "n", "--score", "s", "--top", "1"], gives: "{\"id\":\"1\",\"n\":\"x t e s t\",\"s\":47}\n")
  }
}
