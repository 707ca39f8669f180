internal import OhanaCore

/// Refuses changes that would take a run back: a phase only follows an earlier one, a failed run is never published, and outputs of a run
/// that was interrupted do not begin to appear.
struct OrderInterceptor: RunInterceptor {
  func chain(
    state: @escaping @Sendable () -> RunState, next: @escaping @Sendable (any RunUpdater) throws -> Void
  ) -> @Sendable (any RunUpdater) throws -> Void {
    { updater in
      guard let step = updater as? any PhaseUpdater else { return try next(updater) }
      let (phase, interruption) = { ($0.phase, $0.interruption) }(state())
      if type(of: step).isOverWhenInterrupted, interruption != nil { throw OhanaError.cancelled }
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
  /// May not come behind an interruption. False unless said otherwise.
  static var isOverWhenInterrupted: Bool { get }
}

extension PhaseUpdater {
  static var isOverWhenInterrupted: Bool { false }
}
