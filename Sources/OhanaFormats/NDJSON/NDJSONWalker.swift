internal import CSimdJSON
internal import OhanaCore

/// What one parser looks for in every record; the same for all its walkers.
struct NDJSONPlan: Sendable {
  struct Path: Sendable {
    /// Index among the parser's fields.
    var field: Int
    var slot: Int
    /// The steps behind the first.
    var steps: [FieldName.Step]
  }
  var fields: [RecordSchema.SourceField]
  var wantsMembers: Bool
  var maxRecordBytes: Int
  /// Paths by their first step.
  var groups: [(key: [UInt8], paths: [Path])] = []

  init(fields: [RecordSchema.SourceField], wantsMembers: Bool, maxRecordBytes: Int) {
    self.fields = fields
    self.wantsMembers = wantsMembers
    self.maxRecordBytes = maxRecordBytes
    for (index, field) in fields.enumerated() {
      guard case .key(let first)? = field.name.path.first else { continue }
      let path = Path(field: index, slot: field.slot, steps: Array(field.name.path.dropFirst()))
      if let group = groups.firstIndex(where: { $0.key == first }) {
        groups[group].paths.append(path)
      } else {
        groups.append((first, [path]))
      }
    }
  }
}

/// Working memory of one parse: structural index, keys met, scratch. Lent to one piece of work at a time by its parser.
///
/// The bytes of a batch are indexed and walked in windows of whole lines, small enough that text and index stay in the cache between
/// the two passes. A window that the index refuses is done again line by line, so that only the faulty lines are lost.
final class NDJSONWalker: @unchecked Sendable {  // because the parser's pool gives it to one piece of work at a time
  /// Bytes indexed at once. Twice that in index memory is read again by the walk, so this has to fit a second-level cache.
  static let windowBytes = 96 << 10
  /// Longer records are walked without an index, which takes four times their size.
  static let maxIndexedBytes = 2 << 20

  let plan: NDJSONPlan
  private let indexer: OpaquePointer
  private(set) var keys = NDJSONKeyTable()
  private let stack = UnsafeMutablePointer<UInt8>.allocate(capacity: NDJSONGrammar.maxDepth)
  private let scratch = ByteBuffer()

  /// Counts records begun, across batches; marks entries of the key table.
  private var recordNumber: UInt32 = 0
  private var batchNumber: UInt32 = 0
  /// Keys of the present record that no accepted record had so far.
  private var newKeys: [UInt32] = []
  /// Fields found by path in the present record for the first time.
  private var newFields: [Int] = []
  /// Member-table keys of the present record that held no object or array so far.
  private var newNested: [Int] = []
  /// Entries of the key table by their number in the batch's member table.
  private var keyNumbers: [UInt32] = []
  /// By index among the parser's fields: found in an accepted record.
  private(set) var foundFields: [Bool]
  /// Keys committed since they were last collected.
  private(set) var freshKeys: [UInt32] = []
  var hasNews = false

  // State of the present batch.
  /// Line of the next record or blank line, 0-based.
  private var line = 0
  /// Offset of the first backslash not yet passed, `Int.max` if there is none.
  private var escape = Int.max
  private var textEnd = 0
  /// Bytes of the byte order mark before the first line.
  private var markLength = 0
  /// Keys in the batch's member table that accepted records hold.
  private var acceptedKeyCount = 0

  init(plan: NDJSONPlan) {
    self.plan = plan
    guard let indexer = ohana_json_indexer_create() else { preconditionFailure("out of memory") }
    self.indexer = indexer
    foundFields = Array(repeating: false, count: plan.fields.count)
    resetKeys()
  }

  deinit {
    ohana_json_indexer_destroy(indexer)
    stack.deallocate()
  }

  private func resetKeys() {
    keys = NDJSONKeyTable()
    if plan.wantsMembers { keys.entries[Int(NDJSONKeyTable.unknown)].isUsed = true }
    func number(of key: [UInt8]) -> Int {
      key.withUnsafeBufferPointer { key in
        if let number = keys.find(key) { return Int(number) }
        return Int(keys.add(key))
      }
    }
    for field in plan.fields {
      let entry = number(of: field.name.whole)
      keys.entries[entry].slot = Int32(field.slot)
      keys.entries[entry].isUsed = true
    }
    for (index, group) in plan.groups.enumerated() {
      let entry = number(of: group.key)
      keys.entries[entry].group = Int32(index)
      keys.entries[entry].isUsed = true
    }
  }

  /// The keys committed since the last call, as texts.
  func takeFreshKeys() -> [[UInt8]] {
    defer {
      freshKeys.removeAll(keepingCapacity: true)
      hasNews = false
    }
    return freshKeys.map { Array(keys.text($0)) }
  }

  // MARK: A batch

  /// Reads every line of `batch`, whose arena holds whole lines and nothing else.
  func parse(_ batch: RecordBatch) {
    let count = batch.arena.count
    guard count > 0 else { return }
    if keys.count > NDJSONKeyTable.maxKeys + 2 + plan.fields.count * 2 { resetKeys() }
    batchNumber &+= 1
    if batchNumber == 0 || recordNumber > .max / 2 {  // stamps start again: once in two thousand million records
      batchNumber = 1
      recordNumber = 0
      resetKeys()
    }
    keyNumbers.removeAll(keepingCapacity: true)
    acceptedKeyCount = 0

    let base = batch.arena.base
    var start = 0
    if batch.firstByte == 0, count >= 3, base[0] == 0xef, base[1] == 0xbb, base[2] == 0xbf { start = 3 }
    let endsWithLineEnd = base[count - 1] == 0x0a
    // The padding behind the arena has room for the line end that a last line may lack.
    if !endsWithLineEnd { base[count] = 0x0a }
    textEnd = endsWithLineEnd ? count : count + 1
    line = 0
    markLength = start
    if start == count { return }
    escape = nextEscape(base, from: start)
    while start < textEnd {
      let end = windowEnd(base, from: start)
      if end - start > Self.maxIndexedBytes {
        parseUnindexed(batch, from: start, to: end - 1)
      } else if !walk(batch, from: start, to: end) {
        // Some line is at fault: find out which.
        while start < end {
          let lineEnd = start + lengthOfLine(base + start, end - start) + 1
          if !walk(batch, from: start, to: lineEnd) {
            parseUnindexed(batch, from: start, to: lineEnd - 1)
          }
          start = lineEnd
        }
      }
      start = end
    }
    batch.lineCount += endsWithLineEnd || line == 0 ? line : line - 1
    batch.selectAll()
  }

  /// Offset of the first backslash at or behind `start`, from `origin`.
  @inline(never)
  private func nextEscape(_ base: UnsafePointer<UInt8>, from start: Int, relativeTo origin: Int = 0) -> Int {
    guard start < textEnd, let found = memchr(base + start, 0x5c, textEnd - start) else { return .max }
    return UnsafePointer(found.assumingMemoryBound(to: UInt8.self)) - base - origin
  }

  /// Behind the last line that ends within the window, or behind the first one if none does.
  private func windowEnd(_ base: UnsafePointer<UInt8>, from start: Int) -> Int {
    guard textEnd - start > Self.windowBytes else { return textEnd }
    let length = lengthThroughLastLineEnd(base + start, Self.windowBytes)
    if length > 0 { return start + length }
    let rest = start + Self.windowBytes
    return rest + lengthOfLine(base + rest, textEnd - rest) + 1
  }

  @inline(__always)
  private func lengthOfLine(_ start: UnsafePointer<UInt8>, _ count: Int) -> Int {
    guard let found = memchr(start, 0x0a, count) else { return count }
    return UnsafePointer(found.assumingMemoryBound(to: UInt8.self)) - start
  }

  // MARK: A window

  /// Walks the lines in `start ..< end`. Returns false, with nothing done, if the text has a fault that the index sees.
  private func walk(_ batch: RecordBatch, from start: Int, to end: Int) -> Bool {
    plan.wantsMembers
      ? walk(batch, from: start, to: end, ListingMembers.self) : walk(batch, from: start, to: end, PassingMembers.self)
  }

  /// One copy of the loop for each kind of plan: it needs every register there is.
  private func walk<Work: NDJSONWork>(_ batch: RecordBatch, from start: Int, to end: Int, _: Work.Type) -> Bool {
    let base = UnsafePointer(batch.arena.base)
    let text = base + start
    let length = end - start
    var found: UnsafeMutablePointer<UInt32>?
    var indexCount = 0
    switch ohana_json_index(indexer, text, length, &found, &indexCount) {
    case OHANA_JSON_OK: break
    case OHANA_JSON_EMPTY:
      guard length > 0 else { return true }
      let lines = ohana_count_line_feeds(text, length) + (text[length - 1] == 0x0a ? 0 : 1)
      batch.blankLines += lines
      line += lines
      return true
    default: return false
    }
    guard let found else { return false }
    for extra in 0..<4 { found[indexCount + extra] = UInt32(length - 1) }
    let indexes = UnsafePointer(found)

    let slotCount = batch.slotCount
    let wantsMembers = Work.listsMembers
    let maxRecordBytes = plan.maxRecordBytes
    var recordCount = batch.recordCount
    var recordCapacity = recordCount + 256
    batch.reserveRecords(recordCapacity)
    var records = batch.records
    var fields = batch.fields
    let table = batch.members
    var memberCount = table.count
    var memberCapacity = memberCount
    if wantsMembers {
      memberCapacity += 4_096
      table.reserve(records: recordCapacity, members: memberCapacity)
    }
    var members = table.members
    var starts = table.starts
    let batchNumber = batchNumber
    var entries = keys.entries
    // Offset of the next backslash, from `text`.
    var escape = self.escape < start ? nextEscape(base, from: start) : self.escape
    if escape != .max { escape -= start }
    var token = 0
    var lineStart = 0
    var line = self.line
    var recordNumber = self.recordNumber

    while lineStart < length {
      let lineEnd = lineStart &+ lengthOfLine(text + lineStart, length &- lineStart)
      let open = Int(indexes[token])
      if open >= lineEnd {
        batch.blankLines += 1
        line &+= 1
        lineStart = lineEnd &+ 1
        continue
      }
      if recordCount == recordCapacity {
        recordCapacity &*= 2
        batch.recordCount = recordCount
        batch.reserveRecords(recordCapacity)
        records = batch.records
        fields = batch.fields
        if wantsMembers {
          table.recordCount = recordCount
          table.count = memberCount
          table.reserve(records: recordCapacity, members: memberCapacity)
          starts = table.starts
        }
      }
      let row = fields + recordCount &* slotCount
      row.initialize(repeating: .missing, count: slotCount)
      recordNumber &+= 1

      var isValid = false
      var repeatsKey = false
      var close = 0
      let firstMember = memberCount
      let firstToken = token
      record: if text[open] == UInt8(ascii: "{"), lineEnd &- lineStart <= maxRecordBytes {
        token &+= 1
        var at = Int(indexes[token])
        var previous = NDJSONKeyTable.head
        if text[at] != UInt8(ascii: "}") {
          while true {
            // A key.
            guard text[at] == UInt8(ascii: "\""), at < lineEnd else { break record }
            let colon = Int(indexes[token &+ 1])
            guard text[colon] == UInt8(ascii: ":") else { break record }
            var current = entries[Int(previous)].next
            if !matches(entries + Int(current), text + (at &+ 1), colon &- at) {
              // Perhaps the one before it is missing here; otherwise look it up.
              current = entries[Int(current)].next
              if !matches(entries + Int(current), text + (at &+ 1), colon &- at) {
                current = lookUp(text, from: at &+ 1, to: colon, escape: escape)
                if current == .max { break record }
                entries = keys.entries
                if escape < colon { escape = nextEscape(base, from: start + colon, relativeTo: start) }
              }
              entries[Int(previous)].next = current
            }
            previous = current
            // Its value.
            let value = Int(indexes[token &+ 2])
            var span: FieldSpan
            switch text[value] {
            case UInt8(ascii: "\""):
              token &+= 3
              let behind = Int(indexes[token])
              var quote = behind &- 1
              while text[quote] != UInt8(ascii: "\"") { quote &-= 1 }
              span = FieldSpan(
                offset: UInt32(truncatingIfNeeded: start &+ value &+ 1), length: UInt32(truncatingIfNeeded: quote &- value &- 1),
                kind: .string)
              if escape < quote {
                guard NDJSONGrammar.areEscapesValid(text, value &+ 1, quote) else { break record }
                span.encoding = .json
                escape = nextEscape(base, from: start + quote, relativeTo: start)
              }
            case UInt8(ascii: "{"), UInt8(ascii: "["):
              let isObject = text[value] == UInt8(ascii: "{")
              let behind = NDJSONGrammar.endOfContainer(text, indexes, token &+ 2, lineEnd: lineEnd, escape: escape, stack: stack)
              if behind < 0 { break record }
              token = behind
              let last = Int(indexes[token &- 1])
              if escape < last { escape = nextEscape(base, from: start + last, relativeTo: start) }
              span = FieldSpan(
                offset: UInt32(truncatingIfNeeded: start &+ value), length: UInt32(truncatingIfNeeded: last &- value &+ 1),
                kind: isObject ? .object : .array)
            case UInt8(ascii: "-"), 0x30...0x39:
              token &+= 3
              let numberEnd = NDJSONGrammar.endOfNumber(text, value)
              if numberEnd < 0 { break record }
              span = FieldSpan(
                offset: UInt32(truncatingIfNeeded: start &+ value), length: UInt32(truncatingIfNeeded: numberEnd &- value), kind: .number)
            default:
              token &+= 3
              let kind = NDJSONGrammar.literal(text, value)
              if kind == .missing { break record }
              span = FieldSpan(offset: UInt32(truncatingIfNeeded: start &+ value), length: 0, kind: kind)
            }
            if entries[Int(current)].isUsed {
              span.key = UInt32(truncatingIfNeeded: start &+ at)
              span.flags = .inSource
              let entry = entries + Int(current)
              if entry.pointee.slot >= 0 {
                let cell = row + Int(entry.pointee.slot)
                if cell.pointee.flags.intersection([.inSource, .nested]) == .inSource { repeatsKey = true }
                cell.pointee = span
              }
              if entry.pointee.group >= 0 { resolve(entry, span, row, base) }
              if wantsMembers || entry.pointee.group >= 0 {
                let isRepeated = entry.pointee.record == recordNumber
                if isRepeated { repeatsKey = true }
                entry.pointee.record = recordNumber
                if wantsMembers {
                  if entry.pointee.batch != batchNumber { number(entry, current, table) }
                  if span.kind.rawValue >= ValueKind.array.rawValue { noteNested(entry, table) }
                  if isRepeated {
                    members[Int(entry.pointee.member)].span = span
                  } else {
                    if memberCount == memberCapacity {
                      table.count = memberCount
                      memberCapacity &*= 2
                      table.reserve(records: recordCapacity, members: memberCapacity)
                      members = table.members
                    }
                    entry.pointee.member = UInt32(truncatingIfNeeded: memberCount)
                    members[memberCount] = MemberTable.Member(key: entry.pointee.batchKey, span: span)
                    memberCount &+= 1
                  }
                }
              }
            }
            at = Int(indexes[token])
            if text[at] == UInt8(ascii: ",") {
              token &+= 1
              at = Int(indexes[token])
              continue
            }
            if text[at] == UInt8(ascii: "}") { break }
            break record
          }
        }
        close = at
        isValid = at < lineEnd && Int(indexes[token &+ 1]) >= lineEnd
      }

      if isValid {
        token &+= 1
        records[recordCount] = RecordSpan(
          offset: UInt32(truncatingIfNeeded: start &+ open), length: UInt32(truncatingIfNeeded: close &- open &+ 1),
          flags: repeatsKey ? [.changed, .repeatsKey] : .verbatim, line: UInt32(truncatingIfNeeded: line))
        recordCount &+= 1
        if wantsMembers {
          starts[recordCount] = UInt32(truncatingIfNeeded: memberCount)
          acceptedKeyCount = keyNumbers.count
        }
        if !newKeys.isEmpty || !newFields.isEmpty || !newNested.isEmpty { accept(batch) }
      } else {
        if wantsMembers || !newKeys.isEmpty || !newFields.isEmpty { discard(table) }
        if wantsMembers {
          table.recordCount = recordCount
          table.count = firstMember
        }
        self.line = line
        self.recordNumber = recordNumber
        batch.recordCount = recordCount
        batch.reserveRecords(recordCount + 1)
        parseUnindexed(batch, from: start + lineStart, to: start + lineEnd)
        recordNumber = self.recordNumber
        recordCount = batch.recordCount
        records = batch.records
        fields = batch.fields
        if wantsMembers {
          memberCount = table.count
          memberCapacity = max(memberCapacity, memberCount + 1)
          recordCapacity = max(recordCapacity, recordCount)
          table.reserve(records: recordCapacity, members: memberCapacity)
          members = table.members
          starts = table.starts
        }
        entries = keys.entries
        // The walk may have gone beyond the line before it noticed.
        token = firstToken
        while Int(indexes[token]) < lineEnd { token &+= 1 }
        if escape < lineEnd { escape = nextEscape(base, from: start + lineEnd, relativeTo: start) }
        line = self.line &- 1
      }
      line &+= 1
      lineStart = lineEnd &+ 1
    }
    batch.recordCount = recordCount
    if wantsMembers {
      table.recordCount = recordCount
      table.count = memberCount
    }
    self.line = line
    self.recordNumber = recordNumber
    self.escape = escape == .max ? .max : escape + start
    return true
  }

  // MARK: Keys

  /// Whether the key whose text begins at `key` is that of `entry`. `room` is the distance from its opening quote to the colon.
  @inline(__always)
  private func matches(_ entry: UnsafePointer<NDJSONKeyTable.Entry>, _ key: UnsafePointer<UInt8>, _ room: Int) -> Bool {
    let low = UnsafeRawPointer(key).loadUnaligned(as: UInt64.self)
    let high = UnsafeRawPointer(key).loadUnaligned(fromByteOffset: 8, as: UInt64.self)
    let difference =
      ((low & entry.pointee.lowMask) ^ entry.pointee.low) | ((high & entry.pointee.highMask) ^ entry.pointee.high)
    if difference != 0 { return false }
    return entry.pointee.length < 16 || matchesLong(entry, key, room)
  }

  @inline(never)
  private func matchesLong(_ entry: UnsafePointer<NDJSONKeyTable.Entry>, _ key: UnsafePointer<UInt8>, _ room: Int) -> Bool {
    let length = Int(entry.pointee.length)
    return length + 2 <= room && key[length] == UInt8(ascii: "\"") && memcmp(key, keys.texts.base + Int(entry.pointee.text), length) == 0
  }

  /// Number of the key between the quote before `start` and the colon at `colon`; `UInt32.max` if it holds a bad escape.
  @inline(never)
  private func lookUp(_ text: UnsafePointer<UInt8>, from start: Int, to colon: Int, escape: Int) -> UInt32 {
    var quote = colon - 1
    while text[quote] != UInt8(ascii: "\"") { quote -= 1 }
    let raw = UnsafeBufferPointer(start: text + start, count: quote - start)
    guard escape < quote else { return number(of: raw) }
    guard NDJSONGrammar.areEscapesValid(text, start, quote) else { return .max }
    scratch.removeAll()
    TextDecoding.appendJSON(raw, to: scratch)
    return number(of: scratch.bytes)
  }

  private func number(of key: UnsafeBufferPointer<UInt8>) -> UInt32 {
    let number: UInt32
    if let known = keys.find(key) {
      number = known
    } else {
      if !plan.wantsMembers, keys.count > NDJSONKeyTable.maxKeys || key.count > NDJSONKeyTable.maxKeyLength {
        return NDJSONKeyTable.unknown
      }
      number = keys.add(key)
      keys.entries[Int(number)].isUsed = plan.wantsMembers
    }
    if !keys.entries[Int(number)].isCommitted { newKeys.append(number) }
    return number
  }

  // MARK: Members the plan uses

  /// Gives a key its number in the batch's member table.
  @inline(never)
  private func number(_ entry: UnsafeMutablePointer<NDJSONKeyTable.Entry>, _ key: UInt32, _ table: MemberTable) {
    entry.pointee.batch = batchNumber
    entry.pointee.batchKey = UInt32(keyNumbers.count)
    keyNumbers.append(key)
    table.keys.append(Array(keys.text(key)))
    table.keyHoldsNested.append(false)
  }

  @inline(never)
  private func noteNested(_ entry: UnsafePointer<NDJSONKeyTable.Entry>, _ table: MemberTable) {
    let number = Int(entry.pointee.batchKey)
    if !table.keyHoldsNested[number] { newNested.append(number) }
  }

  /// Fills the slots of paths that begin with the key of `value`. A field of the whole name goes before one found by path.
  @inline(never)
  private func resolve(
    _ entry: UnsafePointer<NDJSONKeyTable.Entry>, _ value: FieldSpan, _ row: UnsafeMutablePointer<FieldSpan>, _ base: UnsafePointer<UInt8>
  ) {
    for path in plan.groups[Int(entry.pointee.group)].paths {
      let cell = row + path.slot
      if cell.pointee.flags.contains(.inSource) {
        guard cell.pointee.flags.contains(.nested) else { continue }
        cell.pointee = .missing  // of an earlier member of the same key, whose value no longer counts
      }
      guard var found = follow(path.steps, from: value, base) else { continue }
      found.flags = [.inSource, .nested]
      if case .index? = path.steps.last { found.flags.insert(.element) }
      cell.pointee = found
      if !foundFields[path.field] { newFields.append(path.field) }
    }
  }

  /// The value at the end of a path; `key` is the offset of the last key's opening quote, or of the value itself where the path ends in
  /// an index. The last of repeated keys counts.
  private func follow(_ steps: [FieldName.Step], from value: FieldSpan, _ base: UnsafePointer<UInt8>) -> FieldSpan? {
    var value = value
    for step in steps {
      var next: FieldSpan?
      switch step {
      case .key(let name):
        guard value.kind == .object else { return nil }
        var members = JSONMembers(of: value, in: base)
        while let member = members.next() {
          let key = member.key(in: base, scratch: scratch)
          if key.count == name.count, key.elementsEqual(name) { next = member.value }
        }
      case .index(let wanted):
        guard value.kind == .array else { return nil }
        var elements = JSONElements(of: value, in: base)
        var index = 0
        while let element = elements.next() {
          if index == wanted {
            next = element
            next!.key = UInt32(element.jsonStart)
            break
          }
          index += 1
        }
      }
      guard let next else { return nil }
      value = next
    }
    return value
  }

  /// What the record just accepted brought for the first time.
  @inline(never)
  private func accept(_ batch: RecordBatch) {
    for number in newKeys where !keys.entries[Int(number)].isCommitted {
      keys.commit(number)
      freshKeys.append(number)
      hasNews = true
      guard keys.entries[Int(number)].slot >= 0 else { continue }
      let text = keys.text(number)
      for (index, field) in plan.fields.enumerated() where text.elementsEqual(field.name.whole) { foundFields[index] = true }
    }
    newKeys.removeAll(keepingCapacity: true)
    for index in newFields {
      foundFields[index] = true
      hasNews = true
    }
    newFields.removeAll(keepingCapacity: true)
    for key in newNested { batch.members.keyHoldsNested[key] = true }
    newNested.removeAll(keepingCapacity: true)
  }

  /// Takes back what a record that turned out faulty left behind.
  @inline(never)
  private func discard(_ table: MemberTable) {
    newKeys.removeAll(keepingCapacity: true)
    newFields.removeAll(keepingCapacity: true)
    newNested.removeAll(keepingCapacity: true)
    guard plan.wantsMembers else { return }
    while keyNumbers.count > acceptedKeyCount {
      keys.entries[Int(keyNumbers.removeLast())].batch = 0
      table.keys.removeLast()
      table.keyHoldsNested.removeLast()
    }
  }

  // MARK: Without an index

  /// Reads one line, `start ..< end` without its line feed, byte by byte: lines that the index or the walk refused, to find their fault,
  /// and lines too long for an index. Counts the line.
  @inline(never)
  private func parseUnindexed(_ batch: RecordBatch, from start: Int, to end: Int) {
    defer { line += 1 }
    let base = UnsafePointer(batch.arena.base)
    let end = end > start && base[end - 1] == 0x0d ? end - 1 : end
    let body = UnsafeBufferPointer(start: base + start, count: end - start)
    if body.allSatisfy({ $0 == 0x20 || $0 == 0x09 || $0 == 0x0d }) {
      batch.blankLines += 1
      return
    }
    if body.count > plan.maxRecordBytes {
      batch.rejects.append(
        NDJSONParser.tooLong(line: line, offset: start, length: body.count, limit: plan.maxRecordBytes, before: batch.recordCount))
      return
    }
    let open = JSONScanner.skipWhitespace(base, start)
    func reject(_ reason: Reject.Reason, _ detail: String, at offset: Int) {
      batch.rejects.append(
        Reject(
          reason: reason, detail: detail, line: line, column: offset + 1 + (start == markLength ? markLength : 0), offset: start,
          length: body.count, raw: Array(body), before: batch.recordCount))
    }
    if let fault = JSONValidator(maxDepth: NDJSONGrammar.maxDepth).firstFault(in: body) {
      return reject(Reject.Reason(fault.reason), "\(fault.detail)", at: fault.offset)
    }
    if base[open] != UInt8(ascii: "{") {
      return reject(.notAnObject, "a record has to be a JSON object", at: open - start)
    }
    var close = end - 1
    while base[close] != UInt8(ascii: "}") { close -= 1 }

    let record = batch.appendRecord(
      RecordSpan(
        offset: UInt32(truncatingIfNeeded: open), length: UInt32(truncatingIfNeeded: close - open + 1), flags: .verbatim,
        line: UInt32(truncatingIfNeeded: line)))
    let row = batch.fields + record * batch.slotCount
    recordNumber &+= 1
    var members = JSONMembers(in: base, at: open)
    while let member = members.next() {
      let key = number(of: member.key(in: base, scratch: scratch))
      guard keys.entries[Int(key)].isUsed else { continue }
      var span = member.value
      span.flags = .inSource
      let entry = keys.entries + Int(key)
      var isRepeated = entry.pointee.record == recordNumber
      if entry.pointee.slot >= 0 {
        let cell = row + Int(entry.pointee.slot)
        if cell.pointee.flags.intersection([.inSource, .nested]) == .inSource { isRepeated = true }
        cell.pointee = span
      }
      if entry.pointee.group >= 0 { resolve(entry, span, row, base) }
      entry.pointee.record = recordNumber
      if isRepeated { batch.records[record].flags = [.changed, .repeatsKey] }
      guard plan.wantsMembers else { continue }
      if entry.pointee.batch != batchNumber { number(entry, key, batch.members) }
      if span.kind.rawValue >= ValueKind.array.rawValue { noteNested(entry, batch.members) }
      if isRepeated {
        batch.members.members[Int(entry.pointee.member)].span = span
      } else {
        entry.pointee.member = UInt32(batch.members.count)
        batch.members.append(MemberTable.Member(key: entry.pointee.batchKey, span: span))
      }
    }
    if plan.wantsMembers {
      batch.members.endRecord()
      acceptedKeyCount = keyNumbers.count
    }
    accept(batch)
  }
}

/// What a walk does with members that have no slot, known to the compiler.
private protocol NDJSONWork { static var listsMembers: Bool { get } }
private enum ListingMembers: NDJSONWork { static var listsMembers: Bool { true } }
private enum PassingMembers: NDJSONWork { static var listsMembers: Bool { false } }

extension Reject.Reason {
  init(_ reason: JSONFault.Reason) {
    self =
      switch reason {
      case .syntax, .textAfterValue: .invalidJSON
      case .invalidUTF8: .invalidUTF8
      case .loneSurrogate: .loneSurrogate
      case .tooDeep: .tooDeep
      }
  }
}
