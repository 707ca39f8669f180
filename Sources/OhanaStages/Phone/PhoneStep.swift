internal import OhanaCore

/// Formats the phones of each record; see ``PhoneStage``.
struct PhoneStep: RowStage {
  struct Column: Sendable {
    var slot: Int
    /// A slot for each format; none where it takes the value's place.
    var targets: [Int]
  }
  let region: PhoneRegion?
  let formats: [PhoneFormat]
  let keepsInvalid: Bool
  let replaces: Bool
  let columns: [Column]
  let unbound: UnboundColumns?
  let list: ListColumn?
  let tags: Int?
  let isColumnar: Bool
  let pool = ScratchPool { Scratch() }

  final class Scratch: @unchecked Sendable {  // because the pool lends it to one piece of work at a time
    let text = TextScratch()
    let decoded = ByteBuffer()
    let keys = ByteBuffer()
    let number = ByteBuffer()
    let list = ByteBuffer()
    var isInvalid = false
  }

  func process(_ batch: RecordBatch) throws -> StageTally {
    let scratch = pool.take()
    defer {
      scratch.list.recycle(limit: 1 << 20)
      pool.give(scratch)
    }
    batch.notedRecords.removeAll(keepingCapacity: true)
    let tag = Array(PhoneStage.tag.utf8)
    for index in 0..<batch.selectedCount {
      let record = Int(batch.selection[index])
      scratch.isInvalid = false
      try unbound?.requireNone(record, of: batch, scratch.keys)
      for column in columns { try format(column, record, batch, scratch) }
      if let list, list.value(record, of: batch).kind == .array { try formatList(list, record, batch, scratch) }
      guard scratch.isInvalid, let tags else { continue }
      let field = batch.field(tags, of: record)
      if TagList.contains(tag, field, in: batch, scratch.decoded) { continue }
      let kind = TagList.append(tag, to: field, in: batch, isColumn: isColumnar, into: scratch.number, scratch.decoded)
      try batch.write(scratch.number.bytes, kind, to: tags, of: record)
    }
    return StageTally(noted: batch.notedRecords.count)
  }

  /// The text of a phone's value, if it is one that can be looked at.
  private func text(of value: FieldSpan, _ batch: RecordBatch, _ scratch: Scratch) -> UnsafeBufferPointer<UInt8>? {
    guard value.kind == .string || value.kind == .number, !value.isHollow(in: batch) else { return nil }
    return batch.text(of: value, scratch: scratch.decoded)
  }

  /// Whether the number is a possible one; counts those that are not.
  private func isValid(_ text: UnsafeBufferPointer<UInt8>, _ record: Int, _ batch: RecordBatch, _ scratch: Scratch) -> Bool {
    if PhoneNumbers.isPossible(text, region: region, scratch: scratch.text) { return true }
    scratch.isInvalid = true
    batch.notedRecords.append(UInt32(truncatingIfNeeded: record))
    return false
  }

  /// Of a possible number only: of others the library makes numbers that nobody has.
  private func write(_ format: PhoneFormat, _ text: UnsafeBufferPointer<UInt8>, _ scratch: Scratch) -> Bool {
    scratch.number.removeAll()
    guard PhoneNumbers.append(format, of: text, region: region, possibleOnly: true, to: scratch.number, scratch: scratch.text) else {
      return false
    }
    // E.164 has no extensions. One that takes the place of a text may not lose it.
    if format == .e164, !replaces, let end = scratch.number.bytes.firstIndex(of: UInt8(ascii: ";")) { scratch.number.count = end }
    return true
  }

  private func clear(_ slot: Int, _ record: Int, _ batch: RecordBatch) {
    batch.overlay(slot, of: record, offset: 0, length: 0, kind: isColumnar ? .null : .missing, inPlace: true)
  }

  private func format(_ column: Column, _ record: Int, _ batch: RecordBatch, _ scratch: Scratch) throws {
    guard let first = text(of: batch.field(column.slot, of: record), batch, scratch) else { return }
    let goes = !isValid(first, record, batch, scratch) && !keepsInvalid
    for (index, format) in formats.enumerated() {
      // Anew each time: the arena may have moved.
      guard !goes, let text = text(of: batch.field(column.slot, of: record), batch, scratch), write(format, text, scratch) else {
        // A format that was there already is not this number's.
        if !replaces, batch.field(column.targets[index], of: record).isPresent { clear(column.targets[index], record, batch) }
        continue
      }
      if replaces {
        if !scratch.number.bytes.elementsEqual(text) {
          try batch.write(scratch.number.bytes, .string, to: column.slot, of: record, inPlace: true)
        }
      } else {
        try batch.write(scratch.number.bytes, .string, to: column.targets[index], of: record)
      }
    }
    if goes { clear(column.slot, record, batch) }
  }

  /// Writes the list anew, with the numbers in its entries, if there are any.
  private func formatList(_ list: ListColumn, _ record: Int, _ batch: RecordBatch, _ scratch: Scratch) throws {
    let out = scratch.list
    out.removeAll()
    var copied = Int(list.value(record, of: batch).offset)
    var hasChanged = false
    var isFirst = true
    var entries = ListedFields(list, of: record, in: batch)
    while let entry = entries.next(scratch.keys) {
      let start = entry.span.jsonStart
      if entry.type == .phone, let text = text(of: entry.value, batch, scratch) {
        if !isValid(text, record, batch, scratch), !keepsInvalid {
          // With the comma in front of it; that behind it goes with the next one, if it was the first.
          if isFirst { out.append(batch.arena.base + copied, count: start - copied) }
          copied = entry.span.jsonEnd
          if isFirst { copied = skipComma(copied, batch) }
          hasChanged = true
          continue
        }
        let base = UnsafePointer(batch.arena.base)
        out.append(base + copied, count: start - copied)
        copied = start
        if writeEntry(entry, text, base, scratch) {
          copied = entry.span.jsonEnd
          hasChanged = true
        }
      }
      out.append(batch.arena.base + copied, count: entry.span.jsonEnd - copied)
      copied = entry.span.jsonEnd
      isFirst = false
    }
    guard hasChanged else { return }
    let field = list.value(record, of: batch)
    out.append(batch.arena.base + copied, count: Int(field.offset + field.length) - copied)
    try list.write(out.bytes, to: record, of: batch)
  }

  private func skipComma(_ offset: Int, _ batch: RecordBatch) -> Int {
    let base = UnsafePointer(batch.arena.base)
    let comma = JSONScanner.skipWhitespace(base, offset)
    return base[comma] == UInt8(ascii: ",") ? JSONScanner.skipWhitespace(base, comma + 1) : offset
  }

  /// Appends the entry with its numbers. Returns false, with nothing appended, where it stays as it is.
  ///
  /// - Parameter text: of the number.
  private func writeEntry(
    _ entry: ListedFields.Entry, _ text: UnsafeBufferPointer<UInt8>, _ base: UnsafePointer<UInt8>, _ scratch: Scratch
  ) -> Bool {
    let out = scratch.list
    if replaces {
      guard write(formats[0], text, scratch), !scratch.number.bytes.elementsEqual(text) else { return false }
      let (start, end) = (entry.value.jsonStart, entry.value.jsonEnd)
      out.append(base + entry.span.jsonStart, count: start - entry.span.jsonStart)
      JSONEscaping.appendQuoted(scratch.number.bytes, to: out)
      out.append(base + end, count: entry.span.jsonEnd - end)
      return true
    }
    // All formats of a possible number can be written, and none of another text.
    guard write(formats[0], text, scratch) || hasFormats(entry, base, scratch) else { return false }
    var end = entry.span.jsonEnd - 1  // the brace
    while base[end - 1] <= 0x20 { end -= 1 }
    appendMembers(of: entry, upTo: end, base, scratch)
    for format in formats {
      guard write(format, text, scratch) else { continue }
      out.append(",\"phone.")
      out.append(string: format.rawValue)
      out.append("\":")
      JSONEscaping.appendQuoted(scratch.number.bytes, to: out)
    }
    out.append(base + end, count: entry.span.jsonEnd - end)
    return true
  }

  private func hasFormats(_ entry: ListedFields.Entry, _ base: UnsafePointer<UInt8>, _ scratch: Scratch) -> Bool {
    var members = JSONMembers(of: entry.span, in: base)
    while let member = members.next() { if isFormat(member.key(in: base, scratch: scratch.keys)) { return true } }
    return false
  }

  private func isFormat(_ key: UnsafeBufferPointer<UInt8>) -> Bool {
    formats.contains { key.elementsEqual("phone.\($0.rawValue)".utf8) }
  }

  /// Appends the entry up to its closing brace, less the members that are written anew.
  private func appendMembers(of entry: ListedFields.Entry, upTo end: Int, _ base: UnsafePointer<UInt8>, _ scratch: Scratch) {
    let out = scratch.list
    var members = JSONMembers(of: entry.span, in: base)
    var copied = entry.span.jsonStart
    while let member = members.next() {
      let key = member.key(in: base, scratch: scratch.keys)
      guard isFormat(key) else { continue }
      // Not the first one, which a phone's type or value is in front of, or is behind: take the comma in front.
      var before = member.keyOffset - 1
      while before > copied, base[before - 1] <= 0x20 { before -= 1 }
      let hasComma = before > copied && base[before - 1] == UInt8(ascii: ",")
      out.append(base + copied, count: (hasComma ? before - 1 : before) - copied)
      copied = member.value.jsonEnd
      if !hasComma {
        let comma = JSONScanner.skipWhitespace(base, copied)
        if base[comma] == UInt8(ascii: ",") { copied = comma + 1 }
      }
    }
    if copied < end { out.append(base + copied, count: end - copied) }
  }
}
