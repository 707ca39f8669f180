internal import OhanaCore
internal import OhanaEngine

/// Tells ten times a second at most how far a flow is, and at once when a stage has begun to give out what it held back. Belongs to one pipeline.
final class ProgressMeter: Sendable {
  /// What the flow itself knows.
  struct Flow {
    /// Good records read, those included that an earlier run had read.
    var records: Int
    var held: RunState.Progress.Held?
    /// The stage that takes most of the time.
    var limiting: String?
  }
  private struct Sum {
    var bytesRead = 0
    var pace = Pace()
    var isBehindEnd = false
  }
  private let sum = Locked(Sum())
  private let began: UInt64
  private let tell: @Sendable (ProgressActions.Advance) -> Void
  private let flow = Locked<@Sendable () -> Flow?>({ nil })

  /// - Parameter began: when the run began, on the monotonic clock.
  init(began: UInt64, tell: @escaping @Sendable (ProgressActions.Advance) -> Void) {
    self.began = began
    self.tell = tell
  }

  /// - Parameter flow: asked whenever progress is told; until there is one, none is.
  func watch(_ flow: @escaping @Sendable () -> Flow?) { self.flow.withLock { $0 = flow } }

  /// A batch has done its work.
  func add(_ batch: RecordBatch) {
    let now = monotonicNanoseconds()
    let bytesRead = sum.withLock { sum -> Int? in
      sum.bytesRead = max(sum.bytesRead, batch.inputBytesRead)
      if batch.hasOrigins != sum.isBehindEnd {
        sum.isBehindEnd = batch.hasOrigins
        sum.pace.tell(at: now)
      } else if !sum.pace.isDue(at: now) {
        return nil
      }
      return sum.bytesRead
    }
    guard let bytesRead, let flow = flow.withLock({ $0 })() else { return }
    tell(
      .init(
        bytesRead: bytesRead, records: flow.records, held: flow.held, seconds: Double(now - began) / 1e9, limiting: flow.limiting))
  }
}
