public import OhanaCore

/// `sample N|P%`: some records at random, in the order of the input; the same ones for the same seed.
public struct SampleStage: PlannedStage {
  /// How much is kept.
  public enum Size: Sendable, Equatable {
    /// So many records, or all if there are fewer.
    case count(Int)
    /// Each record with this probability, 0 to 1.
    case share(Double)
  }

  public let size: Size
  private let argument: String

  /// The same size, seed and input give the same sample.
  public init(_ size: Size) {
    self.size = size
    switch size {
    case .count(let count): argument = "\(count)"
    case .share(let share): argument = "\(share * 100)%"
    }
  }

  private init(_ size: Size, _ argument: String) { (self.size, self.argument) = (size, argument) }

  public var text: String { "sample \(argument)" }
  public var memoryClass: MemoryClass { if case .count = size { .keyed } else { .streaming } }
  public var dropReason: String? { "not sampled" }

  public static func parse(arguments words: [String]) throws -> SampleStage {
    let arguments = try StageArguments(words, for: help)
    let text = try arguments.single("N or P%")
    if text.hasSuffix("%"), let percent = Double(text.dropLast()), percent >= 0, percent <= 100 {
      return SampleStage(.share(percent / 100), text)
    }
    guard let count = Int(text), count >= 0 else {
      throw arguments.problem(
        "bad-value", "'\(text)' is neither a number of records nor a percentage", fix: "write for example 1000 or 2.5%")
    }
    return SampleStage(.count(count), text)
  }

  public static let help = StageHelp(
    name: "sample", usage: "N|P%", summary: "keep some records at random",
    text: """
      N keeps that many records, each set of them equally likely; P% keeps each record with that probability. Records stay in order. The \
      choice depends on --seed (0 if not given) and on a record's place in the stream alone, so that it can be repeated.
      """,
    examples: [
      .init("ohana sample 1000 contacts.ndjson.gz", "a thousand records"),
      .init("ohana sample 1% --seed 7 contacts.csv", "about one in a hundred"),
    ], memoryClass: .streaming, memoryNote: "K with N")

  public func bind(_ schema: inout RecordSchema, _ context: StageContext) throws -> [StageStep] {
    switch size {
    case .share(let share): [.ordered(ShareSampler(share: share, seed: context.settings.seed))]
    case .count(let count): [.ordered(CountSampler(context, count: count))]
    }
  }
}

/// A random number that depends on nothing but the seed and a place in the stream (SplitMix64's finisher).
private func lot(_ seed: UInt64, _ position: Int) -> UInt64 {
  var z = seed &* 0x9e37_79b9_7f4a_7c15 &+ UInt64(truncatingIfNeeded: position &+ 1) &* 0xd1b5_4a32_d192_ed03
  z = (z ^ z >> 30) &* 0xbf58_476d_1ce4_e5b9
  z = (z ^ z >> 27) &* 0x94d0_49bb_1331_11eb
  return z ^ z >> 31
}

private final class ShareSampler: OrderedStage, Checkpointable, @unchecked Sendable {  // because one piece of work at a time uses it
  private let isAll: Bool
  private let threshold: UInt64
  private let seed: UInt64
  private var position = 0
  private var dropped = 0

  init(share: Double, seed: UInt64) {
    isAll = share >= 1
    threshold = isAll ? .max : UInt64(share * 0x1p64)
    self.seed = seed
  }

  var tally: StageTally { StageTally(dropped: dropped) }

  func process(_ batch: RecordBatch) throws -> OrderedOutcome {
    if isAll { return .pass }
    let selection = batch.selection
    var kept = 0
    for index in 0..<batch.selectedCount {
      selection[kept] = selection[index]
      kept &+= lot(seed, position &+ index) < threshold ? 1 : 0
    }
    position += batch.selectedCount
    dropped += batch.selectedCount - kept
    batch.selectedCount = kept
    return .pass
  }

  func finish() throws -> (any BatchSource)? { nil }

  func save(to writer: CheckpointWriter) throws {
    try writer.put(position)
    try writer.put(dropped)
  }

  func restore(from reader: CheckpointReader) throws {
    position = try reader.count()
    dropped = try reader.count()
  }
}

/// Keeps the records with the lowest lots, as a sort with a limit, then sorts those back into the order of the input.
private final class CountSampler: OrderedStage, Checkpointable, @unchecked Sendable {  // because one piece of work at a time uses it
  private let context: StageContext
  private let count: Int
  private var lowest: ExternalSorter?
  private let run = RunBuilder()
  private var position = 0

  init(_ context: StageContext, count: Int) {
    self.context = context
    self.count = count
  }

  var tally: StageTally { StageTally(dropped: max(0, position - count)) }

  func process(_ batch: RecordBatch) throws -> OrderedOutcome {
    let sorter = lowest ?? makeSorter()
    let packer = RecordPacker(context.payload)
    var key: (lot: UInt64, position: UInt64) = (0, 0)
    for index in 0..<batch.selectedCount {
      // Half the lot, so that no key begins with eight times FF.
      key = ((lot(context.settings.seed, position) >> 1).bigEndian, UInt64(position).bigEndian)
      position += 1
      try withUnsafeBytes(of: &key) { key in
        guard sorter.isWanted(key) else { return }
        run.append(key: key) { packer.pack(Int(batch.selection[index]), of: batch, to: $0) }
        if run.byteCount > 1 << 16 { try run.flush(to: sorter) }
      }
    }
    return .consumed
  }

  private func makeSorter() -> ExternalSorter {
    let sorter = ExternalSorter(spill: context.spill, budget: context.memory.bytes / 2, limit: count)
    lowest = sorter
    return sorter
  }

  func save(to writer: CheckpointWriter) throws {
    try writer.put(position)
    try writer.put(lowest != nil)
    guard let lowest else { return }
    try run.flush(to: lowest)
    try lowest.save(to: writer)
  }

  func restore(from reader: CheckpointReader) throws {
    position = try reader.count()
    if try reader.bool() { try makeSorter().restore(from: reader) }
  }

  func finish() throws -> (any BatchSource)? {
    guard let lowest else { return nil }
    self.lowest = nil
    try run.flush(to: lowest)
    let order = ExternalSorter(spill: context.spill, budget: context.memory.bytes / 2)
    let merger = try lowest.finish()
    var left = count
    while left > 0, let item = try merger.next() {
      left -= 1
      let position = UnsafeRawBufferPointer(start: SortItem.key(item) + 8, count: 8)
      let payload = UnsafeRawBufferPointer(start: SortItem.payload(item), count: SortItem.size(item) - SortItem.headSize(item))
      run.append(key: position) { $0.append(payload.assumingMemoryBound(to: UInt8.self)) }
      if run.byteCount > 1 << 16 { try run.flush(to: order) }
    }
    try run.flush(to: order)
    return SortedSource(try order.finish(), keeping: order, context, count: min(count, position))
  }
}
