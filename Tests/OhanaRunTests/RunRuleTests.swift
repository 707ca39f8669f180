import Dispatch
import OhanaCore
import OhanaTestSupport
import Testing

@testable import OhanaRun

/// Appends its text to the notes; no change where that is empty.
private struct Mark: RunUpdater {
  let text: String
  init(_ text: String) { self.text = text }
  func update(_ state: inout RunState) { if !text.isEmpty { state.notes.append(text) } }
}

/// Does the same, and is another type.
private struct OtherMark: RunUpdater {
  let text: String
  func update(_ state: inout RunState) { state.notes.append(text) }
}

/// Made only where its text is not there yet.
private struct FirstMark: RunUpdater {
  let text: String
  init?(_ text: String, _ state: RunState) {
    if state.notes.contains(text) { return nil }
    self.text = text
  }
  func update(_ state: inout RunState) { state.notes.append(text) }
}

private struct NoRefuser: RunInterceptor {
  struct Refusal: Error {}
  func chain(
    state: @escaping @Sendable () -> RunState, next: @escaping @Sendable (any RunUpdater) throws -> Void
  ) -> @Sendable (any RunUpdater) throws -> Void {
    { updater in
      if (updater as? Mark)?.text == "no" { throw Refusal() }
      try next(updater)
    }
  }
}

@Suite("The rules of a run") struct RunRuleTests {
  private func store(_ rules: [RunRule], _ interceptors: [any RunInterceptor] = []) -> RunStore {
    RunStore(dependencies: RunDependencies(), interceptors: interceptors, rules: rules)
  }

  /// The notes when nothing is left to be done: reactions to reactions included, as many levels as there are here.
  private func notes(of store: RunStore) async throws -> [String] {
    for _ in 0..<4 { try await store.dispatch(Mark("")) }
    return store.state.notes
  }

  @Test("K-11: at the start, behind what was dispatched before it, once each and in the order of the rules") func start() async throws {
    let store = store([.onStart { _ in Mark("a") }, .onStart { _ in nil }, .onStart { state in Mark("b\(state.notes.count)") }])
    store.post(Mark("early"))
    #expect(store.state.notes.isEmpty)
    store.start()
    // Both were made of the state at the start.
    #expect(try await notes(of: store) == ["early", "a", "b1"])
  }

  @Test("K-11: at a change of the state, with both states; a dispatch that changes nothing sets nothing off") func change() async throws {
    let store = store([
      .onChange { old, new in new.progressRequests > old.progressRequests ? Mark("\(old.progressRequests)→\(new.progressRequests)") : nil }
    ])
    store.start()
    try await store.dispatch(InterruptActions.ShowProgress())
    try await store.dispatch(Mark("x"))
    try await store.dispatch(ProgressActions.Tick(seconds: 0))
    try await store.dispatch(InterruptActions.ShowProgress())
    #expect(try await notes(of: store) == ["0→1", "x", "1→2"])
  }

  @Test("K-11: behind a dispatch of exactly a type, whether it changes anything or not, unless it is refused") func dispatch() async throws
  {
    let store = store(
      [
        .on(Mark.self) { mark, state in mark.text.isEmpty ? nil : OtherMark(text: "\(mark.text)!\(state.notes.count)") },
        .on(ProgressActions.Tick.self) { tick, _ in OtherMark(text: "tick \(tick.seconds)") },
      ], [NoRefuser()])
    store.start()
    try await store.dispatch(Mark("a"))
    try await store.dispatch(OtherMark(text: "other"))
    await #expect(throws: NoRefuser.Refusal.self) { try await store.dispatch(Mark("no")) }
    try await store.dispatch(ProgressActions.Tick(seconds: 0))
    #expect(try await notes(of: store) == ["a", "a!1", "other", "tick 0.0"])
  }

  @Test("K-11: at what observers tell, in the order in which they tell it, from any queue") func events() async throws {
    let store = store([
      .onEvent { event, _ in if case .time(let seconds) = event { Mark("\(Int(seconds))") } else { nil } },
      .onEvent { event, _ in event == .signalled(SIGUSR1) ? Mark("seen") : nil },
    ])
    for second in 0..<100 { store.notify(.time(Double(second))) }
    #expect(store.state.notes.isEmpty)
    store.start()
    for second in 100..<200 { store.notify(.time(Double(second))) }
    store.notify(.signalled(SIGHUP))
    store.notify(.signalled(SIGUSR1))
    #expect(try await notes(of: store) == (0..<200).map(String.init) + ["seen"])
    DispatchQueue.concurrentPerform(iterations: 100) { _ in store.notify(.signalled(SIGUSR1)) }
    #expect(try await notes(of: store).count == 301)
  }

  @Test("K-11: each rule reacts once, however many rules there are and whatever else is in the table", arguments: [1, 2, 7])
  func onceEach(count: Int) async throws {
    let rules = (0..<count).map { number in RunRule.on(Mark.self) { mark, _ in mark.text == "x" ? OtherMark(text: "\(number)") : nil } }
    let store = store(rules + [.onChange { _, _ in nil }, .onStart { _ in nil }, .onEvent { _, _ in nil }])
    store.start()
    try await store.dispatch(Mark("x"))
    #expect(try await notes(of: store) == ["x"] + (0..<count).map(String.init))
    try await store.dispatch(Mark("x"))
    #expect(try await notes(of: store).count == 2 * (1 + count))
  }

  @Test("K-11: a rule whose change cannot be made declines, and may react to what its own change has made") func declines() async throws {
    let store = store([
      .onChange { _, state in FirstMark("once", state) },
      .onChange { _, state in state.notes.contains("once") ? FirstMark("then", state) : nil },
    ])
    store.start()
    for _ in 0..<5 { try await store.dispatch(InterruptActions.ShowProgress()) }
    #expect(try await notes(of: store) == ["once", "then"])
  }

  @Test("K-11: rules end with their store, begun or not, whatever still tells it things") func end() async throws {
    weak var last: RunStore?
    final class Token: Sendable {}
    weak var held: Token?
    var tellers: [@Sendable (RunEvent) -> Void] = []
    for isBegun in [true, false] {
      let token = Token()
      let store = store([.onStart { _ in withExtendedLifetime(token) { Mark("a") } }, .onEvent { _, _ in Mark("b") }])
      tellers.append { [weak store] event in store?.notify(event) }
      if isBegun { store.start() }
      store.notify(.time(1))
      if isBegun { #expect(try await notes(of: store).count == 2) }
      (last, held) = (store, token)
    }
    // Work of a store's queue that is just about to end may still hold it.
    for _ in 0..<10_000 where last != nil || held != nil { try await Task.sleep(for: .milliseconds(1)) }
    #expect(last == nil && held == nil)
    for tell in tellers { tell(.time(2)) }
  }

  // MARK: Those of a run

  struct Case: Sendable, CustomTestStringConvertible {
    let rule: String
    var events: [RunEvent]
    var options = RunOptions()
    /// Before the events.
    var changes: [any RunUpdater] = []
    /// What there is to be dispatched, by type and text.
    var makes: [String]
    var testDescription: String { rule }
  }
  private static let isRunning = RunActions.Begin(plan: [], bytesTotal: nil, checkpointInterval: 30)
  static let cases: [Case] = [
    Case(rule: "nothing comes of nothing", events: [], makes: []),
    Case(
      rule: "signals", events: [.signalled(SIGINT), .signalled(SIGUSR1), .signalled(SIGTERM)],
      makes: ["Interrupt(signal: 2)", "ShowProgress()", "Interrupt(signal: 15)"]),
    Case(rule: "time passes", events: [.time(1), .time(40)], makes: ["Tick(seconds: 1.0)", "Tick(seconds: 40.0)"]),
    Case(
      rule: "checkpoints are due by the time, once each", events: [.time(29), .time(30), .time(31), .time(59), .time(61)],
      changes: [isRunning],
      makes: [
        "Tick(seconds: 29.0)", "Tick(seconds: 30.0)", "Due(seconds: 30.0)", "Tick(seconds: 31.0)", "Tick(seconds: 59.0)",
        "Tick(seconds: 61.0)",
        "Due(seconds: 61.0)",
      ]),
    Case(
      rule: "none is due when the run is to end", events: [.time(30)], changes: [isRunning, InterruptActions.Interrupt(signal: SIGINT)],
      makes: ["Tick(seconds: 30.0)"]),
    Case(
      rule: "a disk that is full, told once", events: [.disk("/t", free: 64 << 20), .disk("/t", free: 5), .disk("/t", free: 4)],
      makes: ["ShortDisk(folder: /t, free: 5)"]),
    Case(
      rule: "memory that is short, told once",
      events: [
        .memory(share: 9.9, meetsLimits: false), .memory(share: 0.9, meetsLimits: true), .memory(share: 1, meetsLimits: true),
        .memory(share: 80, meetsLimits: false),
      ], makes: ["ShortMemory(share: 1.0)"]),
    Case(
      rule: "--resume is known from the start",
      events: [.time(1)],
      options: {
        var options = RunOptions()
        options.resume = true
        return options
      }(), makes: ["MeanToResume()", "Tick(seconds: 1.0)"]),
  ]

  /// Writes down what rules have made.
  private struct Recorder: RunInterceptor {
    let made: Locked<[String]>
    func chain(
      state: @escaping @Sendable () -> RunState, next: @escaping @Sendable (any RunUpdater) throws -> Void
    ) -> @Sendable (any RunUpdater) throws -> Void {
      { updater in
        if !(updater is Mark), !(updater is RunActions.Begin) { made.withLock { $0.append("\(updater)") } }
        try next(updater)
      }
    }
  }

  @Test("K-11: what is made of what observers tell", arguments: cases) func table(_ example: Case) async throws {
    let made = Locked<[String]>([])
    let store = store(RunRule.table(example.options), [Recorder(made: made)])
    for change in example.changes { store.post(change) }
    store.start()
    _ = try await notes(of: store)
    let before = made.withLock { $0.filter { $0.hasPrefix("MeanToResume") } }
    made.withLock { $0 = before }
    for event in example.events {
      store.notify(event)
      _ = try await notes(of: store)
    }
    #expect(made.withLock { $0 } == example.makes)
    #expect(store.state.isToResume == example.options.resume)
  }
}
