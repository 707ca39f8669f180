public import OhanaCore

/// `skip N`: all but the first N records.
public struct SkipStage: PlannedStage {
  /// Records that are left out.
  public let count: Int
  /// - Parameter count: not negative.
  public init(count: Int) { self.count = count }

  public var text: String { "skip \(count)" }
  public var memoryClass: MemoryClass { .streaming }
  public var dropReason: String? { "skipped" }

  public static func parse(arguments words: [String]) throws -> SkipStage {
    let arguments = try StageArguments(words, for: help)
    return SkipStage(count: try recordCount(arguments))
  }

  public static let help = StageHelp(
    name: "skip", usage: "N", summary: "leave out the first N records",
    text: "Drops the first N records that reach it and passes all others.",
    examples: [.init("ohana run all.ndjson then sort last then skip 100 then limit 100", "the second hundred")], memoryClass: .streaming)

  public func bind(_ schema: inout RecordSchema, _ context: StageContext) throws -> [StageStep] { [.ordered(Skipper(count))] }
}

/// `limit N`: the first N records; the rest is not read.
public struct LimitStage: PlannedStage {
  /// Records that pass.
  public let count: Int
  /// - Parameter count: not negative.
  public init(count: Int) { self.count = count }

  public var text: String { "limit \(count)" }
  public var memoryClass: MemoryClass { .streaming }
  public var dropReason: String? { "beyond the limit" }
  public var mayStopReading: Bool { true }

  public static func parse(arguments words: [String]) throws -> LimitStage {
    let arguments = try StageArguments(words, for: help)
    return LimitStage(count: try recordCount(arguments))
  }

  public static let help = StageHelp(
    name: "limit", usage: "N", summary: "keep the first N records and stop reading",
    text: """
      Passes the first N records that reach it. Input behind the record that filled it is not read, can hold no error and gives CSV output no \
      column, unless a stage before it needs all of it: a tee, --duplicates, a sort.
      """,
    examples: [
      .init("ohana limit 10 contacts.ndjson.gz", "the first ten"),
      .init("ohana run contacts.csv then sort updated:desc then limit 10", "the ten changed last"),
    ], memoryClass: .streaming)

  public func bind(_ schema: inout RecordSchema, _ context: StageContext) throws -> [StageStep] { [.ordered(Limiter(count))] }
}

/// The only argument as a number of records.
private func recordCount(_ arguments: StageArguments) throws(OhanaError) -> Int {
  let text = try arguments.single("N")
  guard let count = Int(text), count >= 0 else {
    throw arguments.problem("bad-value", "'\(text)' is not a number of records", fix: "write a whole number of at least 0")
  }
  return count
}

private final class Skipper: OrderedStage, Checkpointable, @unchecked Sendable {  // because one piece of work at a time uses it
  private var left: Int
  private var dropped = 0

  init(_ count: Int) { left = count }

  var tally: StageTally { StageTally(dropped: dropped) }

  func process(_ batch: RecordBatch) throws -> OrderedOutcome {
    guard left > 0 else { return .pass }
    let count = min(left, batch.selectedCount)
    batch.selectedCount -= count
    batch.selection.update(from: batch.selection + count, count: batch.selectedCount)
    left -= count
    dropped += count
    return .pass
  }

  func finish() throws -> (any BatchSource)? { nil }

  func save(to writer: CheckpointWriter) throws {
    try writer.put(left)
    try writer.put(dropped)
  }

  func restore(from reader: CheckpointReader) throws {
    left = try reader.count()
    dropped = try reader.count()
  }
}

/// Passes the first records.
final class Limiter: OrderedStage, Checkpointable, @unchecked Sendable {  // because one piece of work at a time uses it
  private var left: Int
  private let stops: Bool
  private var dropped = 0

  /// - Parameter stops: what lies behind them need not be read.
  init(_ count: Int, stops: Bool = true) {
    left = count
    self.stops = stops
  }

  var tally: StageTally { StageTally(dropped: dropped) }

  func process(_ batch: RecordBatch) throws -> OrderedOutcome {
    let count = min(left, batch.selectedCount)
    dropped += batch.selectedCount - count
    batch.selectedCount = count
    left -= count
    return left == 0 && stops ? .passAndStop : .pass
  }

  func finish() throws -> (any BatchSource)? { nil }

  func save(to writer: CheckpointWriter) throws {
    try writer.put(left)
    try writer.put(dropped)
  }

  func restore(from reader: CheckpointReader) throws {
    left = try reader.count()
    dropped = try reader.count()
  }
}
