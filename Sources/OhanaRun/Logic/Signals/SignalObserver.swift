internal import Dispatch
internal import OhanaCore

/// Turns signals of the process into calls: SIGINT and SIGTERM ask the run to end, SIGUSR1 asks for progress, SIGPIPE is left to write(2).
///
/// It observes until it is deallocated. One observer at a time.
public final class SignalObserver: @unchecked Sendable {  // because its sources are made once and never changed
  public enum Event: Sendable, Equatable {
    /// SIGINT or SIGTERM; `count` is 1 for the first.
    case terminate(signal: Int32, count: Int)
    case showProgress
  }

  private let sources: [any DispatchSourceSignal]
  private let queue = DispatchQueue(label: "ohana.signals")

  /// - Parameter handler: called on a queue of the observer's own.
  public init(_ handler: @escaping @Sendable (Event) -> Void) {
    signal(SIGPIPE, SIG_IGN)
    var made: [any DispatchSourceSignal] = []
    final class Counter: @unchecked Sendable { var value = 0 }  // because only the serial queue below touches it
    let counter = Counter()
    for number in [SIGINT, SIGTERM, SIGUSR1] {
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
      source.setEventHandler {
        if number == SIGUSR1 { return handler(.showProgress) }
        counter.value += 1
        handler(.terminate(signal: number, count: counter.value))
      }
      source.resume()
      made.append(source)
    }
    sources = made
  }

  deinit { for source in sources { source.cancel() } }
}
