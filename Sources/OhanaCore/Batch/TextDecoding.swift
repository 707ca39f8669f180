/// Turning encoded string values into text. Inputs come from readers, which have validated them; nothing here can fail.
public enum TextDecoding {
  /// Appends the text of a JSON string body (between its quotes) to `out`.
  ///
  /// - Precondition: a valid string body (RFC 8259 section 7) without lone surrogates, as ``TextEncoding/json`` promises.
  public static func appendJSON(_ body: UnsafeBufferPointer<UInt8>, to out: ByteBuffer) {
    guard var next = body.baseAddress else { return }
    let end = next + body.count
    out.reserve(body.count)  // an escape is never shorter than what it stands for
    while next < end {
      guard let found = memchr(next, Int32(UInt8(ascii: "\\")), end - next) else { break }
      let slash = UnsafePointer(found.assumingMemoryBound(to: UInt8.self))
      out.append(next, count: slash - next)
      next = slash + 2
      switch slash[1] {
      case UInt8(ascii: "b"): out.append(0x08)
      case UInt8(ascii: "f"): out.append(0x0c)
      case UInt8(ascii: "n"): out.append(0x0a)
      case UInt8(ascii: "r"): out.append(0x0d)
      case UInt8(ascii: "t"): out.append(0x09)
      case UInt8(ascii: "u"):
        var scalar = hex4(next)
        next += 4
        if scalar & 0xfc00 == 0xd800 {  // a pair: \uD83D\uDE00
          scalar = 0x10000 + (scalar - 0xd800) << 10 + (hex4(next + 2) - 0xdc00)
          next += 6
        }
        appendUTF8(scalar, to: out)
      default: out.append(slash[1])
      }
    }
    out.append(next, count: end - next)
  }

  /// Appends the text of a quoted CSV cell (between its quotes) to `out`: doubled quotes become one.
  public static func appendCSV(_ body: UnsafeBufferPointer<UInt8>, to out: ByteBuffer) {
    guard var next = body.baseAddress else { return }
    let end = next + body.count
    out.reserve(body.count)
    while next < end, let found = memchr(next, Int32(UInt8(ascii: "\"")), end - next) {
      let quote = UnsafePointer(found.assumingMemoryBound(to: UInt8.self))
      out.append(next, count: quote - next + 1)
      next = quote + 2
    }
    if next < end { out.append(next, count: end - next) }
  }

  /// Appends a code point in UTF-8. - Precondition: it is a Unicode scalar value.
  @inlinable public static func appendUTF8(_ scalar: UInt32, to out: ByteBuffer) {
    switch scalar {
    case 0..<0x80: out.append(UInt8(truncatingIfNeeded: scalar))
    case 0x80..<0x800:
      out.append(UInt8(truncatingIfNeeded: 0xc0 | scalar >> 6))
      out.append(UInt8(truncatingIfNeeded: 0x80 | scalar & 0x3f))
    case 0x800..<0x10000:
      out.append(UInt8(truncatingIfNeeded: 0xe0 | scalar >> 12))
      out.append(UInt8(truncatingIfNeeded: 0x80 | scalar >> 6 & 0x3f))
      out.append(UInt8(truncatingIfNeeded: 0x80 | scalar & 0x3f))
    default:
      out.append(UInt8(truncatingIfNeeded: 0xf0 | scalar >> 18))
      out.append(UInt8(truncatingIfNeeded: 0x80 | scalar >> 12 & 0x3f))
      out.append(UInt8(truncatingIfNeeded: 0x80 | scalar >> 6 & 0x3f))
      out.append(UInt8(truncatingIfNeeded: 0x80 | scalar & 0x3f))
    }
  }

  private static func hex4(_ digits: UnsafePointer<UInt8>) -> UInt32 {
    var value: UInt32 = 0
    for index in 0..<4 {
      let digit = digits[index]
      value = value << 4 | UInt32(digit <= 0x39 ? digit - 0x30 : (digit | 0x20) - 0x61 + 10)
    }
    return value
  }
}

extension RecordBatch {
  /// The text of a value, decoded: strings without quotes and escapes, numbers as spelled, `true`/`false`, arrays and objects as their
  /// JSON text; nothing for missing and null.
  ///
  /// Where decoding is needed it goes through `scratch`, which is emptied. Valid until the next append to the arena or `scratch`.
  @inlinable @inline(__always)
  public final func text(of span: FieldSpan, scratch: ByteBuffer) -> UnsafeBufferPointer<UInt8> {
    if span.encoding == .plain && span.kind.rawValue >= ValueKind.number.rawValue { return bytes(of: span) }
    return decodedText(of: span, scratch: scratch)
  }

  /// A field's text: its own bytes where they need no decoding, else decoded into `scratch`, whose earlier content goes. Valid until either
  /// changes.
  @inline(never)
  public final func decodedText(of span: FieldSpan, scratch: ByteBuffer) -> UnsafeBufferPointer<UInt8> {
    scratch.removeAll()
    switch span.kind {
    case .missing, .null: break
    case .true: scratch.append("true")
    case .false: scratch.append("false")
    case .number, .array, .object: return bytes(of: span)
    case .string:
      switch span.encoding {
      case .plain: return bytes(of: span)
      case .json: TextDecoding.appendJSON(bytes(of: span), to: scratch)
      case .csv: TextDecoding.appendCSV(bytes(of: span), to: scratch)
      }
    }
    return scratch.bytes
  }
}
