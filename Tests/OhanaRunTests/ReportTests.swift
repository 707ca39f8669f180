import Foundation
import Glibc
import OhanaCore
import OhanaStages
import OhanaTestSupport
import Testing

@testable import OhanaRun

/// Reports, summary and messages against files that were looked at. To make them anew after a change: `OHANA_UPDATE_GOLDEN=1 swift test`,
/// then look at the difference.
@Suite("Reports") struct ReportTests {
  static let published: RunState = {
    var state = RunState()
    var books = RunBooks()
    books.read = 1_000_000
    books.written = 719_998
    books.rejected = 2
    books.dropped = 280_000
    books.rejectReasons = ["bad-json": 1, "record-too-long": 1]
    books.firstRejects = ["in/a.ndjson:3:17: an object key has to be a string"]
    books.seconds = 12.3456
    var first = RunBooks.Input(name: "in/a.ndjson")
    (first.read, first.written, first.rejected, first.dropped, first.blankLines) = (600_000, 430_000, 2, 169_998, 3)
    first.warnings = ["short-row": 4]
    var second = RunBooks.Input(name: "in/<b> & \"c\"|d.ndjson")
    (second.read, second.written, second.dropped) = (400_000, 289_998, 110_002)
    books.inputs = [first, second]
    var dedupe = RunBooks.Stage(text: "dedupe --by email:email")
    (dedupe.input, dedupe.output, dedupe.dropped, dedupe.seconds) = (999_998, 719_998, 280_000, 0.4321)
    dedupe.dropReason = "duplicate"
    var sizes = ClusterSizes()
    for (times, keys) in [(1, 500_000), (2, 200_000), (3, 12_345), (4, 1), (7, 6_000), (50, 1_651), (1000, 1)] {
      sizes.add(keys, metTimes: times)
    }
    dedupe.clusters = sizes
    books.queues = [
      .init(before: ["reading"], mean: 0.015, most: 0.25), .init(before: ["dedupe --by email:email"], mean: 0.5, most: 0.875),
      .init(before: ["sort last:locale/sv,first:locale/sv,email,phone,city", "writing"], mean: 0, most: 1),
    ]
    var sort = RunBooks.Stage(text: "sort last:locale/sv,first:locale/sv,email,phone,city")
    (sort.input, sort.output, sort.seconds) = (719_998, 719_998, 1.5)
    books.stages = [dedupe, sort]
    books.outputs = [
      .init(name: "out.ndjson.gz", records: 719_998, bytes: 256_000_000, role: "main"),
      .init(name: "bad.ndjson", records: 2, bytes: 812, role: "rejects"),
    ]
    state.notes = ["in/c.ndjson: the file is empty"]
    let leftOut = OhanaError(.io, "auth", at: .init("in/e.ndjson"), "cannot open: permission denied")
    InputActions.Found(names: [FilePath(first.name), FilePath(second.name)], leftOut: [leftOut]).update(&state)
    RunActions.Begin(plan: ["inputs    2 files of ndjson, 60.0 MiB", "threads   2"], bytesTotal: 62_914_560).update(&state)
    RunActions.Finish(books: books, notes: []).update(&state)
    PublishActions.Published(commit: .init(renames: [], books: books, notes: state.notes, inputs: state.inputs, plan: state.plan)).update(
      &state)
    return state
  }()

  static let failed: RunState = {
    var state = RunState()
    let error = OhanaError(.badInput, "bad-json", at: .init("in.ndjson", line: 3, byte: 17), "a key has to be a string", fix: "mend it")
    InputActions.Found(names: ["in.ndjson", "next.ndjson"]).update(&state)
    RunActions.Begin(plan: [], bytesTotal: nil).update(&state)
    InputActions.Advance(steps: [.init(input: 0, status: .processing)]).update(&state)
    RunActions.CountFailed(books: partial).update(&state)
    RunActions.Fail(error).update(&state)
    return state
  }()

  /// A record had been read and had not reached the stage.
  static let partial: RunBooks = {
    var books = RunBooks()
    (books.read, books.rejected, books.rejectReasons) = (3, 1, ["bad-json": 1])
    var input = RunBooks.Input(name: "in.ndjson")
    (input.read, input.rejected) = (3, 1)
    var stage = RunBooks.Stage(text: "filter a > 1")
    (stage.input, stage.dropped, stage.dropReason) = (1, 1, "not true")
    (books.inputs, books.stages) = ([input], [stage])
    return books
  }()

  static let interrupted: RunState = {
    var state = RunState()
    InputActions.Found(names: ["in.ndjson", "next.ndjson"]).update(&state)
    RunActions.Begin(plan: [], bytesTotal: nil).update(&state)
    InputActions.Advance(steps: [.init(input: 0, status: .processing)]).update(&state)
    InterruptActions.Interrupt(signal: 15).update(&state)
    RunActions.CountFailed(books: partial).update(&state)
    RunActions.Fail(failure: .init(OhanaError.cancelled)).update(&state)
    return state
  }()

  struct Golden: Sendable, CustomTestStringConvertible {
    let file: String
    let text: @Sendable () throws -> String
    var testDescription: String { file }
  }

  static let goldens: [Golden] =
    ["json", "md", "html", "prom"].flatMap { ending in
      [("published", published), ("failed", failed), ("interrupted", interrupted)].map { name, state in
        Golden(file: "\(name).\(ending)") {
          String(decoding: try ReportText.text(state, for: FilePath("x.\(ending)")), as: UTF8.self)
            // Versions are those of the machine.
            .replacing(/"(ICU|ISA-L|ohana|version)" : "[^"]*"/) { "\"\($0.output.1)\" : \"…\"" }
        }
      }
    } + [
      Golden(file: "summary.txt") { SummaryText.lines(published, output: "out.ndjson.gz").joined(separator: "\n") + "\n" },
      Golden(file: "messages.ndjson") {
        var progress = RunState.Progress()
        (progress.bytesRead, progress.bytesTotal, progress.records, progress.seconds) = (1_000, 4_000, 50, 2)
        progress.limiting = "sort"
        var behind = progress
        (behind.bytesRead, behind.records, behind.seconds) = (4_000, 200, 5)
        behind.held = .init(stage: "sort", passed: 50, total: 200, since: 3)
        var interrupted = RunState()
        InterruptActions.Interrupt(signal: 2).update(&interrupted)
        return [
          LogText.progress(progress), LogText.progress(behind), LogText.note("a \"note\""), LogText.error(failed.failure!),
          LogText.interrupted(interrupted, message: "over"), LogText.summary(failed, output: FilePath(bytes: [0x61, 0xff])),
        ].joined(separator: "\n") + "\n"
      },
    ]

  @Test("look as they did", arguments: goldens) func golden(_ golden: Golden) throws {
    let url = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Golden").appending(path: golden.file)
    let text = try golden.text()
    if ProcessInfo.processInfo.environment["OHANA_UPDATE_GOLDEN"] != nil { try Data(text.utf8).write(to: url) }
    #expect(try String(contentsOf: url, encoding: .utf8) == text)
  }

  @Test("the page needs nothing from elsewhere and lets no name be markup") func pageIsSelfContained() throws {
    let page = HTMLReport.text(Self.published)
    #expect(!page.contains("<script") && !page.contains("http:") && !page.contains("https:") && !page.contains("url("))
    #expect(page.contains("in/&lt;b&gt; &amp; &quot;c&quot;|d.ndjson") && !page.contains("<b>"))
    #expect(page.contains("prefers-color-scheme:dark") && page.contains("<svg"))
  }

  struct Progress: Sendable {
    let done: Int, total: Int?, records: Int, seconds: Double
    var limiting: String?
    var held: RunState.Progress.Held?
    let line: String
  }
  @Test(
    "the progress line tells share, rate, what limits, and time left, as far as known",
    arguments: [
      Progress(done: 0, total: nil, records: 0, seconds: 0, line: "0 bytes, 0 records/s"),
      Progress(done: 512, total: 1024, records: 100, seconds: 10, line: "50 %, 512 bytes of 1.0 KiB, 10 records/s, 0:10 left"),
      Progress(
        done: 1 << 20, total: 64 << 20, records: 3_000_000, seconds: 2, limiting: "sort",
        line: "1 %, 1.0 MiB of 64.0 MiB, 1,500,000 records/s, most of it in sort, 2:06 left"),
      Progress(done: 2048, total: 1024, records: 1, seconds: 1, line: "100 %, 2.0 KiB of 1.0 KiB, 1 records/s"),
      Progress(
        done: 1024, total: 1024, records: 800, seconds: 14, limiting: "sort",
        held: .init(stage: "sort", passed: 200, total: 800, since: 10),
        line: "sort: 25 %, 200 of 800 records, 50 records/s, most of it in sort, 0:12 left"),
      Progress(
        done: 1024, total: nil, records: 800, seconds: 10, held: .init(stage: "reverse", passed: 0, total: 800, since: 10),
        line: "reverse: 0 %, 0 of 800 records, 0 records/s"),
      Progress(
        done: 1024, total: nil, records: 800, seconds: 12, held: .init(stage: "count-by", passed: 0, total: 0, since: 10),
        line: "count-by: 100 %, 0 of 0 records, 0 records/s"),
    ]) func progressLine(_ known: Progress)
  {
    var progress = RunState.Progress()
    (progress.bytesRead, progress.bytesTotal, progress.records) = (known.done, known.total, known.records)
    (progress.seconds, progress.limiting, progress.held) = (known.seconds, known.limiting, known.held)
    #expect(ProgressText.line(progress) == known.line)
  }

  @Test(
    "a line is cut to the terminal, whose last column stays free",
    arguments: [(200, "50 %, 1 records/s"), (18, "50 %, 1 records/s"), (17, "50 %, 1 records/"), (5, "50 %"), (1, ""), (0, "")])
  func cutLine(columns: Int, line: String) { #expect(ProgressText.cut("50 %, 1 records/s", toColumns: columns) == line) }

  @Test("a run that was ended tells in its report the signal, one exit status, and how far records had come", arguments: [SIGINT, SIGTERM])
  func interruptedReport(signal: Int32) async throws {
    let folder = try Workdir()
    let ended = DispatchSemaphore(value: 0)
    let path = folder.path("in.ndjson")
    #expect(mkfifo(path, 0o600) == 0)
    // The run can only end behind the signal: the pipe stays open until then.
    let feeder = Thread {
      Glibc.signal(SIGPIPE, SIG_IGN)
      let pipe = open(path, O_WRONLY)
      let records = Array(String(repeating: "{\"a\":1}\n", count: 1 << 16).utf8)
      for _ in 0..<16 where write(pipe, records, records.count) < 0 { break }
      ended.wait()
      close(pipe)
    }
    var request = RunRequest()
    request.inputs = [FilePath(path)]
    request.output = FilePath(folder.path("out.ndjson"))
    request.options.report = FilePath(folder.path("report.json"))
    request.options.memory = 16 << 20
    request.stages = [try StageCatalog.stage(["filter", "a > 0"])]
    let session = RunSession(request)
    session.store.listen { old, new in
      if new.progress.records > 0, new.interruption == nil { session.cancel(signal: signal) }
      if new.interruption != nil, old.interruption == nil { ended.signal() }
    }
    feeder.start()
    let state = await session.run(observes: false)
    #expect(state.exitStatus == 128 + signal)
    let report = try #require(try JSONSerialization.jsonObject(with: folder.read("report.json")) as? [String: Any])
    #expect(report["exit"] as? Int32 == 128 + signal && report["failure"] == nil)
    let interruption = try #require(report["interruption"] as? [String: Any])
    #expect(interruption["signal"] as? Int32 == signal && interruption["resumable"] as? Bool == false)
    let books = try #require(report["books"] as? [String: Any])
    let input = try #require((books["inputs"] as? [[String: Any]])?.first)
    let stage = try #require((books["stages"] as? [[String: Any]])?.first)
    let (read, passed) = (input["read"] as? Int ?? 0, stage["output"] as? Int ?? 0)
    #expect(read >= passed && passed > 0 && books["read"] as? Int == read, "\(read) \(passed)")
    #expect(!folder.exists("out.ndjson"))
  }

  /// A line of the text exposition format: a comment, or `name{label="value",…} number`.
  @Test("the Prometheus file holds samples only, each under the type of its family") func prometheusGrammar() throws {
    let sample = /(ohana_[a-z_]+)(\{([a-z]+="([^"\\\n]|\\["\\n])*",?)+\})? -?[0-9]+(\.[0-9]+)?/
    var families: Set<String> = []
    var samples = 0
    for line in PrometheusReport.text(Self.published).split(separator: "\n") {
      if line.hasPrefix("# TYPE ") { #expect(families.insert(String(line.split(separator: " ")[2])).inserted, "each family once") }
      if line.hasPrefix("#") { continue }
      let match = try #require(try sample.wholeMatch(in: line), "\(line)")
      #expect(families.contains(String(match.output.1)))
      samples += 1
    }
    #expect(samples > 20)
  }
}
