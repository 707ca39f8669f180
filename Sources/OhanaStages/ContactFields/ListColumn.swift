internal import OhanaCore

/// One of the lists `fields` and `addresses`, bound to a slot: an array, or text that holds one, as cells of CSV do.
struct ListColumn: Sendable {
  /// Of the value as the record has it.
  let slot: Int
  /// Of the array in its text; set by ``ListReader`` for records whose value is text.
  let parsed: Int

  /// The list of a record: an array, or something that is no list.
  @inline(__always) func value(_ record: Int, of batch: RecordBatch) -> FieldSpan {
    let field = batch.field(slot, of: record)
    return field.kind == .string ? batch.field(parsed, of: record) : field
  }

  /// Writes a list in the place of a record's: as text where that was text.
  ///
  /// - Parameter list: JSON.
  func write(_ list: UnsafeBufferPointer<UInt8>, to record: Int, of batch: RecordBatch) throws(OhanaError) {
    guard batch.field(slot, of: record).kind == .string else { return try batch.write(list, .array, to: slot, of: record, inPlace: true) }
    // As the CSV writer has it: an empty list is an empty cell.
    if list.count <= 2 { return batch.overlay(slot, of: record, offset: 0, length: 0, kind: .null, inPlace: true) }
    try batch.write(list, .string, to: slot, of: record, inPlace: true)
  }
}

/// Finds the arrays in the texts of lists, in front of the steps that look into them.
struct ListReader: RowStage {
  struct Column: Sendable {
    let name: String
    let list: ListColumn
    /// Text that is no JSON holds texts with `;` between them, which are elements.
    let holdsTexts: Bool
  }
  let columns: [Column]
  /// For messages.
  let stage: String

  func process(_ batch: RecordBatch) throws -> StageTally {
    var scratch: ByteBuffer?
    for column in columns {
      for index in 0..<batch.selectedCount {
        let record = Int(batch.selection[index])
        let field = batch.field(column.list.slot, of: record)
        guard field.kind == .string else { continue }
        let buffer = scratch ?? ByteBuffer()
        scratch = buffer
        batch.fields[record &* batch.slotCount &+ column.list.parsed] = try list(in: field, of: record, column, batch, buffer)
      }
    }
    return StageTally()
  }

  private func list(in field: FieldSpan, of record: Int, _ column: Column, _ batch: RecordBatch, _ scratch: ByteBuffer) throws -> FieldSpan
  {
    let text = batch.text(of: field, scratch: scratch)
    if let range = ListText.array(in: text) {
      if field.encoding == .plain {
        return FieldSpan(offset: field.offset + UInt32(range.lowerBound), length: UInt32(range.count), kind: .array)
      }
      return try append(UnsafeBufferPointer(rebasing: text[range]), to: batch)
    }
    if ListText.looksLikeJSON(text) {
      throw RecordFault(
        OhanaError(
          .badInput, "invalid-list", field: column.name, "\(stage): a text in '\(column.name)' begins like a list in JSON and is none",
          fix: "mend it, or put 'drop \(column.name)' or 'rename \(column.name)=NAME' in front if it is no list of contacts' fields"),
        in: record, of: batch)
    }
    guard column.holdsTexts, !text.isEmpty else { return .missing }
    let list = ByteBuffer()
    ListText.appendArray(ofTexts: text, to: list)
    return try append(list.bytes, to: batch)
  }

  private func append(_ list: UnsafeBufferPointer<UInt8>, to batch: RecordBatch) throws -> FieldSpan {
    let offset = batch.arena.count
    try batch.requireRoom(for: list.count)
    batch.arena.append(list)
    return FieldSpan(offset: UInt32(truncatingIfNeeded: offset), length: UInt32(truncatingIfNeeded: list.count), kind: .array)
  }
}
