/// Writing text as JSON strings with as few escapes as RFC 8259 section 7 allows: quote, backslash and the control characters below
/// U+0020, the short form where there is one.
public enum JSONEscaping {
  /// Appends `text`, which must be UTF-8, as the inside of a JSON string, without quotes.
  ///
  /// - Complexity: O(bytes), eight at a time where nothing has to be escaped.
  @inlinable
  public static func append(text: UnsafeBufferPointer<UInt8>, to out: ByteBuffer) {
    guard let start = text.baseAddress else { return }
    let count = text.count
    let clean = cleanPrefix(start, count)
    out.append(start, count: clean)
    if clean < count { appendRest(start + clean, count: count &- clean, to: out) }
  }

  /// Appends a whole JSON string, quotes included.
  @inlinable
  public static func appendQuoted(_ text: UnsafeBufferPointer<UInt8>, to out: ByteBuffer) {
    out.append(UInt8(ascii: "\""))
    append(text: text, to: out)
    out.append(UInt8(ascii: "\""))
  }

  /// Bytes at the start of `text` that need no escape.
  @inlinable @inline(__always)
  static func cleanPrefix(_ start: UnsafePointer<UInt8>, _ count: Int) -> Int {
    var index = 0
    while index &+ 8 <= count {
      let word = UnsafeRawPointer(start + index).loadUnaligned(as: UInt64.self)
      // The classic test for a byte below n: bytes of 0x80 and more never count, for they are parts of longer characters.
      let low: UInt64 = 0x0101_0101_0101_0101
      let high: UInt64 = 0x8080_8080_8080_8080
      let control = (word &- low &* 0x20) & ~word
      let quote = word ^ (low &* 0x22)
      let slash = word ^ (low &* 0x5c)
      if (control | ((quote &- low) & ~quote) | ((slash &- low) & ~slash)) & high != 0 { break }
      index &+= 8
    }
    while index < count, !needsEscape(start[index]) { index &+= 1 }
    return index
  }

  @inlinable @inline(__always)
  static func needsEscape(_ byte: UInt8) -> Bool { byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") }

  @usableFromInline @inline(never)
  static func appendRest(_ start: UnsafePointer<UInt8>, count: Int, to out: ByteBuffer) {
    var next = start
    let end = start + count
    while next < end {
      let clean = cleanPrefix(next, end - next)
      out.append(next, count: clean)
      next += clean
      guard next < end else { return }
      appendEscape(next[0], to: out)
      next += 1
    }
  }

  private static func appendEscape(_ byte: UInt8, to out: ByteBuffer) {
    out.append(UInt8(ascii: "\\"))
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"): out.append(byte)
    case 0x08: out.append(UInt8(ascii: "b"))
    case 0x09: out.append(UInt8(ascii: "t"))
    case 0x0a: out.append(UInt8(ascii: "n"))
    case 0x0c: out.append(UInt8(ascii: "f"))
    case 0x0d: out.append(UInt8(ascii: "r"))
    default:
      out.append("u00")
      out.append(0x30 | byte >> 4)
      let low = byte & 15
      out.append(low < 10 ? 0x30 + low : 0x61 + low - 10)
    }
  }
}
