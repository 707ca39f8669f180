public import OhanaCore

/// A value of a test's record.
public enum TestValue: Sendable, Hashable, ExpressibleByStringLiteral, ExpressibleByNilLiteral, ExpressibleByIntegerLiteral {
  case missing, null
  case text(String)
  /// A number's spelling.
  case number(String)
  case bool(Bool)
  /// JSON text of an array or object.
  case json(String)

  public init(stringLiteral value: String) { self = .text(value) }
  public init(nilLiteral: ()) { self = .null }
  public init(integerLiteral value: Int) { self = .number(String(value)) }

  /// nil is null.
  public init(_ text: String?) { self = text.map { .text($0) } ?? .null }
}

extension RecordBatch {
  /// A batch of records with the given values, one a slot, all selected, as a reader of NDJSON would make it: the records' own bytes are
  /// JSON objects with the keys `names[slot]` (by default `f0`, `f1` …), strings escaped where they have to be.
  ///
  /// Rows shorter than `slotCount` miss the rest.
  public static func make(
    _ rows: some Sequence<[TestValue]>, slotCount: Int, names: [String]? = nil, firstOrdinal: Int = 0, sequence: Int = 0, source: Int = 0
  ) -> RecordBatch {
    let batch = RecordBatch()
    batch.slotCount = slotCount
    batch.firstOrdinal = firstOrdinal
    batch.sequence = sequence
    batch.source = source
    for row in rows { batch.appendJSON(row, names: names) }
    batch.selectAll()
    return batch
  }

  private func appendJSON(_ row: [TestValue], names: [String]?) {
    let arena = self.arena
    let start = arena.count
    var spans: [FieldSpan] = []
    arena.append("{")
    for (slot, value) in row.enumerated() where value != .missing {
      if arena.count > start + 1 { arena.append(",") }
      let key = UInt32(arena.count)
      arena.append(UInt8(ascii: "\""))
      arena.append(string: names?[slot] ?? "f\(slot)")
      arena.append("\":")
      var offset = arena.count
      var span = FieldSpan(key: key, kind: .null, flags: .inSource)
      switch value {
      case .missing: break
      case .null: arena.append("null")
      case .number(let spelling):
        span.kind = .number
        arena.append(string: spelling)
      case .bool(let flag):
        span.kind = flag ? .true : .false
        arena.append(flag ? "true" : "false")
      case .json(let text):
        span.kind = text.first == "[" ? .array : .object
        arena.append(string: text)
      case .text(let text):
        span.kind = .string
        arena.append(UInt8(ascii: "\""))
        offset += 1
        let body = Self.jsonBody(text)
        if body.isEscaped { span.encoding = .json }
        arena.append(string: body.text)
      }
      if span.kind.rawValue >= ValueKind.number.rawValue {
        span.offset = UInt32(offset)
        span.length = UInt32(arena.count - offset)
      }
      if span.kind == .string { arena.append(UInt8(ascii: "\"")) }
      while spans.count < slot { spans.append(.missing) }
      spans.append(span)
    }
    arena.append("}")
    let record = appendRecord(RecordSpan(offset: UInt32(start), length: UInt32(arena.count - start), line: UInt32(recordCount)))
    arena.append(0x0a)
    lineCount += 1
    for (slot, span) in spans.enumerated() where slot < slotCount { fields[record * slotCount + slot] = span }
  }

  private static func jsonBody(_ text: String) -> (text: String, isEscaped: Bool) {
    var body = ""
    var isEscaped = false
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"", "\\":
        body += "\\"
        body.unicodeScalars.append(scalar)
        isEscaped = true
      case "\u{0}"..<"\u{20}":
        let hex = String(scalar.value, radix: 16)
        body += "\\u" + String(repeating: "0", count: 4 - hex.count) + hex
        isEscaped = true
      default: body.unicodeScalars.append(scalar)
      }
    }
    return (body, isEscaped)
  }

  /// The value in `slot` of record `record`, decoded.
  public func value(_ slot: Int, of record: Int) -> TestValue {
    let span = field(slot, of: record)
    let scratch = ByteBuffer()
    let text = String(decoding: self.text(of: span, scratch: scratch), as: UTF8.self)
    switch span.kind {
    case .missing: return .missing
    case .null: return .null
    case .false: return .bool(false)
    case .true: return .bool(true)
    case .number: return .number(text)
    case .string: return .text(text)
    case .array, .object: return .json(text)
    }
  }

  /// The values in `slot` of the selected records.
  public func selectedValues(_ slot: Int) -> [TestValue] {
    (0..<selectedCount).map { value(slot, of: Int(selection[$0])) }
  }

  /// The own bytes of the selected records.
  public var selectedTexts: [String] {
    (0..<selectedCount).map { String(decoding: bytes(ofRecord: Int(selection[$0])), as: UTF8.self) }
  }
}
