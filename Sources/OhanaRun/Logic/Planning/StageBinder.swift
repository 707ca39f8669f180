internal import OhanaCore
internal import OhanaEngine
internal import Synchronization

/// A stage after binding: its steps, and what the planner has to know about it.
struct BoundStage: Sendable {
  var index: Int
  var stage: any PlannedStage
  var steps: [Pipeline.Step]
  /// Slots it looks at.
  var reads: Set<Int>
  /// Slots given out when it had been bound: a later slot that is no field of the source does not exist yet here.
  var slotCount: Int
  var memory: MemoryShare
  var payload: RecordPayload
  /// Layouts of outputs it writes beside the main one.
  var sideLayouts: [RecordLayout]
  /// It looks at every member of a record, or into its text.
  var needsMembers: Bool

  var weight: Int { StageBinder.weight(stage.memoryClass) }
}

/// Binds stages to names and slots, in order, then works out backwards what each must carry. Holds nothing.
struct StageBinder: Sendable {
  let spill: any SpillStore
  let pool: any WorkPool
  let settings: StageSettings
  let openOutput: @Sendable (FilePath, RecordSchema, _ stage: Int) throws -> [StageStep]
  let readList: @Sendable (FilePath, [FieldName]?, (RecordBatch) throws -> Void) throws -> Void

  /// How much memory a stage needs, beside others.
  static func weight(_ memoryClass: MemoryClass) -> Int {
    switch memoryClass {
    case .streaming: 0
    case .keyed: 1
    case .breaker: 2
    }
  }

  func bind(_ stages: [any PlannedStage], to schema: inout RecordSchema) throws -> [BoundStage] {
    var bound: [BoundStage] = []
    var mustReadOn = false
    for (index, stage) in stages.enumerated() {
      schema.beginStage(String(stage.text.prefix { $0 != " " }))
      let memory = MemoryShare()
      let payload = RecordPayload()
      let sides = Mutex<[RecordLayout]>([])
      let context = StageContext(
        spill: spill, memory: memory, payload: payload, pool: pool, settings: settings,
        openOutput: { path, schema in
          sides.withLock { $0.append(schema.layout) }
          return try openOutput(path, schema, index)
        }, readList: readList)
      let needed = (members: schema.needsMembers, text: schema.needsText)
      let steps = try bind(stage, &schema, context)
      let extractor = schema.takeExtractor()
      let sideLayouts = sides.withLock { $0 }
      mustReadOn = mustReadOn || !sideLayouts.isEmpty
      bound.append(
        BoundStage(
          index: index, stage: stage,
          steps: (extractor.map { [$0] } ?? []).map { .init($0, stage: index, isCounted: false, stopsReading: false) }
            + steps.map { .init($0, stage: index, stopsReading: stage.mayStopReading && !mustReadOn) }, reads: schema.slotsRead,
          slotCount: schema.slotCount, memory: memory, payload: payload, sideLayouts: sideLayouts,
          needsMembers: schema.needsMembers && !needed.members || schema.needsText && !needed.text))
    }
    return bound
  }

  /// Errors that only a stage from outside knows become ours.
  private func bind(_ stage: any PlannedStage, _ schema: inout RecordSchema, _ context: StageContext) throws -> [StageStep] {
    do { return try stage.bind(&schema, context) } catch let error as OhanaError { throw error } catch {
      throw OhanaError(.io, "processor-failed", "the stage '\(stage.text)' cannot be prepared: \(error)")
    }
  }

  /// Fills in what each stage carries: what later stages and the writer look at.
  static func assignPayloads(_ stages: [BoundStage], schema: RecordSchema, sinkLayout: RecordLayout) {
    let sourceSlots = Set(schema.sourceFields.map(\.slot))
    var needed = Set(sinkLayout.slots)
    var needsBytes = sinkLayout.followsSource
    for stage in stages.reversed() {
      stage.payload.slots = needed.filter { $0 < stage.slotCount || sourceSlots.contains($0) }.sorted()
      stage.payload.needsBytes = needsBytes
      stage.payload.needsOrigin = true
      needed.formUnion(stage.reads)
      for layout in stage.sideLayouts {
        needed.formUnion(layout.slots)
        needsBytes = needsBytes || layout.followsSource
      }
      needsBytes = needsBytes || stage.needsMembers
    }
  }
}
