internal import OhanaCore

/// What signals ask of a run.
public enum InterruptActions {
  /// SIGINT or SIGTERM: the run is to end.
  public struct Interrupt: RunUpdater {
    /// Its number: SIGINT or SIGTERM.
    public let signal: Int32
    /// - Parameter signal: its number.
    public init(signal: Int32) { self.signal = signal }

    public func update(_ state: inout RunState) {
      guard state.interruption == nil else {
        state.interruption!.count += 1
        return
      }
      state.interruption = RunState.Interruption(signal: signal)
      // SIGTERM is for a run that somebody wants to go on with, if it can be.
      guard signal == SIGTERM, state.phase == .running, state.checkpoints.interval != nil else { return }
      state.isLeaving = state.isToResume || state.kept?.checkpoint != nil
    }
  }

  /// SIGUSR1: show how far it is.
  public struct ShowProgress: RunUpdater {
    /// Asks once.
    public init() {}
    public func update(_ state: inout RunState) { state.progressRequests += 1 }
  }
}
