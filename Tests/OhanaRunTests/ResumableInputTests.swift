import Foundation
import OhanaCore
import OhanaStages
import OhanaTestSupport
import Testing

@testable import OhanaRun

/// Runs that are ended at once, gone on with and ended again, until one comes to its end.
@Suite("Going on from within") struct ResumableInputTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let name: String
    /// Makes `in` and perhaps `in-2` of `lines.ndjson` and `rows.csv`.
    let shell: String
    var options: @Sendable (inout RunOptions) -> Void = { _ in }
    var stages: @Sendable (Int) throws -> [any PlannedStage] = { _ in [] }
    var testDescription: String { name }
  }

  static let cases: [Case] = [
    Case(name: "lines", shell: "cp lines.ndjson in"),
    Case(name: "one array", shell: "{ echo '['; sed '$!s/$/,/' lines.ndjson; echo ']'; } >in"),
    Case(
      name: "one array in one line, compressed", shell: "{ printf '['; sed '$!s/$/,/' lines.ndjson | tr -d '\\n'; echo ']'; } | gzip >in"),
    Case(
      name: "one array with faults, objects over several lines",
      shell: "{ echo '['; sed '$!s/$/,/; s/,\"email\"/,\\n  \"email\"/; 700s/:/;/' lines.ndjson; echo ']'; } >in",
      options: { $0.maxRejects = .count(9) }),
    Case(name: "objects over several lines", shell: "sed 's/,\"/,\\n    \"/g; s/^{/{\\n    /; s/}$/\\n}/' lines.ndjson >in"),
    Case(name: "UTF-16 with its mark", shell: "{ printf '\\377\\376'; iconv -f utf-8 -t utf-16le rows.csv; } >in"),
    Case(name: "UTF-32", shell: "{ printf '\\0\\0\\376\\377'; iconv -f utf-8 -t utf-32be rows.csv; } | gzip >in"),
    Case(name: "GB 18030", shell: "iconv -f utf-8 -t gb18030 rows.csv >in", options: { $0.encoding = "gb18030" }),
    Case(
      name: "windows-1252", shell: "iconv -c -f utf-8 -t cp1252 lines.ndjson >in",
      options: { ($0.encoding, $0.from) = ("windows-1252", .ndjson) }),
    Case(
      name: "stats", shell: "cp lines.ndjson in", options: { $0.memory = 64 << 20 }, stages: { _ in [StatisticsStage()] }),
    Case(name: "stats of columns", shell: "cp rows.csv in", options: { $0.memory = 64 << 20 }, stages: { _ in [StatisticsStage()] }),
    Case(
      name: "diff", shell: "cp lines.ndjson in; sed '3~7d; s/\"verified\":true/\"verified\":false/' lines.ndjson >in-2",
      stages: { _ in [try DiffStage.parse(arguments: ["--by", "id"], oldSources: 0..<1)] }),
  ]

  private func session(_ workdir: Workdir, _ example: Case, output: String, resumes: Bool, threads: Int) throws -> RunSession {
    var request = RunRequest()
    request.inputs = ["in", "in-2"].filter { workdir.exists($0) }.map { FilePath(workdir.path($0)) }
    request.output = FilePath(workdir.path(output))
    request.options.tempDir = FilePath(workdir.path("tmp"))
    request.options.memory = 16 << 20
    request.options.threads = threads
    request.options.resume = resumes
    example.options(&request.options)
    request.stages = try example.stages(0)
    return RunSession(request, dependencies: RunDependencies(clock: monotonicNanoseconds, checkpointInterval: 1000))
  }

  @Test("ends with the same bytes and books", arguments: cases) func goesOn(_ example: Case) async throws {
    let workdir = try Workdir()
    let made = try workdir.run(
      [],
      shell: """
        set -e; $OHANA generate --rows 6000 -o lines.ndjson
        $OHANA generate --rows 6000 -o rows.csv
        \(example.shell)
        """)
    #expect(made.status == 0 && workdir.exists("in"), "\(made.err)")
    let whole = await (try session(workdir, example, output: "whole.ndjson", resumes: false, threads: 2)).run(observes: false)
    #expect(whole.exitStatus == 0, "\(String(describing: whole.failure))")
    var wentOn = 0
    var final: RunState?
    for attempt in 0..<40 where final == nil {
      let session = try session(workdir, example, output: "out.ndjson", resumes: true, threads: 1 + attempt % 2)
      if attempt < 12 {
        // As soon as anything has been read.
        session.store.listen { [store = session.store] old, new in
          if new.progress.records > (old.kept?.checkpoint?.records ?? 0), new.phase == .running, new.interruption == nil {
            store.post(InterruptActions.Interrupt(signal: SIGTERM))
          }
        }
      }
      let state = await session.run(observes: false)
      #expect(!state.notes.contains { $0.contains("takes no checkpoints") }, "\(state.notes)")
      if state.notes.contains(where: { $0.contains("goes on") }) { wentOn += 1 }
      if !state.isInterrupted { final = state } else { #expect(state.exitStatus == 143 && state.failure?.code == "cancelled") }
    }
    let state = try #require(final)
    #expect(state.exitStatus == 0, "\(String(describing: state.failure))")
    #expect(wentOn >= 2, "it was gone on with \(wentOn) times: this proves little")
    #expect(try workdir.read("out.ndjson") == workdir.read("whole.ndjson"))
    #expect(state.books.read == whole.books.read && state.books.rejected == whole.books.rejected)
    #expect(state.books.inputs == whole.books.inputs)
    #expect(state.books.firstRejects == whole.books.firstRejects)
    #expect(workdir.isTemporaryEmpty)
  }

  struct Silent: Sendable, CustomTestStringConvertible {
    let name: String, shell: String, says: String?
    var testDescription: String { name }
  }
  static let silent: [Silent] = [
    Silent(name: "a file", shell: "$OHANA convert in.ndjson -o out.csv --resume", says: nil),
    Silent(
      name: "standard input", shell: "$OHANA convert - --from ndjson -o out.csv --resume <in.ndjson", says: "an input can be read only once"
    ),
    Silent(name: "standard output", shell: "$OHANA convert in.ndjson --to csv --resume >out.csv", says: "its output is no regular file"),
    Silent(name: "zlib, plain input", shell: "$OHANA convert in.ndjson -o out.csv.gz --codec zlib --resume", says: nil),
    Silent(
      name: "zlib, compressed input", shell: "gzip -k in.ndjson; $OHANA convert in.ndjson.gz -o out.csv --codec zlib --resume",
      says: "in.ndjson.gz cannot be gone on with from its middle"),
    Silent(
      name: "an encoding with escape sequences",
      shell: "iconv -c -f utf-8 -t utf-7 in.ndjson >in-7; $OHANA convert in-7 --from ndjson --encoding utf-7 -o out.csv --resume",
      says: "in-7 cannot be gone on with from its middle"),
  ]

  @Test("or the run says at once, in one line, why it takes no checkpoints", arguments: silent) func says(_ example: Silent) throws {
    let workdir = try Workdir()
    #expect(try workdir.run(["generate", "--rows", "100", "-o", "in.ndjson"]).status == 0)
    let result = try workdir.run([], shell: example.shell)
    #expect(result.status == 0, "\(result.err)")
    let lines = result.err.split(separator: "\n").filter { $0.contains("takes no checkpoints") }
    #expect(lines.count == (example.says == nil ? 0 : 1), "\(result.err)")
    if let says = example.says { #expect(lines.first?.contains(says) == true, "\(result.err)") }
  }
}
