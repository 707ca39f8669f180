import OhanaCore
import OhanaTestSupport
import Synchronization

@testable import OhanaStages

/// Takes what a side output is given: the first slot's value, and the last slot's.
final class CapturingOutput: OrderedStage {
  let records = Mutex<[[TestValue]]>([])
  let isFinished = Mutex(false)
  let lastSlot = Mutex(0)

  func process(_ batch: RecordBatch) throws -> OrderedOutcome {
    let last = lastSlot.withLock { $0 }
    for index in 0..<batch.selectedCount {
      let record = Int(batch.selection[index])
      let values = [batch.value(0, of: record), batch.value(last, of: record)]
      records.withLock { $0.append(values) }
    }
    return .pass
  }

  func finish() throws -> (any BatchSource)? {
    isFinished.withLock { $0 = true }
    return nil
  }

  var tally: StageTally { StageTally() }
}

struct StageRun {
  var names: [String]
  var batchSizes = 3
  var memory = 32 << 20
  var spill = MemorySpillStore()
  var settings = StageSettings()
  var seed: UInt64 = 1
  var side = CapturingOutput()
  var columns: [String]?
  /// Values of a list that a stage reads, in one column.
  var list: [TestValue] = []
  var listName: String?

  /// Runs stages over rows cut into batches at random, and returns the values of what comes out, in all slots or those the last stage
  /// leaves.
  func rows(_ stages: [any PlannedStage], _ rows: [[TestValue]]) throws -> [[TestValue]] {
    var schema = RecordSchema(columns: columns.map { $0.map { Array($0.utf8) } })
    for name in names { _ = try schema.slot(reading: FieldName(name)) }
    let payload = RecordPayload()
    let side = self.side
    let (list, listName) = (self.list, self.listName)
    let context = StageContext.forTests(
      spill: spill, memory: memory, payload: payload, settings: settings,
      openOutput: { _, schema in
        side.lastSlot.withLock { $0 = schema.layout.entries.last?.slot ?? 0 }
        return [.ordered(side)]
      },
      readList: { _, fields, body in
        if let fields, fields.count != 1 || fields[0].description != listName {
          throw OhanaError(.usage, "unknown-field", field: fields[0].description, "the list has no such field")
        }
        for start in stride(from: 0, to: list.count, by: 3) {
          try body(.make(list[start..<min(list.count, start + 3)].map { [$0] }, slotCount: 1))
        }
      })
    var steps: [StageStep] = []
    for stage in stages {
      schema.beginStage(stage.text)
      let own = try stage.bind(&schema, context)
      steps += (schema.takeExtractor().map { [$0] } ?? []) + own
    }
    payload.slots = Array(0..<schema.slotCount)
    var generator = SeededGenerator(seed: seed)
    var batches: [RecordBatch] = []
    var start = 0
    while start < rows.count {
      let end = min(rows.count, start + Int.random(in: 1...batchSizes, using: &generator))
      batches.append(.make(rows[start..<end], slotCount: schema.slotCount, names: names, firstOrdinal: start, sequence: batches.count))
      start = end
    }
    let slots = schema.layout.followsSource ? Array(0..<names.count) : schema.layout.entries.map(\.slot)
    var result: [[TestValue]] = []
    try drive(steps, batches, slotCount: schema.slotCount) { batch in
      for index in 0..<batch.selectedCount { result.append(slots.map { batch.value($0, of: Int(batch.selection[index])) }) }
    }
    return result
  }

  /// The first slot of what comes out.
  func ids(_ stages: [any PlannedStage], _ rows: [[TestValue]]) throws -> [TestValue] {
    try self.rows(stages, rows).map { $0[0] }
  }
}

/// Runs stages over rows cut into batches at random, and returns the first slot of what comes out.
func ids(
  of stages: [any PlannedStage], _ rows: [[TestValue]], names: [String], batchSizes: Int = 3, memory: Int = 32 << 20,
  spill: MemorySpillStore = MemorySpillStore(), settings: StageSettings = StageSettings(), seed: UInt64 = 1
) throws -> [TestValue] {
  try StageRun(names: names, batchSizes: batchSizes, memory: memory, spill: spill, settings: settings, seed: seed).ids(stages, rows)
}
