internal import OhanaCore

/// Keeps the first record of each key, as a stream: batches pass with their selection shortened, while the set of keys fits its share.
///
/// From the record on that brings the set over its share, records with a key of the set are dropped at once and all others go to a log;
/// the rest is decided at the end. What is in the log comes behind all that passed, so the order is that of the input.
final class FirstKeeper: ClusterCounting, Checkpointable, @unchecked Sendable {  // because one piece of work at a time uses it
  private let context: StageContext
  private let duplicates: DuplicatesOutput?
  private var set: FingerprintSet?
  private var rest: Rest?
  private var dropped = 0
  private var decided = 0
  private(set) var clusterSizes = ClusterSizes()

  private final class Rest {
    let log: RecordLog
    let keys: KeyLog
    let drops: DropList
    let packer: RecordPacker
    let item = ByteBuffer()

    init(_ context: StageContext, _ duplicates: DuplicatesOutput?, budget: Int) {
      log = RecordLog(spill: context.spill, memoryLimit: 0, budget: max(budget, context.memory.bytes / 2))
      keys = KeyLog(spill: context.spill, memoryLimit: budget / 4)
      drops = DropList(spill: context.spill, budget: max(4096, budget / 2))
      packer = DuplicatesOutput.packer(context.payload, duplicates)
    }
  }

  init(_ context: StageContext, duplicates: DuplicatesOutput?) {
    self.context = context
    self.duplicates = duplicates
  }

  var tally: StageTally { StageTally(dropped: dropped + decided) }

  func process(_ batch: RecordBatch) throws -> OrderedOutcome {
    // Taken, not copied: a copy is counted, reference by reference.
    var set =
      self.set.take()
      ?? FingerprintSet(budget: context.memory.bytes / 8 * 7, keepsOrigins: duplicates != nil, reserve: context.memory.reserve)
    defer { self.set = set }
    let count = batch.selectedCount
    let selection = batch.selection
    var index = 0
    var kept = 0
    if rest == nil, duplicates == nil {
      (index, kept) = pass(batch, &set)
    } else if rest == nil {
      (index, kept) = passWithDuplicates(batch, &set)
    }
    dropped += index - kept
    if index < count {
      let rest = self.rest ?? Rest(context, duplicates, budget: context.memory.bytes / 8)
      self.rest = rest
      while index < count {
        try log(Int(selection[index]), of: batch, batch.fingerprints[index], set, rest)
        index += 1
      }
    }
    batch.selectedCount = kept
    try duplicates?.write(batch)
    return .pass
  }

  /// Probes until the set is full. Returns how many records were seen, and how many of them stay.
  private func pass(_ batch: RecordBatch, _ set: inout FingerprintSet) -> (seen: Int, kept: Int) {
    let count = batch.selectedCount
    let fingerprints = batch.fingerprints
    let selection = batch.selection
    var index = 0
    var kept = 0
    while index < count {
      // A block at a time: first ask for all its cache lines, then look at them.
      let end = min(count, index &+ 32)
      if set.free < 32, !set.reserve(32) {
        // Nearly full: one by one, until the first key that does not fit.
        while index < count {
          let fingerprint = fingerprints[index]
          let found = fingerprint.isNone ? (slot: 0, isPresent: false) : set.find(fingerprint)
          if !fingerprint.isNone, !found.isPresent {
            if set.free == 0 { return (index, kept) }
            set.insert(fingerprint, at: found.slot)
          } else if found.isPresent {
            set.countRepeat(at: found.slot)
          }
          selection[kept] = selection[index]
          kept &+= found.isPresent ? 0 : 1
          index &+= 1
        }
        break
      }
      for ahead in index..<end { set.prefetch(fingerprints[ahead]) }
      while index < end {
        let fingerprint = fingerprints[index]
        var isNew = true
        if !fingerprint.isNone {
          let found = set.find(fingerprint)
          isNew = !found.isPresent
          if isNew { set.insert(fingerprint, at: found.slot) } else { set.countRepeat(at: found.slot) }
        }
        selection[kept] = selection[index]
        kept &+= isNew ? 1 : 0
        index &+= 1
      }
    }
    return (index, kept)
  }

  private func passWithDuplicates(_ batch: RecordBatch, _ set: inout FingerprintSet) -> (seen: Int, kept: Int) {
    let selection = batch.selection
    var kept = 0
    for index in 0..<batch.selectedCount {
      let fingerprint = batch.fingerprints[index]
      let record = Int(selection[index])
      if !fingerprint.isNone {
        if set.free == 0, !set.reserve(1) { return (index, kept) }
        let (slot, isPresent) = set.find(fingerprint)
        if isPresent {
          set.countRepeat(at: slot)
          duplicates!.add(record, survivor: set.origin(at: slot))
          continue
        }
        set.insert(fingerprint, at: slot)
        set.setOrigin(batch.origin(of: record), at: slot)
      }
      selection[kept] = selection[index]
      kept += 1
    }
    return (batch.selectedCount, kept)
  }

  /// Drops a record whose key is in the set, and puts any other into the log. With an output of duplicates they go there too, since it
  /// has to be in the order of the input.
  private func log(_ record: Int, of batch: RecordBatch, _ fingerprint: Fingerprint, _ set: FingerprintSet, _ rest: Rest) throws {
    var known: RecordOrigin?
    if !fingerprint.isNone {
      let (slot, isPresent) = set.find(fingerprint)
      if isPresent {
        set.countRepeat(at: slot)
        guard duplicates != nil else {
          dropped += 1
          return
        }
        known = set.origin(at: slot)
      }
    }
    let position = UInt64(rest.log.count)
    rest.item.recycle(limit: 1 << 20)
    SortItem.append(key: rest.item.base, count: 0, record: record, of: batch, packer: rest.packer, to: rest.item)
    try rest.log.append(rest.item.base)
    if let known {
      try rest.drops.append(position, known)
    } else if !fingerprint.isNone {
      let origin = batch.origin(of: record)
      try rest.keys.append(
        KeyLogEntry(fingerprint: fingerprint, position: position, ordinal: origin.ordinal, source: origin.source, rankLength: 0), rank: nil)
    }
  }

  func save(to writer: CheckpointWriter) throws {
    try writer.put(dropped)
    try writer.put(set != nil)
    try set?.save(to: writer)
    try writer.put(rest != nil)
    guard let rest else { return }
    try rest.log.save(to: writer)
    try rest.keys.save(to: writer)
    try rest.drops.save(to: writer)
  }

  func restore(from reader: CheckpointReader) throws {
    dropped = try reader.count()
    if try reader.bool() {
      var set = FingerprintSet(
        budget: context.memory.bytes / 8 * 7, keepsOrigins: duplicates != nil, reserve: context.memory.reserve)
      try set.restore(from: reader)
      self.set = set
    }
    guard try reader.bool() else { return }
    let rest = Rest(context, duplicates, budget: context.memory.bytes / 8)
    try rest.log.restore(from: reader)
    try rest.keys.restore(from: reader)
    try rest.drops.restore(from: reader)
    self.rest = rest
  }

  func finish() throws -> (any BatchSource)? {
    if let set {
      context.memory.reserve?.give(set.borrowed)
      clusterSizes = set.sizes
    }
    set = nil
    guard let rest else {
      try duplicates?.finish()
      return nil
    }
    self.rest = nil
    try rest.keys.decide(.first, tableBudget: context.memory.bytes / 2, into: rest.drops, counting: &clusterSizes)
    decided = rest.drops.count
    return try SurvivorSource(rest.log, rest.drops, duplicates, context)
  }
}
