/// How far a run is.
public enum ProgressActions {
  /// Batches have done their work; posted ten times a second at most.
  public struct Advance: RunUpdater {
    public let bytesRead: Int
    public let records: Int
    public let seconds: Double
    public let limiting: String?

    public func update(_ state: inout RunState) {
      state.progress.bytesRead = max(state.progress.bytesRead, bytesRead)
      state.progress.records = max(state.progress.records, records)
      state.progress.limiting = limiting ?? state.progress.limiting
      state.progress.seconds = max(state.progress.seconds, seconds)
    }
  }

  /// Time has passed.
  public struct Tick: RunUpdater {
    public let seconds: Double
    public func update(_ state: inout RunState) {
      state.progress.seconds = max(state.progress.seconds, seconds)
      if state.phase == .running, state.interruption == nil { state.checkpoints.pass(to: seconds) }
    }
  }
}
