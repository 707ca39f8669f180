internal import OhanaCore

/// One cell of a record, as offsets of its buffer; for a quoted cell of what is between the quotes.
struct CSVCell {
  var start: UInt32
  var end: UInt32
  var flags: UInt8

  static let quoted: UInt8 = 1
  /// Holds a doubled quote.
  static let doubled: UInt8 = 2
  /// Holds an escape byte.
  static let escaped: UInt8 = 4
}

/// A reusable list of cells without retain counts in its loops.
///
/// Holds no more than ``limit``: of a record with more the last one kept is the last that is not empty, so that what is to be known of it
/// (it is too wide, and what it has too much is not all empty) is still known.
final class CSVCellList {
  /// More than any input has columns.
  static let limit = 2 * CSVHeader.maxColumns

  private(set) var base = UnsafeMutablePointer<CSVCell>.allocate(capacity: 64)
  private var capacity = 64
  var count = 0

  deinit { base.deallocate() }

  @inline(__always) func append(_ cell: CSVCell) {
    if count == capacity, !grow() { return replaceLast(cell) }
    base[count] = cell
    count &+= 1
  }

  @inline(never) private func replaceLast(_ cell: CSVCell) {
    if cell.end > cell.start || cell.flags != 0 { base[count - 1] = cell }
  }

  @inline(never) private func grow() -> Bool {
    guard capacity < Self.limit else { return false }
    let new = UnsafeMutablePointer<CSVCell>.allocate(capacity: capacity * 2)
    new.update(from: base, count: count)
    base.deallocate()
    base = new
    capacity *= 2
    return true
  }
}

/// Reads one record at a time, byte by byte: the tolerant parser, and the last word on what a record is.
///
/// A quote opens a cell only as its first byte. The kernels of `CStructural` give the same records wherever RFC 4180 allows the text.
struct CSVRecordScanner: Sendable {
  struct Outcome {
    enum Kind: UInt8 {
      /// `contentEnd` is behind the last cell, `next` behind the line end.
      case record
      /// More bytes are needed to tell.
      case incomplete
      /// A byte other than delimiter or line end follows a closing quote, at `fault`.
      case textAfterQuote
      /// The quote at `fault` is not closed within the record's greatest length, or before the end of the input.
      case unclosedQuote
      /// Longer than allowed. `fault` is where reading stopped and `state` how it would have gone on.
      case tooLong
    }
    var kind: Kind
    var contentEnd = 0
    /// Where to go on reading; for a fault behind the line that holds it, -1 if that line is too long to be held.
    var next = 0
    var fault = 0
    var state = State.bare
  }

  /// Where in a record a byte stands.
  enum State { case cellStart, bare, quoted, afterQuote, restOfLine }

  let delimiter: UInt8
  let quote: UInt16
  let escape: UInt16
  let endsWithCR: Bool
  let maxRecordBytes: Int

  /// - Precondition: the dialect names its delimiter.
  init(_ dialect: CSVDialect) {
    delimiter = dialect.delimiter!
    quote = dialect.quoteCode
    escape = dialect.escapeCode
    endsWithCR = dialect.lineEnd == .carriageReturn
    maxRecordBytes = dialect.maxRecordBytes
  }

  /// Reads the record that begins at `start`.
  ///
  /// - Parameters:
  ///   - end: behind the last byte in hand; `isEnd` if no more will come.
  ///   - isContent: `end` is behind the record's last cell, its line end already taken off: a CR there is text.
  ///   - cells: emptied, and filled with the record's cells.
  func scan(
    _ base: UnsafePointer<UInt8>, from start: Int, to end: Int, isEnd: Bool, isContent: Bool = false, cells: CSVCellList? = nil
  ) -> Outcome {
    cells?.count = 0
    let limit = maxRecordBytes > end - start ? Int.max - 4 : start + maxRecordBytes
    var cell = start
    while true {
      if cell > limit { return Outcome(kind: .tooLong, fault: cell, state: .cellStart) }
      if cell < end, UInt16(base[cell]) == quote {
        if cell == limit { return Outcome(kind: .tooLong, fault: cell, state: .cellStart) }
        // A quoted cell: find the quote that closes it.
        var flags = CSVCell.quoted
        var next = cell + 1
        let last = min(end, limit)
        search: while true {
          while next < last, UInt16(base[next]) != quote, UInt16(base[next]) != escape { next += 1 }
          if next >= last {
            if next >= limit || isEnd { return fault(.unclosedQuote, at: cell, base, end, limit, isEnd) }
            return Outcome(kind: .incomplete)
          }
          if UInt16(base[next]) == escape {
            flags |= CSVCell.escaped
            next += 2
            continue
          }
          if next + 1 < end, UInt16(base[next + 1]) == quote {
            flags |= CSVCell.doubled
            next += 2
            continue
          }
          if next + 1 >= end, !isEnd { return Outcome(kind: .incomplete) }
          break search
        }
        cells?.append(CSVCell(start: UInt32(truncatingIfNeeded: cell + 1), end: UInt32(truncatingIfNeeded: next), flags: flags))
        let after = next + 1
        if after >= end { return Outcome(kind: .record, contentEnd: after, next: after) }
        if base[after] == delimiter {
          cell = after + 1
          continue
        }
        switch lineEnd(at: after, base, end, isEnd) {
        case .some(let size) where size < 0: return Outcome(kind: .incomplete)
        case .some(let size): return Outcome(kind: .record, contentEnd: after, next: after + size)
        case nil: return fault(.textAfterQuote, at: after, base, end, limit, isEnd)
        }
      }
      // A bare cell.
      var next = cell
      var flags: UInt8 = 0
      let last = min(end, limit &+ 2)
      while next < last {
        let byte = base[next]
        if byte == delimiter || byte == 0x0a || (byte == 0x0d && endsWithCR) { break }
        if UInt16(byte) == escape {
          flags |= CSVCell.escaped
          next += 1
        }
        next += 1
      }
      if next >= last {
        if next > end, !isEnd { return Outcome(kind: .incomplete) }  // the byte behind an escape
        next = min(next, end)
        if next >= limit &+ 2 { return Outcome(kind: .tooLong, fault: next, state: .bare) }
        if !isEnd { return Outcome(kind: .incomplete) }
        next = end
      }
      if next < end, base[next] == delimiter {
        cells?.append(CSVCell(start: UInt32(truncatingIfNeeded: cell), end: UInt32(truncatingIfNeeded: next), flags: flags))
        cell = next + 1
        continue
      }
      var contentEnd = next
      var size = 0
      if next < end {
        size = lineEnd(at: next, base, end, isEnd) ?? 0
        if size < 0 { return Outcome(kind: .incomplete) }
      }
      // The CR of CRLF, or of an input that was cut between the two. An escaped one is text.
      if !endsWithCR, !isContent, contentEnd > cell, base[contentEnd - 1] == 0x0d, escape > 255 || !endsEscaped(base, cell, contentEnd) {
        contentEnd -= 1
      }
      if contentEnd - start > maxRecordBytes { return Outcome(kind: .tooLong, fault: contentEnd, state: .bare) }
      cells?.append(CSVCell(start: UInt32(truncatingIfNeeded: cell), end: UInt32(truncatingIfNeeded: contentEnd), flags: flags))
      return Outcome(kind: .record, contentEnd: contentEnd, next: next + size)
    }
  }

  /// Size of the line end at `at`; nil if there is none, -1 if the next byte decides and is not in hand.
  @inline(__always)
  private func lineEnd(at: Int, _ base: UnsafePointer<UInt8>, _ end: Int, _ isEnd: Bool) -> Int? {
    if base[at] == 0x0a { return 1 }
    guard base[at] == 0x0d else { return nil }
    if at + 1 < end { return base[at + 1] == 0x0a ? 2 : endsWithCR ? 1 : nil }
    return isEnd ? 1 : -1
  }

  /// Whether the last byte of a bare cell has an escape byte before it that is not escaped itself.
  private func endsEscaped(_ base: UnsafePointer<UInt8>, _ start: Int, _ end: Int) -> Bool {
    var next = start
    while next < end {
      if UInt16(base[next]) == escape {
        if next + 2 == end { return true }
        next += 1
      }
      next += 1
    }
    return false
  }

  private func fault(_ kind: Outcome.Kind, at: Int, _ base: UnsafePointer<UInt8>, _ end: Int, _ limit: Int, _ isEnd: Bool) -> Outcome {
    let last = min(end, limit &+ 2)
    var next = at
    while next < last, base[next] != 0x0a, base[next] != 0x0d || !endsWithCR { next += 1 }
    if next >= last {
      if next >= limit &+ 2 { return Outcome(kind: kind, next: -1, fault: at, state: .restOfLine) }
      return isEnd ? Outcome(kind: kind, contentEnd: end, next: end, fault: at) : Outcome(kind: .incomplete)
    }
    let size = lineEnd(at: next, base, end, isEnd) ?? 1
    return size < 0 ? Outcome(kind: .incomplete) : Outcome(kind: kind, contentEnd: next, next: next + size, fault: at)
  }

  /// Line ends in `start ..< end`.
  func countLines(_ base: UnsafePointer<UInt8>, from start: Int, to end: Int) -> Int {
    var lines = 0
    if endsWithCR {
      for at in start..<end where base[at] == 0x0d || base[at] == 0x0a && (at == start || base[at - 1] != 0x0d) { lines += 1 }
    } else {
      for at in start..<end { lines &+= base[at] == 0x0a ? 1 : 0 }
    }
    return lines
  }
}
