/// Finds the end of a record that is too long to be held, a piece of text at a time.
struct CSVRecordSkipper {
  private let scanner: CSVRecordScanner
  private var state: CSVRecordScanner.State
  private var remaining: Int
  private var isEscaped = false
  private var lastWasCR = false
  private(set) var isDone = false
  /// Line ends passed over.
  private(set) var lines = 0
  /// Bytes of the line end that ended the record.
  private(set) var lineEndBytes = 0

  /// - Parameter maxBytes: after so many bytes quotes count no more, and any line end ends the record.
  init(_ scanner: CSVRecordScanner, state: CSVRecordScanner.State, maxBytes: Int) {
    self.scanner = scanner
    self.state = state
    remaining = maxBytes
  }

  /// Returns how many bytes belong to the record, its line end included; fewer than `count` only when done.
  mutating func skip(_ base: UnsafePointer<UInt8>, count: Int) -> Int {
    var at = 0
    while at < count {
      let byte = base[at]
      if lastWasCR, scanner.endsWithCR, lineEndBytes > 0 {  // a CR ended the record; an LF directly behind it belongs to it
        isDone = true
        if byte == 0x0a {
          lineEndBytes += 1
          return at + 1
        }
        return at
      }
      let isLineEnd = byte == 0x0a || byte == 0x0d && scanner.endsWithCR
      if isLineEnd, !(byte == 0x0a && lastWasCR && scanner.endsWithCR) { lines += 1 }
      at += 1
      remaining -= 1
      if remaining <= 0, state == .quoted || state == .cellStart { state = .restOfLine }
      let ends = isLineEnd && state != .quoted && !isEscaped
      if ends {
        lineEndBytes = !scanner.endsWithCR && lastWasCR ? 2 : 1
        if byte == 0x0a {
          isDone = true
          return at
        }
      }
      lastWasCR = byte == 0x0d
      if isEscaped {
        isEscaped = false
        continue
      }
      if UInt16(byte) == scanner.escape, state != .restOfLine {
        isEscaped = true
        if state == .cellStart { state = .bare }
        continue
      }
      switch state {
      case .cellStart:
        state = UInt16(byte) == scanner.quote ? .quoted : byte == scanner.delimiter ? .cellStart : .bare
      case .bare: if byte == scanner.delimiter { state = .cellStart }
      case .quoted: if UInt16(byte) == scanner.quote { state = .afterQuote }
      case .afterQuote:
        state =
          UInt16(byte) == scanner.quote ? .quoted : byte == scanner.delimiter ? .cellStart : byte == 0x0d ? .afterQuote : .restOfLine
      case .restOfLine: break
      }
    }
    return at
  }
}
