internal import OhanaCore

/// Makes field spans of cells.
struct CSVSpanMaker {
  /// Cell text may have to be appended to the arena, which moves it.
  let decodes: Bool
  let hasNulls: Bool
  private let quote: UInt16
  private let escape: UInt16
  private let infersKinds: Bool
  private let nulls: [[UInt8]]
  /// Cells are strings as they stand: no nulls by name, no kinds, no decoding.
  let isPlain: Bool

  init(_ dialect: CSVDialect) {
    quote = dialect.quoteCode
    escape = dialect.escapeCode
    decodes = dialect.escape != nil || dialect.quote != UInt8(ascii: "\"")
    nulls = dialect.nulls
    hasNulls = !nulls.isEmpty
    infersKinds = dialect.infersKinds
    isPlain = !hasNulls && !infersKinds && !decodes
  }

  /// The span of the cell `start ..< end`, quotes included, of a record that RFC 4180 allows. May append to the arena.
  func slowSpan(_ start: Int, _ end: Int, mayHoldPairs: Bool, _ arena: ByteBuffer) -> FieldSpan {
    guard start < end, UInt16(arena.base[start]) == quote else {
      return span(CSVCell(start: UInt32(truncatingIfNeeded: start), end: UInt32(truncatingIfNeeded: end), flags: 0), arena)
    }
    var flags = CSVCell.quoted
    if mayHoldPairs, memchr(arena.base + start + 1, Int32(quote), end - start - 2) != nil { flags |= CSVCell.doubled }
    return span(CSVCell(start: UInt32(truncatingIfNeeded: start + 1), end: UInt32(truncatingIfNeeded: end - 1), flags: flags), arena)
  }

  private static var null: FieldSpan { FieldSpan(kind: .null, flags: .inSource) }

  /// The same for a cell that has been looked at.
  @inline(never)
  func span(_ cell: CSVCell, _ arena: ByteBuffer) -> FieldSpan {
    let isQuoted = cell.flags & CSVCell.quoted != 0
    if cell.start == cell.end, !isQuoted { return Self.null }
    var span = FieldSpan(offset: cell.start, length: cell.end - cell.start, kind: .string, flags: .inSource)
    // `\N` names a null as it stands; with an escape byte it would read as `N`.
    if hasNulls, !isQuoted || cell.flags & CSVCell.doubled == 0, isNull(arena.base + Int(cell.start), Int(cell.end - cell.start)) {
      return Self.null
    }
    if cell.flags & (CSVCell.doubled | CSVCell.escaped) != 0 {
      if !decodes, !hasNulls {
        span.encoding = .csv
        return span
      }
      let offset = arena.count
      arena.reserve(Int(cell.end - cell.start))  // the source is in the arena as well: it must not move while it is read
      CSVCellDecoding.append(cell, of: arena.base, quote: quote, escape: escape, to: arena)
      span.offset = UInt32(truncatingIfNeeded: offset)
      span.length = UInt32(truncatingIfNeeded: arena.count - offset)
      if hasNulls, isNull(arena.base + offset, arena.count - offset) {
        arena.count = offset
        return Self.null
      }
      return span
    }
    if infersKinds, !isQuoted {
      span.kind = CSVKindInference.kind(of: UnsafeBufferPointer(start: arena.base + Int(cell.start), count: Int(span.length)))
    }
    return span
  }

  func isNull(_ text: UnsafePointer<UInt8>, _ count: Int) -> Bool {
    nulls.contains { null in
      null.count == count && null.withUnsafeBufferPointer { $0.elementsEqual(UnsafeBufferPointer(start: text, count: count)) }
    }
  }
}

/// What an unquoted cell is with `--infer`.
enum CSVKindInference {
  /// `number` for what RFC 8259 section 6 calls one, so that leading zeros and `+49…` stay text; `true` and `false` in lower case;
  /// `string` for everything else.
  static func kind(of text: UnsafeBufferPointer<UInt8>) -> ValueKind {
    guard let first = text.first else { return .string }
    if first == UInt8(ascii: "t") { return text.elementsEqual("true".utf8) ? .true : .string }
    if first == UInt8(ascii: "f") { return text.elementsEqual("false".utf8) ? .false : .string }
    var at = first == UInt8(ascii: "-") ? 1 : 0
    let integer = digits(text, &at)
    guard integer > 0, integer == 1 || text[at - integer] != UInt8(ascii: "0") else { return .string }
    if at < text.count, text[at] == UInt8(ascii: ".") {
      at += 1
      if digits(text, &at) == 0 { return .string }
    }
    if at < text.count, text[at] | 0x20 == UInt8(ascii: "e") {
      at += 1
      if at < text.count, text[at] == UInt8(ascii: "+") || text[at] == UInt8(ascii: "-") { at += 1 }
      if digits(text, &at) == 0 { return .string }
    }
    return at == text.count ? .number : .string
  }

  private static func digits(_ text: UnsafeBufferPointer<UInt8>, _ at: inout Int) -> Int {
    let start = at
    while at < text.count, text[at] >= 0x30, text[at] <= 0x39 { at += 1 }
    return at - start
  }
}
