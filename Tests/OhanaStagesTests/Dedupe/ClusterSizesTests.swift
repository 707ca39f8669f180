import OhanaCore
import OhanaTestSupport
import Testing

@testable import OhanaStages

@Suite("How often keys were met") struct ClusterSizesTests {
  /// Runs a stage over records with these keys, cut into batches at random; nil is a blank key.
  ///
  /// - Parameter checkpoint: before this batch another stage takes up what the one so far remembers.
  private func sizes(
    _ stage: any PlannedStage, _ keys: [Int?], _ generator: inout SeededGenerator, memory: Int, checkpoint: Int? = nil,
    spill: MemorySpillStore = MemorySpillStore()
  ) throws -> ClusterSizes {
    let settings = StageSettings()
    func bound() throws -> (steps: [StageStep], slotCount: Int) {
      var schema = RecordSchema(columns: nil)
      for name in ["id", "k"] { _ = try schema.slot(reading: FieldName(name)) }
      let payload = RecordPayload()
      let context = StageContext.forTests(spill: spill, memory: memory, payload: payload, settings: settings)
      schema.beginStage(stage.text)
      let steps = try stage.bind(&schema, context)
      let extractor = schema.takeExtractor().map { [$0] } ?? []
      payload.slots = Array(0..<schema.slotCount)
      return (extractor + steps, schema.slotCount)
    }
    var (steps, slotCount) = try bound()
    var start = 0
    var number = 0
    while start < keys.count {
      if number == checkpoint {
        var bytes: [UInt8] = []
        let writer = CheckpointWriter { bytes += $0 }
        guard case .ordered(let old) = steps.last! else { preconditionFailure("the last step is ordered") }
        try (old as! any Checkpointable).save(to: writer)
        try writer.finish()
        var taken = 0
        let reader = CheckpointReader(spill: spill, limit: bytes.count) { target in
          let count = min(target.count, bytes.count - taken)
          target.copyBytes(from: bytes[taken..<(taken + count)])
          taken += count
          return count
        }
        let next = try bound()
        guard case .ordered(let new) = next.steps.last! else { preconditionFailure("the last step is ordered") }
        try (new as! any Checkpointable).restore(from: reader)
        #expect(taken == bytes.count)
        steps = next.steps
      }
      let end = min(keys.count, start + Int.random(in: 1...90, using: &generator))
      let rows: [[TestValue]] = (start..<end).map { [.number("\($0)"), keys[$0].map { .text("key \($0)") } ?? .null] }
      let batch = RecordBatch.make(rows, slotCount: slotCount, names: ["id", "k"], firstOrdinal: start, sequence: number)
      for step in steps {
        switch step {
        case .row(let stage): _ = try stage.process(batch)
        case .ordered(let stage): _ = try stage.process(batch)
        }
      }
      (start, number) = (end, number + 1)
    }
    guard case .ordered(let last as any ClusterCounting) = steps.last! else { preconditionFailure("\(stage.text) counts no keys") }
    if let tail = try last.finish() {
      while true {
        let batch = RecordBatch()
        batch.slotCount = slotCount
        guard try tail.next(into: batch) else { break }
      }
    }
    return last.clusterSizes
  }

  /// The slow way.
  private func model(_ keys: [Int?]) -> ClusterSizes {
    var met: [Int: Int] = [:]
    for case let key? in keys { met[key, default: 0] += 1 }
    var sizes = ClusterSizes()
    for times in met.values { sizes.add(1, metTimes: times) }
    return sizes
  }

  /// Most keys few times, some often, and a few so often that a small counter is full.
  private func someKeys(_ generator: inout SeededGenerator) -> [Int?] {
    var keys: [Int?] = []
    for key in 0..<Int.random(in: 1...300, using: &generator) {
      let most = [1, 3, 12, 120, 600][min(4, Int.random(in: 0...60, using: &generator) / 14)]
      keys += Array(repeating: key, count: Int.random(in: 1...most, using: &generator))
    }
    keys += Array(repeating: nil, count: Int.random(in: 0...20, using: &generator))
    keys.shuffle(using: &generator)
    return keys
  }

  @Test(
    "is what a slow count says, for any memory, and when another run goes on from a checkpoint",
    arguments: [
      "--by k", "--by k --duplicates d", "--by k --keep last", "--by k --keep none", "--by k --keep newest:id",
      "--by k --keep most-complete",
    ], 0..<6)
  func property(arguments: String, seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let keys = someKeys(&generator)
    let expected = model(keys)
    #expect(expected.keys.reduce(0, +) > 0)
    var spilled = 0
    for memory in [8 << 20, 20_000, 3_000] {
      for checkpoint in [nil, Int.random(in: 0...max(1, keys.count / 90), using: &generator)] {
        let spill = MemorySpillStore()
        let stage = try DedupeStage.parse(arguments: arguments.split(separator: " ").map(String.init))
        #expect(try sizes(stage, keys, &generator, memory: memory, checkpoint: checkpoint, spill: spill) == expected, "\(memory)")
        spilled += spill.bytesSpilled
      }
    }
    #expect(expected.keys.reduce(0, +) < 200 || spilled > 0, "nothing was spilled, so this proves little")
  }

  @Test(
    "classes end where they say",
    arguments: [(1, 0), (2, 1), (4, 3), (5, 4), (9, 4), (10, 5), (99, 5), (100, 6), (256, 6), (257, 6), (1000, 6)])
  func classes(times: Int, index: Int) throws {
    var generator = SeededGenerator(seed: 1)
    let found = try sizes(
      DedupeStage.parse(arguments: ["--by", "k"]), Array(repeating: 7, count: times), &generator, memory: 1 << 20)
    #expect(found.keys.firstIndex(of: 1) == index && found.keys.reduce(0, +) == 1)
  }

  @Test("distinct tells of it too") func distinct() throws {
    var generator = SeededGenerator(seed: 2)
    let stage = try DistinctStage.parse(arguments: ["--by", "k"])
    #expect(try sizes(stage, [1, 2, 2, 3, 3, 3], &generator, memory: 1 << 20).keys == [1, 1, 1, 0, 0, 0, 0])
  }
}
