internal import Dispatch

/// Tells how much time has passed, until it is let go of.
final class TimerObserver: @unchecked Sendable {  // because its source is made once and never changed
  private let source: any DispatchSourceTimer

  /// - Parameters:
  ///   - began: when the run began, on `clock`.
  ///   - notify: called on a queue of the observer's own.
  init(
    since began: UInt64, every seconds: Double, clock: @escaping @Sendable () -> UInt64,
    _ notify: @escaping @Sendable (RunEvent) -> Void
  ) {
    let source = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "ohana.timer"))
    source.schedule(deadline: .now() + seconds, repeating: seconds, leeway: .milliseconds(20))
    source.setEventHandler { notify(.time(Double(clock() - began) / 1e9)) }
    source.resume()
    self.source = source
  }

  deinit { source.cancel() }
}
