import Foundation
import Ohana
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
