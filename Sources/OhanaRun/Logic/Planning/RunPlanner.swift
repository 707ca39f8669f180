internal import OhanaCore
internal import OhanaEngine
internal import OhanaFormats
internal import OhanaStages
internal import Synchronization

/// A run ready to begin: the pipeline, and handles to what has to be asked or closed when it is over.
struct RunPlan: Sendable {
  var inputs: [ProbedInput]
  var stages: [BoundStage]
  var schema: RecordSchema
  var memory: MemoryPlan
  var threads: Int
  var pipeline: Pipeline
  var ledger: LedgerStage
  var sink: SinkPlan
  /// Position in the pipeline of the step that counts what is written.
  var sinkStep: Int
  var outputs: OutputSet
  /// NDJSON only: which of the schema's source fields were found, and the keys there were.
  var found: (@Sendable () -> (fields: [Bool], names: [[UInt8]]))?
  var collector: CSVColumnCollector?
  /// Lists that stages have read and found empty.
  var emptyLists: [FilePath] = []
  /// Worth telling before the first record.
  var notes: [String] = []
}

/// What a plan is made of.
struct RunDraft: Sendable {
  var request: RunRequest
  var probed: [ProbedInput]
  var sink: SinkPlan
  var threads: Int
  var outputs: OutputSet
  /// Seed of the fingerprints: random per run, but that of the run which is gone on with.
  var fingerprintSeed: UInt64
  /// CSV columns found by an earlier pass over the same input, where the output cannot be mended afterwards.
  var table: CSVColumnTable?
  /// A pass that finds the columns and does nothing else: has no stage behind the last that may stop reading, and no output.
  var onlyColumns = false
  /// Files that stages have read beside the inputs.
  let lists = Locked<[FilePath]>([])
  /// Those of them without a record.
  let emptyLists = Locked<[FilePath]>([])
}

/// Turns a request into a plan. Holds nothing; what it opens belongs to the plan.
struct RunPlanner: Sendable {
  let inputs: any InputManaging
  let scheduler: WorkScheduler
  let spill: any SpillStore
  /// Told of what happens to inputs, by their index.
  var announce: (@Sendable (Int, InputEvent.Kind) -> Void)?
  /// Told how inputs go on.
  var meter: InputMeter?
  /// What each stage may hold; nil: its share of the run's memory.
  var stageBytes: Int?

  func plan(_ draft: RunDraft) throws -> RunPlan {
    let (request, probed, sink, threads, outputs) = (draft.request, draft.probed, draft.sink, draft.threads, draft.outputs)
    let (table, onlyColumns) = (draft.table, draft.onlyColumns)
    let options = request.options
    let sourceFormat = probed.first?.format ?? .ndjson
    let unionColumns = Self.union(probed)
    // Where there is no record and no header, no name is wrong.
    let optional = probed.allSatisfy(\.isEmpty) ? .all : options.optional.union(options.loadsImages ? [] : [Self.image.whole])
    var schema = RecordSchema(columns: sourceFormat == .csv ? unionColumns : nil, optional: optional)
    let hasSideOutputs = request.stages.contains { !$0.sideOutputs.isEmpty }
    if sourceFormat == .csv, sink.place != .nowhere || hasSideOutputs,
      hasSideOutputs || !Self.passesThrough(probed, columns: unionColumns, sink: sink, options: options)
    {
      try schema.makeExplicitIfColumnar()
    }

    var settings = StageSettings()
    settings.locale = options.locale
    settings.seed = options.seed
    settings.fingerprintSeed = draft.fingerprintSeed
    settings.threads = threads
    settings.sources = probed.map(\.path)
    settings.showsValues = options.showValues
    let fused = StageFusion.fused(request.stages)
    let memory = MemoryPlan(
      total: options.memory, threads: threads, outputs: 1, holders: fused.map { StageBinder.weight($0.memoryClass) }.filter { $0 > 0 })

    let mainSink = sink
    let writers = WriterPlanner(
      source: sourceFormat, options: options, outputs: outputs, inputs: probed, receiver: request.sink)
    let sideCollectors = Mutex<[CSVColumnCollector]>([])
    let binder = StageBinder(
      spill: spill, pool: scheduler, settings: settings,
      openOutput: { path, schema, _ in
        if onlyColumns { return [] }
        let side = try SinkPlan(beside: mainSink, at: path)
        let collector = writers.sideCollector(side, layout: schema.layout)
        if let collector { sideCollectors.withLock { $0.append(collector) } }
        return try writers.steps(
          side, schema: schema, role: schema.currentStage == TeeStage.help.name ? .tee : .duplicates, collector: collector)
      },
      readList: { path, fields, body in
        draft.lists.withLock { $0.append(path) }
        let count = try ListReader(inputs: inputs, options: options).read(path, fields: fields, body)
        draft.emptyLists.withLock { lists in
          lists.removeAll { $0 == path }
          if count == 0 { lists.append(path) }
        }
      })
    if !options.loadsImages { try schema.leaveOut(Self.image) }
    let stages = try binder.bind(fused, to: &schema)
    let notes = options.loadsImages ? [] : Self.notes(onImagesOf: stages, schema)
    let layout = schema.layout
    StageBinder.assignPayloads(stages, schema: schema, sinkLayout: layout)
    if sink.place != .nowhere, let columns = options.columns { try Self.require(columns, of: sink, in: &schema) }
    // Of inputs that are larger as files than all that stages may hold, a breaker has to spill most in any case: memory helps it little, but may
    // be what keeps a set of keys from spilling.
    let isLarge = probed.reduce(0) { $0 + ($1.size ?? 0) } > memory.stageBytes
    let yields = isLarge && stages.contains { $0.stage.memoryClass == .keyed }
    var reserveBytes = memory.reserveBytes
    for stage in stages {
      stage.memory.bytes = memory.share(weight: stage.weight)
      guard yields, stage.stage.memoryClass == .breaker else { continue }
      stage.memory.bytes /= 2
      reserveBytes += stage.memory.bytes
    }
    let reserve = MemoryReserve(bytes: stageBytes == nil ? reserveBytes : 0)
    for stage in stages {
      if let stageBytes { stage.memory.bytes = stageBytes }
      stage.memory.reserve = yields && stage.stage.memoryClass == .breaker ? nil : reserve
    }

    // The reader.
    let isCSVFromNDJSON = sourceFormat == .ndjson && sink.format == .csv && sink.place != .nowhere
    let collector =
      isCSVFromNDJSON && options.columns == nil
      ? CSVColumnCollector(layout: layout, table: table ?? CSVColumnTable()) : nil
    let beside = sideCollectors.withLock { $0 }
    let wantsMembers = schema.needsMembers || !beside.isEmpty || (isCSVFromNDJSON && layout.followsSource)
    var steps: [Pipeline.Step] = []
    var found: (@Sendable () -> (fields: [Bool], names: [[UInt8]]))?
    switch sourceFormat {
    case .ndjson:
      let parser = NDJSONParser(fields: schema.sourceFields, wantsMembers: wantsMembers, maxRecordBytes: options.maxRecord)
      found = { (parser.foundFields, parser.keyNames) }
      steps.append(.init(.row(parser)))
    case .csv:
      steps.append(.init(.row(CSVParser(fields: schema.sourceFields, slotCount: schema.slotCount, marksVerbatim: layout.isSourceAsIs))))
    }
    steps.append(.init(.ordered(NumberingStage())))
    // The main output's stands last, since batches keep its columns.
    let collectors = beside + (table == nil ? collector.map { [$0] } ?? [] : [])
    steps += collectors.flatMap(\.steps).map { .init($0) }

    // What lies behind the record that makes a stage stop reading gives no columns, unless a breaker has to see it all the same.
    let stopPlace = Self.stopPlace(stages)
    // Nor where records come as they arrive: what has been met then lies before the stop or behind it.
    if stopPlace > 0, !options.interleave {
      let whileWriting = !stages.contains { $0.stage.memoryClass == .breaker }
      for collector in collectors { collector.table.mayEnd(whileWriting: whileWriting) }
    }
    func stageSteps(_ stage: BoundStage, at index: Int) -> [Pipeline.Step] {
      stage.steps.map { step in
        var step = step
        // What a stage in front of the ledger holds back, it holds back without the batch: rejects go on to the ledger.
        step.forwardsConsumed = index < stopPlace
        if index < stopPlace, step.stopsReading, !options.interleave {
          step.onStop = { bound in for collector in collectors { collector.end(before: bound) } }
        }
        return step
      }
    }

    let bytes = memory.batchBytes
    let held = max(memory.total / 4, 4 * bytes)
    let announce = onlyColumns ? nil : announce
    let source = source(probed, options: options, batchBytes: bytes, heldBytes: held, announce: announce)
    if onlyColumns {
      for (index, stage) in stages.prefix(stopPlace).enumerated() { steps += stageSteps(stage, at: index) }
      steps.append(.init(.ordered(CountingStage())))
      return RunPlan(
        inputs: probed, stages: stages, schema: schema, memory: memory, threads: threads,
        pipeline: Pipeline(source: source, steps: steps, slotCount: schema.slotCount, inputCount: probed.count), ledger: LedgerStage.idle,
        sink: sink, sinkStep: steps.count - 1, outputs: outputs, found: nil, collector: collector)
    }

    // The ledger stands behind the last stage that may stop reading, but before anything that holds records back.
    let ledger = LedgerStage(
      sources: probed.map(\.path), budget: options.maxRejects, readsOn: options.rejects != nil, onBadChunk: options.onBadChunk,
      showsValues: options.showValues, inTurns: options.interleave, write: try rejectWriter(options, probed, outputs), announce: announce)
    for (index, stage) in stages.enumerated() {
      if index == stopPlace { steps.append(.init(.ordered(ledger))) }
      steps += stageSteps(stage, at: index)
    }
    if stopPlace == stages.count { steps.append(.init(.ordered(ledger))) }

    // The writer.
    let writing = try writers.steps(sink, schema: schema, role: .main, collector: collector, columns: options.columns)
    steps += writing.map { .init($0) }
    if options.columns != nil, let read = found, case .row(let row)? = writing.first, let renderer = row as? CSVRenderer {
      // A dotted column may have a value that no path of the reader leads to: keys may hold dots.
      let fields = schema.sourceFields
      found = {
        let (found, names) = read()
        let written = renderer.writtenColumns
        return (zip(fields, found).map { $1 || written.contains($0.name.whole) }, names)
      }
    }
    return RunPlan(
      inputs: probed, stages: stages, schema: schema, memory: memory, threads: threads,
      pipeline: Pipeline(source: source, steps: steps, slotCount: schema.slotCount, inputCount: probed.count), ledger: ledger, sink: sink,
      sinkStep: steps.count - 1, outputs: outputs, found: found, collector: collector,
      emptyLists: draft.emptyLists.withLock { $0 }, notes: notes)
  }

  private static let image = FieldName(whole: Array("image".utf8))

  /// Stages that ask for images where none are read.
  private static func notes(onImagesOf stages: [BoundStage], _ schema: RecordSchema) -> [String] {
    guard let slot = schema.slot(boundTo: image) else { return [] }
    let asking = stages.filter { $0.reads.contains(slot) }.map { "'\($0.stage.text)'" }
    return asking.isEmpty ? [] : ["--no-image: no record has an image, which \(asking.joined(separator: " and ")) asks for"]
  }

  /// How many stages there are up to the last that may stop reading: none where there is none, or only behind a breaker.
  private static func stopPlace(_ stages: [BoundStage]) -> Int {
    let streaming = stages.prefix { $0.stage.memoryClass != .breaker }
    return (streaming.lastIndex { $0.stage.mayStopReading && $0.steps.contains(where: \.stopsReading) } ?? -1) + 1
  }

  /// A column that the user named has to be somewhere in the input, or made by a stage, like any other field.
  private static func require(_ columns: [[UInt8]], of sink: SinkPlan, in schema: inout RecordSchema) throws {
    guard sink.format == .csv else {
      throw OhanaError(
        .usage, "needs-csv", "--columns is for CSV output", fix: "choose the fields of another format with the stage 'keep'")
    }
    for (index, column) in columns.enumerated() where columns[..<index].contains(column) {
      throw OhanaError(
        .usage, "repeated-column", field: String(decoding: column, as: UTF8.self), "--columns names this column twice",
        fix: "name each once; a second copy of a field can be made with 'set'")
    }
    schema.beginStage("--columns")
    for column in columns {
      let name = FieldName(unquoted: column)
      // An element of an array has no column.
      let hasIndex = name.path.contains { if case .index = $0 { true } else { false } }
      _ = try schema.slot(reading: hasIndex ? FieldName(whole: column) : name)
    }
  }

  private func source(
    _ probed: [ProbedInput], options: RunOptions, batchBytes: Int, heldBytes: Int, announce: (@Sendable (Int, InputEvent.Kind) -> Void)?
  ) -> any BatchSource {
    let live = probed.indices.filter { options.interleave && probed[$0].isLive }
    // Each has a batch of its own, and what of a record goes beyond it.
    let liveBytes = min(batchBytes, 256 << 10)
    let openAtOnce = max(1, min(live.count, 64, options.memory / 16 / (2 * liveBytes)))
    let open: InputSource.Opener = { [inputs, meter] index in
      announce?(index, .opened)
      meter?.add(index, .processing)
      let input = probed[index]
      let isPrompt = options.interleave && input.isLive
      let stream = try input.open ?? input.spooled?.makeStream() ?? inputs.openText(input.path, options: options).stream
      let (bytes, held) = isPrompt ? (liveBytes, max(heldBytes / openAtOnce, 4 * liveBytes)) : (batchBytes, heldBytes)
      let framer: any RecordFramer =
        switch input.format {
        case .ndjson:
          NDJSONFramer(
            stream, source: input.path, batchBytes: bytes, maxRecordBytes: options.maxRecord, maxHeldBytes: held, isPrompt: isPrompt)
        case .csv:
          CSVFramer(stream: stream, header: input.header!, source: input.path, batchBytes: bytes, memoryLimit: held, isPrompt: isPrompt)
        }
      return (framer, stream)
    }
    let onEnd: @Sendable (Int) -> Void = { [meter] in meter?.add($0, .loaded) }
    guard options.interleave else { return InputSource(count: probed.count, open: open, onEnd: onEnd) }
    return InterleavedSource(
      count: probed.count, live: live, openAtOnce: openAtOnce, batchBytes: liveBytes, open: open,
      interrupt: { probed[$0].interrupt?() }, onEnd: onEnd)
  }

  private func rejectWriter(
    _ options: RunOptions, _ probed: [ProbedInput], _ outputs: OutputSet
  ) throws -> (@Sendable (FilePath, RecordBatch, Reject) throws -> Void)? {
    guard let path = options.rejects else { return nil }
    let sink = try SinkPlan(rejects: path)
    let writer = RejectWriter(try outputs.open(sink, role: .rejects, header: { [] }))
    return { source, batch, reject in try writer.write(source, batch, reject, header: probed[batch.source].header) }
  }

  /// The columns of all inputs, in input order, each once.
  static func union(_ inputs: [ProbedInput]) -> [[UInt8]] {
    var columns: [[UInt8]] = []
    var known = Set<[UInt8]>()
    for input in inputs {
      for column in input.header?.columns ?? [] where known.insert(column).inserted { columns.append(column) }
    }
    return columns
  }

  /// A CSV record's own bytes can be its output: all inputs and the output share dialect and columns.
  private static func passesThrough(_ inputs: [ProbedInput], columns: [[UInt8]], sink: SinkPlan, options: RunOptions) -> Bool {
    guard sink.format == .csv, sink.delimiter == UInt8(ascii: ","), !options.quoteAll, !options.crlf, options.columns == nil else {
      return false
    }
    return inputs.allSatisfy {
      $0.header.map { $0.dialect.isDefault && $0.dialect.nulls.isEmpty && ($0.columns == columns || $0.columns.isEmpty) } ?? true
    }
  }
}
