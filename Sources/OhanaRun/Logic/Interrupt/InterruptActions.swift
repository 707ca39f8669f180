internal import OhanaCore

/// What signals ask of a run.
public enum InterruptActions {
  /// SIGINT, SIGTERM or SIGHUP: the run is to end.
  public struct Interrupt: RunUpdater {
    /// Its number: SIGINT, SIGTERM or SIGHUP.
    public let signal: Int32
    /// - Parameter signal: its number.
    public init(signal: Int32) { self.signal = signal }

    /// Declines what does not ask for an end.
    init?(_ event: RunEvent) {
      guard case .signalled(let number) = event, number != SIGUSR1 else { return nil }
      signal = number
    }

    public func update(_ state: inout RunState) {
      guard state.interruption == nil else {
        // Supervisors repeat themselves; that is no reason to let go of what is being kept.
        if signal == SIGINT || !state.isLeaving { state.interruption!.count += 1 }
        return
      }
      state.interruption = RunState.Interruption(signal: signal)
      // All but SIGINT are for a run that somebody wants to go on with, if it can be. Behind the last record, and before the first of a run
      // that goes on with another, there is no new checkpoint, but one to keep.
      guard signal != SIGINT else { return }
      if state.phase == .planning {
        state.isLeaving = state.kept?.checkpoint != nil
      } else if (.running ... .finishing).contains(state.phase), state.checkpoints.interval != nil {
        state.isLeaving = state.isToResume || state.kept?.checkpoint != nil
      }
    }
  }

  /// SIGUSR1: show how far it is.
  public struct ShowProgress: RunUpdater {
    /// Asks once.
    public init() {}

    /// Declines all but its signal.
    init?(_ event: RunEvent) { if event != .signalled(SIGUSR1) { return nil } }

    public func update(_ state: inout RunState) { state.progressRequests += 1 }
  }
}
