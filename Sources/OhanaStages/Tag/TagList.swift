internal import OhanaCore

/// The field `tags`: a JSON array, or text with `;` between the tags, as the CSV writer joins lists.
enum TagList {
  static let name = FieldName(whole: Array("tags".utf8))

  /// Whether the list has a tag.
  ///
  /// - Parameter scratch: emptied where a value has to be decoded.
  static func contains(_ tag: [UInt8], _ field: FieldSpan, in batch: RecordBatch, _ scratch: ByteBuffer) -> Bool {
    switch field.kind {
    case .array:
      var elements = JSONElements(of: field, in: UnsafePointer(batch.arena.base))
      while let element = elements.next() {
        if batch.text(of: element, scratch: scratch).elementsEqual(tag) { return true }
      }
      return false
    case .string: return contains(tag, text: batch.text(of: field, scratch: scratch))
    case .number, .true, .false: return batch.text(of: field, scratch: scratch).elementsEqual(tag)
    case .missing, .null, .object: return false
    }
  }

  private static func contains(_ tag: [UInt8], text: UnsafeBufferPointer<UInt8>) -> Bool {
    if isArray(text) {
      let scratch = ByteBuffer()
      let list = RecordBatch(capacity: text.count)
      list.arena.append(text)
      return contains(tag, FieldSpan(offset: 0, length: UInt32(text.count), kind: .array), in: list, scratch)
    }
    var start = 0
    for index in 0...text.count where index == text.count || text[index] == UInt8(ascii: ";") {
      if text[start..<index].elementsEqual(tag) { return true }
      start = index + 1
    }
    return false
  }

  /// Writes the list with `tag` behind the others to `out`, and returns the kind it is of then.
  static func append(
    _ tag: [UInt8], to field: FieldSpan, in batch: RecordBatch, isColumn: Bool, into out: ByteBuffer, _ scratch: ByteBuffer
  ) -> ValueKind {
    out.removeAll()
    let quoted = { (out: ByteBuffer) in tag.withUnsafeBufferPointer { JSONEscaping.appendQuoted($0, to: out) } }
    if field.isBlank {
      if isColumn {
        tag.withUnsafeBufferPointer { out.append($0) }
        return .string
      }
      out.append("[")
      quoted(out)
      out.append("]")
      return .array
    }
    if field.kind == .string {
      let text = batch.text(of: field, scratch: scratch)
      if isArray(text) {
        appendElement(text, quoted, to: out)
      } else {
        out.append(text)
        out.append(";")
        tag.withUnsafeBufferPointer { out.append($0) }
      }
      return .string
    }
    if field.kind == .array {
      appendElement(batch.bytes(of: field), quoted, to: out)
    } else {
      out.append("[")
      out.append(batch.text(of: field, scratch: scratch))
      out.append(",")
      quoted(out)
      out.append("]")
    }
    return .array
  }

  private static func appendElement(_ list: UnsafeBufferPointer<UInt8>, _ element: (ByteBuffer) -> Void, to out: ByteBuffer) {
    var end = list.count - 1  // the bracket
    while list[end - 1] <= 0x20 { end -= 1 }
    out.append(list.baseAddress!, count: end)
    if list[end - 1] != UInt8(ascii: "[") { out.append(",") }
    element(out)
    out.append("]")
  }

  /// A cell in which a list did not fit otherwise.
  private static func isArray(_ text: UnsafeBufferPointer<UInt8>) -> Bool { ListText.array(in: text)?.count == text.count }
}

/// `--has-tag`: a record has all of some tags.
struct TagTest: Sendable {
  private let tags: [[UInt8]]
  private let slot: Int

  init(_ tags: [String], _ schema: inout RecordSchema) throws(OhanaError) {
    self.tags = tags.map { Array($0.utf8) }
    slot = try schema.slot(reading: TagList.name)
  }

  func hasAll(_ record: Int, of batch: RecordBatch, _ scratch: ByteBuffer) -> Bool {
    let field = batch.field(slot, of: record)
    return tags.allSatisfy { TagList.contains($0, field, in: batch, scratch) }
  }
}
