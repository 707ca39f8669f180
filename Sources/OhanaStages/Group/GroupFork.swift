internal import OhanaCore

/// What became of one batch in the branches' row-local beginnings.
final class ForkedBatch: @unchecked Sendable {  // because it goes from one piece of work to the next
  /// By branch: a copy of the batch, behind the branch's first ordered step; nil where there is none.
  var copies: [RecordBatch?] = []
  /// By branch without ordered steps: items by identity and by place.
  var identities: [(items: ByteBuffer, count: Int)?] = []
  var places: [(items: ByteBuffer, count: Int)?] = []
  /// Of all of it, about.
  var bytes = 0
}

/// The row-local part of a group: gives each branch a copy of the batch, and takes it through the row-local steps that the branch begins
/// with; where that is all of them, down to the items to be joined. The batch itself stays as it is.
final class GroupFork: RowStage {
  private let setup: GroupSetup
  private let numbering: GroupNumbering
  private let heads: [[GroupBranch.HeadStep]]
  private let ends: [RecordSchema.BranchEnd]
  private let isWhole: [Bool]
  private let shapes: [GroupItems.Shape]
  private let identity: Int
  private let pool = ScratchPool { Scratch() }
  private let spare = ScratchPool { RecordBatch() }
  private let state = Locked(State())

  private struct State {
    var forked: [ObjectIdentifier: ForkedBatch] = [:]
    var bytes = 0
  }

  private final class Scratch: @unchecked Sendable {  // because it is lent to one piece of work at a time
    let packed = ByteBuffer()
    let items = GroupItems()
  }

  init(_ setup: GroupSetup, numbering: GroupNumbering, branches: [GroupBranch], shapes: [GroupItems.Shape], identity: Int) {
    self.setup = setup
    self.numbering = numbering
    self.shapes = shapes
    self.identity = identity
    heads = branches.map(\.head)
    ends = branches.map(\.end)
    isWhole = branches.map(\.isRowLocal)
  }

  func process(_ batch: RecordBatch) throws -> StageTally {
    // Copies wait for their turn: where they take too much, the ordered part makes them itself, one at a time.
    guard state.withLock({ $0.bytes }) <= setup.context.memory.bytes / 8 else { return StageTally() }
    let forked = try fork(batch)
    state.withLock { state in
      state.bytes += forked.bytes
      // Left behind by a batch that never arrived.
      if let old = state.forked.updateValue(forked, forKey: ObjectIdentifier(batch)) { state.bytes -= old.bytes }
    }
    return StageTally()
  }

  /// What became of `batch`; in stream order.
  func take(_ batch: RecordBatch) throws -> ForkedBatch {
    let forked = state.withLock { state in
      let forked = state.forked.removeValue(forKey: ObjectIdentifier(batch))
      if let forked { state.bytes -= forked.bytes }
      return forked
    }
    return try forked ?? fork(batch)
  }

  /// Takes back what `take` gave.
  func give(_ forked: ForkedBatch) { for case let copy? in forked.copies { spare.give(copy) } }

  private func fork(_ batch: RecordBatch) throws -> ForkedBatch {
    let number = numbering.number(of: batch)
    let scratch = pool.take()
    defer { pool.give(scratch) }
    let packer = RecordPacker(setup.inner)
    let packed = scratch.packed
    packed.recycle(limit: 1 << 20)
    for index in 0..<batch.selectedCount { packer.pack(Int(batch.selection[index]), of: batch, to: packed) }
    let forked = ForkedBatch()
    for branch in heads.indices {
      let copy = spare.take()
      copy.recycle(limit: 1 << 20)
      copy.slotCount = batch.slotCount
      var next = UnsafeRawPointer(packed.base)
      for place in 0..<batch.selectedCount {
        next += packer.unpack(next, into: copy)
        identify(place, of: copy, batchNumber: number)
      }
      for step in heads[branch] {
        switch step {
        case .row(let stage): _ = try stage.process(copy)
        case .numbering(let inner): inner.adopt(number, for: copy)
        }
      }
      guard isWhole[branch] else {
        forked.copies.append(copy)
        forked.identities.append(nil)
        forked.places.append(nil)
        forked.bytes += copy.arena.count + copy.keyBytes.count + copy.recordCount * copy.slotCount * MemoryLayout<FieldSpan>.size
        continue
      }
      let own = RecordPacker(setup.context.payload)
      for index in 0..<copy.selectedCount {
        let record = Int(copy.selection[index])
        ends[branch].fit(record, of: copy)
        scratch.items.append(record, of: copy, shapes[branch], own, place: nil)
      }
      spare.give(copy)
      forked.copies.append(nil)
      forked.identities.append(Self.items(of: scratch.items.identities))
      forked.places.append(Self.items(of: scratch.items.places))
      forked.bytes += (forked.identities[branch]?.items.count ?? 0) + (forked.places[branch]?.items.count ?? 0)
    }
    return forked
  }

  private static func items(of builder: RunBuilder) -> (items: ByteBuffer, count: Int)? {
    guard builder.byteCount > 0 else { return nil }
    let items = ByteBuffer(capacity: builder.byteCount)
    let count = builder.flush(to: items)
    return (items, count)
  }

  private func identify(_ place: Int, of copy: RecordBatch, batchNumber: UInt64) {
    let offset = copy.arena.count
    withUnsafeBytes(of: batchNumber.bigEndian) { copy.arena.append($0.baseAddress!.assumingMemoryBound(to: UInt8.self), count: 8) }
    withUnsafeBytes(of: UInt32(truncatingIfNeeded: place).bigEndian) {
      copy.arena.append($0.baseAddress!.assumingMemoryBound(to: UInt8.self), count: 4)
    }
    copy.fields[place * copy.slotCount + identity] = FieldSpan(offset: UInt32(truncatingIfNeeded: offset), length: 12, kind: .string)
  }
}
