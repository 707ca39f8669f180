internal import Ohana

/// The two streams a person or a pipe looks at.
enum Terminal {
  static let isErrorTerminal = isatty(STDERR_FILENO) == 1
  /// Colours only on a terminal, and not where `NO_COLOR` asks for none (no-color.org).
  static let hasColour = isErrorTerminal && getenv("NO_COLOR").map { $0.pointee == 0 } ?? true && getenv("TERM").map { strcmp($0, "dumb") != 0 } ?? false

  /// Writes a line to standard error.
  static func error(_ text: String) { write(text + "\n", to: STDERR_FILENO) }

  /// Something worth knowing that is no error.
  static func note(_ text: String) { error((hasColour ? "\u{1B}[33mnote:\u{1B}[0m " : "note: ") + text) }

  /// Writes a line to standard output; quietly gives up on a closed pipe.
  static func print(_ text: String, terminator: String = "\n") { write(text + terminator, to: STDOUT_FILENO) }

  /// Prints an error as one line and returns its exit status. A closed pipe is no error.
  static func report(_ error: OhanaError) -> Int32 {
    if error.code == "closed-pipe" { return 0 }
    let label = hasColour ? "\u{1B}[31mohana:\u{1B}[0m " : "ohana: "
    Self.error(label + error.description)
    return error.category.rawValue
  }

  /// Writes to standard error without a line end.
  static func raw(_ text: String) { write(text, to: STDERR_FILENO) }

  private static func write(_ text: String, to descriptor: Int32) {
    var text = text
    text.withUTF8 { bytes in
      var written = 0
      while written < bytes.count {
        let count = Glibc.write(descriptor, bytes.baseAddress! + written, bytes.count - written)
        if count < 0 {
          if errno == EINTR { continue }
          return
        }
        written += count
      }
    }
  }
}
