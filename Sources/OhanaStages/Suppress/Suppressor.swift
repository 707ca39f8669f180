internal import OhanaCore

/// Drops the records whose fingerprint is in a list, or those whose is not. A list that fits the share is a set to look into; with a longer one, records and keys
/// are logged and decided by parts of the hash at the end.
final class Suppressor: OrderedStage, Checkpointable, @unchecked Sendable {  // because one piece of work at a time uses it
  private let context: StageContext
  private let keepsListed: Bool
  private var list: ListFingerprints?
  private var set: FingerprintSet?
  private var logs: (records: RecordLog, keys: KeyLog)?
  private var drops: DropList?
  private var dropped = 0
  private let item = ByteBuffer()

  /// - Parameter keepsListed: drop what is not in the list, records without a fingerprint too, instead of what is.
  init(_ context: StageContext, _ list: ListFingerprints, keepsListed: Bool = false) {
    self.context = context
    self.keepsListed = keepsListed
    self.list = list
  }

  var tally: StageTally { StageTally(dropped: dropped + (drops?.count ?? 0)) }

  func process(_ batch: RecordBatch) throws -> OrderedOutcome {
    if let list {
      self.list = nil
      try begin(list)
    }
    if let logs {
      try log(batch, logs)
      return .consumed
    }
    let set = self.set!
    let fingerprints = batch.fingerprints
    let selection = batch.selection
    let count = batch.selectedCount
    var kept = 0
    var index = 0
    while index < count {
      let end = min(count, index &+ 32)
      for ahead in index..<end { set.prefetch(fingerprints[ahead]) }
      while index < end {
        selection[kept] = selection[index]
        let isListed = !fingerprints[index].isNone && set.contains(fingerprints[index])
        kept &+= isListed == keepsListed ? 1 : 0
        index &+= 1
      }
    }
    batch.selectedCount = kept
    dropped += count - kept
    return .pass
  }

  private func begin(_ list: ListFingerprints) throws {
    let budget = context.memory.bytes
    var set = FingerprintSet(budget: budget / 8 * 7, keepsOrigins: false)
    var fits = true
    try list.forEach { fingerprint in
      guard fits else { return }
      fits = set.reserve(1)
      if fits { _ = set.insert(fingerprint) }
    }
    if fits {
      self.set = set
      return
    }
    let keys = KeyLog(spill: context.spill, memoryLimit: budget / 8)
    try list.forEach { fingerprint in
      try keys.append(KeyLogEntry(fingerprint: fingerprint, position: KeyLogEntry.listed, ordinal: 0, source: 0, rankLength: 0), rank: nil)
    }
    logs = (RecordLog(spill: context.spill, memoryLimit: budget / 2, budget: budget / 2), keys)
  }

  private func log(_ batch: RecordBatch, _ logs: (records: RecordLog, keys: KeyLog)) throws {
    let packer = RecordPacker(context.payload)
    for index in 0..<batch.selectedCount {
      let fingerprint = batch.fingerprints[index]
      if fingerprint.isNone, keepsListed {
        dropped += 1
        continue
      }
      if !fingerprint.isNone {
        let position = UInt64(logs.records.count)
        try logs.keys.append(KeyLogEntry(fingerprint: fingerprint, position: position, ordinal: 0, source: 0, rankLength: 0), rank: nil)
      }
      item.recycle(limit: 1 << 20)
      SortItem.append(key: item.base, count: 0, record: Int(batch.selection[index]), of: batch, packer: packer, to: item)
      try logs.records.append(item.base)
    }
  }

  /// The list is read again: it is one of the run's inputs. Not so where it went into the log of keys.
  func save(to writer: CheckpointWriter) throws {
    try writer.put(dropped)
    try writer.put(logs != nil)
    try logs?.records.save(to: writer)
    try logs?.keys.save(to: writer)
  }

  func restore(from reader: CheckpointReader) throws {
    dropped = try reader.count()
    guard try reader.bool() else { return }
    list = nil
    let budget = context.memory.bytes
    let records = RecordLog(spill: context.spill, memoryLimit: budget / 2, budget: budget / 2)
    let keys = KeyLog(spill: context.spill, memoryLimit: budget / 8)
    try records.restore(from: reader)
    try keys.restore(from: reader)
    logs = (records, keys)
  }

  func finish() throws -> (any BatchSource)? {
    set = nil
    guard let logs else { return nil }
    self.logs = nil
    let drops = DropList(spill: context.spill, budget: max(4096, context.memory.bytes / 8))
    var none = ClusterSizes()
    try logs.keys.decide(keepsListed ? .listed : .unlisted, tableBudget: context.memory.bytes / 4, into: drops, counting: &none)
    self.drops = drops
    return try SurvivorSource(logs.records, drops, nil, context)
  }
}
