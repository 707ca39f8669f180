internal import Dispatch
internal import OhanaCore
internal import OhanaEngine

/// A change of the state: pure, so that no clock, file or chance is in it. What it needs is in its properties.
public protocol RunUpdater: Codable, Sendable {
  /// Makes the change; nothing else comes of it.
  func update(_ state: inout RunState)
}

/// A change that a killed run must not forget: it is journalled before it applies.
public protocol DurableUpdater: RunUpdater {
  /// Its name in the journal; never changed, never given to another.
  static var journalName: String { get }
  /// It has to be on disk before it applies: what follows must not outlive it when the machine stops. True unless said otherwise.
  static var isSynced: Bool { get }
}

extension DurableUpdater {
  public static var isSynced: Bool { true }
}

/// Stands between a dispatch and the state: may pass a change on, or throw.
public protocol RunInterceptor: Sendable {
  /// Called once, when the store is made.
  ///
  /// - Parameters:
  ///   - state: the state at the moment.
  ///   - next: the interceptor behind, at last the change itself.
  func chain(
    state: @escaping @Sendable () -> RunState, next: @escaping @Sendable (any RunUpdater) throws -> Void
  ) -> @Sendable (any RunUpdater) throws -> Void
}

/// Holds the one ``RunState`` and changes it in the order of dispatches. For tens of events a second, never for records.
///
/// What is dispatched before ``start()`` waits until then. Listeners are called in order on the store's queue, with the state before and
/// after; they must be quick and may post.
public final class RunStore: Sendable {
  /// Called behind each change, on the store's queue.
  public typealias Listener = @Sendable (_ old: RunState, _ new: RunState) -> Void

  private struct Box {
    var state: RunState
    var listeners: [(id: Int, call: Listener)] = []
    var nextID = 0
    var hasStarted = false
    var react: @Sendable (RunRule.Occasion, RunState) -> Void = { _, _ in }
  }
  private let box: Locked<Box>
  private let queue = DispatchQueue(label: "ohana.store", attributes: .initiallyInactive)
  private let apply: @Sendable (any RunUpdater) throws -> Void
  private let dependencies: RunDependencies

  /// - Parameter interceptors: the first one sees a change first.
  public convenience init(_ state: RunState = RunState(), dependencies: RunDependencies, interceptors: [any RunInterceptor] = []) {
    self.init(state, dependencies: dependencies, interceptors: interceptors, rules: [])
  }

  /// - Parameter rules: in force from the start on, for as long as the store is there.
  init(_ state: RunState = RunState(), dependencies: RunDependencies, interceptors: [any RunInterceptor], rules: [RunRule]) {
    let box = Locked(Box(state: state))
    self.box = box
    self.dependencies = dependencies
    var apply: @Sendable (any RunUpdater) throws -> Void = { updater in
      let (old, new, listeners, react) = box.withLock { box in
        let old = box.state
        updater.update(&box.state)
        return (old, box.state, box.listeners, box.react)
      }
      if old != new { for listener in listeners { listener.call(old, new) } }
      react(.applied(updater, to: old), new)
    }
    for interceptor in interceptors.reversed() {
      apply = interceptor.chain(state: { box.withLock { $0.state } }, next: apply)
    }
    self.apply = apply
    let react: @Sendable (RunRule.Occasion, RunState) -> Void = { [weak self] occasion, state in
      for rule in rules { if let change = rule.reaction(occasion, state) { self?.post(change) } }
    }
    box.withLock { $0.react = react }
  }

  deinit {
    // An inactive queue must not be let go of.
    if !box.withLock({ $0.hasStarted }) { queue.activate() }
  }

  /// Lets through what has been dispatched so far, and all that follows. Called once.
  public func start() {
    box.withLock { $0.hasStarted = true }
    react(to: .start)
    queue.activate()
  }

  /// Tells the rules of something outside, in turn.
  func notify(_ event: RunEvent) { react(to: .event(event)) }

  private func react(to occasion: RunRule.Occasion) {
    queue.async { [box] in
      let (react, state) = box.withLock { ($0.react, $0.state) }
      react(occasion, state)
    }
  }

  /// As it is at the moment; changes that were dispatched and not applied are not in it.
  public var state: RunState { box.withLock { $0.state } }

  /// Changes the state in turn, and returns then. - Throws: what an interceptor objects.
  public func dispatch(_ updater: some RunUpdater) async throws {
    try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
      queue.async { [apply] in continuation.resume(with: Result { try apply(updater) }) }
    }
  }

  /// Changes the state in turn, without waiting; what an interceptor objects becomes a note.
  public func post(_ updater: some RunUpdater) {
    queue.async { [apply] in
      do { try apply(updater) } catch { try? apply(RunActions.Note(text: "a change of the run was refused: \(error)")) }
    }
  }

  /// Runs an effect, behind all that was dispatched before.
  public func perform<Effect: RunEffect>(_ effect: Effect) async throws -> Effect.Value {
    await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in queue.async { continuation.resume() } }
    return try await effect.perform(in: RunContext(dependencies: dependencies, store: self))
  }

  /// Returns what ``forget(_:)`` takes.
  @discardableResult
  public func listen(_ listener: @escaping Listener) -> Int {
    box.withLock { box in
      box.nextID += 1
      box.listeners.append((box.nextID, listener))
      return box.nextID
    }
  }

  /// Takes a listener away; it may be called once more by a change under way.
  public func forget(_ listener: Int) { box.withLock { $0.listeners.removeAll { $0.id == listener } } }
}
