internal import CICU
internal import CRegex

/// A LIKE pattern cut at its `%` signs: each piece is found at the first place behind the one before, which is enough to decide.
///
/// `%` is any text, `_` one code point. There is no escape character unless one is named.
struct LikePattern: Sendable {
  private struct Piece: Sendable {
    /// Literal bytes; a `_` is the byte 0xff, which no UTF-8 text holds.
    var bytes: [UInt8]
    var hasAny: Bool
  }
  private static let anyOne: UInt8 = 0xff

  private let pieces: [Piece]
  private let startsOpen: Bool
  private let endsOpen: Bool

  enum Fault: Error { case endsWithEscape }

  /// - Parameters:
  ///   - pattern: UTF-8, lower-cased already where case is to be ignored.
  ///   - escape: the UTF-8 of one code point, or empty for none.
  init(_ pattern: UnsafeBufferPointer<UInt8>, escape: [UInt8]) throws(Fault) {
    var pieces: [Piece] = []
    var piece = Piece(bytes: [], hasAny: false)
    var hasPercent = false
    var startsOpen = false
    var index = 0
    while index < pattern.count {
      if !escape.isEmpty, pattern[index...].starts(with: escape) {
        index += escape.count
        guard index < pattern.count else { throw .endsWithEscape }
        piece.bytes.append(pattern[index])
        index += 1
        while index < pattern.count, pattern[index] & 0xc0 == 0x80 {
          piece.bytes.append(pattern[index])
          index += 1
        }
        continue
      }
      switch pattern[index] {
      case UInt8(ascii: "%"):
        if piece.bytes.isEmpty && pieces.isEmpty && !hasPercent { startsOpen = true }
        hasPercent = true
        if !piece.bytes.isEmpty { pieces.append(piece) }
        piece = Piece(bytes: [], hasAny: false)
      case UInt8(ascii: "_"):
        piece.bytes.append(Self.anyOne)
        piece.hasAny = true
      default: piece.bytes.append(pattern[index])
      }
      index += 1
    }
    endsOpen = hasPercent && piece.bytes.isEmpty
    if !piece.bytes.isEmpty { pieces.append(piece) }
    self.pieces = pieces
    self.startsOpen = startsOpen
    isClosed = !hasPercent
  }

  /// No `%` at all: one piece that is the whole text.
  private let isClosed: Bool

  /// - Complexity: O(text × longest piece) at worst.
  func matches(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
    guard let first = pieces.first else { return !isClosed || text.count == 0 }
    guard let base = text.baseAddress else { return false }
    var start = 0
    var end = text.count
    var low = 0
    var high = pieces.count
    if !startsOpen {
      guard let length = Self.length(of: first, in: base, start, end) else { return false }
      if isClosed { return length == end }
      start = length
      low = 1
    }
    if !endsOpen, high > low {
      // The last piece has to end where the text does: its code points are counted from there.
      let last = pieces[high - 1]
      guard let from = Self.start(of: last, in: base, start, end) else { return false }
      end = from
      high -= 1
    }
    for index in low..<max(low, high) {
      guard let behind = Self.find(pieces[index], in: base, start, end) else { return false }
      start = behind
    }
    return start <= end
  }

  /// Bytes that `piece` takes at `start`; nil if it is not there.
  @inline(__always)
  private static func length(of piece: Piece, in base: UnsafePointer<UInt8>, _ start: Int, _ end: Int) -> Int? {
    piece.bytes.withUnsafeBufferPointer { bytes in
      if !piece.hasAny {
        return end - start >= bytes.count && memcmp(base + start, bytes.baseAddress!, bytes.count) == 0 ? bytes.count : nil
      }
      var next = start
      for byte in bytes {
        guard next < end else { return nil }
        if byte == anyOne {
          next += 1
          while next < end, base[next] & 0xc0 == 0x80 { next += 1 }
        } else {
          guard base[next] == byte else { return nil }
          next += 1
        }
      }
      return next - start
    }
  }

  /// Where `piece` starts if it ends at `end`; nil if it does not, or would start before `start`.
  private static func start(of piece: Piece, in base: UnsafePointer<UInt8>, _ start: Int, _ end: Int) -> Int? {
    var next = end
    for byte in piece.bytes.reversed() {
      guard next > start else { return nil }
      next -= 1
      if byte == anyOne {
        while next > start, base[next] & 0xc0 == 0x80 { next -= 1 }
      } else if base[next] != byte {
        return nil
      }
    }
    return next
  }

  /// Offset behind the first place of `piece`.
  private static func find(_ piece: Piece, in base: UnsafePointer<UInt8>, _ start: Int, _ end: Int) -> Int? {
    if !piece.hasAny {
      guard start <= end else { return nil }
      let found = ohana_find_literal(base + start, end - start, piece.bytes, piece.bytes.count)
      return found < 0 ? nil : start + found + piece.bytes.count
    }
    var from = start
    while from <= end {
      if let length = length(of: piece, in: base, from, end) { return from + length }
      from += 1
      while from < end, base[from] & 0xc0 == 0x80 { from += 1 }
    }
    return nil
  }

  /// Appends text with each code point in lower case by itself (simple mapping), as ILIKE compares.
  static func appendLowered(_ text: UnsafeBufferPointer<UInt8>, to out: ByteBuffer) {
    guard let base = text.baseAddress else { return }
    out.reserve(text.count * 3 / 2 + 4)
    var index = 0
    while index < text.count {
      let byte = base[index]
      if byte < 0x80 {
        out.append(lowerASCII(byte))
        index += 1
      } else {
        TextDecoding.appendUTF8(ohana_icu_simple_lower(scalarUTF8(base, &index)), to: out)
      }
    }
  }
}
