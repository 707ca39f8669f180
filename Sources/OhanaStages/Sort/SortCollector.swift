internal import OhanaCore

/// The ordered half of a sort: takes the runs that ``SortedRunMaker`` left in the batches.
final class SortCollector: OrderedStage, Checkpointable, @unchecked Sendable {  // because one piece of work at a time uses it
  private let context: StageContext
  private let laterFirst: Bool
  private let limit: Int?
  private var sorter: ExternalSorter?
  private var taken = 0
  private var source: SortedSource?

  init(_ context: StageContext, laterFirst: Bool, limit: Int?) {
    self.context = context
    self.laterFirst = laterFirst
    self.limit = limit
  }

  func process(_ batch: RecordBatch) throws -> OrderedOutcome {
    let sorter = self.sorter ?? makeSorter()
    let items = batch.keyBytes
    try sorter.add(items.base, byteCount: items.count, count: min(batch.selectedCount, limit ?? .max))
    taken += batch.selectedCount
    return .consumed
  }

  func finish() throws -> (any BatchSource)? {
    let sorter = self.sorter ?? makeSorter()
    let source = SortedSource(try sorter.finish(), keeping: sorter, context, count: min(taken, limit ?? .max))
    self.source = source
    self.sorter = nil
    return source
  }

  var tally: StageTally { StageTally(dropped: taken - (source?.count ?? taken)) }

  func save(to writer: CheckpointWriter) throws {
    try writer.put(taken)
    try writer.put(sorter != nil)
    try sorter?.save(to: writer)
  }

  func restore(from reader: CheckpointReader) throws {
    taken = try reader.count()
    if try reader.bool() { try makeSorter().restore(from: reader) }
  }

  private func makeSorter() -> ExternalSorter {
    let sorter = ExternalSorter(
      spill: context.spill, budget: context.memory.bytes, reserve: context.memory.reserve, laterFirst: laterFirst, limit: limit)
    self.sorter = sorter
    return sorter
  }
}

/// Streams sorted items as batches.
final class SortedSource: BatchSource, @unchecked Sendable {  // because one piece of work at a time uses it
  /// Records that come out.
  let count: Int
  private var left: Int
  private var merger: RunMerger?
  private var sorter: ExternalSorter?
  private let packer: RecordPacker
  private let batchSize: Int

  init(_ merger: RunMerger, keeping sorter: ExternalSorter, _ context: StageContext, count: Int) {
    self.merger = merger
    self.sorter = sorter
    self.count = count
    left = count
    packer = RecordPacker(context.payload)
    batchSize = outputBatchSize(context)
  }

  func next(into batch: RecordBatch) throws -> Bool {
    guard let merger, left > 0 else { return false }
    batch.hasOrigins = true
    while left > 0, batch.recordCount == 0 || batch.arena.count < batchSize {
      guard let item = try merger.next() else { break }
      packer.unpack(SortItem.payload(item), into: batch)
      left -= 1
    }
    if left == 0 {
      // The memory is worth more to the stages behind.
      self.merger = nil
      sorter = nil
    }
    return batch.recordCount > 0
  }
}

/// Bytes of arena to fill a batch with: less than the usual 1 MiB where memory is short.
func outputBatchSize(_ context: StageContext) -> Int { min(1 << 20, max(1 << 14, context.memory.bytes / 16)) }
