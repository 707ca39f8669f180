internal import OhanaCore

/// The members a record would be written with at one point of the plan: those of its source with the edits of the layout, or just the
/// layout's entries.
struct RecordContent: Sendable {
  private let layout: RecordLayout
  private let entryNames: [[UInt8]]

  /// Also asks for what it takes: all members, or all columns.
  init(_ schema: inout RecordSchema) throws(OhanaError) {
    if schema.layout.followsSource, let columns = schema.columns {
      // Records of columns are walked by slots; their layout stays as it is.
      var entries: [RecordLayout.Entry] = []
      for column in columns { entries.append(.init(name: column, slot: try schema.slot(reading: FieldName(whole: column)))) }
      var layout = RecordLayout(followsSource: false)
      layout.entries = entries
      self.layout = layout
    } else {
      layout = schema.layout
      if layout.followsSource { schema.needsMembers = true }
    }
    for slot in layout.slots { schema.slotsRead.insert(slot) }
    entryNames = layout.entries.map(\.name)
  }

  /// Slots it looks at.
  var slots: [Int] { layout.slots }
  var needsBytes: Bool { layout.followsSource }

  /// Calls `body` with the name and value of every member that is there, null ones included; of repeated keys, with the last.
  ///
  /// Names are valid during the call; values are spans of the batch's arena.
  @inline(__always)
  func forEachMember(
    _ record: Int, of batch: RecordBatch, scratch: ByteBuffer, _ body: (_ name: UnsafeBufferPointer<UInt8>, _ value: FieldSpan) -> Void
  ) {
    if layout.followsSource {
      let isEdited = !layout.isSourceAsIs
      let arena = UnsafePointer(batch.arena.base)
      let repeats = batch.records[record].flags.contains(.repeatsKey) ? Self.repeated(record, of: batch) : []
      var members = JSONMembers(in: arena, at: JSONScanner.skipWhitespace(arena, Int(batch.records[record].offset)))
      while let member = members.next() {
        if !repeats.isEmpty, repeats.contains(member.value.key) { continue }
        if isEdited {
          edited(member, record, of: batch, scratch, body)
        } else {
          body(member.key(in: arena, scratch: scratch), member.value)
        }
      }
    }
    for (index, entry) in layout.entries.enumerated() {
      let field = batch.field(entry.slot, of: record)
      if field.kind == .missing || layout.followsSource && Self.isMember(field) { continue }
      entryNames[index].withUnsafeBufferPointer { body($0, field) }
    }
  }

  /// The field's value lies, or lay before it was changed, in a member of that whole name.
  private static func isMember(_ field: FieldSpan) -> Bool { field.flags.contains(.inSource) && !field.flags.contains(.nested) }

  private func edited(
    _ member: JSONMember, _ record: Int, of batch: RecordBatch, _ scratch: ByteBuffer,
    _ body: (_ name: UnsafeBufferPointer<UInt8>, _ value: FieldSpan) -> Void
  ) {
    func isHere(_ slot: Int) -> Bool {
      let field = batch.field(slot, of: record)
      return Self.isMember(field) && field.key == member.value.key
    }
    if layout.removed.contains(where: isHere) { return }
    if let entry = layout.renamed.first(where: { isHere($0.slot) }) {
      return entry.name.withUnsafeBufferPointer { body($0, batch.field(entry.slot, of: record)) }
    }
    let value = layout.entries.first { isHere($0.slot) }.map { batch.field($0.slot, of: record) } ?? member.value
    if value.kind == .missing { return }  // a stage took it out
    body(member.key(in: batch.arena.base, scratch: scratch), value)
  }

  /// Offsets of the keys of members that a later one of the same key replaces.
  private static func repeated(_ record: Int, of batch: RecordBatch) -> Set<UInt32> {
    let arena = UnsafePointer(batch.arena.base)
    let scratch = ByteBuffer()
    var last: [[UInt8]: UInt32] = [:]
    var replaced: Set<UInt32> = []
    var members = JSONMembers(in: arena, at: JSONScanner.skipWhitespace(arena, Int(batch.records[record].offset)))
    while let member = members.next() {
      if let earlier = last.updateValue(member.value.key, forKey: Array(member.key(in: arena, scratch: scratch))) {
        replaced.insert(earlier)
      }
    }
    return replaced
  }
}

extension FieldSpan {
  /// Null, `""`, `[]` or `{}`, with or without blanks inside.
  func isEmptyValue(in text: UnsafePointer<UInt8>) -> Bool {
    if isBlank { return true }
    guard kind == .array || kind == .object else { return false }
    return JSONScanner.skipWhitespace(text, Int(offset) + 1) == Int(offset) + Int(length) - 1
  }
}
