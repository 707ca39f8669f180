import Foundation
import OhanaTestSupport
import Testing

@Suite("Pipeline files") struct PipelineFileTests {
  static let data = ["a.ndjson": "{\"n\":\"b\",\"c\":\"Oslo\"}\n{\"n\":\"a\",\"c\":\"Rome\"}\n{\"n\":\"c\",\"c\":\"Oslo\"}\n"]
  static func with(_ pipeline: String) -> [String: String] { data.merging(["p.json": pipeline]) { $1 } }
  static let full = """
    {
      // JSON5: comments, bare keys, single quotes, trailing commas
      inputs: ['a.ndjson'],
      output: "o.csv",
      options: { memory: "32M", threads: 2, quiet: true, null: ["", "\\\\N"], },
      stages: [ "filter \\"c = 'Oslo'\\"", ["sort", "n:desc"], ],
    }
    """
  static let cases: [ToolCase] = [
    ToolCase("a whole run", with(full), ["run", "-f", "p.json"], out: "", leaves: ["o.csv": "n,c\nc,Oslo\nb,Oslo\n"]),
    ToolCase(
      "the line wins: output", with(full), ["run", "-f", "p.json", "-o", "-", "--to", "ndjson"],
      out: "{\"n\":\"c\",\"c\":\"Oslo\"}\n{\"n\":\"b\",\"c\":\"Oslo\"}\n", leavesNot: ["o.csv"]),
    ToolCase(
      "the line wins: inputs", with(full).merging(["b.ndjson": "{\"n\":\"z\",\"c\":\"Oslo\"}\n"]) { $1 },
      ["run", "--file=p.json", "b.ndjson"], leaves: ["o.csv": "n,c\nz,Oslo\n"]),
    ToolCase(
      "the line wins: stages", with(full), ["run", "-f", "p.json", "-o", "-", "--to", "ndjson", "then", "limit", "1"],
      out: "{\"n\":\"b\",\"c\":\"Oslo\"}\n"),
    ToolCase(
      "an unknown key", with("{inputs:['a.ndjson'],satges:[]}"), ["run", "-f", "p.json"], status: 2, says: ["p.json", "satges", "stages"]),
    ToolCase(
      "an unknown option", with("{inputs:['a.ndjson'],options:{memroy:'1G'}}"), ["run", "-f", "p.json"], status: 2,
      says: ["p.json", "memroy", "--memory"]),
    ToolCase(
      "an unknown stage", with("{inputs:['a.ndjson'],stages:['srot n']}"), ["run", "-f", "p.json"], status: 2,
      says: ["p.json", "srot", "sort"]),
    ToolCase(
      "a quote left open", with("{inputs:['a.ndjson'],stages:['filter \"n']}"), ["run", "-f", "p.json"], status: 2,
      says: ["p.json", "not closed"]),
    ToolCase("no JSON5", with("{inputs:"), ["run", "-f", "p.json"], status: 2, says: ["p.json", "JSON5"]),
    ToolCase(
      "a contact file in its place", ["a.csv": "name,city\nKim,Oslo\n"], ["run", "-f", "a.csv"], status: 2,
      says: ["a.csv:1:1: ", "it does not begin with {", "leave out -f"]),
    ToolCase(
      "a comma left out", with("{\n  inputs: ['a.ndjson']\n  stages: [],\n}"), ["run", "-f", "p.json"], status: 2,
      says: ["p.json:3:3: ", "a comma or a closing bracket is missing"]),
    ToolCase(
      "a text without quotes", with("{inputs: [a.ndjson]}"), ["run", "-f", "p.json"], status: 2,
      says: ["p.json:1:11: ", "a text has no quotes"]),
    ToolCase(
      "something behind it", with("{inputs: ['a.ndjson'], /* , */ stages: [],} {"), ["run", "-f", "p.json"], status: 2,
      says: ["p.json:1:45: ", "something follows the closing }"]),
    ToolCase(
      "a wrong kind", with("{inputs:7}"), ["run", "-f", "p.json"], status: 2,
      says: ["p.json: inputs", "'ohana help pipeline' explains the file"]),
    ToolCase("no such file", data, ["run", "-f", "q.json"], status: 4, says: ["q.json"]),
    ToolCase("no inputs anywhere", with("{stages:['limit 1']}"), ["run", "-f", "p.json"], status: 2, says: ["no input"]),
    ToolCase("-f without a file", data, ["run", "-f"], status: 2, says: ["-f"]),
  ]
  @Test("do what is written", arguments: cases) func given(_ c: ToolCase) throws { try c.check() }

  @Test("the example of its help page is one") func helped() throws {
    let folder = try Workdir()
    let page = try folder.run(["help", "pipeline"]).text
    let example = try #require(page.range(of: #"(?s)\n\{\n.*?\n\}\n"#, options: .regularExpression).map { page[$0] })
    try folder.write("p.json", String(example))
    try folder.write("exports/a.ndjson.gz", "{\"last\":\"b\",\"first\":\"x\",\"email\":\"\\\\N\",\"city\":\"Oslo\"}\n")
    let result = try folder.run(["run", "-f", "p.json", "-o", "o.csv"])
    #expect(result.status == 0, "\(result.err)")
    #expect(try folder.text("o.csv").hasPrefix("last,first,email,city\nb,x,"))
  }
}
