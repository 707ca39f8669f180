internal import OhanaCore

/// The ordered half of a diff: sorts the records by key, compares them, sorts the differences by place.
final class DiffCollector: OrderedStage, Checkpointable, @unchecked Sendable {  // because one piece of work at a time uses it
  private let join: DiffJoin
  private let slots: DiffSlots
  private let report: DiffReport
  private let context: StageContext
  private var records: ExternalSorter?
  private var taken = 0
  private var made = 0

  init(_ join: DiffJoin, slots: DiffSlots, report: DiffReport, _ context: StageContext) {
    self.join = join
    self.slots = slots
    self.report = report
    self.context = context
  }

  var tally: StageTally { StageTally(made: made, merged: taken) }

  /// Half of the share holds the records, the other half what came of them.
  private var half: Int { context.memory.bytes / 2 }

  func process(_ batch: RecordBatch) throws -> OrderedOutcome {
    let sorter = records ?? ExternalSorter(spill: context.spill, budget: half)
    records = sorter
    try sorter.add(batch.keyBytes.base, byteCount: batch.keyBytes.count, count: batch.selectedCount)
    taken += batch.selectedCount
    return .consumed
  }

  func save(to writer: CheckpointWriter) throws {
    try writer.put(taken)
    try writer.put(records != nil)
    try records?.save(to: writer)
  }

  func restore(from reader: CheckpointReader) throws {
    taken = try reader.count()
    guard try reader.bool() else { return }
    let sorter = ExternalSorter(spill: context.spill, budget: half)
    try sorter.restore(from: reader)
    records = sorter
  }

  func finish() throws -> (any BatchSource)? {
    guard let records else { return nil }
    let results = DiffResultSorter(spill: context.spill, budget: half)
    let merger = try records.finish()
    while let item = try merger.next() { try join.take(item) { try add($0, $1, $2, to: results) } }
    try join.finish { try add($0, $1, $2, to: results) }
    self.records = nil
    if let repeated = join.repeated { throw error(repeated.second, repeating: repeated.first) }
    return DiffSource(try results.finish(), slots, batchSize: outputBatchSize(context))
  }

  private func add(_ operation: DiffOperation, _ origin: RecordOrigin, _ result: UnsafeRawBufferPointer, to results: DiffResultSorter)
    throws
  {
    // The run fails at its end if a key was repeated: nothing that is found now will be seen.
    if join.repeated != nil { return }
    try results.append(operation, origin, result)
    report.count(operation)
    made += 1
  }

  private func error(_ second: RecordOrigin, repeating first: RecordOrigin) -> OhanaError {
    func name(_ origin: RecordOrigin) -> FilePath? {
      let sources = context.settings.sources
      return Int(origin.source) < sources.count ? sources[Int(origin.source)] : nil
    }
    let place = first.source == second.source ? "" : " of \(name(first)?.description ?? "input \(first.source + 1)")"
    return OhanaError(
      .badInput, "repeated-key", at: name(second).map { OhanaError.Location($0) },
      "record \(second.ordinal + 1) has the same key as record \(first.ordinal + 1)\(place)"
        + (join.repeatedKey.map { ": \($0)" } ?? ""),
      fix: "choose a --by that tells records apart, or run dedupe on the input first")
  }
}

/// Brings differences, which are found in no order, into that of the output.
private final class DiffResultSorter {
  private let sorter: ExternalSorter
  private let run = RunBuilder()
  private let runSize: Int

  init(spill: any SpillStore, budget: Int) {
    sorter = ExternalSorter(spill: spill, budget: budget)
    runSize = min(1 << 20, max(256, budget / 16))
  }

  func append(_ operation: DiffOperation, _ origin: RecordOrigin, _ result: UnsafeRawBufferPointer) throws {
    if run.byteCount > 0, run.byteCount + result.count > runSize { try run.flush(to: sorter) }
    // Removed records come last.
    var key = (high: (UInt64(operation == .removed ? 1 : 0) << 32 | UInt64(origin.source)).bigEndian, low: origin.ordinal.bigEndian)
    withUnsafeBytes(of: &key) { key in
      run.append(key: key) { $0.append(result.baseAddress!.assumingMemoryBound(to: UInt8.self), count: result.count) }
    }
  }

  /// All differences in order, and what must live as long as they are read.
  func finish() throws -> (RunMerger, ExternalSorter) {
    try run.flush(to: sorter)
    return (try sorter.finish(), sorter)
  }
}

/// Streams differences as records.
private final class DiffSource: BatchSource, @unchecked Sendable {  // because one piece of work at a time uses it
  private var sorted: (merger: RunMerger, sorter: ExternalSorter)?
  private let slots: DiffSlots
  private let batchSize: Int

  init(_ sorted: (RunMerger, ExternalSorter), _ slots: DiffSlots, batchSize: Int) {
    self.sorted = sorted
    self.slots = slots
    self.batchSize = batchSize
  }

  func next(into batch: RecordBatch) throws -> Bool {
    guard let merger = sorted?.merger else { return false }
    while batch.recordCount == 0 || batch.arena.count < batchSize {
      guard let item = try merger.next() else {
        sorted = nil
        break
      }
      append(SortItem.payload(item), to: batch)
      // The record of NEW, or the removed one: see DiffResultSorter.
      let key = SortItem.key(item)
      let record = batch.recordCount - 1
      batch.reserveOrigins(record + 1, used: record)
      batch.origins[record] = RecordOrigin(
        source: UInt32(truncatingIfNeeded: UInt64(bigEndian: key.loadUnaligned(as: UInt64.self))),
        ordinal: UInt64(bigEndian: key.loadUnaligned(fromByteOffset: 8, as: UInt64.self)))
      batch.hasOrigins = true
    }
    return batch.recordCount > 0
  }

  private func append(_ packed: UnsafeRawPointer, to batch: RecordBatch) {
    let result = DiffResult(packed)
    let record = batch.appendRecord(RecordSpan(offset: UInt32(batch.arena.count), length: 0, flags: .changed))
    let row = batch.fields + record * batch.slotCount
    func put(_ slot: Int, _ kind: ValueKind, _ start: UnsafePointer<UInt8>, _ length: Int) {
      let offset = batch.arena.count
      batch.arena.append(start, count: length)
      row[slot] = FieldSpan(offset: UInt32(offset), length: UInt32(length), kind: kind, flags: .overlay)
    }
    let word = result.operation.word
    put(slots.op, .string, word.utf8Start, word.utf8CodeUnitCount)
    var text = (packed + DiffResult.headerSize).assumingMemoryBound(to: UInt8.self)
    put(slots.key, result.keyKind, text, result.keyLength)
    text += result.keyLength
    put(slots.old, result.oldLength > 0 ? .object : .null, text, result.oldLength)
    text += result.oldLength
    put(slots.new, result.newLength > 0 ? .object : .null, text, result.newLength)
    text += result.newLength
    if result.fieldsLength > 0 { put(slots.fields, .array, text, result.fieldsLength) }
    batch.select(record)
  }
}
