internal import Dispatch
internal import OhanaCore

/// Tells of signals of the process: SIGINT, SIGTERM and SIGHUP ask the run to end, SIGUSR1 asks for progress. SIGPIPE is
/// ignored, so that write(2) tells of a closed pipe. What was ignored when the process began stays so: SIGHUP under nohup(1), SIGINT of what
/// a script runs behind `&`.
///
/// It observes until it is let go of. One observer at a time.
final class SignalObserver: @unchecked Sendable {  // because its sources are made once and never changed
  private let sources: [any DispatchSourceSignal]

  /// - Parameter notify: called on a queue of the observer's own.
  init(_ notify: @escaping @Sendable (RunEvent) -> Void) {
    signal(SIGPIPE, SIG_IGN)
    let queue = DispatchQueue(label: "ohana.signals")
    sources = [SIGINT, SIGTERM, SIGHUP, SIGUSR1].compactMap { number in
      if Self.ignored.contains(number) { return nil }
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
      source.setEventHandler { notify(.signalled(number)) }
      source.resume()
      return source
    }
  }

  /// How the process began: found out before the first observer changes it. SIG_IGN is the number 1.
  private static let ignored = Set(
    [SIGINT, SIGTERM, SIGHUP].filter { signal($0, SIG_IGN).map { unsafeBitCast($0, to: Int.self) == 1 } ?? false })

  deinit { for source in sources { source.cancel() } }
}
