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
