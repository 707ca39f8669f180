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

/// A short chain of manager calls and dispatches.
public protocol RunEffect: Sendable {
  /// What performing it gives.
  associatedtype Value: Sendable
  /// - Throws: what its managers throw, or an interceptor objects.
  func perform(in context: RunContext) async throws -> Value
}

/// What an effect may use.
public struct RunContext: Sendable {
  /// Managers, clocks, and what makes stores and observers.
  public let dependencies: RunDependencies
  /// Where changes are dispatched to.
  public let store: RunStore

  /// As it is at the moment.
  public var state: RunState { store.state }

  /// Returns when the change has applied. - Throws: what an interceptor objects.
  public func dispatch(_ updater: some RunUpdater) async throws { try await store.dispatch(updater) }
  /// Does not wait.
  public func post(_ updater: some RunUpdater) { store.post(updater) }
  /// Performs an effect at once, as part of the one that asks.
  public func perform<Effect: RunEffect>(_ effect: Effect) async throws -> Effect.Value {
    try await effect.perform(in: self)
  }
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
  }
  private let box: Locked<Box>
  private let queue = DispatchQueue(label: "ohana.store", attributes: .initiallyInactive)
  private let apply: @Sendable (any RunUpdater) throws -> Void
  private let dependencies: RunDependencies

  /// - Parameter interceptors: the first one sees a change first.
  public init(_ state: RunState = RunState(), dependencies: RunDependencies, interceptors: [any RunInterceptor] = []) {
    let box = Locked(Box(state: state))
    self.box = box
    self.dependencies = dependencies
    var apply: @Sendable (any RunUpdater) throws -> Void = { updater in
      let (old, new, listeners) = box.withLock { box in
        let old = box.state
        updater.update(&box.state)
        return (old, box.state, box.listeners)
      }
      guard old != new else { return }
      for listener in listeners { listener.call(old, new) }
    }
    for interceptor in interceptors.reversed() {
      apply = interceptor.chain(state: { box.withLock { $0.state } }, next: apply)
    }
    self.apply = apply
  }

  deinit {
    // An inactive queue must not be let go of.
    if !box.withLock({ $0.hasStarted }) { queue.activate() }
  }

  /// Lets through what has been dispatched so far, and all that follows. Called once.
  public func start() {
    box.withLock { $0.hasStarted = true }
    queue.activate()
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
      do { try apply(updater) } catch { try? apply(RunActions.NoteRefusal(problem: "\(error)")) }
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
