internal import OhanaCore

/// How much has gone on of what a step had held back until the end of its input.
public struct HeldRecords: Sendable, Equatable {
  /// Index of ``Pipeline/steps``.
  public var step: Int
  /// Records that have gone through all steps behind it.
  public var passed: Int
  /// Records that it held; never fewer than have passed.
  public var count: Int
  /// When it began to stream out, on the clock of ``monotonicNanoseconds()``.
  public var began: UInt64

  init(_ counts: StageCounts, _ streaming: (step: Int, outputBefore: Int, began: UInt64)) {
    step = streaming.step
    began = streaming.began
    passed = counts.output - streaming.outputBefore
    // Stages that make or drop records while they stream out say so as they do.
    let tally = counts.tally
    count = max(passed, counts.input + tally.made - tally.dropped - tally.merged - streaming.outputBefore)
  }
}
