internal import OhanaCore

/// Looks at what became of each record in the branches, whose items come in the order of identities, and finds those that are kept.
final class GroupJoin {
  private let kind: GroupStage.Kind
  private let sorters: [ExternalSorter]
  private let mergers: [RunMerger]
  private var heads: [UnsafeRawPointer?] = []
  /// Branches whose head was looked at last.
  private var used: [Int] = []

  /// - Parameter branches: what came out of each, with what has to live as long.
  init(_ kind: GroupStage.Kind, _ branches: [(sorter: ExternalSorter, merger: RunMerger)]) {
    self.kind = kind
    sorters = branches.map(\.sorter)
    mergers = branches.map(\.merger)
    used = Array(branches.indices)
    heads = branches.map { _ in nil }
  }

  /// The next record that is kept: its item in the branch that it is taken from, valid until the next call.
  func next() throws -> (item: UnsafeRawPointer, branch: Int)? {
    while true {
      for branch in used { heads[branch] = try mergers[branch].next() }
      used.removeAll(keepingCapacity: true)
      for branch in heads.indices {
        guard let head = heads[branch] else { continue }
        guard let least = used.first else {
          used.append(branch)
          continue
        }
        let order = Self.compare(head, heads[least]!)
        if order < 0 { used.removeAll(keepingCapacity: true) }
        if order <= 0 { used.append(branch) }
      }
      guard let first = used.first, let last = used.last else { return nil }
      let isKept =
        switch kind {
        case .all: used.count == heads.count
        case .any: true
        case .odd: used.count % 2 == 1
        }
      // A record is taken from the branch that put it in: the first, or, where others took it out again, the last.
      let branch = kind == .odd ? last : first
      if isKept { return (heads[branch]!, branch) }
    }
  }

  @inline(__always)
  private static func compare(_ a: UnsafeRawPointer, _ b: UnsafeRawPointer) -> Int {
    compareKeys(
      UnsafeRawBufferPointer(start: SortItem.key(a), count: SortItem.keyLength(a)),
      UnsafeRawBufferPointer(start: SortItem.key(b), count: SortItem.keyLength(b)))
  }
}

/// Streams the records that a group keeps.
final class GroupSource: BatchSource, @unchecked Sendable {  // because one piece of work at a time uses it
  private var next: (() throws -> UnsafeRawPointer?)?
  private let packer: RecordPacker
  private let batchSize: Int
  /// Kept so far: of those that came in, and of rows that the branches made.
  private(set) var counts = (records: 0, rows: 0)
  private(set) var isFinished = false

  /// In the order of the input: as the join finds them.
  init(_ join: GroupJoin, _ context: StageContext) {
    packer = RecordPacker(context.payload)
    batchSize = outputBatchSize(context)
    next = { [unowned self] in
      guard let found = try join.next() else { return nil }
      count(found.item)
      return SortItem.payload(found.item)
    }
  }

  /// In the order of the branches.
  ///
  /// - Parameters logs: what each branch gave, by place. `chosen`: empty, for the places of what is kept.
  init(_ join: GroupJoin, logs: [ExternalSorter?], chosen: [ExternalSorter], _ context: StageContext) throws {
    packer = RecordPacker(context.payload)
    batchSize = outputBatchSize(context)
    let builders = chosen.map { _ in RunBuilder() }
    while let found = try join.next() {
      count(found.item)
      let item = found.item
      let key = UnsafeRawBufferPointer(start: SortItem.payload(item), count: SortItem.size(item) - SortItem.headSize(item))
      builders[found.branch].append(key: key) { _ in }
      if builders[found.branch].byteCount > 1 << 14 { try builders[found.branch].flush(to: chosen[found.branch]) }
    }
    for (builder, target) in zip(builders, chosen) { try builder.flush(to: target) }
    var rest = zip(logs, chosen).compactMap { log, places in log.map { ($0, places) } }.makeIterator()
    var current: (log: RunMerger, places: RunMerger, keeping: [ExternalSorter])?
    next = {
      while true {
        if let (log, places, _) = current, let place = try places.next() {
          while let item = try log.next() {
            guard SortItem.keyLength(item) == SortItem.keyLength(place),
              memcmp(SortItem.key(item), SortItem.key(place), SortItem.keyLength(item)) == 0
            else { continue }
            return SortItem.payload(item)
          }
          preconditionFailure("a place that the branch never gave")
        }
        guard let (log, places) = rest.next() else { return nil }
        current = (try log.finish(), try places.finish(), [log, places])
      }
    }
  }

  private func count(_ item: UnsafeRawPointer) {
    if SortItem.keyLength(item) == GroupItems.plainKeyLength { counts.records += 1 } else { counts.rows += 1 }
  }

  func next(into batch: RecordBatch) throws -> Bool {
    guard let next else { return false }
    batch.hasOrigins = true
    while batch.recordCount == 0 || batch.arena.count < batchSize {
      guard let packed = try next() else {
        // The memory is worth more to the stages behind.
        self.next = nil
        isFinished = true
        break
      }
      packer.unpack(packed, into: batch)
    }
    return batch.recordCount > 0
  }
}
