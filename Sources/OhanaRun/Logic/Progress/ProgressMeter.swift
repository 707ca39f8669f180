internal import OhanaCore
internal import OhanaEngine

/// Adds up what batches have read, and tells of it ten times a second at most. Belongs to one pipeline.
final class ProgressMeter: Sendable {
  private struct Sum {
    var bytesRead = 0
    var records = 0
    var toldAt: UInt64 = 0
  }
  private let sum = Locked(Sum())
  private let began: UInt64
  private let tell: @Sendable (ProgressActions.Advance) -> Void
  private let limiting = Locked<@Sendable () -> String?>({ nil })

  /// - Parameters:
  ///   - began: when the run began, on the monotonic clock.
  ///   - records: read by an earlier run that this one goes on with.
  init(began: UInt64, records: Int = 0, tell: @escaping @Sendable (ProgressActions.Advance) -> Void) {
    self.began = began
    sum.withLock { $0.records = records }
    self.tell = tell
  }

  /// - Parameter limiting: says which stage takes most of the time; asked whenever progress is told.
  func watch(_ limiting: @escaping @Sendable () -> String?) { self.limiting.withLock { $0 = limiting } }

  func add(_ batch: RecordBatch) {
    let now = monotonicNanoseconds()
    let news = sum.withLock { sum -> Sum? in
      sum.bytesRead = max(sum.bytesRead, batch.inputBytesRead)
      sum.records += batch.readCount
      guard now &- sum.toldAt > 100_000_000 else { return nil }
      sum.toldAt = now
      return sum
    }
    guard let news else { return }
    let limiting = limiting.withLock { $0 }()
    tell(.init(bytesRead: news.bytesRead, records: news.records, seconds: Double(now - began) / 1e9, limiting: limiting))
  }
}
