internal import Ohana

/// The terminal that the progress line is redrawn on.
enum ProgressLine {
  static func draw(_ text: String) { Terminal.raw("\r\u{1B}[K" + text) }
  static func clear() { Terminal.raw("\r\u{1B}[K") }
}
