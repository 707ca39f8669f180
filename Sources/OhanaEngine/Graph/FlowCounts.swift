public import OhanaCore

/// Sums over the batches that have done their work, by step.
public struct FlowCounts: Sendable, Equatable, Codable {
  /// What entered and left one step, of one input's records.
  public struct Passage: Sendable, Equatable, Codable {
    /// The input's records that went into the step.
    public var input = 0
    /// The input's records that came out of it.
    public var output = 0
  }
  /// Batches that waited before one node, as shares of all batches there were: looked at whenever it began with another one.
  public struct Queue: Sendable, Equatable, Codable {
    /// Index of the node's first step; the next node's first step ends it.
    public var firstStep: Int
    /// Batches it began with.
    public var batches = 0
    /// Of the shares, one for each batch.
    public var sum = 0.0
    /// The largest share.
    public var most = 0.0

    mutating func add(_ waiting: Int, of all: Int) {
      let share = Double(waiting) / Double(all)
      batches += 1
      sum += share
      most = max(most, share)
    }
  }

  /// By index of ``Pipeline/steps``.
  public var steps: [StageCounts]
  /// By input, then by step: the books of each input.
  public var passages: [[Passage]]
  /// By node: steps that run as one piece of work have one queue.
  public var queues: [Queue] = []
  /// Batches that passed.
  public var batches = 0
  /// A stage had enough before the input ended.
  public var stoppedEarly = false

  /// Nothing has passed any of so many steps.
  public init(steps: Int) {
    self.steps = Array(repeating: StageCounts(), count: steps)
    passages = []
  }

  mutating func add(source: Int, step: Int, input: Int, output: Int) {
    while passages.count <= source { passages.append(Array(repeating: Passage(), count: steps.count)) }
    passages[source][step].input += input
    passages[source][step].output += output
  }
}
