internal import Ohana
internal import Synchronization

/// The two streams a person or a pipe looks at.
enum Terminal {
  static let isErrorTerminal = isatty(STDERR_FILENO) == 1
  /// Colours only on a terminal, and not where `NO_COLOR` asks for none (no-color.org).
  static let hasColour =
    isErrorTerminal && getenv("NO_COLOR").map { $0.pointee == 0 } ?? true && getenv("TERM").map { strcmp($0, "dumb") != 0 } ?? false

  /// Writes a line to standard error.
  static func error(_ text: String) {
    ProgressLine.makeRoom()
    write(text + "\n", to: STDERR_FILENO)
  }

  private static let json = Mutex(false)
  /// `--log-format json`: messages are JSON objects, one a line.
  static var writesJSON: Bool {
    get { json.withLock { $0 } }
    set { json.withLock { $0 = newValue } }
  }

  /// Something worth knowing that is no error.
  static func note(_ text: String) {
    if writesJSON { return error(LogText.note(text)) }
    error((hasColour ? "\u{1B}[33mnote:\u{1B}[0m " : "note: ") + text)
  }

  /// Writes a line to standard output. What goes wrong is told at the end, by ``outputFailure``.
  static func print(_ text: String) {
    if let number = write(text + "\n", to: STDOUT_FILENO) { failure.withLock { $0 = $0 ?? number } }
  }

  private static let failure = Mutex<Int32?>(nil)

  /// What went wrong with ``print(_:)``; nil too if whoever read it has had enough.
  static var outputFailure: OhanaError? {
    guard let number = failure.withLock({ $0 }), number != EPIPE else { return nil }
    return OhanaError.system(number, "write", "standard output")
  }

  /// Columns of the terminal that standard output is; 120 if it is none.
  static var width: Int { columns(STDOUT_FILENO) ?? 120 }

  /// Columns of the terminal that standard error is, at the moment; nil if it is none, or does not know.
  static var errorColumns: Int? { columns(STDERR_FILENO) }

  private static func columns(_ descriptor: Int32) -> Int? {
    var size = winsize()
    return ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0 ? Int(size.ws_col) : nil
  }

  /// Prints an error as one line and returns its exit status. A closed pipe is no error.
  static func report(_ error: OhanaError) -> Int32 {
    let failure = RunState.Failure(error)
    report(failure)
    return failure.exitStatus
  }

  /// Prints what went wrong as one line.
  static func report(_ failure: RunState.Failure) {
    if failure.exitStatus == 0 { return }
    if writesJSON { return error(LogText.error(failure)) }
    error((hasColour ? "\u{1B}[31mohana:\u{1B}[0m " : "ohana: ") + failure.message)
  }

  /// Writes to standard error without a line end.
  static func raw(_ text: String) { write(text, to: STDERR_FILENO) }

  /// Returns the error number of a failure.
  @discardableResult
  private static func write(_ text: String, to descriptor: Int32) -> Int32? {
    var text = text
    return text.withUTF8 { bytes -> Int32? in
      var written = 0
      while written < bytes.count {
        let count = OhanaCore.write(descriptor, bytes.baseAddress! + written, bytes.count - written)
        if count < 0 {
          if errno == EINTR { continue }
          return errno
        }
        written += count
      }
      return nil
    }
  }
}
