import Foundation
import OhanaTestSupport
import Testing

@Suite("What a run tells") struct TellingTests {
  private func workdir() throws -> Workdir {
    let workdir = try Workdir()
    #expect(try workdir.run(["generate", "--rows", "3000", "-o", "in.ndjson"]).status == 0)
    return workdir
  }

  @Test("K-10 K-13: --trace is Chrome's trace JSON, with spans of every stage and of every change of the state, and no value of a record")
  func trace() throws {
    let workdir = try workdir()
    let result = try workdir.run(
      ["run", "in.ndjson", "-o", "out.ndjson", "--trace", "trace.json", "then", "filter", "email LIKE '%a%'", "then", "sort", "last"])
    #expect(result.status == 0, "\(result.err)")
    let events = try #require(try JSONSerialization.jsonObject(with: workdir.read("trace.json")) as? [[String: Any]])
    let spans = events.filter { $0["ph"] as? String == "X" }
    let names = Set(spans.compactMap { $0["name"] as? String })
    #expect(names.isSuperset(of: ["read", "filter", "sort"]), "\(names)")
    let changes = spans.filter { $0["cat"] as? String == "dispatch" }.compactMap { $0["name"] as? String }
    let course = ["RunActions.Begin", "RunActions.Finish", "PublishActions.Committing", "PublishActions.Published", "RunActions.End"]
    #expect(changes.filter(course.contains) == course, "\(changes)")
    for span in spans { #expect((span["dur"] as? Double ?? -1) >= 0 && (span["ts"] as? Double ?? -1) >= 0 && span["tid"] is Int) }
    #expect(try !workdir.text("trace.json").contains("@") && !workdir.text("trace.json").contains("LIKE"))
  }

  @Test("a trace replaces no input and no output") func traceIsChecked() throws {
    let workdir = try workdir()
    let before = try workdir.read("in.ndjson")
    for path in ["in.ndjson", "out.ndjson"] {
      let result = try workdir.run(["run", "in.ndjson", "-o", "out.ndjson", "--trace", path, "--overwrite"])
      #expect(result.status == 2, "\(result.err)")
    }
    #expect(try workdir.read("in.ndjson") == before)
    #expect(workdir.names == ["in.ndjson", "tmp"])
  }

  @Test("--log-format json writes an object a line: notes, summary, errors") func messages() throws {
    let workdir = try workdir()
    try workdir.write("empty.ndjson", "")
    let good = try workdir.run(["run", "empty.ndjson", "in.ndjson", "-o", "out.ndjson", "--log-format", "json"])
    let bad = try workdir.run(["run", "in.ndjson", "-o", "out.ndjson", "--overwrite", "--log-format", "json", "--min-records", "9999"])
    #expect(good.status == 0 && bad.status == 8)
    func events(_ text: String) throws -> [[String: Any]] {
      try text.split(separator: "\n").map { try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any]) }
    }
    let told = try events(good.err)
    #expect(told.compactMap { $0["event"] as? String } == ["note", "summary"])
    #expect((told.last?["books"] as? [String: Any])?["written"] as? Int == 3000)
    let error = try #require(try events(bad.err).first)
    #expect(error["event"] as? String == "error" && error["code"] as? String == "min-records" && error["exit"] as? Int == 8)
  }

  @Test("--report tells its form by the name, and is written for a failed run too", arguments: ["json", "md", "html", "prom"])
  func reports(ending: String) throws {
    let workdir = try workdir()
    let good = try workdir.run(["run", "in.ndjson", "-o", "out.ndjson", "--report", "good.\(ending)"])
    let bad = try workdir.run(["run", "in.ndjson", "-o", "other.ndjson", "--report", "bad.\(ending)", "--min-records", "9999"])
    #expect(good.status == 0 && bad.status == 8)
    #expect(try workdir.text("good.\(ending)").contains(ending == "json" || ending == "prom" ? "3000" : "3,000"))
    #expect(try workdir.text("bad.\(ending)").contains(ending == "prom" ? "ohana_run_exit_status 8" : "min-records"))
    #expect(!workdir.exists("other.ndjson"))
  }

  @Test("SIGUSR1 shows how far it is, and the run goes on") func showsProgress() throws {
    let workdir = try workdir()
    let script = """
      (sleep 0.7; cat in.ndjson) | $OHANA run - --from ndjson -o out.ndjson & run=$!
      sleep 0.4; kill -USR1 $run; wait $run; echo "exit $?"
      """
    let result = try workdir.run([], shell: script)
    #expect(result.text == "exit 0\n" && result.err.contains("records/s"), "\(result.err)")
  }
}
