internal import Ohana

/// The three descriptors every process expects to have, and those that it may have.
enum Descriptors {
  /// Queues and the event loop behind them take some, and answer with a crash where there are none.
  private static let fewest = 20

  /// What keeps any command from running, if anything does. To be asked before the first thread is made.
  static var obstacle: OhanaError? {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0, limit.rlim_cur < fewest else { return nil }
    return OhanaError(
      .io, "too-many-files", "\(limit.rlim_cur) files may be open at once (ulimit -n), and \(fewest) are the fewest that do",
      fix: "raise the limit")
  }

  /// Where one of them is closed, puts something there that fails on use, so that no file of ours gets its number.
  static func guardStandardOnes() {
    for descriptor in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] where fcntl(descriptor, F_GETFD) < 0 {
      // The lowest free number is this one. Reading from an output, or writing to an input, is refused by the kernel.
      _ = open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY)
    }
  }
}
