internal import OhanaCore
internal import OhanaEngine
internal import OhanaFormats

/// A run's course.
public enum RunActions {
  /// The plan stands, the first record is about to be read.
  struct Begin: PhaseUpdater {
    static let follows: Set<RunState.Phase> = [.planning]
    let plan: [String]
    let bytesTotal: Int?
    /// Seconds between two checkpoints; nil where none can be taken.
    var checkpointInterval: Double?
    var notes: [String] = []

    func update(_ state: inout RunState) {
      state.phase = .running
      state.notes += notes
      state.plan = plan
      state.progress.bytesTotal = bytesTotal
      state.checkpoints.interval = checkpointInterval
    }
  }

  /// The last record has passed.
  struct Finish: PhaseUpdater {
    static let follows: Set<RunState.Phase> = [.running]
    let books: RunBooks
    let notes: [String]

    func update(_ state: inout RunState) {
      state.phase = .finishing
      state.books = books
      state.progress.records = books.read - books.rejected
      if !books.stoppedEarly { state.progress.bytesRead = state.progress.bytesTotal ?? state.progress.bytesRead }
      state.loadInputs()
      state.notes += notes
    }
  }

  /// The run has failed; nothing but rejects and report appears.
  struct Fail: PhaseUpdater {
    static let follows: Set<RunState.Phase> = [.planning, .running, .finishing, .committing]
    let failure: RunState.Failure
    /// What it is about; inputs are known by it.
    var source: FilePath?

    init(failure: RunState.Failure) { self.failure = failure }
    init(_ error: any Error) { (failure, source) = (.init(error), (error as? OhanaError)?.location?.source) }

    func update(_ state: inout RunState) {
      state.phase = .failed
      state.failure = failure
      state.endInputs(blaming: source, failure)
    }
  }

  /// How far the records of a run had come that failed on its way.
  struct CountFailed: RunUpdater {
    let books: RunBooks
    func update(_ state: inout RunState) { state.books = books }
  }

  /// Something worth knowing that is no error.
  struct Note: RunUpdater {
    let text: String
    /// Said once, however often it comes to that.
    func update(_ state: inout RunState) { if !state.notes.contains(text) { state.notes.append(text) } }
  }

  /// The run is over, well or not.
  struct End: RunUpdater {
    let seconds: Double
    func update(_ state: inout RunState) {
      state.progress.seconds = seconds
      state.books.seconds = seconds
    }
  }

  /// From the first record to published outputs.
  struct Run: RunEffect {
    let run: PreparedRun

    func perform(in context: RunContext) async throws {
      let interval = run.mayCheckpoint ? context.dependencies.checkpointInterval : nil
      try await context.dispatch(
        Begin(
          plan: run.lines, bytesTotal: run.bytesTotal, checkpointInterval: interval,
          notes: run.request.orderNotes + run.skippedNotes + run.plan.notes + run.resumeNotes(context.state.kept) + run.temporaryNotes))
      defer { run.meter?.flush() }
      do {
        try await context.untilInterrupted { try await run.begin() }
        let counts = try await context.drive(run.plan, on: run.scheduler, run)
        run.meter?.flush()
        try run.outputs.settleColumns()
        let books = RunBooks(run, counts: counts)
        try await context.dispatch(Finish(books: books, notes: run.notes(books)))
        try run.check(books)
        try await context.untilInterrupted { try await run.finish() }
        try await context.perform(PublishActions.Commit(publication: run.publication))
      } catch {
        if context.state.phase < .finishing { try await context.dispatch(CountFailed(books: RunBooks(failed: run))) }
        await run.request.sink?.abort()
        // A run that is gone on with still writes to them; where names are missing, the rejects wait with the others.
        if !context.state.hasLeft, !context.state.isHalted { try? await run.outputs.publishRejects() }
        throw run.told(error)
      }
    }
  }
}

extension RunContext {
  /// Waits for a caller's work, in a task that is cancelled when the run is to end.
  fileprivate func untilInterrupted(_ body: @escaping @Sendable () async throws -> Void) async throws {
    let task = Task { try await body() }
    let listener = store.listen { _, new in if new.interruption != nil { task.cancel() } }
    defer { store.forget(listener) }
    if state.interruption != nil { task.cancel() }
    try await task.value
  }

  /// Runs a pipeline to its end, unless the run is interrupted before; takes checkpoints on the way.
  ///
  /// - Parameter run: what checkpoints are taken of; nil for a pass that is not worth one.
  func drive(_ plan: RunPlan, on scheduler: WorkScheduler, _ run: PreparedRun? = nil) async throws -> FlowCounts {
    let began = dependencies.clock()
    run?.trace?.name(plan)
    let meter = ProgressMeter(began: began) { [store] in store.post($0) }
    let turns = Locked<PipelineRunner?>(nil)
    defer {
      turns.withLock { $0 = nil }
      (plan.pipeline.source as? InterleavedSource)?.close()
    }
    let runner = PipelineRunner(
      plan.pipeline, batchCount: plan.memory.batchCount, batchBytes: plan.memory.batchBytes, scheduler: scheduler,
      counts: run?.counts, trace: run?.trace, onEnd: run.flatMap { atEnd($0, turns) }
    ) {
      meter.add($0)
      run?.meter?.flush(ifDue: true)
    }
    turns.withLock { $0 = runner }
    meter.watch { [weak runner] in runner.map { plan.progress($0, since: began) } }
    let reserve = plan.stages.first?.memory.reserve
    let listener = store.listen { [store] old, new in
      if new.isMemoryShort, !old.isMemoryShort { reserve?.close() }
      if new.isLeaving, !old.isLeaving, let run {
        Self.checkpoint(run, runner, store)
      } else if new.interruption != nil, !new.isLeaving {
        runner.cancel(OhanaError.cancelled)
        (plan.pipeline.source as? InterleavedSource)?.close()
      } else if new.checkpoints.wanted > old.checkpoints.wanted, !new.isLeaving, let run {
        Self.checkpoint(run, runner, store)
      }
    }
    defer { store.forget(listener) }
    if state.isMemoryShort { reserve?.close() }
    if state.interruption != nil { throw OhanaError.cancelled }
    do { return try await runner.run() } catch {
      run?.countsAtFailure.withLock { $0 = runner.counts }
      throw plan.named(error)
    }
  }

  /// Brings the flow to rest, takes a checkpoint if it came to that, and goes on.
  private static func checkpoint(_ run: PreparedRun, _ runner: PipelineRunner, _ store: RunStore) {
    runner.pause { rests in if rests { takeCheckpoint(run, runner, store) } else { goOn(runner, store) } }
  }

  /// At rest. A checkpoint that fails leaves the one before in force.
  private static func takeCheckpoint(_ run: PreparedRun, _ runner: PipelineRunner, _ store: RunStore) {
    Task {
      do { try await store.perform(CheckpointActions.Take(run: run, counts: runner.counts)) } catch {
        store.post(RunActions.Note(text: "no checkpoint could be taken: \(error)"))
      }
      goOn(runner, store)
    }
  }

  private static func goOn(_ runner: PipelineRunner, _ store: RunStore) {
    if store.state.isLeaving { runner.cancel(OhanaError.cancelled) } else { runner.proceed() }
  }

  /// What happens when everything is read and nothing that was held back streams out yet: a field that is not there is told before anything
  /// else is. It is also the last moment for a checkpoint; one is taken where somebody means to go on with the run, or it has gone on for so
  /// long that there is one already. nil where there is nothing to be done.
  private func atEnd(_ run: PreparedRun, _ runner: Locked<PipelineRunner?>) -> (@Sendable () -> Void)? {
    guard run.mayCheckpoint || run.plan.stages.contains(where: { $0.stage.memoryClass == .breaker }) else { return nil }
    return { [store] in
      guard let runner = runner.withLock({ $0 }) else { return }
      do { try run.checkFields() } catch { return runner.cancel(error) }
      let state = store.state
      guard run.mayCheckpoint, state.isToResume || state.kept?.checkpoint != nil else { return Self.goOn(runner, store) }
      Self.takeCheckpoint(run, runner, store)
    }
  }
}

extension RunPlan {
  /// Errors that only a stage knows become ours, with what it cannot know.
  fileprivate func named(_ error: any Error) -> any Error {
    guard let error = error as? StepError else { return error }
    if var fault = error.error as? RecordFault {
      let name = Int(fault.origin.source) < inputs.count ? " of \(inputs[Int(fault.origin.source)].path)" : ""
      fault.error.problem += " (record \(Quantity.grouped(Int(fault.origin.ordinal) + 1))\(name))"
      return fault.error
    }
    let stage = pipeline.steps[error.step].stage.map { "the stage '\(stages[$0].stage.text)'" } ?? "the output"
    return OhanaError(.io, "processor-failed", "\(stage) failed: \(error.error)")
  }
}
