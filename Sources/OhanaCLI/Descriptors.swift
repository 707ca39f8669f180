internal import Ohana

/// The three descriptors every process expects to have.
enum Descriptors {
  /// Where one of them is closed, puts something there that fails on use, so that no file of ours gets its number.
  static func guardStandardOnes() {
    for descriptor in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] where fcntl(descriptor, F_GETFD) < 0 {
      // The lowest free number is this one. Reading from an output, or writing to an input, is refused by the kernel.
      _ = open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY)
    }
  }
}
