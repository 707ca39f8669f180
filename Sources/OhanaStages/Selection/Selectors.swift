internal import OhanaCore

/// Holds what is selected back until it is known that it is not too much: all of it goes on, or the run fails.
final class RefusingSelector: OrderedStage, Checkpointable, @unchecked Sendable {  // because one piece of work at a time uses it
  private let context: StageContext
  private let max: Int
  private var log: RecordLog?
  private let item = ByteBuffer()

  init(_ context: StageContext, max: Int) {
    self.context = context
    self.max = max
  }

  var tally: StageTally { StageTally() }

  func process(_ batch: RecordBatch) throws -> OrderedOutcome {
    let log = self.log ?? makeLog()
    guard log.count + batch.selectedCount <= max else {
      throw OhanaError(
        .guardFailed, "select-refused", "select: more than \(max) records would be selected, so none is; nothing is published",
        fix: "raise --max, or let --on-exceed trim select the first ones")
    }
    let packer = RecordPacker(context.payload)
    for index in 0..<batch.selectedCount {
      item.recycle(limit: 1 << 20)
      SortItem.append(key: item.base, count: 0, record: Int(batch.selection[index]), of: batch, packer: packer, to: item)
      try log.append(item.base)
    }
    return .consumed
  }

  private func makeLog() -> RecordLog {
    let budget = context.memory.bytes
    let log = RecordLog(spill: context.spill, memoryLimit: budget / 2, budget: budget / 2)
    self.log = log
    return log
  }

  func save(to writer: CheckpointWriter) throws {
    try writer.put(log != nil)
    try log?.save(to: writer)
  }

  func restore(from reader: CheckpointReader) throws {
    if try reader.bool() { try makeLog().restore(from: reader) }
  }

  func finish() throws -> (any BatchSource)? {
    guard let log else { return nil }
    self.log = nil
    return try SurvivorSource(log, DropList(spill: context.spill, budget: 4096), nil, context)
  }
}

/// Counts what passes, and fails the run in the end if it was too little.
final class MinimumGuard: OrderedStage, Checkpointable, @unchecked Sendable {  // because one piece of work at a time uses it
  private let min: Int
  private let stage: String
  private var count = 0

  /// - Parameter stage: named in the message.
  init(_ min: Int, of stage: String) { (self.min, self.stage) = (min, stage) }

  var tally: StageTally { StageTally() }

  func process(_ batch: RecordBatch) throws -> OrderedOutcome {
    count += batch.selectedCount
    return .pass
  }

  func save(to writer: CheckpointWriter) throws { try writer.put(count) }
  func restore(from reader: CheckpointReader) throws { count = try reader.count() }

  func finish() throws -> (any BatchSource)? {
    guard count >= min else {
      throw OhanaError(
        .guardFailed, "select-min", "\(stage): only \(count) records are selected, fewer than --min \(min)", fix: "nothing is published")
    }
    return nil
  }
}
