internal import OhanaCore
internal import OhanaEngine
internal import OhanaFormats

/// From a request to a run ready to begin.
public enum PlanActions {
  /// Looks at the inputs and opens the outputs.
  struct Plan: RunEffect {
    let request: RunRequest
    let purpose: RunPurpose
    let desk: RunDesk

    /// The run that this one goes on with.
    private var earlier: RunState.Kept? { desk.earlier }

    func perform(in context: RunContext) async throws -> PreparedRun {
      let options = request.options
      let inputs = context.dependencies.inputs
      let scheduler = WorkScheduler(width: options.threads ?? context.dependencies.processors.usableCount)
      let spill = context.dependencies.makeSpill(options, journal: desk.journal.withLock { $0 })
      desk.onStop { spill.close() }
      let items = desk.found.items
      let paths = items.map(\.path)
      let outputs = try desk.openOutputs(request, beside: paths, scheduler)
      let probed = try probe(items, inputs, spill)
      let sink = try purpose == .write ? SinkPlan(request, firstInput: probed.first?.format ?? .ndjson) : SinkPlan(nowhere: probed)
      let planner = planner(context.dependencies, scheduler, spill, InputMeter { [store = context.store] in store.post($0) })
      let seed = earlier?.fingerprintSeed ?? UInt64.random(in: .min ... .max)
      if let earlier {
        try check(earlier, paths)
        try await context.dispatch(CheckpointActions.Resume(kept: earlier))
      } else if desk.journal.withLock({ $0 }) != nil {
        let identity = RunIdentity(request, inputs: paths)
        try await context.dispatch(JournalActions.Open(kept: .init(request, desk, identity: identity, fingerprintSeed: seed)))
      }
      let draft = RunDraft(
        request: purpose.effective(request), probed: probed, sink: sink, threads: scheduler.width, outputs: outputs, fingerprintSeed: seed)
      let (plan, table) = try await columnsFirst(draft, planner, inputs, spill, context)
      let folders = outputs.folders.subtracting(context.state.kept?.folders ?? [])
      if context.state.kept != nil, !folders.isEmpty { try await context.dispatch(JournalActions.AddFolders(folders: folders.sorted())) }
      var run = PreparedRun(request: draft.request, found: desk.found, plan: plan, scheduler: scheduler, outputs: outputs, spill: spill)
      (run.journal, run.lock) = (desk.journal.withLock { $0 }, desk.locks.first { $0.output == request.output })
      (run.table, run.trace, run.began, run.meter) = (table, desk.trace.withLock { $0 }, desk.began, planner.meter)
      if context.state.kept?.identity != nil { run.evidence = InputEvidence(draft, plan) }
      if let earlier { try run.restore(earlier, context.dependencies.checkpoints) }
      return run
    }

    /// The earlier run was one of the same inputs, stages and versions.
    private func check(_ earlier: RunState.Kept, _ paths: [FilePath]) throws {
      guard let identity = RunIdentity(request, inputs: paths), let before = earlier.identity else {
        throw RunIdentity.conflict("an input cannot be read again")
      }
      if let reason = identity.conflict(with: before) { throw RunIdentity.conflict(reason) }
    }

    private func planner(
      _ dependencies: RunDependencies, _ scheduler: WorkScheduler, _ spill: FileSpillStore, _ meter: InputMeter
    ) -> RunPlanner {
      RunPlanner(
        inputs: dependencies.inputs, scheduler: scheduler, spill: request.onSpill.map { AnnouncedSpill(spill, $0) } ?? spill,
        announce: desk.found.items.announcer(request.onInput, inTurns: request.options.interleave), meter: meter,
        stageBytes: dependencies.stageBytes)
    }

    private func probe(_ items: [InputItem], _ inputs: any InputManaging, _ spill: FileSpillStore) throws -> [ProbedInput] {
      var probed = try inputs.probe(items, of: request)
      if request.options.resume {
        // Looked at where it is told only: it takes opening each once more.
        for index in probed.indices where probed[index].open == nil {
          probed[index].isResumable = try inputs.openText(probed[index].path, options: request.options).stream.canBeSaved
        }
      }
      return request.options.ragged == .pad ? try inputs.widen(probed, options: request.options, spill: spill) : probed
    }

    /// Plans, behind a pass for the columns alone where the output needs them first. That one ends where a stage stops reading.
    private func columnsFirst(
      _ draft: RunDraft, _ planner: RunPlanner, _ inputs: any InputManaging, _ spill: FileSpillStore, _ context: RunContext
    ) async throws -> (RunPlan, CSVColumnTable?) {
      guard draft.sink.needsColumnsFirst(draft.probed, draft.request) else { return (try planner.plan(draft), nil) }
      try request.checkOrder(readsTwice: true)
      var draft = draft
      if earlier != nil {
        // The checkpoint knows the columns.
        draft.table = CSVColumnTable()
        return (try planner.plan(draft), draft.table)
      }
      draft.probed = try draft.probed.map { try inputs.spooling($0, to: spill) }
      draft.onlyColumns = true
      var unmetered = planner
      unmetered.meter = nil
      let first = try unmetered.plan(draft)
      _ = try await context.drive(first, on: planner.scheduler)
      try first.collector?.table.settle()
      draft.onlyColumns = false
      draft.table = first.collector?.table
      return (try planner.plan(draft), draft.table)
    }
  }
}

/// What a run is for.
public enum RunPurpose: Sendable, Equatable {
  /// To write the request's output.
  case write
  /// Only to read, pass the stages, and count.
  case count
  /// To read everything, however much of it is unreadable.
  case check
  /// To write contacts that are made up to the request's output.
  case generate(GenerateOptions)

  /// Outputs appear at its end.
  var publishes: Bool {
    switch self {
    case .write, .generate: true
    case .count, .check: false
    }
  }

  /// `check` wants to know of everything.
  func effective(_ request: RunRequest) -> RunRequest {
    guard self == .check else { return request }
    var request = request
    request.options.maxRejects = .percent(100)
    request.options.onBadChunk = .skip
    return request
  }
}

extension SinkPlan {
  /// A sink that is none, for what was found.
  init(nowhere inputs: [ProbedInput]) { self.init(nowhere: inputs.first?.format ?? .ndjson) }

  /// CSV made of NDJSON, to a place where the header cannot be mended afterwards, by a chain that streams.
  func needsColumnsFirst(_ probed: [ProbedInput], _ request: RunRequest) -> Bool {
    guard format == .csv, probed.first?.format == .ndjson, request.options.columns == nil else { return false }
    if request.stages.contains(where: { $0.memoryClass == .breaker }) { return false }
    switch place {
    case .nowhere: return false
    case .standardOutput, .chunks, .sink: return true
    case .file(let path): return OutputTarget.isWrittenInPlace(path)
    }
  }
}

extension RunState.Kept {
  /// Of a run that may be killed from now on.
  ///
  /// - Parameter identity: nil until the inputs are known.
  init(_ request: RunRequest, _ desk: RunDesk, identity: RunIdentity? = nil, fingerprintSeed: UInt64 = 0) {
    let options = request.options
    let folders = [request.output, options.rejects, options.manifest, options.report, options.trace].compactMap { $0 }
    self.init(
      identity: identity, mark: desk.names.mark, folders: Set(folders.compactMap(OutputTarget.folder)).sorted(),
      locks: desk.locks.map(\.path), fingerprintSeed: fingerprintSeed, arguments: request.arguments,
      directory: FilePath("./x").absolute?.parent ?? ".")
  }
}

extension RunDesk {
  /// Where all of a run's outputs will be opened; the places of what is written behind them are looked at now.
  ///
  /// - Parameter inputs: none of which is to be overwritten.
  func openOutputs(_ request: RunRequest, beside inputs: [FilePath], _ scheduler: WorkScheduler) throws -> OutputSet {
    let options = request.options
    if let earlier { names = TemporaryNames(mark: earlier.mark) }
    let memory = MemoryPlan(total: options.memory, threads: scheduler.width, outputs: 1, holders: [])
    let outputs = try OutputSet(options, inputs: inputs, pool: scheduler, compressors: memory.compressors, names: names)
    onStop { [self] in if keepsState { outputs.leave() } else { outputs.discard() } }
    if let manifest = options.manifest { try outputs.reserve(manifest) }
    for path in [options.trace, options.report].compactMap({ $0 }) where !wasWrittenEarlier(path) { try outputs.reserve(path) }
    mayReport = options.report != nil
    if let path = options.trace {
      let log = TraceLog(try OutputTarget(path, overwrites: options.overwrite || wasWrittenEarlier(path), names: names), began: began)
      trace.withLock { $0 = log }
      onClose { log.discard() }
    }
    return outputs
  }

  /// The run that this one goes on with wrote this file when it was ended, and nobody has changed it since.
  func wasWrittenEarlier(_ path: FilePath) -> Bool {
    guard let earlier, let absolute = path.absolute else { return false }
    return earlier.told.contains(.init(path: absolute, content: .init(of: path)))
  }
}
