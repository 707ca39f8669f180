public import OhanaCore

extension StageContext {
  /// A context for tests: spills into `spill`, `memory` bytes for the stage, and outputs and lists that are not there unless given.
  public static func forTests(
    spill: MemorySpillStore = MemorySpillStore(), memory: Int = 32 << 20, payload: RecordPayload = RecordPayload(),
    settings: StageSettings = StageSettings(),
    openOutput: @escaping @Sendable (FilePath, RecordSchema) throws -> [StageStep] = { _, _ in [] },
    readList: @escaping @Sendable (FilePath, [FieldName]?, (RecordBatch) throws -> Void) throws -> Void = { _, _, _ in }
  ) -> StageContext {
    StageContext(
      spill: spill, memory: MemoryShare(bytes: memory), payload: payload, pool: InlineWorkPool(), settings: settings,
      openOutput: openOutput, readList: readList)
  }
}

/// Drives steps over batches one after the other, as the engine would, and hands every batch that comes out to `body`.
///
/// Checks the books of each step: in + made = out + dropped + merged. Stops early where a step says so.
public func drive(_ steps: [StageStep], _ batches: [RecordBatch], slotCount: Int, _ body: (RecordBatch) -> Void) throws {
  var queue: [RecordBatch] = batches
  for (index, step) in steps.enumerated() {
    var out: [RecordBatch] = []
    var counts = (input: 0, output: 0)
    var tally = StageTally()
    switch step {
    case .row(let stage):
      for batch in queue {
        counts.input += batch.selectedCount
        tally += try stage.process(batch)
        counts.output += batch.selectedCount
        // The ordered step that follows reads keys written by this one, so both see the batch in turn.
        out.append(batch)
      }
    case .ordered(let stage):
      scan: for batch in queue {
        counts.input += batch.selectedCount
        switch try stage.process(batch) {
        case .pass:
          counts.output += batch.selectedCount
          out.append(batch)
        case .consumed: break
        case .passAndStop:
          counts.output += batch.selectedCount
          out.append(batch)
          break scan
        }
      }
      if let source = try stage.finish() {
        while true {
          let batch = RecordBatch()
          batch.slotCount = slotCount
          guard try source.next(into: batch) else { break }
          counts.output += batch.selectedCount
          out.append(batch)
        }
      }
      tally += stage.tally
    }
    precondition(
      counts.input + tally.made == counts.output + tally.dropped + tally.merged,
      "the books of step \(index) do not balance: \(counts) \(tally)")
    queue = out
  }
  for batch in queue { body(batch) }
}
