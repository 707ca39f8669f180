internal import OhanaCore

/// A key's group, as it lies in memory and in spilled runs.
///
/// ```
/// Fingerprint (16) │ u64 position │ u64 count │ u64 ordinal │ u32 source │ u32 length of what follows
/// for each key slot: FieldSpan, its offset counted from the first byte behind the spans │ bytes
/// ```
private struct Group: BitwiseCopyable {
  var fingerprint: Fingerprint
  /// Of the first record, in the stream.
  var position: UInt64
  var count: UInt64
  var ordinal: UInt64
  var source: UInt32
  var valuesLength: UInt32

  static let size = 48
}

/// Counts records by fingerprint. Groups that no longer fit the share go to disk as runs sorted by key; at the end runs are merged, groups
/// of one key added up, and the sums sorted by first appearance.
final class KeyCounter: OrderedStage, Checkpointable, @unchecked Sendable {  // because one piece of work at a time uses it
  private let context: StageContext
  private let keySlots: [Int]
  private let countSlot: Int

  /// Index of a group + 1; 0 is free.
  private var table = RawTable<UInt32>(capacity: 1024)
  private var mask = 1023
  /// Where the groups begin in `groups`.
  private var starts = RawArray<Int>()
  private var groupCount = 0
  private let groups = ByteBuffer()
  private var position = 0
  private var spilled: ExternalSorter?
  private var result: Int?

  init(_ context: StageContext, keySlots: [Int], countSlot: Int) {
    self.context = context
    self.keySlots = keySlots
    self.countSlot = countSlot
  }

  var tally: StageTally { StageTally(merged: result.map { position - $0 } ?? 0) }

  func process(_ batch: RecordBatch) throws -> OrderedOutcome {
    let fingerprints = batch.fingerprints
    for index in 0..<batch.selectedCount {
      let fingerprint = fingerprints[index]
      var slot = Int(truncatingIfNeeded: fingerprint.low) & mask
      var found = -1
      while table.base[slot] != 0 {
        let start = starts.base[Int(table.base[slot]) - 1]
        if UnsafeRawPointer(groups.base + start).loadUnaligned(as: Fingerprint.self) == fingerprint {
          found = start
          break
        }
        slot = (slot &+ 1) & mask
      }
      if found >= 0 {
        let count = UnsafeMutableRawPointer(groups.base + found + 24)
        count.storeBytes(of: count.loadUnaligned(as: UInt64.self) &+ 1, as: UInt64.self)
      } else {
        if isFull { try spill() }
        append(fingerprint, Int(batch.selection[index]), of: batch)
      }
      position += 1
    }
    return .consumed
  }

  private var isFull: Bool {
    groupCount >= Int(UInt32.max) - 1
      || (groupCount > 16
        && groups.count + (groupCount + 1) * 8 + (mask + 1) * 4 * ((groupCount + 1) * 2 > mask ? 3 : 1) > context.memory.bytes / 2)
  }

  private func append(_ fingerprint: Fingerprint, _ record: Int, of batch: RecordBatch) {
    if (groupCount + 1) * 2 > mask { growTable() }
    let start = groups.count
    let origin = batch.origin(of: record)
    groups.reserve(Group.size + keySlots.count * MemoryLayout<FieldSpan>.size)
    groups.count = start + Group.size + keySlots.count * MemoryLayout<FieldSpan>.size
    let bodyStart = groups.count
    for (index, slot) in keySlots.enumerated() {
      let field = batch.field(slot, of: record)
      let span = FieldSpan(
        offset: UInt32(truncatingIfNeeded: groups.count - bodyStart), length: field.length, kind: field.kind, encoding: field.encoding,
        flags: .overlay)
      if field.length > 0 { groups.append(batch.bytes(of: field)) }
      UnsafeMutableRawPointer(groups.base + start + Group.size + index * MemoryLayout<FieldSpan>.size).storeBytes(
        of: span, as: FieldSpan.self)
    }
    let group = Group(
      fingerprint: fingerprint, position: UInt64(position), count: 1, ordinal: origin.ordinal, source: origin.source,
      valuesLength: UInt32(truncatingIfNeeded: groups.count - start - Group.size))
    UnsafeMutableRawPointer(groups.base + start).storeBytes(of: group, as: Group.self)
    starts.reserve(groupCount + 1, used: groupCount)
    starts.base[groupCount] = start
    groupCount += 1
    place(fingerprint, UInt32(groupCount))
  }

  private func place(_ fingerprint: Fingerprint, _ number: UInt32) {
    var slot = Int(truncatingIfNeeded: fingerprint.low) & mask
    while table.base[slot] != 0 { slot = (slot &+ 1) & mask }
    table.base[slot] = number
  }

  private func growTable() {
    mask = mask * 2 + 1
    table = RawTable(capacity: mask + 1)
    for index in 0..<groupCount {
      place(UnsafeRawPointer(groups.base + starts.base[index]).loadUnaligned(as: Fingerprint.self), UInt32(index + 1))
    }
  }

  // MARK: Beyond memory

  /// Writes all groups as runs sorted by fingerprint and place, and forgets them.
  private func spill() throws {
    let sorter = spilled ?? ExternalSorter(spill: context.spill, budget: context.memory.bytes / 4)
    spilled = sorter
    let run = RunBuilder()
    var key = (UInt64(0), UInt64(0), UInt64(0))
    for index in 0..<groupCount {
      let start = UnsafeRawPointer(groups.base + starts.base[index])
      let group = start.loadUnaligned(as: Group.self)
      // Half of the high part, so that no key begins with eight times FF.
      key = ((group.fingerprint.high >> 1).bigEndian, group.fingerprint.low.bigEndian, group.position.bigEndian)
      withUnsafeBytes(of: &key) { key in
        run.append(key: key) {
          $0.append(start.assumingMemoryBound(to: UInt8.self), count: Group.size + Int(group.valuesLength))
        }
      }
      if run.byteCount > min(1 << 18, context.memory.bytes / 16) { try run.flush(to: sorter) }
    }
    try run.flush(to: sorter)
    groupCount = 0
    groups.removeAll()
    table = RawTable(capacity: mask + 1)
  }

  func save(to writer: CheckpointWriter) throws {
    try writer.put(position)
    try writer.put(groupCount)
    try writer.put(UnsafeRawBufferPointer(start: starts.base, count: groupCount * MemoryLayout<Int>.size))
    try writer.put(groups)
    try writer.put(spilled != nil)
    try spilled?.save(to: writer)
  }

  func restore(from reader: CheckpointReader) throws {
    position = try reader.count()
    groupCount = try reader.count(Int(UInt32.max) - 1)
    starts.reserve(groupCount, used: 0)
    guard try reader.count() == groupCount * MemoryLayout<Int>.size else { throw CheckpointReader.damaged }
    try reader.fill(UnsafeMutableRawBufferPointer(start: starts.base, count: groupCount * MemoryLayout<Int>.size))
    groups.removeAll()
    try reader.bytes(to: groups)
    for index in 0..<groupCount where starts.base[index] < 0 || starts.base[index] > groups.count - Group.size {
      throw CheckpointReader.damaged
    }
    while groupCount * 2 > mask { mask = mask * 2 + 1 }
    table = RawTable(capacity: mask + 1)
    for index in 0..<groupCount {
      place(UnsafeRawPointer(groups.base + starts.base[index]).loadUnaligned(as: Fingerprint.self), UInt32(index + 1))
    }
    guard try reader.bool() else { return }
    let sorter = ExternalSorter(spill: context.spill, budget: context.memory.bytes / 4)
    try sorter.restore(from: reader)
    spilled = sorter
  }

  func finish() throws -> (any BatchSource)? {
    guard spilled != nil else {
      result = groupCount
      return GroupSource(self)
    }
    try spill()
    let merger = try spilled!.finish()
    let order = ExternalSorter(spill: context.spill, budget: context.memory.bytes / 4)
    let run = RunBuilder()
    let sum = ByteBuffer()
    var total = 0
    func flush() throws {
      guard sum.count > 0 else { return }
      var position = UnsafeRawPointer(sum.base).loadUnaligned(fromByteOffset: 16, as: UInt64.self).bigEndian
      withUnsafeBytes(of: &position) { run.append(key: $0) { $0.append(sum.bytes) } }
      if run.byteCount > min(1 << 18, context.memory.bytes / 16) { try run.flush(to: order) }
      total += 1
      sum.recycle(limit: 1 << 16)
    }
    while let item = try merger.next() {
      let payload = SortItem.payload(item)
      let group = payload.loadUnaligned(as: Group.self)
      if sum.count > 0, UnsafeRawPointer(sum.base).loadUnaligned(as: Fingerprint.self) == group.fingerprint {
        let count = UnsafeMutableRawPointer(sum.base + 24)
        count.storeBytes(of: count.loadUnaligned(as: UInt64.self) &+ group.count, as: UInt64.self)
      } else {
        try flush()
        sum.append(payload.assumingMemoryBound(to: UInt8.self), count: Group.size + Int(group.valuesLength))
      }
    }
    try flush()
    try run.flush(to: order)
    spilled = nil
    result = total
    return MergedGroupSource(try order.finish(), keeping: order, self)
  }

  // MARK: Output

  /// Adds the record of the group at `start` to `batch`.
  private func emit(_ start: UnsafeRawPointer, into batch: RecordBatch) {
    let group = start.loadUnaligned(as: Group.self)
    let spansSize = keySlots.count * MemoryLayout<FieldSpan>.size
    let record = batch.appendRecord(RecordSpan(offset: UInt32(batch.arena.count), length: 0, flags: .changed))
    let body = UInt32(truncatingIfNeeded: batch.arena.count)
    batch.arena.append(
      (start + Group.size + spansSize).assumingMemoryBound(to: UInt8.self), count: Int(group.valuesLength) - spansSize)
    let row = batch.fields + record * batch.slotCount
    for (index, slot) in keySlots.enumerated() {
      var span = (start + Group.size + index * MemoryLayout<FieldSpan>.size).loadUnaligned(as: FieldSpan.self)
      span.offset &+= body
      row[slot] = span
    }
    let offset = batch.arena.count
    batch.arena.append(string: String(group.count))
    row[countSlot] = FieldSpan(
      offset: UInt32(truncatingIfNeeded: offset), length: UInt32(truncatingIfNeeded: batch.arena.count - offset), kind: .number,
      flags: .overlay)
    batch.select(record)
    batch.reserveOrigins(record + 1, used: record)
    batch.origins[record] = RecordOrigin(source: group.source, ordinal: group.ordinal)
    batch.hasOrigins = true
  }

  private final class GroupSource: BatchSource, @unchecked Sendable {  // because one piece of work at a time uses it
    private let counter: KeyCounter
    private var next = 0
    private let batchSize: Int

    init(_ counter: KeyCounter) {
      self.counter = counter
      batchSize = outputBatchSize(counter.context)
    }

    func next(into batch: RecordBatch) throws -> Bool {
      while next < counter.groupCount, batch.recordCount == 0 || batch.arena.count < batchSize {
        counter.emit(counter.groups.base + counter.starts.base[next], into: batch)
        next += 1
      }
      return batch.recordCount > 0
    }
  }

  private final class MergedGroupSource: BatchSource, @unchecked Sendable {  // because one piece of work at a time uses it
    private let merger: RunMerger
    private let sorter: ExternalSorter
    private let counter: KeyCounter
    private let batchSize: Int

    init(_ merger: RunMerger, keeping sorter: ExternalSorter, _ counter: KeyCounter) {
      self.merger = merger
      self.sorter = sorter
      self.counter = counter
      batchSize = outputBatchSize(counter.context)
    }

    func next(into batch: RecordBatch) throws -> Bool {
      while batch.recordCount == 0 || batch.arena.count < batchSize {
        guard let item = try merger.next() else { break }
        counter.emit(SortItem.payload(item), into: batch)
      }
      return batch.recordCount > 0
    }
  }
}
