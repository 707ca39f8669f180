import Foundation
import OhanaCore
import OhanaFormats
import OhanaTestSupport
import Synchronization
import Testing

@testable import OhanaRun

@Suite("Waiting to read again") struct ReadRetriesTests {
  /// Milliseconds that no test lives to see the end of.
  private static let forEver = 1_000_000_000

  @Test("K-07: there is one try more than there are pauses, and all are counted by file") func hasALimit() {
    let retries = ReadRetries(pauses: [0, 1])
    #expect(retries.wait(after: 1, of: "a") && retries.wait(after: 2, of: "a") && !retries.wait(after: 3, of: "a"))
    #expect(retries.wait(after: 1, of: "b"))
    #expect(retries.counts == ["a": 2, "b": 1])
  }

  @Test("K-07: when the run is to end, all who wait go on at once, and nobody waits any more") func isInterrupted() async {
    let retries = ReadRetries(pauses: [Self.forEver])
    let (answers, answered) = AsyncStream<Bool>.makeStream()
    // Threads of their own: they block.
    for _ in 0..<3 { Thread.detachNewThread { answered.yield(retries.wait(after: 1, of: "a")) } }
    retries.end()
    retries.end()
    var count = 0
    for await isToTry in answers {
      #expect(!isToTry)
      count += 1
      if count == 3 { break }
    }
    #expect(!retries.wait(after: 1, of: "a") && retries.counts.isEmpty)
  }

  /// Gives a record, then waits to read on.
  private final class FailingStream: ByteStream {
    private let retries: ReadRetries
    private let isBehindRecord = Mutex(false)
    private let onWait: @Sendable () -> Void

    init(_ retries: ReadRetries, _ onWait: @escaping @Sendable () -> Void) { (self.retries, self.onWait) = (retries, onWait) }

    var inputBytesRead: Int { 0 }
    func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
      let isFirst = isBehindRecord.withLock { isBehind in
        defer { isBehind = true }
        return !isBehind
      }
      let record = Array("{\"a\":1}\n".utf8)
      if isFirst {
        buffer.copyBytes(from: record)
        return record.count
      }
      onWait()
      if retries.wait(after: 1, of: "in") { return 0 }
      throw OhanaError.system(EIO, "read", "in")
    }
  }

  private struct FailingInputManager: InputManaging {
    private let real = InputManager()
    let onWait: @Sendable () -> Void

    func list(_ request: RunRequest, leavingOut leavesOut: (OhanaError) -> Bool) throws -> InputListing { InputListing(files: ["in"]) }
    func open(_ listing: InputListing, of request: RunRequest, leavingOut leavesOut: (OhanaError) -> Bool) throws -> FoundInputs {
      FoundInputs(items: [InputItem(path: "in")])
    }
    func probe(_ items: [InputItem], of request: RunRequest) throws -> [ProbedInput] {
      [ProbedInput(path: "in", format: .ndjson, size: 1000)]
    }
    func probe(_ path: FilePath, given stream: (any ByteStream)?, options: RunOptions) throws -> ProbedInput {
      try real.probe(path, given: stream, options: options)
    }
    func openText(_ path: FilePath, given stream: (any ByteStream)?, options: RunOptions) throws -> (stream: any ByteStream, size: Int?) {
      (FailingStream(options.readRetries!, onWait), 1000)
    }
    func spooling(_ input: ProbedInput, to spill: any SpillStore) throws -> ProbedInput { input }
    func widen(_ inputs: [ProbedInput], options: RunOptions, spill: any SpillStore) throws -> [ProbedInput] { inputs }
  }

  @Test("K-07: SIGINT ends a run that waits to read again") func endsTheRun() async throws {
    let workdir = try Workdir()
    var request = RunRequest()
    request.inputs = ["in"]
    request.output = FilePath(workdir.path("out.ndjson"))
    var dependencies = RunDependencies(clock: monotonicNanoseconds, checkpointInterval: 1000)
    dependencies.readPauses = [Self.forEver]
    let session = Mutex<RunSession?>(nil)
    dependencies.inputs = FailingInputManager { session.withLock { $0 }?.store.notify(.signalled(SIGINT)) }
    let run = RunSession(request, dependencies: dependencies)
    session.withLock { $0 = run }
    let state = await run.run(observes: false)
    session.withLock { $0 = nil }
    #expect(state.exitStatus == 128 + SIGINT)
    #expect(!workdir.exists("out.ndjson"))
  }
}
