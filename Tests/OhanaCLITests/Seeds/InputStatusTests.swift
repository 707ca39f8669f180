import Foundation
import OhanaTestSupport
import Testing

/// What became of each input, as the run's reports tell it.
@Suite("status of inputs") struct InputStatusTests {
  private struct Report: Decodable {
    struct Input: Decodable {
      var name: String
      var status: String
      var error: String?
    }
    var inputs: [Input]
  }

  /// `name status`, in order; what an error says is looked at too.
  private func statuses(_ folder: Workdir, _ name: String = "report.json") throws -> [String] {
    let inputs = try JSONDecoder().decode(Report.self, from: folder.read(name)).inputs
    for input in inputs {
      #expect((input.status == "error") == (input.error != nil))
      if let error = input.error { #expect(error.hasPrefix(input.name + ":"), "\(error)") }
    }
    return inputs.map { "\($0.name) \($0.status)" }
  }

  private func makeFolder() throws -> Workdir {
    let folder = try Workdir()
    for name in ["a", "b", "c"] { try folder.write("\(name).ndjson", (1...3).map { "{\"id\":\"\(name)\($0)\"}\n" }.joined()) }
    try folder.write("bad.ndjson", "{\"id\":1}\nnonsense\n")
    try folder.write("cut.ndjson.gz", Data([0x1f, 0x8b, 0x08, 0, 0, 0, 0, 0, 0, 3, 1, 2]))
    return folder
  }

  struct Case: Sendable, CustomTestStringConvertible {
    let words: String
    let status: Int32
    let inputs: [String]
    var testDescription: String { words }
  }
  static let cases = [
    Case(words: "a.ndjson b.ndjson", status: 0, inputs: ["a.ndjson loaded", "b.ndjson loaded"]),
    // All of it, or as much as was wanted.
    Case(words: "a.ndjson b.ndjson then limit 1", status: 0, inputs: ["a.ndjson loaded", "b.ndjson loaded"]),
    Case(words: "a.ndjson b.ndjson then sort id", status: 0, inputs: ["a.ndjson loaded", "b.ndjson loaded"]),
    Case(words: "a.ndjson --from", status: 2, inputs: []),
    Case(words: "a.ndjson then filter nothing=1", status: 2, inputs: ["a.ndjson loaded"]),
    // Not there, and so known before anything else is.
    Case(words: "a.ndjson absent.ndjson", status: 4, inputs: ["absent.ndjson error"]),
    Case(words: "bad.ndjson b.ndjson --max-rejects 1", status: 0, inputs: ["bad.ndjson loaded", "b.ndjson loaded"]),
    Case(words: "cut.ndjson.gz b.ndjson --on-bad-chunk skip", status: 3, inputs: ["cut.ndjson.gz error", "b.ndjson loaded"]),
    Case(
      words: "a.ndjson absent.ndjson c.ndjson --on-provider-error skip", status: 4,
      inputs: ["a.ndjson loaded", "c.ndjson loaded", "absent.ndjson error"]),
    Case(
      words: "a.ndjson --from 'cmd: exit 3' --from 'cmd: cat c.ndjson' --on-provider-error skip", status: 4,
      inputs: ["a.ndjson loaded", "cmd: exit 3 error", "cmd: cat c.ndjson loaded"]),
  ]

  @Test("PROV O-21: the report has the status of each input, of finished, failed and incomplete runs", arguments: cases)
  func report(_ item: Case) throws {
    for threads in [1, 2, 8] {
      let folder = try makeFolder()
      let words = item.words.contains(" then ") ? item.words.replacing(" then ", with: " OPTIONS then ") : item.words + " OPTIONS"
      let line = words.replacing("OPTIONS", with: "-o out.ndjson --report report.json --threads \(threads)")
      let result = try folder.run([], shell: "\"$OHANA\" run \(line)")
      #expect(result.status == item.status, "\(result.err)")
      // A line that cannot be understood is no run.
      if item.inputs.isEmpty { #expect(!folder.exists("report.json")) } else { #expect(try statuses(folder) == item.inputs) }
    }
  }

  @Test("PROV O-21: an input to blame is in error, what was read before is loaded, and what nobody began with is initialized") func failed()
    throws
  {
    for threads in ["1", "2", "8"] {
      let folder = try makeFolder()
      let result = try folder.run(
        [
          "run", "a.ndjson", "--from", "cmd: cat bad.ndjson", "--from", "cmd: cat a.ndjson", "--report", "report.json", "--threads",
          threads,
        ])
      #expect(result.status == 3)
      let told = try statuses(folder)
      #expect(told.prefix(2) == ["a.ndjson loaded", "cmd: cat bad.ndjson error"] && told.count == 3, "\(told)")
      // The reader may be ahead of what went wrong.
      #expect(["initialized", "cancelled", "loaded"].contains { told.last == "cmd: cat a.ndjson \($0)" }, "\(told)")
    }
  }

  @Test("PROV O-21: Markdown and HTML have the status beside each input's books") func forPeople() throws {
    let folder = try makeFolder()
    let words = ["run", "a.ndjson", "absent.ndjson", "-o", "out.ndjson", "--overwrite", "--on-provider-error", "skip", "--report"]
    #expect(try folder.run(words + ["r.md"]).status == 4)
    #expect(try folder.text("r.md").contains("| a.ndjson | loaded | 3 | 3 |"))
    #expect(try folder.text("r.md").contains("| absent.ndjson | error | – |"))
    #expect(try folder.run(words + ["r.html"]).status == 4)
    #expect(try folder.text("r.html").contains("<th scope=\"row\">a.ndjson</th><td>loaded</td><td>3</td>"))
    #expect(try folder.text("r.html").contains("<th scope=\"row\">absent.ndjson</th><td>error</td>"))
  }
}
