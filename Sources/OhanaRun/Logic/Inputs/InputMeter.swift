internal import OhanaCore

/// Tells how inputs go on: at once where nothing was told for a while, otherwise with what follows.
final class InputMeter: Sendable {
  private struct News {
    var steps: [InputActions.Advance.Step] = []
    var toldAt: UInt64?
  }
  private let news = Locked(News())
  private let tell: @Sendable (InputActions.Advance) -> Void

  /// Nanoseconds between two tellings.
  private static let pause: UInt64 = 100_000_000

  init(tell: @escaping @Sendable (InputActions.Advance) -> Void) { self.tell = tell }

  /// An input is about to be read, or was read to its end.
  func add(_ input: Int, _ status: ProviderStatus) {
    news.withLock { $0.steps.append(.init(input: input, status: status)) }
    flush(ifDue: true)
  }

  /// Tells all there is. - Parameter ifDue: only where nothing was told for a while.
  func flush(ifDue: Bool = false) {
    news.withLock { news in
      guard !news.steps.isEmpty else { return }
      let now = monotonicNanoseconds()
      if ifDue, let toldAt = news.toldAt, now &- toldAt < Self.pause { return }
      // Within the lock, so that news stay in order.
      tell(.init(steps: news.steps))
      (news.steps, news.toldAt) = ([], now)
    }
  }
}
