internal import OhanaCore

/// Keeps one record of each key where all of them have to be seen first: logs the records and their keys, decides at the end, and streams
/// the survivors in the order of the input.
final class BestKeeper: ClusterCounting, Checkpointable, @unchecked Sendable {  // because one piece of work at a time uses it
  private let context: StageContext
  private let rule: KeepRule
  private let duplicates: DuplicatesOutput?
  private var logs: (records: RecordLog, keys: KeyLog)?
  private var drops: DropList?
  private(set) var clusterSizes = ClusterSizes()

  init(_ context: StageContext, _ rule: KeepRule, duplicates: DuplicatesOutput?) {
    self.context = context
    self.rule = rule
    self.duplicates = duplicates
  }

  var tally: StageTally { StageTally(dropped: drops?.count ?? 0) }

  func process(_ batch: RecordBatch) throws -> OrderedOutcome {
    let logs = self.logs ?? makeLogs()
    var item = UnsafeRawPointer(batch.keyBytes.base)
    for index in 0..<batch.selectedCount {
      let fingerprint = batch.fingerprints[index]
      if !fingerprint.isNone {
        let origin = batch.origin(of: Int(batch.selection[index]))
        let rankLength = SortItem.keyLength(item)
        let entry = KeyLogEntry(
          fingerprint: fingerprint, position: UInt64(logs.records.count), ordinal: origin.ordinal, source: origin.source,
          rankLength: UInt32(truncatingIfNeeded: rankLength))
        try logs.keys.append(entry, rank: SortItem.key(item))
      }
      try logs.records.append(item)
      item += SortItem.size(item)
    }
    return .consumed
  }

  func save(to writer: CheckpointWriter) throws {
    try writer.put(logs != nil)
    try logs?.records.save(to: writer)
    try logs?.keys.save(to: writer)
  }

  func restore(from reader: CheckpointReader) throws {
    guard try reader.bool() else { return }
    let logs = makeLogs()
    try logs.records.restore(from: reader)
    try logs.keys.restore(from: reader)
  }

  func finish() throws -> (any BatchSource)? {
    let logs = self.logs ?? makeLogs()
    self.logs = nil
    let drops = DropList(spill: context.spill, budget: max(4096, context.memory.bytes / 8))
    try logs.keys.decide(rule, tableBudget: context.memory.bytes / 4, into: drops, counting: &clusterSizes)
    self.drops = drops
    return try SurvivorSource(logs.records, drops, duplicates, context)
  }

  private func makeLogs() -> (records: RecordLog, keys: KeyLog) {
    let budget = context.memory.bytes
    let logs = (
      records: RecordLog(spill: context.spill, memoryLimit: budget / 2, budget: budget / 2),
      keys: KeyLog(spill: context.spill, memoryLimit: budget / 8)
    )
    self.logs = logs
    return logs
  }
}
