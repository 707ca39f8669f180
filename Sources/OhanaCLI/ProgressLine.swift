internal import Ohana

/// The terminal that the progress line is redrawn on.
enum ProgressLine {
  /// Cut to the window as it is now: only what stands on one line can be drawn over.
  static func draw(_ text: String) {
    if AccessQuestion.isOpen { return }
    isDrawn.value = true
    Terminal.raw("\r\u{1B}[K" + (Terminal.errorColumns.map { ProgressText.cut(text, toColumns: $0) } ?? text))
  }
  static func clear() {
    isDrawn.value = false
    Terminal.raw("\r\u{1B}[K")
  }
  /// A message begins where the line stood.
  static func makeRoom() { if isDrawn.value { clear() } }
  private static let isDrawn = Locked(false)
}
