import OhanaCore
import Testing

@testable import OhanaRun

/// Appends its mark to the notes.
private struct Mark: RunUpdater {
  let text: String
  func update(_ state: inout RunState) { state.notes.append(text) }
}

/// Writes down what passes, before and after.
private struct Recorder: RunInterceptor {
  let name: String
  let log: Log
  func chain(
    state: @escaping @Sendable () -> RunState, next: @escaping @Sendable (any RunUpdater) throws -> Void
  ) -> @Sendable (any RunUpdater) throws -> Void {
    log.add("made \(name)")
    return { updater in
      log.add("\(name) before \(state().notes.count)")
      try next(updater)
      log.add("\(name) after \(state().notes.count)")
    }
  }
}

private struct Refusal: Error {}
private struct Refuser: RunInterceptor {
  func chain(
    state: @escaping @Sendable () -> RunState, next: @escaping @Sendable (any RunUpdater) throws -> Void
  ) -> @Sendable (any RunUpdater) throws -> Void {
    { updater in
      if (updater as? Mark)?.text == "no" { throw Refusal() }
      try next(updater)
    }
  }
}

private final class Log: @unchecked Sendable {  // because the store's queue and the test take turns
  private(set) var lines: [String] = []
  func add(_ line: String) { lines.append(line) }
}

@Suite("The store") struct RunStoreTests {
  private static let commit = RunState.Commit(renames: [], books: RunBooks(), notes: [])

  private func store(_ interceptors: [any RunInterceptor] = []) -> RunStore {
    RunStore(dependencies: RunDependencies(), interceptors: interceptors)
  }

  @Test("what is dispatched before the start waits, and all changes keep their order") func keepsOrder() async throws {
    let store = store()
    for number in 0..<100 { store.post(Mark(text: "\(number)")) }
    #expect(store.state.notes.isEmpty)
    store.start()
    for number in 100..<200 { store.post(Mark(text: "\(number)")) }
    try await store.dispatch(Mark(text: "200"))
    #expect(store.state.notes == (0...200).map(String.init))
  }

  @Test("a dispatch returns when its change has applied") func awaits() async throws {
    let store = store()
    store.start()
    for number in 1...50 {
      try await store.dispatch(Mark(text: "x"))
      #expect(store.state.notes.count == number)
    }
  }

  @Test("interceptors are made once, and the first sees a change first and its end last") func interceptorsHaveAnOrder() async throws {
    let log = Log()
    let store = store([Recorder(name: "a", log: log), Recorder(name: "b", log: log)])
    store.start()
    try await store.dispatch(Mark(text: "x"))
    try await store.dispatch(Mark(text: "y"))
    #expect(
      log.lines == [
        "made b", "made a", "a before 0", "b before 0", "b after 1", "a after 1", "a before 1", "b before 1", "b after 2", "a after 2",
      ])
  }

  @Test("what an interceptor refuses changes nothing, and the next change is none the worse") func refuses() async throws {
    let store = store([Refuser()])
    store.start()
    await #expect(throws: Refusal.self) { try await store.dispatch(Mark(text: "no")) }
    store.post(Mark(text: "no"))
    try await store.dispatch(Mark(text: "yes"))
    #expect(store.state.notes == ["yes"])
  }

  @Test("listeners see the state before and after, in order, until they are forgotten; no change is no news")
  func listenersSeeBoth() async throws {
    let store = store()
    let log = Log()
    let id = store.listen { old, new in log.add("\(old.notes.count)→\(new.notes.count)") }
    store.start()
    try await store.dispatch(Mark(text: "x"))
    try await store.dispatch(ProgressActions.Tick(seconds: 0))
    try await store.dispatch(Mark(text: "y"))
    store.forget(id)
    try await store.dispatch(Mark(text: "z"))
    #expect(log.lines == ["0→1", "1→2"])
  }

  @Test("a thousand stores leave nothing behind, begun or not") func leaksNothing() async throws {
    weak var last: RunStore?
    for number in 0..<1000 {
      let store = store([Refuser()])
      if number % 2 == 1 {
        store.start()
        try await store.dispatch(Mark(text: "x"))
        _ = try await store.perform(Reading())
      }
      last = store
    }
    #expect(last == nil)
  }

  private struct Reading: RunEffect {
    func perform(in context: RunContext) async throws -> Int { context.state.notes.count }
  }

  @Test("an effect runs behind what was dispatched before it, and gives its value") func effectsReturn() async throws {
    let store = store()
    store.post(Mark(text: "x"))
    store.start()
    #expect(try await store.perform(Reading()) == 1)
  }

  @Test("a phase follows only those it may follow") func phasesHaveAnOrder() async throws {
    let store = store([OrderInterceptor()])
    store.start()
    await #expect(throws: OhanaError.self) { try await store.dispatch(PublishActions.Committing(commit: Self.commit)) }
    try await store.dispatch(RunActions.Begin(plan: [], bytesTotal: nil))
    await #expect(throws: OhanaError.self) { try await store.dispatch(PublishActions.Committing(commit: Self.commit)) }
    try await store.dispatch(RunActions.Fail(failure: .init(OhanaError(.io, "x", "y"))))
    await #expect(throws: OhanaError.self) { try await store.dispatch(RunActions.Finish(books: RunBooks(), notes: [])) }
    #expect(store.state.phase == .failed)
  }
}

@Suite("The state") struct RunStateTests {
  private func state(_ updaters: [any RunUpdater]) -> RunState {
    var state = RunState()
    for updater in updaters { updater.update(&state) }
    return state
  }

  @Test("an interrupted run's exit status is 128 and the signal, a failed one's its category's")
  func exitStatus() {
    let failure = RunActions.Fail(failure: .init(OhanaError(.badInput, "x", "y")))
    #expect(state([]).exitStatus == 0)
    #expect(state([failure]).exitStatus == 3)
    #expect(state([InterruptActions.Interrupt(signal: 2), failure]).exitStatus == 130)
    #expect(state([InterruptActions.Interrupt(signal: 15), failure]).exitStatus == 143)
    #expect(state([RunActions.Fail(failure: .init(OhanaError(.io, "closed-pipe", "y")))]).exitStatus == 0)
    // Too late: everything has its name.
    let published = PublishActions.Published(commit: .init(renames: [], books: RunBooks(), notes: []))
    #expect(state([published, InterruptActions.Interrupt(signal: 2)]).exitStatus == 0)
  }

  @Test("the state survives being written down") func isCodable() throws {
    var state = state([InterruptActions.Interrupt(signal: 2), InterruptActions.Interrupt(signal: 15)])
    state.books.inputs = [RunBooks.Input(name: "a", read: 3)]
    state.progress.bytesTotal = 7
    #expect(state.interruption == RunState.Interruption(signal: 2, count: 2))
    #expect(try JSONCoding.value(RunState.self, from: JSONCoding.line(state)) == state)
  }
}
