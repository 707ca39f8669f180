internal import OhanaCore
internal import Synchronization

/// The ordered half of a writer: moves rendered text on to its output.
final class OutputStage: OrderedStage, Checkpointable {
  private let output: RunOutput
  private let isLast: Bool

  /// - Parameter isLast: it is the main sink, and batches end here; otherwise they go on to the next stage.
  init(_ output: RunOutput, isLast: Bool) {
    self.output = output
    self.isLast = isLast
  }

  func process(_ batch: RecordBatch) throws -> OrderedOutcome {
    try output.write(batch)
    if isLast { return .consumed }
    batch.output.removeAll()
    batch.outputCount = 0
    return .pass
  }

  func finish() throws -> (any BatchSource)? {
    try output.end()
    return nil
  }
  var tally: StageTally { StageTally() }

  // What was written is the output's to remember.
  func save(to writer: CheckpointWriter) throws {}
  func restore(from reader: CheckpointReader) throws {}
}

/// The sink of a run that writes nothing.
final class CountingStage: OrderedStage, Checkpointable {
  func process(_ batch: RecordBatch) throws -> OrderedOutcome { .consumed }
  func finish() throws -> (any BatchSource)? { nil }
  var tally: StageTally { StageTally() }

  func save(to writer: CheckpointWriter) throws {}
  func restore(from reader: CheckpointReader) throws {}
}
