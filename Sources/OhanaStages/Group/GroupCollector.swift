internal import OhanaCore

/// The ordered part of a group: takes what ``GroupFork`` made of each batch through the rest of the branches, and collects what comes out of
/// each branch by identity. Branches that let records through in their order give sorted runs, so that nothing is left to be sorted.
///
/// In the order of the input the branches are joined as they are streamed out. Where branches decide the order, each one's records are
/// kept in the order in which it gives them, and the join decides which of them are passed on: no record is sorted.
final class GroupCollector: OrderedStage, Checkpointable, @unchecked Sendable {  // because one piece of work at a time uses it
  private let kind: GroupStage.Kind
  private let order: GroupStage.Order
  private let setup: GroupSetup
  private let fork: GroupFork
  private var branches: [GroupBranch]
  private let shapes: [GroupItems.Shape]

  private var outputs: [Output] = []
  private let items = GroupItems()
  private var slotCount = 0
  private var total = 0
  private var source: GroupSource?

  /// What came out of a branch.
  private struct Output {
    let identities: ExternalSorter
    let places: ExternalSorter?
    var count: UInt64 = 0
  }

  init(
    kind: GroupStage.Kind, order: GroupStage.Order, branches: [GroupBranch], shapes: [GroupItems.Shape], setup: GroupSetup,
    fork: GroupFork
  ) {
    self.kind = kind
    self.order = order
    self.branches = branches
    self.shapes = shapes
    self.setup = setup
    self.fork = fork
  }

  var tally: StageTally {
    guard let source else { return StageTally() }
    return StageTally(dropped: source.isFinished ? total - source.counts.records : 0, made: source.counts.rows)
  }

  private func begin() {
    guard outputs.isEmpty else { return }
    setup.begin()
    let budget = setup.context.memory.bytes
    let carrying = shapes.filter { $0.carrying != .nothing }.count
    func share(_ part: Int, of count: Int) -> Int { max(1 << 16, part / max(1, count)) }
    outputs = shapes.map { shape in
      switch shape.carrying {
      case .nothing: Output(identities: sorter(share(budget / 16, of: shapes.count)), places: nil)
      case .record: Output(identities: sorter(share(budget * 3 / 8, of: carrying)), places: nil)
      case .recordByPlace:
        Output(identities: sorter(share(budget / 16, of: shapes.count)), places: sorter(share(budget / 4, of: carrying)))
      }
    }
  }

  private func sorter(_ budget: Int) -> ExternalSorter { ExternalSorter(spill: setup.context.spill, budget: budget) }

  func process(_ batch: RecordBatch) throws -> OrderedOutcome {
    begin()
    slotCount = batch.slotCount
    let forked = try fork.take(batch)
    for branch in branches.indices where !branches[branch].isClosed {
      if let copy = forked.copies[branch] {
        try branches[branch].push(copy, from: branches[branch].head.count) { try collect($0, branch) }
      } else {
        if let run = forked.identities[branch] {
          try outputs[branch].identities.add(run.items.base, byteCount: run.items.count, count: run.count)
        }
        if let run = forked.places[branch] {
          try outputs[branch].places?.add(run.items.base, byteCount: run.items.count, count: run.count)
        }
      }
      try flush(branch)
    }
    fork.give(forked)
    total += batch.selectedCount
    return .consumed
  }

  private func collect(_ batch: RecordBatch, _ branch: Int) throws {
    let packer = RecordPacker(setup.context.payload)
    for index in 0..<batch.selectedCount {
      let record = Int(batch.selection[index])
      branches[branch].end.fit(record, of: batch)
      items.append(record, of: batch, shapes[branch], packer, place: outputs[branch].count)
      outputs[branch].count += 1
      if items.identities.byteCount > 1 << 16 || items.places.byteCount > 1 << 16 { try flush(branch) }
    }
  }

  private func flush(_ branch: Int) throws {
    try items.identities.flush(to: outputs[branch].identities)
    if let places = outputs[branch].places { try items.places.flush(to: places) }
  }

  var canCheckpoint: Bool { branches.allSatisfy { $0.parts != nil } }

  func save(to writer: CheckpointWriter) throws {
    begin()
    try writer.put(total)
    try writer.put(slotCount)
    for (branch, output) in outputs.enumerated() {
      try writer.put(output.count)
      try branches[branch].save(to: writer)
      try output.identities.save(to: writer)
      try output.places?.save(to: writer)
    }
  }

  func restore(from reader: CheckpointReader) throws {
    begin()
    total = try reader.count()
    slotCount = try reader.count()
    for branch in outputs.indices {
      outputs[branch].count = try reader.uint64()
      try branches[branch].restore(from: reader)
      try outputs[branch].identities.restore(from: reader)
      try outputs[branch].places?.restore(from: reader)
    }
  }

  func finish() throws -> (any BatchSource)? {
    begin()
    let work = RecordBatch()
    for branch in branches.indices {
      try branches[branch].finish(work, slotCount: slotCount) { try collect($0, branch) }
      try flush(branch)
    }
    branches = []
    let join = GroupJoin(kind, try outputs.map { ($0.identities, try $0.identities.finish()) })
    let source: GroupSource
    if order == .input {
      source = GroupSource(join, setup.context)
    } else {
      let budget = max(1 << 16, setup.context.memory.bytes / 16 / outputs.count)
      source = try GroupSource(join, logs: outputs.map(\.places), chosen: outputs.map { _ in sorter(budget) }, setup.context)
    }
    outputs = []
    self.source = source
    return source
  }
}
