extension RecordBatch {
  /// Empties the counts for a new trip through a pipeline of `steps` steps.
  package final func resetStepCounts(_ steps: Int) {
    stepCounts.removeAll(keepingCapacity: true)
    for _ in 0..<steps { stepCounts.append(StageCounts()) }
    trail.removeAll(keepingCapacity: true)
    mixedPassages.removeAll(keepingCapacity: true)
    originCountsAre = -1
    truncatedAt = nil
  }

  /// Ends the batch with the record `last` read (-1: before the first): what lies behind it was not read and can be no fault.
  package final func truncate(behind last: Int) {
    truncatedAt = last + 1
    rejects.removeAll { $0.before > last }
    if last + 1 < readCount {
      let line = records[last + 1].line
      warnings.removeAll { $0.line >= line }
    }
    fault = nil
  }
}

/// What one stage did: the books, and the time it took.
public struct StageCounts: Sendable, Equatable, Codable {
  /// Records that came in, counted by the engine.
  public var input = 0
  /// Records that went on, counted by the engine.
  public var output = 0
  /// What the stage itself says it dropped, made and merged.
  public var tally = StageTally()
  /// Time spent in the stage, all threads together.
  public var nanoseconds: UInt64 = 0

  /// All zero.
  public init() {}

  /// in + made = out + dropped + merged.
  public var balances: Bool { input + tally.made == output + tally.dropped + tally.merged }

  /// Adds count by count.
  public static func += (a: inout StageCounts, b: StageCounts) {
    a.input += b.input
    a.output += b.output
    a.tally += b.tally
    a.nanoseconds += b.nanoseconds
  }
}
