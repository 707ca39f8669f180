internal import OhanaCore

/// Refuses changes that would take a run back: a phase only follows an earlier one, and a failed run is never published.
struct OrderInterceptor: RunInterceptor {
  func chain(
    state: @escaping @Sendable () -> RunState, next: @escaping @Sendable (any RunUpdater) throws -> Void
  ) -> @Sendable (any RunUpdater) throws -> Void {
    { updater in
      guard let step = updater as? any PhaseUpdater else { return try next(updater) }
      let phase = state().phase
      guard type(of: step).follows.contains(phase) else {
        throw OhanaError(.books, "out-of-order", "\(type(of: step)) cannot follow \(phase.rawValue)", fix: "please report this")
      }
      try next(updater)
    }
  }
}

/// A change that takes the run to another phase.
protocol PhaseUpdater: RunUpdater {
  static var follows: Set<RunState.Phase> { get }
}
