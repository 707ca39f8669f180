import Foundation
import Ohana
@testable import OhanaRun
import OhanaTestSupport
import Synchronization
import Testing

/// Keeps what it is given.
final class KeepingSink: RecordSink {
  struct Heard: Sendable {
    var text = ""
    var origins: [RecordOrigin] = []
    var calls: [String] = []
  }
  private let heard = Mutex(Heard())
  private let failure: (any Error & Sendable)?
  private let failsAtEnd: Bool
  init(failure: (any Error & Sendable)? = nil, failsAtEnd: Bool = false) {
    self.failure = failure
    self.failsAtEnd = failsAtEnd
  }
  var all: Heard { heard.withLock { $0 } }

  func begin(sources: [FilePath]) async throws { heard.withLock { $0.calls.append("begin \(sources)") } }
  func write(_ records: RenderedRecords) async throws {
    await Task.yield()
    records.withText { text in
      heard.withLock { heard in
        heard.text += String(decoding: text, as: UTF8.self)
        heard.origins += (0..<records.count).map { records.origin(of: $0) }
      }
    }
    if let failure, !failsAtEnd { throw failure }
  }
  func finish() async throws {
    heard.withLock { $0.calls.append("finish") }
    if let failure { throw failure }
  }
  func abort() async { heard.withLock { $0.calls.append("abort") } }
}

/// Keeps records whose field begins with a text.
private struct PrefixProcessor: PostProcessor {
  let field: FieldName
  let prefix: String
  func bind(_ schema: inout RecordSchema, _ context: StageContext) throws -> [StageStep] {
    [.row(Step(slot: try schema.slot(reading: field), prefix: Array(prefix.utf8)))]
  }
  struct Step: RowStage {
    let slot: Int
    let prefix: [UInt8]
    func process(_ batch: RecordBatch) throws -> StageTally {
      StageTally(dropped: batch.filterSelection { batch.bytes(of: batch.field(slot, of: $0)).starts(with: prefix) })
    }
  }
}

@Suite("Extension points") struct ExtensionPointTests {
  @Test("O-20 O-32: a foreign provider stands beside files, in declared order") func providers() async throws {
    let folder = try Workdir()
    try folder.write("f.ndjson.gz", gzip(#"{"first":"file"}"# + "\n"))
    let people = ContactsProvider("memory") {
      [Contact(firstName: "made", fields: [ContactField(.phone, "1", label: "home")], tags: ["t"])]
    }
    let source = ContactsDataSource(
      dataProviders: [people, FileDataProvider(FilePath(folder.path("f.ndjson.gz"))), LinesProvider("csv-like", ndjson(["line"]))])
    let contacts = try await source.loadContacts()
    #expect(contacts.map(\.firstName) == ["made", "file", "line"])
    #expect(contacts[0].fields == [ContactField(.phone, "1", label: "home")] && contacts[0].tags == ["t"])
  }

  @Test("O-20: a foreign provider's text may be cut anywhere, and may be CSV", arguments: [1, 2, 3, 7, 64])
  func cuts(size: Int) async throws {
    let text = Array("first,email\nAnn,a@x\n\"B\nob\",\"b,\"\"x\"\n".utf8)
    struct Cut: DataProvider {
      let text: [UInt8], size: Int
      var identifier: String { "cut" }
      func open() throws -> ProviderContent {
        let at = Mutex(0)
        return .stream(
          ProviderStream { out in
            let start = at.withLock { at in
              defer { at += size }
              return at
            }
            for byte in text.dropFirst(start).prefix(size) { out.append(byte) }
            return start + size < text.count
          })
      }
    }
    let contacts = try await ContactsDataSource(dataProviders: [Cut(text: text, size: size)]).loadContacts()
    #expect(contacts.map(\.firstName) == ["Ann", "B\nob"] && contacts[1].emails == ["b,\"x"])
  }

  @Test("O-60: a foreign processor stands between ours, and is in the books") func processors() async throws {
    let source = ContactsDataSource(
      dataProviders: [LinesProvider("p", ndjson(["ann", "bob", "amy", "ann"]))],
      postProcessors: [DedupePostProcessor(by: "first"), PrefixProcessor(field: "first", prefix: "a"), ReverseOrderPostProcessor()])
    let sink = KeepingSink()
    let books = try await source.run(into: sink)
    #expect(sink.all.text == "{\"first\":\"amy\"}\n{\"first\":\"ann\"}\n")
    #expect(books.stages.map(\.text) == ["dedupe", "PrefixProcessor", "reverse"])
    #expect(books.stages[1].dropped == 1 && books.imbalance == nil && books.read == 4 && books.written == 2)
    #expect(books.stages[1].dropReason == "dropped by PrefixProcessor")
  }

  /// Throws what only it knows, when it is bound or when a record comes.
  private struct Failing: PostProcessor {
    struct Reason: Error {}
    let whenBound: Bool
    let isOrdered: Bool
    func bind(_ schema: inout RecordSchema, _ context: StageContext) throws -> [StageStep] {
      if whenBound { throw Reason() }
      return [isOrdered ? .ordered(Ordered()) : .row(Row())]
    }
    struct Row: RowStage { func process(_ batch: RecordBatch) throws -> StageTally { throw Reason() } }
    final class Ordered: OrderedStage {
      var tally: StageTally { StageTally() }
      func finish() throws -> (any BatchSource)? { nil }
      func process(_ batch: RecordBatch) throws -> OrderedOutcome { throw Reason() }
    }
  }

  @Test("O-24 O-60: what a foreign processor throws is told with its stage", arguments: [(true, true), (false, true), (false, false)])
  func failingProcessors(whenBound: Bool, isOrdered: Bool) async {
    let source = ContactsDataSource(
      dataProviders: [LinesProvider("p", ndjson(["ann"]))], postProcessors: [Failing(whenBound: whenBound, isOrdered: isOrdered)])
    await #expect { try await source.loadContacts() } throws: { error in
      guard let error = error as? OhanaError else { return false }
      return error.code == "processor-failed" && error.description.contains("the stage 'Failing'") && error.description.contains("Reason")
    }
  }

  @Test("O-60: a chain works wherever a processor does") func chainInARun() async throws {
    let folder = try Workdir()
    try folder.write("in.ndjson", ndjson(["ann", "bob", "amy", "ann"]).map { $0 + "\n" }.joined())
    var request = RunRequest()
    request.inputs = [FilePath(folder.path("in.ndjson"))]
    request.output = FilePath(folder.path("out.ndjson"))
    request.stages = [
      ChainPostProcessor([DedupePostProcessor(by: "first"), ChainPostProcessor([PrefixProcessor(field: "first", prefix: "a")])]),
      ReverseOrderPostProcessor(),
    ]
    let state = await RunSession(request).run(observes: false)
    #expect(state.exitStatus == 0, "\(String(describing: state.failure))")
    #expect(state.books.stages.count == 3)
    #expect(try folder.text("out.ndjson") == "{\"first\":\"amy\"}\n{\"first\":\"ann\"}\n")
    // At the end all has been read.
    #expect(state.progress.records == 4 && state.progress.percent == 100)
  }

  /// Waits for ever at one place, unless it is cancelled.
  private actor WaitingSink: RecordSink {
    let place: String
    let arrived: @Sendable () -> Void
    init(_ place: String, _ arrived: @escaping @Sendable () -> Void) { (self.place, self.arrived) = (place, arrived) }
    private func wait(_ here: String) async throws {
      guard place == here else { return }
      arrived()
      try await Task.sleep(for: .seconds(1_000_000))
    }
    func begin(sources: [FilePath]) async throws { try await wait("begin") }
    func write(_ records: RenderedRecords) async throws { try await wait("write") }
    func finish() async throws { try await wait("finish") }
  }

  @Test("a sink that waits is cancelled with the run, wherever it waits", arguments: ["begin", "write", "finish"])
  func cancelledSinks(place: String) async {
    let (arrival, arrived) = AsyncStream<Void>.makeStream()
    var request = RunRequest()
    request.providers = [LinesProvider("p", ndjson(["a"]))]
    request.sink = WaitingSink(place) { arrived.finish() }
    let session = RunSession(request)
    let run = Task { await session.run(observes: false) }
    for await _ in arrival {}
    session.cancel()
    #expect(await run.value.exitStatus == 130)
  }

  @Test("K-16: runs that write files leave nothing open and nothing on disk, whatever becomes of them") func manyRuns() async throws {
    let folder = try Workdir()
    try folder.write("in.ndjson", ndjson(["ann", "bob"]).map { $0 + "\n" }.joined())
    for number in 0..<300 {
      var request = RunRequest()
      request.inputs = [FilePath(folder.path("in.ndjson"))]
      request.output = FilePath(folder.path("out.ndjson"))
      request.options.overwrite = number % 3 != 1
      request.options.tempDir = FilePath(folder.url.path)
      request.options.report = FilePath(folder.path("report.json"))
      let session = RunSession(request)
      if number % 3 == 2 { session.cancel() }
      let state = await session.run(observes: false)
      #expect(state.exitStatus == [0, 2, 130][number % 3], "\(number): \(state.failure?.message ?? "")")
    }
    let open = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap {
      try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")
    }
    #expect(!open.isEmpty && !open.contains { $0.hasPrefix(folder.url.path) }, "\(open)")
    #expect(folder.names == ["in.ndjson", "out.ndjson", "report.json"])
  }

  @Test("O-60: a foreign processor works in a run that the tool would make, with outputs that are files") func processorInARun()
    async throws
  {
    let folder = try Workdir()
    var request = RunRequest()
    request.providers = [LinesProvider("p", ndjson(["ann", "bob"]))]
    request.stages = [PrefixProcessor(field: "first", prefix: "b")]
    request.output = FilePath(folder.path("out.csv"))
    let state = await RunSession(request).run(observes: false)
    #expect(state.exitStatus == 0, "\(state.failure?.message ?? "")")
    #expect(try folder.text("out.csv") == "first\nbob\n")
  }

  @Test("a sink is begun, written in stream order and finished; origins say where records were read") func sinks() async throws {
    let source = ContactsDataSource(
      dataProviders: [LinesProvider("one", ndjson((0..<3_000).map { "\($0)" })), LinesProvider("two", ndjson(["x"]))],
      options: options { $0.memory = 1 << 20 })
    let sink = KeepingSink()
    try await source.run(into: sink)
    #expect(sink.all.calls == ["begin [one, two]", "finish"])
    #expect(sink.all.text == (ndjson((0..<3_000).map { "\($0)" }) + ndjson(["x"])).map { $0 + "\n" }.joined())
    #expect(sink.all.origins.map(\.ordinal) == Array(0..<3_000) + [0])
    #expect(sink.all.origins.last?.source == 1)
  }

  @Test("a sink that fails ends the run, is aborted, and is not ready", arguments: [false, true]) func sinkFailures(atEnd: Bool)
    async throws
  {
    struct Full: Error {}
    let sink = KeepingSink(failure: Full(), failsAtEnd: atEnd)
    let source = ContactsDataSource(dataProviders: [LinesProvider("p", ndjson(["a"]))])
    let log = Listener()
    source.onReady.observe(log) { log, _ in log.add("ready") }
    source.onProviderFailed.observe(log) { log, _ in log.add("provider failed") }
    await #expect { try await source.run(into: sink) } throws: { ($0 as? OhanaError)?.code == "sink-failed" }
    #expect(sink.all.calls.last == "abort")
    #expect(log.all.isEmpty)
    #expect(source.status == .failed)
  }

  @Test("a run that fails aborts its sink") func abort() async throws {
    let sink = KeepingSink()
    let source = ContactsDataSource(dataProviders: [LinesProvider("p", ndjson(["a"]) + ["nonsense"])])
    await #expect(throws: OhanaError.self) { try await source.run(into: sink) }
    #expect(sink.all.calls.last == "abort" && !sink.all.calls.contains("finish"))
  }

  @Test("S-19: signals are few: tens a second at most, however many records there are") func signalsAreFew() async throws {
    let source = ContactsDataSource(
      dataProviders: (0..<3).map { provider in
        ContactsProvider("p\(provider)") { (0..<60_000).lazy.map { Contact(firstName: "\($0)") } }
      })
    let log = Listener()
    log.watch(source)
    source.onProgress.observe(log) { log, _ in log.add("progress") }
    source.onChunkDone.observe(log) { log, _ in log.add("chunk") }
    let began = ContinuousClock.now
    try await source.run(into: KeepingSink())
    let seconds = (ContinuousClock.now - began) / .seconds(1)
    #expect(log.all.count >= 8)
    #expect(Double(log.all.count) <= 8 + 12 * seconds + 3, "\(log.all.count) in \(seconds) s")
  }

  @Test("S-19: what could not be read, and faults that cost nothing, are told of in reports, and add up to the books") func faultSignals()
    async throws
  {
    let folder = try Workdir()
    let lines = (0..<20_000).map { $0 % 2 == 0 ? "{\"first\":\"\($0)\"}\n" : "broken\n" }
    try folder.write("a.ndjson", lines.joined())
    try folder.write("b.csv", "first,x,y\n" + (0..<10_000).map { "n\($0),1\n" }.joined())
    for name in ["a.ndjson", "b.csv"] {
      let source = ContactsDataSource(
        dataProviders: [FileDataProvider(FilePath(folder.path(name)), identifier: "p")], options: options { $0.maxRejects = .percent(100) })
      let log = Listener()
      let counts = Mutex((rejects: 0, warnings: 0, reports: 0))
      log.watch(source)
      source.onReject.observe(log) { log, report in
        if counts.withLock({ $0.rejects }) == 0 {
          log.add("\(report.provider.identifier) \(report.name.lastComponent) \(report.first.code) \(report.first.location?.line ?? 0)")
        }
        counts.withLock {
          $0.rejects += report.count; $0.reports += 1
        }
      }
      source.onWarning.observe(log) { log, report in
        if counts.withLock({ $0.warnings }) == 0 { log.add("\(report.name.lastComponent) \(report.code) \(report.line)") }
        counts.withLock {
          $0.warnings += report.count; $0.reports += 1
        }
      }
      let began = ContinuousClock.now
      let books = try await source.run(into: KeepingSink())
      let seconds = (ContinuousClock.now - began) / .seconds(1)
      let told = counts.withLock { $0 }
      #expect(told.rejects == books.rejected && told.warnings == books.inputs[0].warnings.values.reduce(0, +))
      #expect(Double(told.reports) <= 2 * (10 * seconds + 3))
      if name == "a.ndjson" {
        #expect(told.rejects == 10_000 && log.all.first == "p a.ndjson invalid-json 2")
      } else {
        #expect(
          told.warnings == 10_000 && log.all.first?.hasPrefix("b.csv ") == true && log.all.first?.hasSuffix(" 2") == true, "\(log.all)")
      }
      #expect(log.all.last == "ready ready")
    }
  }

  @Test("S-19: what goes to disk is told of, and only then") func spillSignal() async throws {
    let people = ContactsProvider("p") {
      (0..<40_000).lazy.map { Contact(firstName: "\($0 * 7919 % 40_000)", company: String(repeating: "x", count: 200)) }
    }
    for memory in [16 << 20, 256 << 20] {
      let source = ContactsDataSource(
        dataProviders: [people], postProcessors: [AlphabeticalSortPostProcessor(.firstName)], options: options { $0.memory = memory })
      let told = Mutex<[Int]>([])
      let owner = Listener()
      source.onSpill.observe(owner) { _, bytes in told.withLock { $0.append(bytes) } }
      try await source.run(into: KeepingSink())
      let bytes = told.withLock { $0 }
      #expect(bytes.isEmpty == (memory > 100 << 20))
      #expect(bytes == bytes.sorted() && bytes.count < 1_000)
    }
  }

  @Test("O-43 S-19: a run that writes files tells of its checkpoints, its progress and its end, once each") func runSignals() async throws {
    let folder = try Workdir()
    var count = 50_000
    var seen: [String] = []
    repeat {
      try folder.write("in.ndjson", (0..<count).map { "{\"first\":\"\($0)\"}\n" }.joined())
      var request = RunRequest()
      request.inputs = [FilePath(folder.path("in.ndjson"))]
      request.output = FilePath(folder.path("out.ndjson"))
      request.options.overwrite = true
      request.options.tempDir = FilePath(folder.url.path)
      let session = RunSession(request, dependencies: RunDependencies(clock: monotonicNanoseconds, checkpointInterval: 0.001))
      let signals = RunSignals(of: session)
      let log = Listener()
      signals.onCheckpoint.observe(log) { log, mark in log.add("checkpoint \(mark.number)") }
      let output = folder.path("out.ndjson")
      signals.onPublished.observe(log) { log, books in
        let lines = (try? String(contentsOfFile: output, encoding: .utf8))?.split(separator: "\n").count
        log.add("published \(books.written) \(lines ?? -1)")
      }
      signals.onProgress.observe(log) { log, _ in log.add("progress") }
      signals.onFailed.observe(log) { log, failure in log.add(failure.message) }
      let state = await session.run()
      #expect(state.exitStatus == 0)
      seen = log.all
      #expect(seen.filter { $0.hasPrefix("published") } == ["published \(count) \(count)"], "when all is in place")
      #expect(seen.contains("progress"))
      count *= 2
    } while !seen.contains("checkpoint 1") && count < 2_000_000
    #expect(seen.contains("checkpoint 1"))
    let marks = seen.filter { $0.hasPrefix("checkpoint") }
    #expect(marks == (1...marks.count).map { "checkpoint \($0)" })
  }

  @Test("S-19: a cancelled run of files says so") func cancelledRun() async throws {
    let folder = try Workdir()
    var request = RunRequest()
    request.providers = [ContactsProvider("endless") { sequence(first: Contact(firstName: "x")) { $0 } }]
    request.output = FilePath(folder.path("out.ndjson"))
    let session = RunSession(request)
    let signals = RunSignals(of: session)
    let log = Listener()
    signals.onProgress.observe(log, once: true) { _, _ in session.cancel() }
    signals.onCancelled.observe(log) { log, signal in log.add("cancelled \(signal)") }
    signals.onFailed.observe(log) { log, failure in log.add(failure.code) }
    let state = await session.run(observes: false)
    #expect(state.exitStatus == 130 && log.all == ["cancelled 2"] && !folder.exists("out.ndjson"))
  }

  private func gzip(_ text: String) throws -> Data {
    let process = Process()
    process.executableURL = URL(filePath: "/bin/gzip")
    let (input, output) = (Pipe(), Pipe())
    (process.standardInput, process.standardOutput) = (input, output)
    try process.run()
    input.fileHandleForWriting.write(Data(text.utf8))
    try input.fileHandleForWriting.close()
    return output.fileHandleForReading.readDataToEndOfFile()
  }
}
