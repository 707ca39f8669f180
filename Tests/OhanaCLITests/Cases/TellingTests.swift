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

  @Test(
    "S-18: --trace-signals tells of each signal that fires and who observes it, as text or JSON, and of no value", arguments: [true, false])
  func traceSignals(json: Bool) throws {
    let workdir = try workdir()
    try workdir.write("bad.ndjson", "{\"name\":\"Secret\"}\n{\"name\":\"Secret\n")
    let format = json ? ["--log-format", "json"] : []
    let names = ["reject", "chunk done", "spill", "published"]
    let good = try workdir.run(
      ["run", "in.ndjson", "bad.ndjson", "-o", "out.ndjson", "--max-rejects", "1", "--trace-signals", "-q"] + format + [
        "then", "sort", "last",
      ],
      environment: ["OHANA_STAGE_BYTES": "20000"])
    let failed = try workdir.run(
      ["run", "in.ndjson", "bad.ndjson", "-o", "out.ndjson", "--overwrite", "--trace-signals", "-q"] + format)
    #expect(good.status == 0 && failed.status == 3, "\(good.err) \(failed.err)")
    func signals(_ text: String) throws -> [String] {
      try text.split(separator: "\n").compactMap { line in
        if json {
          let object = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
          guard object["event"] as? String == "signal" else { return nil }
          #expect(object["observers"] as? [String] == ["SignalTrace"] && object["detail"] is String, "\(line)")
          return object["signal"] as? String
        }
        guard let match = line.wholeMatch(of: /signal: ([^(]+) \(.+\) to 1 observer: SignalTrace/) else { return nil }
        return String(match.output.1)
      }
    }
    let seen = try signals(good.err)
    for name in names { #expect(seen.contains(name), "\(name) is missing: \(good.err)") }
    #expect(seen.filter { $0 == "chunk done" }.count == 2 && seen.filter { $0 == "published" }.count == 1)
    #expect(try signals(failed.err).contains("failed") && !signals(failed.err).contains("published"))
    #expect(!good.err.contains("Secret") && !failed.err.contains("Secret"))
    let silent = try workdir.run(["run", "in.ndjson", "-o", "out.ndjson", "--overwrite", "-q"])
    #expect(silent.err.isEmpty)
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

  @Test("a report that cannot be written is told of, also where the run has failed already") func unwritableReport() throws {
    let workdir = try workdir()
    let good = try workdir.run([], shell: "ln -s /dev/full r.json; $OHANA run in.ndjson -o out.ndjson --report r.json")
    #expect(good.status == 4 && good.err.contains("r.json"), "\(good.err)")
    let bad = try workdir.run(["run", "in.ndjson", "-o", "other.ndjson", "--report", "r.json", "--min-records", "9999"])
    #expect(bad.status == 8 && bad.err.contains("not written either: ") && bad.err.contains("r.json"), "\(bad.err)")
  }

  @Test("the JSON report of a failed run has its inputs and stages, and one exit status") func failedReport() throws {
    let workdir = try workdir()
    try workdir.write("bad.ndjson", "{bad\n")
    let stages = ["then", "filter", "email LIKE '%'", "then", "sort", "last"]
    let result = try workdir.run(["run", "in.ndjson", "bad.ndjson", "-o", "out.ndjson", "--report", "report.json"] + stages)
    #expect(result.status == 3)
    let report = try #require(try JSONSerialization.jsonObject(with: workdir.read("report.json")) as? [String: Any])
    #expect(report["exit"] as? Int == 3 && (report["failure"] as? [String: Any])?.keys.sorted() == ["code", "message"])
    #expect(report["interruption"] == nil)
    let books = try #require(report["books"] as? [String: Any])
    let inputs = try #require(books["inputs"] as? [[String: Any]])
    #expect(inputs.compactMap { $0["name"] as? String } == ["in.ndjson", "bad.ndjson"])
    #expect(inputs.compactMap { $0["dropped"] as? Int } == [0, 0], "what the sort held is not dropped")
    #expect(inputs.compactMap { $0["read"] as? Int } == [3000, 1] && inputs.compactMap { $0["rejected"] as? Int } == [0, 1])
    #expect(books["read"] as? Int == 3001 && books["rejected"] as? Int == 1)
    let told = try #require(books["stages"] as? [[String: Any]])
    #expect(told.compactMap { $0["text"] as? String } == ["filter email LIKE '%'", "sort last"])
  }

  @Test("progress counts the records read, and behind a sort those that have gone on", arguments: [["sort", "last"], ["reverse"]])
  func progressBehindTheEnd(stage: [String]) throws {
    let workdir = try workdir()
    // The reader of the output takes a part of it, and the rest when that has been told.
    let script = """
      mkfifo out
      $OHANA run in.ndjson -o out --to ndjson --memory 16M --progress always --log-format json then \(stage.joined(separator: " ")) 2>log & run=$!
      exec 3<out; head -c 400000 <&3 >part; until grep -q toPass log || ! kill -0 $run; do sleep 0.02; done; cat part - <&3 | wc -l; wait $run
      """
    let result = try workdir.run([], shell: script)
    #expect(result.status == 0 && result.text == "3000\n", "\(result.err)")
    let events = try workdir.text("log").split(separator: "\n").compactMap {
      try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any]
    }.filter { $0["event"] as? String == "progress" }
    for event in events {
      #expect(event["records"] as? Int ?? -1 <= 3000 && (0...100).contains(event["percent"] as? Int ?? 0), "\(event)")
      #expect(event["passed"] as? Int ?? 0 <= event["toPass"] as? Int ?? 0, "\(event)")
    }
    let last = try #require(events.last)
    #expect(last["records"] as? Int == 3000 && last["stage"] as? String == stage[0] && last["toPass"] as? Int == 3000, "\(last)")
  }

  @Test("the progress line stays on one line of the terminal, however wide that is", arguments: [20, 40, 200])
  func progressFits(columns: Int) throws {
    let workdir = try workdir()
    let script = """
      mkfifo in; : > typescript
      script -qefc "stty cols \(columns); \"$OHANA\" run in --from ndjson -o out.ndjson then sort last" typescript >/dev/null & run=$!
      exec 3>in; cat in.ndjson >&3; until grep -Eq 'KiB|MiB|bytes' typescript || ! kill -0 $run; do sleep 0.02; done; exec 3>&-; wait $run
      """
    let result = try workdir.run([], shell: script)
    #expect(result.status == 0, "\(result.err)")
    let lines = try workdir.text("typescript").components(separatedBy: "\r\u{1B}[K").dropFirst().dropLast()
    #expect(!lines.isEmpty && lines.allSatisfy { $0.count < columns && !$0.contains("\n") }, "\(lines)")
    #expect(columns == 200 ? lines.contains { $0.contains("records/s") } : lines.contains { $0.count == columns - 1 }, "\(lines)")
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
