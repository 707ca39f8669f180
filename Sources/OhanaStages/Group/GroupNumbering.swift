internal import OhanaCore

/// Numbers the batches that come into a group, in stream order, so that what is done to them side by side can be put in order again.
///
/// In a branch of another group it is not asked to: where only row-local work lies before it, that group's number serves.
final class GroupNumbering: OrderedStage, Checkpointable {
  private let state = Locked((total: UInt64(0), numbers: [ObjectIdentifier: UInt64]()))
  private let setup: GroupSetup

  init(_ setup: GroupSetup) { self.setup = setup }

  var tally: StageTally { StageTally() }

  func process(_ batch: RecordBatch) throws -> OrderedOutcome {
    setup.begin()
    state.withLock { state in
      state.numbers[ObjectIdentifier(batch)] = state.total
      state.total += UInt64(batch.selectedCount)
    }
    return .pass
  }

  func finish() throws -> (any BatchSource)? { nil }

  /// Gives `batch` the number of the batch that it is a copy of.
  func adopt(_ number: UInt64, for batch: RecordBatch) {
    setup.begin()
    state.withLock { $0.numbers[ObjectIdentifier(batch)] = number }
  }

  /// The number that `batch` was given.
  func number(of batch: RecordBatch) -> UInt64 {
    guard let number = state.withLock({ $0.numbers[ObjectIdentifier(batch)] }) else { preconditionFailure("a batch without a number") }
    return number
  }

  func save(to writer: CheckpointWriter) throws { try writer.put(state.withLock { $0.total }) }

  func restore(from reader: CheckpointReader) throws {
    let total = try reader.uint64()
    state.withLock { $0.total = total }
  }
}

/// What is known only when the run begins: what records carry within the branches, and their shares of the memory.
final class GroupSetup: Sendable {
  let context: StageContext
  /// What records carry within the branches.
  let inner: RecordPayload
  private let reads: Set<Int>
  private let needsBytes: Bool
  private let shares: [[(share: MemoryShare, weight: Int)]]
  private let hasBegun = Locked(false)

  init(_ context: StageContext, inner: RecordPayload, reads: Set<Int>, needsBytes: Bool, shares: [[(share: MemoryShare, weight: Int)]]) {
    self.context = context
    self.inner = inner
    self.reads = reads
    self.needsBytes = needsBytes
    self.shares = shares
  }

  /// Called before anything is done, from any thread; the first call counts.
  func begin() {
    hasBegun.withLock { hasBegun in
      guard !hasBegun else { return }
      hasBegun = true
      inner.slots = reads.union(context.payload.slots).sorted()
      inner.needsBytes = needsBytes || context.payload.needsBytes
      inner.needsOrigin = true
      let all = shares.joined()
      let weight = max(1, all.reduce(0) { $0 + $1.weight })
      for (share, own) in all { share.bytes = context.memory.bytes / 2 * own / weight }
    }
  }
}
