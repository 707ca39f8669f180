internal import CStructural
internal import OhanaCore

/// Writes cells behind one another. Sources must have ``ByteBuffer/padding`` readable bytes behind them.
struct CSVCellWriter {
  let delimiter: UInt8
  let quotesAll: Bool
  let endsWithCRLF: Bool
  let delimitsAny: Bool

  init(_ options: CSVWriterOptions) {
    delimiter = options.delimiter
    quotesAll = options.quotesAll
    endsWithCRLF = options.endsWithCRLF
    // Bytes a number, `true` or `false` may hold.
    delimitsAny = quotesAll || "0123456789+-.eEtrufals".utf8.contains(options.delimiter)
  }

  /// Text that needs no decoding. Nothing at all is `""`: an empty string, not null.
  @inline(__always)
  func append(text: UnsafePointer<UInt8>, _ count: Int, to out: inout OutputCursor) {
    out.reserve(count &+ 32)
    if !quotesAll, count > 0, !ohana_csv_copy_cell(out.at, text, count, delimiter, 0x22) {
      out.advance(count)
      return
    }
    appendQuoted(text, count, to: &out)
  }

  @inline(never)
  func appendQuoted(_ text: UnsafePointer<UInt8>, _ count: Int, to out: inout OutputCursor) {
    out.reserve(2 &* count &+ 32)
    var at = out.at
    at[0] = 0x22
    at += 1
    var next = text
    let end = text + count
    while next < end {
      guard let found = memchr(next, 0x22, end - next) else { break }
      let size = UnsafePointer(found.assumingMemoryBound(to: UInt8.self)) - next + 1
      at.update(from: next, count: size)
      at[size] = 0x22
      at += size + 1
      next += size
    }
    at.update(from: next, count: end - next)
    at += end - next
    at[0] = 0x22
    out.advance(at + 1 - out.at)
  }

  /// The cell of a value; `isOnly` in a one-column file, where a null must not become a blank line.
  @inline(__always)
  func append(_ span: FieldSpan, _ base: UnsafePointer<UInt8>, isOnly: Bool, _ scratch: ByteBuffer, to out: inout OutputCursor) {
    if span.kind == .string, span.encoding == .plain {
      append(text: base + Int(span.offset), Int(span.length), to: &out)
    } else if span.kind.rawValue <= ValueKind.null.rawValue {
      if isOnly { appendQuoted(base, 0, to: &out) }
    } else if span.kind == .number, !delimitsAny {
      out.append(base + Int(span.offset), Int(span.length))
    } else if span.kind.rawValue <= ValueKind.true.rawValue, !delimitsAny {
      out.appendLiteral(span.kind)
    } else if span.kind == .array, !quotesAll, appendPlainList(base + Int(span.offset), Int(span.length), to: &out) {
      return
    } else {
      appendOther(span, base, isOnly: isOnly, scratch, to: &out)
    }
  }

  @inline(never)
  private func appendOther(_ span: FieldSpan, _ base: UnsafePointer<UInt8>, isOnly: Bool, _ scratch: ByteBuffer, to out: inout OutputCursor)
  {
    let bytes = UnsafeBufferPointer(start: base + Int(span.offset), count: Int(span.length))
    scratch.removeAll()
    switch span.kind {
    case .missing, .null: return
    case .true: scratch.append("true" as StaticString)
    case .false: scratch.append("false" as StaticString)
    case .number: return append(text: base + Int(span.offset), Int(span.length), to: &out)
    case .string:
      if span.encoding == .csv {
        TextDecoding.appendCSV(bytes, to: scratch)
      } else {
        TextDecoding.appendJSON(bytes, to: scratch)
      }
    case .array:
      guard Self.appendList(span, base, to: scratch) else {
        if isOnly { appendQuoted(base, 0, to: &out) }
        return
      }
    case .object: JSONScanner.appendCompact(bytes, to: scratch)
    }
    append(text: scratch.base, scratch.count, to: &out)
  }

  /// The cell of a list as most are: compact JSON, strings without escapes, nothing that needs quotes or a `;` of its own. Returns false,
  /// with nothing written, for any other.
  @inline(never)
  private func appendPlainList(_ start: UnsafePointer<UInt8>, _ count: Int, to out: inout OutputCursor) -> Bool {
    out.reserve(count)
    let end = start + (count &- 1)
    var next = start + 1
    var at = out.at
    while next < end {
      guard next.pointee == UInt8(ascii: "\"") else { return false }
      next += 1
      var byte = next.pointee
      while byte != UInt8(ascii: "\"") {
        if byte == UInt8(ascii: "\\") || byte == UInt8(ascii: ";") || byte == delimiter { return false }
        at.pointee = byte
        at += 1
        next += 1
        byte = next.pointee
      }
      next += 1
      if next == end { break }
      guard next.pointee == UInt8(ascii: ",") else { return false }
      at.pointee = UInt8(ascii: ";")
      at += 1
      next += 1
    }
    // An empty text is `""`, an empty list an empty cell.
    if at == out.at { return false }
    out.advance(at - out.at)
    return true
  }

  /// The text of an array's cell: scalars joined with `;`, compact JSON for an array that holds an object, array, null, or text with a
  /// `;`. Returns false for `[]`, which is an empty cell.
  private static func appendList(_ span: FieldSpan, _ base: UnsafePointer<UInt8>, to out: ByteBuffer) -> Bool {
    var elements = JSONElements(of: span, in: base)
    var isEmpty = true
    while let element = elements.next() {
      let start = out.count
      if !isEmpty { out.append(UInt8(ascii: ";")) }
      let textStart = out.count
      isEmpty = false
      let bytes = UnsafeBufferPointer(start: base + Int(element.offset), count: Int(element.length))
      var isScalar = true
      switch element.kind {
      case .string: if element.encoding == .json { TextDecoding.appendJSON(bytes, to: out) } else { out.append(bytes) }
      case .number: out.append(bytes)
      case .true: out.append("true" as StaticString)
      case .false: out.append("false" as StaticString)
      default: isScalar = false
      }
      if !isScalar || memchr(out.base + textStart, Int32(UInt8(ascii: ";")), out.count - textStart) != nil {
        out.count = start
        out.removeAll()
        JSONScanner.appendCompact(UnsafeBufferPointer(start: base + Int(span.offset), count: Int(span.length)), to: out)
        return true
      }
    }
    return !isEmpty
  }

  @inline(__always)
  func appendDelimiter(to out: inout OutputCursor) { out.append(delimiter) }

  @inline(__always)
  func endRow(_ out: inout OutputCursor) {
    if endsWithCRLF { out.append(0x0d) }
    out.append(0x0a)
  }
}
