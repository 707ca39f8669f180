internal import OhanaCore

/// Columns of NDJSON whose numbers are too high to have slots of their own (`phone_10` and so on), found in the text of the few records that
/// have some.
struct UnboundColumns: Sendable {
  struct Column {
    var type: ContactFieldType
    var number: Int
    var name: [UInt8]
    /// A span of the batch's arena.
    var value: FieldSpan
    /// Whether the value is a field, or an address or a part of one.
    var isField: Bool { value.isField(isWholeAddress: ContactFieldPlaces.isWholeAddress(name, type)) }
  }

  private let types: [ContactFieldType]
  private let known: Set<[UInt8]>

  /// nil where all columns are known, or records are no longer written as they were read.
  init?(of types: [ContactFieldType], _ schema: inout RecordSchema) {
    guard schema.columns == nil, schema.layout.followsSource else { return nil }
    self.types = types
    schema.needsText = true
    known = schema.knownNames
  }

  /// Those of a record, by type and number; of a repeated one the last.
  func columns(_ record: Int, of batch: RecordBatch, _ scratch: ByteBuffer) -> [Column] {
    guard mayHold(batch.bytes(ofRecord: record)) else { return [] }
    let text = UnsafePointer(batch.arena.base)
    var found: [Column] = []
    var members = JSONMembers(in: text, at: JSONScanner.skipWhitespace(text, Int(batch.records[record].offset)))
    while let member = members.next() {
      let name = Array(member.key(in: text, scratch: scratch))
      for type in types where name.starts(with: type.rawValue.utf8) {
        guard let number = Self.number(in: name[...], of: type), !known.contains(name) else { continue }
        found.removeAll { $0.name == name }
        found.append(Column(type: type, number: number, name: name, value: member.value))
      }
    }
    return found.sorted { (types.firstIndex(of: $0.type)!, $0.number) < (types.firstIndex(of: $1.type)!, $1.number) }
  }

  /// For stages that write such columns: there must be none.
  ///
  /// - Throws: `badInput`, with the name of the first and what to do.
  func requireNone(_ record: Int, of batch: RecordBatch, _ scratch: ByteBuffer) throws {
    guard let first = columns(record, of: batch, scratch).first else { return }
    let name = String(decoding: first.name, as: UTF8.self)
    throw RecordFault(
      OhanaError(
        .badInput, "unexpected-column", field: name, "a record has a column of so high a number",
        fix: "--optional \(name) tells of it before reading"),
      in: record, of: batch)
  }

  /// The number of a column of `type`, or of an address's part: 12 of `phone_12` and `address_12.city`; nil for other names.
  static func number(in name: ArraySlice<UInt8>, of type: ContactFieldType) -> Int? {
    var rest = name.dropFirst(type.rawValue.utf8.count)
    guard rest.first == UInt8(ascii: "_") else { return nil }
    rest = rest.dropFirst()
    let digits = rest.prefix { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }
    guard digits.first != UInt8(ascii: "0"), let number = Int(String(decoding: digits, as: UTF8.self)), number > 1 else { return nil }
    rest = rest.dropFirst(digits.count)
    if rest.isEmpty { return number }
    guard type == .address, rest.first == UInt8(ascii: ".") else { return nil }
    return ContactFieldPlaces.addressParts.contains { rest.dropFirst().elementsEqual($0.utf8) } ? number : nil
  }

  /// Whether there is an underscore behind a type, with a number that has no slot, or an escape that could spell one.
  private func mayHold(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
    guard let start = text.baseAddress else { return false }
    let end = start + text.count
    var next = start
    while let found = memchr(next, Int32(UInt8(ascii: "_")), end - next) {
      next = UnsafePointer(found.assumingMemoryBound(to: UInt8.self)) + 1
      guard end - next > 2, next[0] >= UInt8(ascii: "1"), next[0] <= UInt8(ascii: "9"), next[1] != UInt8(ascii: "\"") else { continue }
      let behind = next - 1
      for type in types {
        let name = type.rawValue.utf8
        if behind - start > name.count, UnsafeBufferPointer(start: behind - name.count, count: name.count).elementsEqual(name) {
          return true
        }
      }
    }
    next = start
    while let found = memchr(next, Int32(UInt8(ascii: "\\")), end - next) {
      next = UnsafePointer(found.assumingMemoryBound(to: UInt8.self)) + 2
      if end - next > 4, next[-1] == UInt8(ascii: "u"), next[0] == UInt8(ascii: "0"), next[1] == UInt8(ascii: "0") { return true }
      if next >= end { break }
    }
    return false
  }
}
