import Dispatch
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

  @Test("K-09: interceptors are made once, and the first of three sees a change first and its end last")
  func interceptorsHaveAnOrder() async throws {
    let log = Log()
    let store = store(["a", "b", "c"].map { Recorder(name: $0, log: log) })
    store.start()
    try await store.dispatch(Mark(text: "x"))
    try await store.dispatch(Mark(text: "y"))
    let first = ["a before 0", "b before 0", "c before 0", "c after 1", "b after 1", "a after 1"]
    let second = ["a before 1", "b before 1", "c before 1", "c after 2", "b after 2", "a after 2"]
    #expect(log.lines == ["made c", "made b", "made a"] + first + second)
  }

  @Test("K-07: what an interceptor refuses changes nothing, is thrown or noted, and the next change is none the worse")
  func refuses() async throws {
    let store = store([Refuser()])
    store.start()
    await #expect(throws: Refusal.self) { try await store.dispatch(Mark(text: "no")) }
    store.post(Mark(text: "no"))
    try await store.dispatch(Mark(text: "yes"))
    #expect(store.state.notes == ["a change of the run was refused: Refusal()", "yes"])
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

  @Test("SIGTERM leaves a checkpoint that is at hand, from the planning of a run that goes on with another to its finishing; SIGINT never")
  func leaving() {
    for phase in [RunState.Phase.planning, .running, .finishing, .committing] {
      for signal in [SIGINT, SIGTERM, SIGHUP] {
        for (isToResume, hasCheckpoint) in [(false, false), (true, false), (false, true), (true, true)] {
          var state = RunState()
          (state.phase, state.isToResume, state.checkpoints.interval) = (phase, isToResume, phase == .planning ? nil : 30)
          state.kept = .init(identity: nil, mark: "m", folders: [], fingerprintSeed: 0, arguments: [], directory: "/")
          if hasCheckpoint { state.kept?.checkpoint = CheckpointMark(number: 1, size: 1, checksum: 1, records: 1) }
          InterruptActions.Interrupt(signal: signal).update(&state)
          let isWorth = phase == .planning ? hasCheckpoint : phase != .committing && (isToResume || hasCheckpoint)
          #expect(state.isLeaving == (signal != SIGINT && isWorth), "\(phase) \(signal) \(isToResume) \(hasCheckpoint)")
        }
      }
    }
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

  private struct Failing: RunEffect {
    func perform(in context: RunContext) async throws { throw Refusal() }
  }

  @Test("K-04 K-07: what an effect throws, whoever performs it gets") func effectsThrow() async throws {
    struct Outer: RunEffect {
      func perform(in context: RunContext) async throws -> Int {
        try await context.perform(Failing())
        return 1
      }
    }
    let store = store()
    store.start()
    await #expect(throws: Refusal.self) { try await store.perform(Failing()) }
    await #expect(throws: Refusal.self) { try await store.perform(Outer()) }
    #expect(try await store.perform(Reading()) == 0)
  }

  @Test("K-11: what is posted from any queue at once is applied one after the other, and each reaction runs once for each change")
  func reactionsAreSerial() async throws {
    let store = store()
    let seen = Locked<[Int]>([])
    store.listen { old, new in if new.progressRequests != old.progressRequests { seen.withLock { $0.append(new.progressRequests) } } }
    store.listen { [weak store] old, new in
      // A reaction may post; what it posts comes behind what is under way.
      if new.progressRequests == 100, old.progressRequests == 99 { store?.post(Mark(text: "reacted")) }
    }
    DispatchQueue.concurrentPerform(iterations: 150) { _ in store.post(InterruptActions.ShowProgress()) }
    store.start()
    DispatchQueue.concurrentPerform(iterations: 150) { _ in store.post(InterruptActions.ShowProgress()) }
    try await store.dispatch(Mark(text: "end"))
    try await store.dispatch(Mark(text: "behind it"))
    #expect(seen.withLock { $0 } == Array(1...300))
    #expect(store.state.notes.filter { $0 == "reacted" }.count == 1)
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
    await #expect(throws: OhanaError.self) { try await store.dispatch(RunActions.Finish(books: RunBooks(), notes: [])) }
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

  @Test("K-01: the state survives being written down, with all there is in it") func isCodable() throws {
    var state = state([
      InterruptActions.Interrupt(signal: 2), InterruptActions.Interrupt(signal: 15), InterruptActions.ShowProgress(),
      PressureActions.ShortDisk(folder: "/t", free: 1), PressureActions.ShortMemory(share: 12.5),
      RunActions.Fail(failure: .init(OhanaError(.badInput, "x", at: .init("a", line: 1, byte: 2), "y", fix: "z"))),
    ])
    var input = RunBooks.Input(name: "a", read: 3)
    input.warnings = ["short-row": 1]
    var stage = RunBooks.Stage(text: "dedupe --by a")
    (stage.dropReason, stage.clusters) = ("duplicate", ClusterSizes())
    (state.books.inputs, state.books.stages) = ([input], [stage])
    InputActions.Found(names: ["a"]).update(&state)
    state.books.outputs = [.init(name: "o", records: 1, bytes: 2, role: "main")]
    state.books.queues = [.init(before: ["reading"], mean: 0.5, most: 1)]
    state.plan = ["inputs"]
    state.progress = RunState.Progress()
    (state.progress.bytesTotal, state.progress.limiting, state.progress.seconds) = (7, "sort", 1.5)
    state.kept = RunState.Kept(
      identity: nil, mark: "m", folders: ["/a", FilePath(bytes: [0x2f, 0xff])], locks: ["/a/o"], fingerprintSeed: .max,
      arguments: ["run"], directory: "/")
    state.kept?.commit = .init(
      renames: [.init(temporary: "/t", final: "/f", mode: 0o644, overwrites: true)], books: state.books, notes: ["n"], fault: state.failure)
    (state.isToResume, state.isLeaving, state.isHalted) = (true, true, true)
    #expect(state.interruption == RunState.Interruption(signal: 2, count: 2))
    let children = Mirror(reflecting: state).children
    // What is left as it was at the beginning is not tried.
    let first = Mirror(reflecting: RunState()).children
    let untried = zip(children, first).filter { "\($0.value)" == "\($1.value)" }.map { $0.0.label ?? "" }
    #expect(untried == ["checkpoints"])
    #expect(try JSONCoding.value(RunState.self, from: JSONCoding.line(state)) == state)
  }

  @Test("O-24: each kind of error has an exit status of its own, whatever its code")
  func categories() {
    let statuses: [(OhanaError.Category, Int32)] = [
      (.usage, 2), (.badInput, 3), (.io, 4), (.memory, 5), (.books, 6), (.locked, 7), (.guardFailed, 8),
    ]
    for (category, status) in statuses {
      #expect(state([RunActions.Fail(failure: .init(OhanaError(category, "x", "y")))]).exitStatus == status)
    }
    #expect(Set(statuses.map(\.1)).count == statuses.count)
  }
}
