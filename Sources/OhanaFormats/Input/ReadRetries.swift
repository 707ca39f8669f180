internal import Dispatch
package import OhanaCore

/// Lets reads of regular files that fail for a passing reason (a network file system that is away for a moment, a bad cable) be tried again:
/// after 50 ms, and after 200 ms more. One for all files of a run; costs nothing where no read fails.
///
/// Pipes and standard input are read once only: what a failed read has taken from them is gone.
package final class ReadRetries: Sendable {
  private struct State {
    var counts: [FilePath: Int] = [:]
    var isOver = false
  }
  private let state = Locked(State())
  private let pauses: [Int]
  /// Rung once, when nobody is to wait any longer; whoever hears it rings it again for the next.
  private let bell = DispatchSemaphore(value: 0)

  /// - Parameter pauses: milliseconds before the second try, the third and so on; there is one try more than there are pauses.
  package init(pauses: [Int] = [50, 200]) { self.pauses = pauses }

  /// How often reads have been tried again, by file.
  package var counts: [FilePath: Int] { state.withLock { $0.counts } }

  /// Nothing is tried again from now on, and whoever waits for it goes on at once: the run is to end.
  package func end() {
    let isFirst = state.withLock { state in
      defer { state.isOver = true }
      return !state.isOver
    }
    if isFirst { bell.signal() }
  }

  /// Waits until a read may be tried again.
  ///
  /// - Parameter tries: how often it has failed so far.
  /// - Returns: false where it has been tried often enough, or the run is to end.
  package func wait(after tries: Int, of path: FilePath) -> Bool {
    guard tries <= pauses.count, !state.withLock({ $0.isOver }) else { return false }
    if bell.wait(timeout: .now() + .milliseconds(pauses[tries - 1])) == .success {
      bell.signal()
      return false
    }
    state.withLock { $0.counts[path, default: 0] += 1 }
    return true
  }

  /// Whether a read that failed with this number may do better the next time.
  static func isPassing(_ number: Int32) -> Bool {
    switch number {
    case EIO, ESTALE, ETIMEDOUT, EAGAIN, EBUSY, ENOMEM, ENOBUFS, ENETDOWN, ENETUNREACH, EHOSTDOWN, EHOSTUNREACH, ECONNRESET, ECONNREFUSED,
      ENOTCONN:
      true
    default: false
    }
  }
}
