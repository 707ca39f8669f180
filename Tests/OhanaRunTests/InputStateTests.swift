import Glibc
import OhanaCore
import OhanaTestSupport
import Testing

@testable import OhanaRun

@Suite("Inputs in the state") struct InputStateTests {
  private func state(_ steps: [(Int, ProviderStatus)], then updaters: [any RunUpdater] = []) -> RunState {
    var state = RunState()
    InputActions.Found(names: ["a", "b", "c", "d"], leftOut: [OhanaError(.io, "auth", at: .init("e"), "no")]).update(&state)
    InputActions.Advance(steps: steps.map { .init(input: $0.0, status: $0.1) }).update(&state)
    for updater in updaters { updater.update(&state) }
    return state
  }
  private func statuses(_ state: RunState) -> [ProviderStatus] { state.inputs.map(\.status) }
  private let way: [(Int, ProviderStatus)] = [(0, .processing), (0, .loaded), (1, .processing)]

  @Test("PROV O-21: statuses go from initialized by processing to loaded, with what was left out in error from the beginning") func goOn() {
    #expect(statuses(state([])) == [.initialized, .initialized, .initialized, .initialized, .failed])
    #expect(statuses(state(way)) == [.loaded, .processing, .initialized, .initialized, .failed])
    var books = RunBooks()
    books.inputs = ["a", "b", "c", "d"].map { RunBooks.Input(name: $0) }
    books.inputs[2].fault = "c: broken"
    let finished = state(way, then: [RunActions.Finish(books: books, notes: [])])
    #expect(statuses(finished) == [.loaded, .loaded, .failed, .loaded, .failed])
    #expect(finished.inputs.map(\.error) == [nil, nil, "c: broken", nil, "e: no"])
  }

  @Test("PROV O-21: who is to blame for a failure is in error; of an interruption nobody is") func end() {
    let bad = OhanaError(.badInput, "bad", at: .init("b", line: 3, byte: 1), "no record")
    #expect(statuses(state(way, then: [RunActions.Fail(bad)])) == [.loaded, .failed, .initialized, .initialized, .failed])
    // Its last records come to the books when the next is being read.
    let late = OhanaError(.badInput, "bad", at: .init("a", line: 3, byte: 1), "no record")
    #expect(statuses(state(way, then: [RunActions.Fail(late)])) == [.failed, .cancelled, .initialized, .initialized, .failed])
    let disk = OhanaError(.io, "disk-full", at: .init("out"), "no space")
    #expect(statuses(state(way, then: [RunActions.Fail(disk)])) == [.loaded, .cancelled, .initialized, .initialized, .failed])
    let interrupted: [any RunUpdater] = [InterruptActions.Interrupt(signal: 15), RunActions.Fail(OhanaError.cancelled)]
    #expect(statuses(state(way, then: interrupted)) == [.loaded, .cancelled, .cancelled, .cancelled, .failed])
  }

  @Test(
    "PROV O-21: of an interrupted run, inputs that were being read or not begun with are cancelled", arguments: [SIGINT, SIGTERM, SIGHUP],
    [1, 2, 8])
  func interrupted(signal: Int32, threads: Int) async throws {
    let folder = try Workdir()
    let session = Locked<RunSession?>(nil)
    let pieces = Locked(0)
    let line = "{\"id\":1}\n"
    var request = RunRequest()
    // More than is looked at beforehand: then it is being read, and goes on for as long as the run does.
    let endless = ProviderStream { text in
      let piece = pieces.withLock { pieces in
        pieces += 1
        return pieces
      }
      text.append(string: String(repeating: line, count: 10_000))
      if piece == 40 { session.withLock { $0 }?.cancel(signal: signal) }
      return true
    }
    request.providers = [Given("a", ProviderStream(line)), Given("b", endless), Given("c", ProviderStream(line))]
    request.output = FilePath(folder.path("out.ndjson"))
    request.options.report = FilePath(folder.path("report.json"))
    request.options.threads = threads
    request.options.tempDir = FilePath(folder.url.path)
    let run = RunSession(request)
    session.withLock { $0 = run }
    let state = await run.run(observes: false)
    session.withLock { $0 = nil }
    #expect(state.exitStatus == 128 + signal && !folder.exists("out.ndjson"))
    #expect(state.inputs.map(\.name) == ["a", "b", "c"] && statuses(state) == [.loaded, .cancelled, .cancelled])
    let report = try folder.text("report.json")
    #expect(report.matches(of: /"status" : "(\w+)"/).map { String($0.output.1) } == ["loaded", "cancelled", "cancelled"], "\(report)")
  }

  private struct Given: DataProvider {
    let identifier: String
    let stream: ProviderStream
    init(_ identifier: String, _ stream: ProviderStream) { (self.identifier, self.stream) = (identifier, stream) }
    func open() throws -> ProviderContent { .stream(stream) }
  }

  @Test("PROV O-21: inputs are told of ten times a second at most, however many there are, and nothing is lost") func meter() {
    let told = Locked<[InputActions.Advance]>([])
    let meter = InputMeter { step in told.withLock { $0.append(step) } }
    for input in 0..<5000 {
      meter.add(input, .processing)
      meter.add(input, .loaded)
    }
    meter.flush()
    meter.flush()
    let steps = told.withLock { $0 }
    #expect(steps.flatMap(\.steps).map(\.input) == (0..<5000).flatMap { [$0, $0] })
    // The first at once, then by the clock, then the rest.
    #expect(steps.count >= 2 && steps.count < 500)
  }
}

extension ProviderStream {
  fileprivate convenience init(_ text: String) {
    self.init { buffer in
      buffer.append(string: text)
      return false
    }
  }
}
