public import OhanaCore

/// A source and the steps behind it; the last one is a sink's ordered half, which consumes what it gets.
public struct Pipeline: Sendable {
  /// A step, and what the engine has to know of its stage.
  public struct Step: Sendable {
    /// The work.
    public var step: StageStep
    /// Index of the stage the step belongs to; nil for steps of the reader and the sink.
    public var stage: Int?
    /// A step that only prepares or moves records; the counts of its stage are not its business.
    public var isCounted: Bool
    /// What lies behind the record that made this step stop was never read. False where something before it has to see all the input
    /// (a `tee`): then it goes on, and lets nothing more through.
    public var stopsReading: Bool

    /// A batch that the step consumes goes on without its records: what it carries beside them is wanted by a later step.
    public var forwardsConsumed = false

    /// Told when the step has had enough, before anything behind it sees the batch: of the first record, in input order, behind the one
    /// that filled it. From the thread that runs the step; not told where that record was made by a stage and is of no input.
    package var onStop: (@Sendable (RecordOrigin) -> Void)?

    /// - Parameters stage: index of the planned stage; nil for readers, writers and the like. `isCounted`: its records appear in the books.
    ///   `stopsReading`: it may end the run early.
    public init(_ step: StageStep, stage: Int? = nil, isCounted: Bool = true, stopsReading: Bool = true) {
      self.step = step
      self.stage = stage
      self.isCounted = isCounted
      self.stopsReading = stopsReading
    }
  }

  /// Where batches come from.
  public var source: any BatchSource
  /// In stream order; neighbours of the kind `row` run as one.
  public var steps: [Step]
  /// Slots of each record in every batch.
  public var slotCount: Int
  /// Inputs the source reads from.
  public var inputCount: Int

  /// - Parameters slotCount: of each record in every batch. `inputCount`: how many inputs the source reads, for counts by input.
  public init(source: any BatchSource, steps: [Step], slotCount: Int, inputCount: Int = 1) {
    self.source = source
    self.inputCount = inputCount
    self.steps = steps
    self.slotCount = slotCount
  }
}
