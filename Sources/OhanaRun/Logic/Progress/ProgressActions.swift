/// How far a run is.
public enum ProgressActions {
  /// Batches have done their work; posted ten times a second at most.
  public struct Advance: RunUpdater {
    /// Compressed bytes of the inputs, since the beginning.
    public let bytesRead: Int
    /// Good records read since the beginning.
    public let records: Int
    /// What is being done behind the end of the input.
    public let held: RunState.Progress.Held?
    /// Since the run began.
    public let seconds: Double
    /// The stage that takes most of the time, where that is known.
    public let limiting: String?

    public func update(_ state: inout RunState) {
      state.progress.bytesRead = max(state.progress.bytesRead, bytesRead)
      state.progress.records = max(state.progress.records, records)
      state.progress.held = held ?? state.progress.held
      state.progress.limiting = limiting ?? state.progress.limiting
      state.progress.seconds = max(state.progress.seconds, seconds)
    }
  }

  /// Time has passed.
  public struct Tick: RunUpdater {
    /// Since the run began.
    public let seconds: Double

    init(seconds: Double) { self.seconds = seconds }

    /// Declines what is none of its own.
    init?(_ event: RunEvent) {
      guard case .time(let seconds) = event else { return nil }
      self.seconds = seconds
    }

    public func update(_ state: inout RunState) { state.progress.seconds = max(state.progress.seconds, seconds) }
  }
}
