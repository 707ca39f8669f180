internal import OhanaCore

/// Writes one record with the edits of a layout that follows the source: everything else keeps its spelling and spacing.
///
/// Holds scratch memory: one piece of work at a time.
final class NDJSONSplicer: @unchecked Sendable {  // because the renderer's pool lends it to one piece of work at a time
  private enum Action {
    case remove, replace
    /// With the index in `layout.renamed`.
    case rename(Int), renameAndReplace(Int)

    /// The record no longer has a member of the old name.
    var freesName: Bool {
      if case .replace = self { false } else { true }
    }
  }
  private struct Edit {
    /// Offset of the key's opening quote, or of the element where the field's path ends in an index.
    var key: Int
    var slot: Int
    var isElement: Bool
    var action: Action
  }

  private let layout: RecordLayout
  /// `,"name":` of `layout.entries`, and of `layout.renamed`.
  private let names = NDJSONNameTable()
  private var entryNames: [(offset: Int, length: Int)] = []
  private var renamedNames: [(offset: Int, length: Int)] = []
  private var edits: [Edit] = []
  private let whole = ByteBuffer()
  private let scratch = ByteBuffer()
  private let csvScratch = ByteBuffer()

  init(_ layout: RecordLayout) {
    self.layout = layout
    entryNames = layout.entries.map { names.add($0.name, opensObject: false) }
    renamedNames = layout.renamed.map { names.add($0.name, opensObject: false) }
  }

  /// Whether the record differs from its own bytes, repeated keys aside.
  @inline(__always)
  func hasEdits(_ record: Int, of batch: RecordBatch, _ span: RecordSpan) -> Bool {
    let row = batch.fields + record &* batch.slotCount
    if span.flags.contains(.changed) {
      for entry in layout.entries where row[entry.slot].flags.contains(.overlay) { return true }
    }
    for slot in layout.removed where row[slot].flags.contains(.inSource) { return true }
    for entry in layout.renamed where row[entry.slot].flags.contains(.inSource) || row[entry.slot].flags.contains(.overlay) { return true }
    return false
  }

  /// Appends the record, without a line end.
  func write(_ record: Int, of batch: RecordBatch, to out: inout OutputCursor) throws {
    let span = batch.records[record]
    let row = batch.fields + record * batch.slotCount
    collectEdits(row)
    var text = UnsafePointer(batch.arena.base)
    var start = Int(span.offset)
    var end = start + Int(span.length)
    if span.flags.contains(.repeatsKey) {
      resolveRepeats(text, start)
      text = UnsafePointer(whole.base)
      start = 0
      end = whole.count
    }
    edits.sort { $0.key < $1.key }
    if !layout.renamed.isEmpty { try checkCollisions(record, of: batch, text, start, end) }

    let outStart = out.count
    let values = UnsafePointer(batch.arena.base)
    var cursor = start
    for edit in edits where edit.key >= cursor {
      let (keyEnd, value, valueEnd) = extent(text, edit)
      switch edit.action {
      case .remove:
        out.append(text + cursor, edit.key - cursor)
        let behind = JSONScanner.skipWhitespace(text, valueEnd)
        if text[behind] == UInt8(ascii: ",") {
          cursor = JSONScanner.skipWhitespace(text, behind + 1)
        } else {
          out.removeTrailingComma(from: outStart)
          cursor = valueEnd
        }
      case .replace:
        out.append(text + cursor, value - cursor)
        NDJSONMemberWriter.writeValue(row[edit.slot], values, true, &out, csvScratch)
        cursor = valueEnd
      case .rename(let index), .renameAndReplace(let index):
        out.append(text + cursor, edit.key - cursor)
        // Without the comma and colon that the table has around it.
        out.append(names.bytes.base + renamedNames[index].offset + 1, renamedNames[index].length - 2)
        cursor = keyEnd
        if case .renameAndReplace = edit.action {
          out.append(text + cursor, value - cursor)
          NDJSONMemberWriter.writeValue(row[edit.slot], values, true, &out, csvScratch)
          cursor = valueEnd
        }
      }
    }
    var last = end - 1  // the closing brace
    while last > cursor, text[last - 1] <= 0x20 { last -= 1 }
    out.append(text + cursor, last - cursor)
    append(row, values, outStart, &out)
    out.append(text + last, end - last)
  }

  /// Members the source does not have, in the layout's order; `out` stands before the closing brace.
  private func append(
    _ row: UnsafePointer<FieldSpan>, _ values: UnsafePointer<UInt8>, _ outStart: Int, _ out: inout OutputCursor
  ) {
    var isEmpty: Bool?
    func write(_ slot: Int, _ name: (offset: Int, length: Int), _ out: inout OutputCursor) {
      let skipped = isEmpty ?? (out.lastToken(from: outStart) == UInt8(ascii: "{")) ? 1 : 0
      isEmpty = false
      out.append(names.bytes.base + name.offset + skipped, name.length - skipped)
      NDJSONMemberWriter.writeValue(row[slot], values, true, &out, csvScratch)
    }
    for (index, entry) in layout.renamed.enumerated() {
      let field = row[entry.slot]
      let isNew = field.flags.contains(.overlay) && !field.flags.contains(.inSource)
      if field.kind != .missing, isNew || field.flags.contains(.nested) { write(entry.slot, renamedNames[index], &out) }
    }
    for (index, entry) in layout.entries.enumerated() {
      let field = row[entry.slot]
      guard field.kind != .missing, field.flags.contains(.overlay), !field.flags.contains(.inSource) else { continue }
      write(entry.slot, entryNames[index], &out)
    }
  }

  private func collectEdits(_ row: UnsafePointer<FieldSpan>) {
    edits.removeAll(keepingCapacity: true)
    func add(_ slot: Int, _ action: Action) {
      edits.append(Edit(key: Int(row[slot].key), slot: slot, isElement: row[slot].flags.contains(.element), action: action))
    }
    for slot in layout.removed where row[slot].flags.contains(.inSource) { add(slot, .remove) }
    for (index, entry) in layout.renamed.enumerated() {
      let field = row[entry.slot]
      guard field.flags.contains(.inSource) else { continue }
      if field.flags.contains(.nested) || field.kind == .missing {
        // A name that a stage writes is a flat key: the value leaves its object and is appended.
        add(entry.slot, .remove)
      } else {
        add(entry.slot, field.flags.contains(.overlay) ? .renameAndReplace(index) : .rename(index))
      }
    }
    for entry in layout.entries {
      let field = row[entry.slot]
      guard field.flags.contains(.overlay), field.flags.contains(.inSource) else { continue }
      add(entry.slot, field.kind == .missing ? .remove : .replace)
    }
  }

  /// Where the key of an edited member ends, and its value.
  private func extent(_ text: UnsafePointer<UInt8>, _ edit: Edit) -> (keyEnd: Int, value: Int, valueEnd: Int) {
    if edit.isElement { return (edit.key, edit.key, JSONScanner.value(in: text, at: edit.key).end) }
    let keyEnd = JSONScanner.endOfString(text, edit.key).end
    let value = JSONScanner.skipWhitespace(text, JSONScanner.skipWhitespace(text, keyEnd) + 1)
    return (keyEnd, value, JSONScanner.value(in: text, at: value).end)
  }

  /// Writes the record into `whole` with each key once, first place and last value, and moves the edits there.
  private func resolveRepeats(_ text: UnsafePointer<UInt8>, _ start: Int) {
    var kept: [[UInt8]: Int] = [:]
    var members: [(key: JSONMember, value: FieldSpan)] = []
    var walk = JSONMembers(in: text, at: start)
    while let member = walk.next() {
      let name = Array(member.key(in: text, scratch: scratch))
      if let known = kept[name] {
        members[known].value = member.value
      } else {
        kept[name] = members.count
        members.append((member, member.value))
      }
    }
    whole.removeAll()
    whole.append(UInt8(ascii: "{"))
    var moved = edits
    for (index, member) in members.enumerated() {
      if index > 0 { whole.append(UInt8(ascii: ",")) }
      let key = whole.count
      whole.append(text + member.key.keyOffset - 1, count: member.key.keyLength + 2)
      whole.append(UInt8(ascii: ":"))
      let from = member.value.jsonStart
      let to = member.value.jsonEnd
      for edit in edits.indices {
        // The reader's keys are those of last occurrences, of which the value was kept.
        if edits[edit].key == Int(member.value.key) { moved[edit].key = key }
        if edits[edit].key >= from, edits[edit].key < to { moved[edit].key = edits[edit].key - from + whole.count }
      }
      whole.append(text + from, count: to - from)
    }
    whole.append(UInt8(ascii: "}"))
    edits = moved
  }

  /// - Throws: if a member that stays has a name that another one gets.
  private func checkCollisions(
    _ record: Int, of batch: RecordBatch, _ text: UnsafePointer<UInt8>, _ start: Int, _ end: Int
  ) throws {
    for (index, entry) in layout.renamed.enumerated() {
      let field = batch.field(entry.slot, of: record)
      guard field.kind != .missing, field.flags.contains(.inSource) || field.flags.contains(.overlay) else { continue }
      // Most records hold neither the name nor an escape that could spell it.
      let quoted = names.bytes.base + renamedNames[index].offset + 1
      let length = renamedNames[index].length - 2
      let mayHold = find(quoted, length, in: text + start, end - start) || memchr(text + start, 0x5c, end - start) != nil
      guard mayHold else { continue }
      var members = JSONMembers(in: text, at: start)
      while let member = members.next() {
        let key = Int(member.value.key)
        guard !edits.contains(where: { $0.key == key && $0.action.freesName }) else { continue }
        let name = member.key(in: text, scratch: scratch)
        guard name.elementsEqual(entry.name) else { continue }
        let new = String(decoding: entry.name, as: UTF8.self)
        throw RecordFault(
          OhanaError(
            .badInput, "key-collision", field: new,
            "a record holds a field of this name beside \(oldName(of: entry.slot, text)), which is renamed to it",
            fix: "drop \(new) before the rename, or choose another name"),
          in: record, of: batch)
      }
    }
  }

  private func oldName(of slot: Int, _ text: UnsafePointer<UInt8>) -> String {
    guard let edit = edits.first(where: { $0.slot == slot && !$0.isElement }) else { return "another" }
    let raw = UnsafeBufferPointer(start: text + edit.key + 1, count: JSONScanner.endOfString(text, edit.key).end - edit.key - 2)
    scratch.removeAll()
    TextDecoding.appendJSON(raw, to: scratch)
    return String(decoding: scratch.bytes, as: UTF8.self)
  }

  /// Whether `needle`, a key in its quotes, stands somewhere in the text.
  private func find(_ needle: UnsafePointer<UInt8>, _ length: Int, in text: UnsafePointer<UInt8>, _ count: Int) -> Bool {
    var next = text
    let end = text + count - length
    // By the key's last character, since quotes are everywhere; the empty key has nothing else.
    let probe = length - 2
    while next <= end, let found = memchr(next + probe, Int32(needle[probe]), end - next + 1) {
      next = UnsafePointer(found.assumingMemoryBound(to: UInt8.self)) - probe
      if memcmp(next, needle, length) == 0 { return true }
      next += 1
    }
    return false
  }
}
