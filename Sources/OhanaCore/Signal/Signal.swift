public import Dispatch

/// Announces that something happened to whoever observes it.
///
/// ```swift
/// source.onReady.observe(self) { owner, source in owner.show(source) }
/// ```
/// - An owner is held weakly and handed back to its callback, so that a callback needs no capture of it. It is kept alive during the
///   callback and no longer; when it is gone, so is the observation.
/// - Callbacks run in the order of registration. A fire reaches those who observed when it began: not the ones added meanwhile, but still
///   the ones removed meanwhile.
/// - A callback runs on the queue given for it: at once, if `fire` is called there or on a queue that targets it, otherwise enqueued. Without
///   a queue it runs inside `fire`, on the caller's thread.
/// - A signal has no back-pressure, no result and no way to fail. So it never carries records: those move over the engine's links, and signals
///   announce at most some tens of events a second.
///
/// All of it may be called from any thread, also from callbacks: nothing of a caller's runs under the signal's lock. A fire costs a lock
/// round, and another for each observer.
public final class Signal<Payload: Sendable>: Sendable {
  private struct State {
    var observers: [Observer] = []
    var maxObservers: Int
    var last: Payload?
    var hasComplained = false
  }

  /// Never let go of, and never asked for its owner, under the signal's lock: either may be what ends something of the caller's.
  private final class Observer: @unchecked Sendable {  // because the weak reference is set once, and the flags only under the signal's lock
    private(set) weak var owner: (any AnyObject & Sendable)?
    let observation: SignalObservation
    let queue: (queue: DispatchQueue, mark: SignalQueue)?
    let call: @Sendable (any AnyObject & Sendable, Payload) -> Void
    var isOnce: Bool
    var isSpent = false

    init(
      _ owner: any AnyObject & Sendable, _ observation: SignalObservation, _ queue: DispatchQueue?, isOnce: Bool,
      _ call: @escaping @Sendable (any AnyObject & Sendable, Payload) -> Void
    ) {
      self.owner = owner
      self.observation = observation
      self.queue = queue.map { ($0, SignalQueue.mark($0)) }
      self.isOnce = isOnce
      self.call = call
    }
  }

  /// In messages.
  public let name: String
  /// Keeps the last payload for ``replayLast()``.
  public let replays: Bool
  private let onAdded: (@Sendable (SignalObservation) -> Void)?
  private let onRemoved: (@Sendable (SignalObservation) -> Void)?
  private let complain: @Sendable (String) -> Void
  private let state: Locked<State>

  /// - Parameters:
  ///   - name: for ``debugDescription`` and the complaint about too many observers.
  ///   - replays: the last payload is kept, and whatever it holds on to, so that ``replayLast()`` can fire it again.
  ///   - maxObservers: how many there may be at once: more are taken for a leak. See ``maxObservers``.
  ///   - onAdded: called behind every registration, outside the lock.
  ///   - onRemoved: called with the observation whenever one has ended: cancelled, removed, spent or its owner gone. Outside the lock.
  public convenience init(
    _ name: String = "signal", replays: Bool = false, maxObservers: Int = 100, onAdded: (@Sendable (SignalObservation) -> Void)? = nil,
    onRemoved: (@Sendable (SignalObservation) -> Void)? = nil
  ) {
    self.init(name, replays: replays, maxObservers: maxObservers, onAdded: onAdded, onRemoved: onRemoved) { problem in
      assertionFailure(problem)
      let line = Array("\(problem)\n".utf8)
      _ = write(STDERR_FILENO, line, line.count)
    }
  }

  /// - Parameter complain: what happens when there are too many observers, once per signal.
  package init(
    _ name: String, replays: Bool, maxObservers: Int, onAdded: (@Sendable (SignalObservation) -> Void)? = nil,
    onRemoved: (@Sendable (SignalObservation) -> Void)? = nil, complain: @escaping @Sendable (String) -> Void
  ) {
    precondition(maxObservers > 0, "a signal has room for an observer")
    self.name = name
    self.replays = replays
    self.onAdded = onAdded
    self.onRemoved = onRemoved
    self.complain = complain
    state = Locked(State(maxObservers: maxObservers))
  }

  // MARK: Observing

  /// Calls `callback` whenever the signal fires, for as long as `owner` lives.
  ///
  /// - Parameters:
  ///   - owner: held weakly. One owner may observe several times.
  ///   - queue: where the callback runs; nil: where the signal is fired.
  ///   - once: the observation ends right before its first callback; a replay counts.
  /// - Returns: nil where there are ``maxObservers`` already, which is taken for a leak: debug builds trap, others write one line to
  ///   standard error, once, and go on without the observer.
  @discardableResult
  public func observe<Owner: AnyObject & Sendable>(
    _ owner: Owner, on queue: DispatchQueue? = nil, once: Bool = false, _ callback: @escaping @Sendable (_ owner: Owner, Payload) -> Void
  ) -> SignalObservation? {
    let observation = SignalObservation(
      cancel: { [weak self] in self?.remove($0) }, arm: { [weak self] in self?.arm($0) })
    let observer = Observer(owner, observation, queue, isOnce: once) { owner, payload in
      callback(unsafeDowncast(owner, to: Owner.self), payload)
    }
    tellRemoved(takeOut { $0.owner == nil })
    let (isAdded, complains, limit) = state.withLock { state in
      let limit = state.maxObservers
      guard state.observers.count < limit else {
        defer { state.hasComplained = true }
        return (false, !state.hasComplained, limit)
      }
      state.observers.append(observer)
      return (true, false, limit)
    }
    if complains {
      complain("\(name): there are \(limit) observers already; raise maxObservers, or look for owners that are never let go of")
    }
    guard isAdded else { return nil }
    onAdded?(observation)
    return observation
  }

  /// Ends all observations of `owner`.
  public func removeObserver(_ owner: some AnyObject & Sendable) {
    tellRemoved(takeOut { $0.owner.map { $0 === owner } ?? true })
  }

  /// Ends all observations.
  public func removeAllObservers() {
    tellRemoved(
      state.withLock { state in
        defer { state.observers = [] }
        return state.observers
      })
  }

  /// Observations whose owners are alive; lets a producer leave out a payload that nobody wants.
  public var observerCount: Int { state.withLock { $0.observers }.count { $0.owner != nil } }

  /// How many observers there may be at once; 100 unless said otherwise.
  public var maxObservers: Int { state.withLock { $0.maxObservers } }

  /// Sets ``maxObservers``; refused, like an observer too many, where there are more already.
  ///
  /// - Returns: whether it was set.
  @discardableResult
  public func setMaxObservers(_ limit: Int) -> Bool {
    precondition(limit > 0, "a signal has room for an observer")
    let (isSet, complains) = state.withLock { state in
      guard state.observers.count <= limit else {
        defer { state.hasComplained = true }
        return (false, !state.hasComplained)
      }
      state.maxObservers = limit
      return (true, false)
    }
    if complains { complain("\(name): there are more observers than the limit of \(limit) to be set") }
    return isSet
  }

  // MARK: Firing

  /// Tells all who observe.
  public func fire(_ payload: Payload) {
    let (observers, earlier) = state.withLock { ($0.observers, remember(payload, &$0)) }
    withExtendedLifetime(earlier) {}  // let go of outside the lock
    if observers.contains(where: { $0.owner == nil }) { tellRemoved(takeOut { $0.owner == nil }) }
    for observer in observers { deliver(payload, to: observer) }
  }

  /// Tells one observer; the payload counts as the last one all the same. Nothing happens if the observation has ended.
  public func fire(_ payload: Payload, to observation: SignalObservation) {
    let (observer, earlier) = state.withLock { state in
      (state.observers.first { $0.observation === observation }, remember(payload, &state))
    }
    withExtendedLifetime(earlier) {}  // let go of outside the lock
    if let observer { deliver(payload, to: observer) }
  }

  /// Fires the last payload again.
  ///
  /// - Returns: false where nothing has been fired yet, or the signal does not replay.
  @discardableResult
  public func replayLast() -> Bool {
    let (payload, observers) = state.withLock { ($0.last, $0.observers) }
    guard let payload else { return false }
    for observer in observers { deliver(payload, to: observer) }
    return true
  }

  /// Fires the last payload again, to one observer. See ``replayLast()``.
  @discardableResult
  public func replayLast(to observation: SignalObservation) -> Bool {
    let (payload, observer) = state.withLock { state in (state.last, state.observers.first { $0.observation === observation }) }
    guard let payload, let observer else { return false }
    deliver(payload, to: observer)
    return true
  }

  // MARK: Inside

  /// - Returns: what is forgotten for it, to be let go of outside the lock.
  private func remember(_ payload: Payload, _ state: inout State) -> Payload? {
    guard replays else { return nil }
    defer { state.last = payload }
    return state.last
  }

  /// Ends observations. `isGone` is asked outside the lock.
  private func takeOut(_ isGone: (Observer) -> Bool) -> [Observer] {
    let gone = state.withLock { $0.observers }.filter(isGone)
    if gone.isEmpty { return [] }
    // Of those that others have ended meanwhile it was told already.
    return state.withLock { state in
      let there = gone.filter { observer in state.observers.contains { $0 === observer } }
      state.observers.removeAll { observer in there.contains { $0 === observer } }
      return there
    }
  }

  private func deliver(_ payload: Payload, to observer: Observer) {
    guard let (queue, mark) = observer.queue, !mark.isCurrent else { return call(observer, payload) }
    queue.async { self.call(observer, payload) }
  }

  private func call(_ observer: Observer, _ payload: Payload) {
    guard let owner = observer.owner else { return }
    let (isWanted, isRemoved) = state.withLock { state in
      guard observer.isOnce else { return (true, false) }
      guard !observer.isSpent else { return (false, false) }
      observer.isSpent = true
      guard let index = state.observers.firstIndex(where: { $0 === observer }) else { return (true, false) }
      state.observers.remove(at: index)
      return (true, true)
    }
    if isRemoved { onRemoved?(observer.observation) }
    if isWanted { observer.call(owner, payload) }
  }

  private func remove(_ observation: SignalObservation) {
    tellRemoved(takeOut { $0.observation === observation || $0.owner == nil })
  }

  private func arm(_ observation: SignalObservation) {
    state.withLock { state in state.observers.first { $0.observation === observation }?.isOnce = true }
  }

  private func tellRemoved(_ observers: [Observer]) {
    guard let onRemoved else { return }
    for observer in observers { onRemoved(observer.observation) }
  }
}

extension Signal where Payload == Void {
  /// Tells all who observe.
  public func fire() { fire(()) }
}

extension Signal: CustomDebugStringConvertible {
  /// The signal's name and its observers: types of their owners and the queues they are called on.
  public var debugDescription: String {
    let observers = state.withLock { $0.observers }
    let lines = observers.map { observer in
      "  " + (observer.owner.map { "\(type(of: $0))" } ?? "(gone)") + (observer.queue.map { " on \($0.queue.label)" } ?? "")
    }
    return ([name + (observers.isEmpty ? ": nobody observes" : ":")] + lines).joined(separator: "\n")
  }
}
