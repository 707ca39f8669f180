internal import OhanaCore

/// Tells how inputs go on: at once where nothing was told for a while, otherwise with what follows.
final class InputMeter: Sendable {
  private struct News {
    var steps: [InputActions.Advance.Step] = []
    var pace = Pace()
  }
  private let news = Locked(News())
  private let tell: @Sendable (InputActions.Advance) -> Void

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
      if ifDue { guard news.pace.isDue(at: now) else { return } } else { news.pace.tell(at: now) }
      // Within the lock, so that news stay in order.
      tell(.init(steps: news.steps))
      news.steps = []
    }
  }
}
