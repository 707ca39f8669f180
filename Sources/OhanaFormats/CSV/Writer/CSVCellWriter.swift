internal import OhanaCore

/// Writes cells, quoted where they have to be (RFC 4180 section 2).
///
/// null is an empty cell and `""` a quoted one; in a file of one column null is written `""` too, since an empty line is no record.
/// Sources need ``ByteBuffer/padding`` readable bytes behind them, like those of ``OutputCursor``.
struct CSVCellWriter {
  var cursor: OutputCursor
  private let options: CSVWriterOptions
  private let columnCount: Int
  private let delimiterPattern: UInt64

  private static let low: UInt64 = 0x0101_0101_0101_0101
  private static let high: UInt64 = 0x8080_8080_8080_8080

  init(_ options: CSVWriterOptions, columnCount: Int, cursor: OutputCursor) {
    self.options = options
    self.columnCount = columnCount
    self.cursor = cursor
    delimiterPattern = Self.low &* UInt64(options.delimiter)
  }

  @inline(__always)
  mutating func beginCell(_ index: Int) {
    if index > 0 { cursor.append(options.delimiter) }
  }

  @inline(__always)
  mutating func endRecord() {
    if options.endsWithCRLF { cursor.append(0x0d) }
    cursor.append(0x0a)
  }

  @inline(__always)
  mutating func null() {
    if columnCount == 1 { cursor.append("\"\"") }
  }

  /// A cell of this text.
  @inline(__always)
  mutating func text(_ start: UnsafePointer<UInt8>, _ count: Int) {
    if count == 0 || options.quotesAll { return quoted(start, count) }
    cursor.reserve(count &+ 8)
    var index = 0
    while index < count {
      var word = UInt64(littleEndian: UnsafeRawPointer(start + index).loadUnaligned(as: UInt64.self))
      let rest = count &- index
      if rest < 8 {  // what lies behind the text becomes zeros, which need no quotes
        word &= (1 as UInt64) << UInt64(rest &* 8) &- 1
      }
      let quote = word ^ (Self.low &* 0x22)
      let feed = word ^ (Self.low &* 0x0a)
      let ret = word ^ (Self.low &* 0x0d)
      let delimiter = word ^ delimiterPattern
      let found =
        ((quote &- Self.low) & ~quote) | ((feed &- Self.low) & ~feed) | ((ret &- Self.low) & ~ret) | ((delimiter &- Self.low) & ~delimiter)
      if found & Self.high != 0 { return quoted(start, count) }
      cursor.storeWord(word, at: index)
      index &+= 8
    }
    cursor.advance(count)
  }

  @inline(never)
  private mutating func quoted(_ start: UnsafePointer<UInt8>, _ count: Int) {
    cursor.append(UInt8(ascii: "\""))
    var next = start
    let end = start + count
    while next < end, let found = memchr(next, 0x22, end - next) {
      let quote = UnsafePointer(found.assumingMemoryBound(to: UInt8.self))
      cursor.append(next, quote - next + 1)
      cursor.append(UInt8(ascii: "\""))
      next = quote + 1
    }
    if next < end { cursor.append(next, end - next) }
    cursor.append(UInt8(ascii: "\""))
  }

  /// A cell of a field's value; see ``CSVCellText`` for arrays.
  @inline(__always)
  mutating func value(_ span: FieldSpan, _ base: UnsafePointer<UInt8>, _ lists: CSVCellText) {
    switch span.kind {
    case .missing, .null: null()
    case .string where span.encoding == .plain: text(base + Int(span.offset), Int(span.length))
    case .number: text(base + Int(span.offset), Int(span.length))
    default: rare(span, base, lists)
    }
  }

  @inline(never)
  private mutating func rare(_ span: FieldSpan, _ base: UnsafePointer<UInt8>, _ lists: CSVCellText) {
    if let decoded = lists.text(of: span, base) { text(decoded.baseAddress!, decoded.count) } else { null() }
  }
}

/// The text of a cell whose value is no plain text.
final class CSVCellText {
  private let scratch = ByteBuffer(capacity: 256)
  private let item = ByteBuffer(capacity: 256)

  /// nil for an empty array, which is an empty cell. Arrays of scalars join with `;`; other ones, also those with null or an item that
  /// holds `;`, and objects are JSON text. Valid until the next call.
  func text(of span: FieldSpan, _ base: UnsafePointer<UInt8>) -> UnsafeBufferPointer<UInt8>? {
    scratch.removeAll()
    let bytes = UnsafeBufferPointer(start: base + Int(span.offset), count: Int(span.length))
    switch span.kind {
    case .missing, .null: return nil
    case .true: scratch.append("true")
    case .false: scratch.append("false")
    case .number: scratch.append(bytes)
    case .string: append(span, bytes, to: scratch)
    case .object: JSONScanner.appendCompact(bytes, to: scratch)
    case .array:
      var elements = JSONElements(of: span, in: base)
      var count = 0
      while let element = elements.next() {
        guard appendItem(element, base, isFirst: count == 0) else {
          scratch.removeAll()
          JSONScanner.appendCompact(bytes, to: scratch)
          return scratch.bytes
        }
        count += 1
      }
      if count == 0 { return nil }
    }
    return scratch.bytes
  }

  private func append(_ span: FieldSpan, _ bytes: UnsafeBufferPointer<UInt8>, to out: ByteBuffer) {
    switch span.encoding {
    case .plain: out.append(bytes)
    case .json: TextDecoding.appendJSON(bytes, to: out)
    case .csv: TextDecoding.appendCSV(bytes, to: out)
    }
  }

  private func appendItem(_ element: FieldSpan, _ base: UnsafePointer<UInt8>, isFirst: Bool) -> Bool {
    if !isFirst { scratch.append(UInt8(ascii: ";")) }
    item.removeAll()
    switch element.kind {
    case .true: item.append("true")
    case .false: item.append("false")
    case .number, .string: append(element, UnsafeBufferPointer(start: base + Int(element.offset), count: Int(element.length)), to: item)
    case .missing, .null, .array, .object: return false
    }
    if item.bytes.contains(UInt8(ascii: ";")) { return false }
    scratch.append(item.bytes)
    return true
  }
}
