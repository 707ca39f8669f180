public import OhanaCore

/// Sums over the batches that have done their work, by step.
public struct FlowCounts: Sendable, Equatable {
  /// By index of ``Pipeline/steps``.
  public var steps: [StageCounts]
  /// Batches that passed.
  public var batches = 0
  /// A stage had enough before the input ended.
  public var stoppedEarly = false
}
