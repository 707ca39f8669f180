internal import OhanaCore

/// A group of any branches. Each gets a copy of every record, with a number for its place; what comes out of the branches is sorted by these
/// numbers, so that all that became of a record lies together, and what is kept is sorted into the order wanted.
///
/// ```
/// key of the first sort   identity (see RecordSchema.Identity) │ 00 │ u16 branch │ u64 place in what the branch gave
/// key of the second       u16 branch │ u64 place            or, by input, u64 place in the first sort
/// ```
final class GroupCollector: OrderedStage, Checkpointable, @unchecked Sendable {  // because one piece of work at a time uses it
  private let kind: GroupStage.Kind
  private let order: GroupStage.Order
  private var branches: [GroupBranch]
  private let identity: Int
  private let context: StageContext
  /// What records carry within the branches.
  private let inner: RecordPayload
  private let reads: Set<Int>
  private let needsBytes: Bool

  private var sorter: ExternalSorter?
  private let run = RunBuilder()
  private let work = RecordBatch()
  private let packed = ByteBuffer()
  private let key = ByteBuffer()
  private var places: [UInt64]
  private var total = 0
  private var counts = (records: 0, rows: 0)
  private var isFinished = false

  init(
    kind: GroupStage.Kind, order: GroupStage.Order, branches: [GroupBranch], identity: Int, context: StageContext, inner: RecordPayload,
    reads: Set<Int>, needsBytes: Bool
  ) {
    self.kind = kind
    self.order = order
    self.branches = branches
    self.identity = identity
    self.context = context
    self.inner = inner
    self.reads = reads
    self.needsBytes = needsBytes
    places = Array(repeating: 0, count: branches.count)
  }

  var tally: StageTally { isFinished ? StageTally(dropped: total - counts.records, made: counts.rows) : StageTally() }

  /// Shares memory and says what records carry: known only now.
  private func begin() -> ExternalSorter {
    if let sorter { return sorter }
    inner.slots = reads.union(context.payload.slots).sorted()
    inner.needsBytes = needsBytes || context.payload.needsBytes
    inner.needsOrigin = true
    let budget = context.memory.bytes
    let weight = max(1, branches.reduce(0) { $0 + $1.weight })
    for branch in branches {
      for (share, own) in branch.shares { share.bytes = budget / 2 * own / weight }
    }
    let sorter = ExternalSorter(spill: context.spill, budget: budget / 4)
    self.sorter = sorter
    return sorter
  }

  func process(_ batch: RecordBatch) throws -> OrderedOutcome {
    let sorter = begin()
    let packer = RecordPacker(inner)
    packed.recycle(limit: 1 << 20)
    for index in 0..<batch.selectedCount { packer.pack(Int(batch.selection[index]), of: batch, to: packed) }
    for branch in branches.indices where !branches[branch].isClosed {
      work.recycle(limit: 1 << 20)
      work.slotCount = batch.slotCount
      var next = UnsafeRawPointer(packed.base)
      for number in 0..<batch.selectedCount {
        next += packer.unpack(next, into: work)
        setIdentity(UInt64(total + number), of: number)
      }
      try branches[branch].push(work) { try collect($0, branch, sorter) }
    }
    total += batch.selectedCount
    return .consumed
  }

  private func setIdentity(_ number: UInt64, of record: Int) {
    let offset = work.arena.count
    withUnsafeBytes(of: number.bigEndian) { work.arena.append($0.baseAddress!.assumingMemoryBound(to: UInt8.self), count: 8) }
    work.fields[record * work.slotCount + identity] = FieldSpan(offset: UInt32(truncatingIfNeeded: offset), length: 8, kind: .string)
  }

  private func collect(_ batch: RecordBatch, _ branch: Int, _ sorter: ExternalSorter) throws {
    let packer = RecordPacker(context.payload)
    for index in 0..<batch.selectedCount {
      let record = Int(batch.selection[index])
      branches[branch].fit(record, of: batch)
      key.removeAll()
      let field = batch.field(identity, of: record)
      if field.length > 0 {
        key.append(batch.bytes(of: field))
      } else {
        // Made of many records: equal to none.
        append(.max, 8)
        for half in [places[branch] >> 32, places[branch] & 0xffff_ffff] {
          key.append(1)
          append(UInt64(branch), 4)
          append(half, 4)
        }
      }
      key.append(0)
      append(UInt64(branch), 2)
      append(places[branch], 8)
      places[branch] += 1
      // Of `all`, only what the first branch gives comes out.
      run.append(key: UnsafeRawBufferPointer(key.bytes)) { if kind != .all || branch == 0 { packer.pack(record, of: batch, to: $0) } }
      if run.byteCount > 1 << 16 { try run.flush(to: sorter) }
    }
  }

  private func append(_ number: UInt64, _ size: Int) {
    for shift in stride(from: 8 * (size - 1), through: 0, by: -8) { key.append(UInt8(truncatingIfNeeded: number >> UInt64(shift))) }
  }

  var canCheckpoint: Bool { branches.allSatisfy { $0.parts != nil } }

  func save(to writer: CheckpointWriter) throws {
    let sorter = begin()
    try run.flush(to: sorter)
    try writer.put(total)
    try writer.put(work.slotCount)
    for place in places { try writer.put(place) }
    for branch in branches { try branch.save(to: writer) }
    try sorter.save(to: writer)
  }

  func restore(from reader: CheckpointReader) throws {
    let sorter = begin()
    total = try reader.count()
    work.slotCount = try reader.count()
    for branch in places.indices { places[branch] = try reader.uint64() }
    for branch in branches { try branch.restore(from: reader) }
    try sorter.restore(from: reader)
  }

  func finish() throws -> (any BatchSource)? {
    let sorter = begin()
    let slotCount = work.slotCount
    for branch in branches.indices {
      try branches[branch].finish(work, slotCount: slotCount) { try collect($0, branch, sorter) }
    }
    branches = []
    work.recycle(limit: 0)
    try run.flush(to: sorter)
    let kept = ExternalSorter(spill: context.spill, budget: context.memory.bytes / 4)
    try decide(try sorter.finish(), into: kept)
    self.sorter = nil
    isFinished = true
    return SortedSource(try kept.finish(), keeping: kept, context, count: counts.records + counts.rows)
  }

  /// Looks at what became of each record, and hands on what is kept.
  private func decide(_ merger: RunMerger, into kept: ExternalSorter) throws {
    let current = ByteBuffer()
    let chosen = ByteBuffer()
    var count = 0
    var number: UInt64 = 0
    func close() throws {
      defer { (number, count) = (number + 1, 0) }
      let isKept =
        switch kind {
        case .all: count == places.count
        case .any: count > 0
        case .odd: count % 2 == 1
        }
      guard isKept else { return }
      if current.count == 9 { counts.records += 1 } else { counts.rows += 1 }
      let item = UnsafeRawPointer(chosen.base)
      key.removeAll()
      if order == .input {
        append(number, 8)
      } else {
        key.append(SortItem.key(item).assumingMemoryBound(to: UInt8.self) + current.count, count: 10)
      }
      run.append(key: UnsafeRawBufferPointer(key.bytes)) { out in
        out.append(SortItem.payload(item).assumingMemoryBound(to: UInt8.self), count: SortItem.size(item) - SortItem.headSize(item))
      }
      if run.byteCount > 1 << 16 { try run.flush(to: kept) }
    }
    while let item = try merger.next() {
      let bytes = SortItem.key(item).assumingMemoryBound(to: UInt8.self)
      let length = SortItem.keyLength(item) - 10
      if count > 0, length != current.count || memcmp(bytes, current.base, length) != 0 { try close() }
      if count == 0 {
        current.removeAll()
        current.append(bytes, count: length)
      }
      count += 1
      // A record is taken from the branch that put it in: the first, or, where others took it out again, the last.
      if count == 1 || kind == .odd {
        chosen.removeAll()
        chosen.append(item.assumingMemoryBound(to: UInt8.self), count: SortItem.size(item))
      }
    }
    if count > 0 { try close() }
    try run.flush(to: kept)
  }
}
