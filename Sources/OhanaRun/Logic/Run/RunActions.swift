internal import OhanaCore
internal import OhanaEngine

/// A run's course.
public enum RunActions {
  /// The plan stands, the first record is about to be read.
  struct Begin: PhaseUpdater {
    static let follows: Set<RunState.Phase> = [.planning]
    let plan: [String]
    let bytesTotal: Int?

    func update(_ state: inout RunState) {
      state.phase = .running
      state.plan = plan
      state.progress.bytesTotal = bytesTotal
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
      state.notes += notes
    }
  }

  /// The run has failed; nothing but rejects and report appears.
  struct Fail: PhaseUpdater {
    static let follows: Set<RunState.Phase> = [.planning, .running, .finishing, .committing]
    let failure: RunState.Failure

    func update(_ state: inout RunState) {
      state.phase = .failed
      state.failure = failure
    }
  }

  /// What a run that failed on its way had read.
  struct CountFailed: RunUpdater {
    let read: Int
    let rejected: Int
    let reasons: [String: Int]

    func update(_ state: inout RunState) {
      state.books.read = read
      state.books.rejected = rejected
      state.books.rejectReasons = reasons
    }
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
      try await context.dispatch(Begin(plan: run.lines, bytesTotal: run.bytesTotal))
      do {
        let counts = try await context.drive(run.plan, on: run.scheduler)
        let books = RunBooks(run, counts: counts)
        try await context.dispatch(Finish(books: books, notes: run.notes(books)))
        try run.check(books)
        try await context.perform(PublishActions.Commit(run: run))
      } catch {
        let totals = run.plan.ledger.totals
        if context.state.phase < .finishing {
          try await context.dispatch(CountFailed(read: totals.read + totals.rejected, rejected: totals.rejected, reasons: totals.reasons))
        }
        try? await run.outputs.publishRejects()
        throw error
      }
    }
  }
}

extension RunContext {
  /// Runs a pipeline to its end, unless the run is interrupted before.
  func drive(_ plan: RunPlan, on scheduler: WorkScheduler) async throws -> FlowCounts {
    let began = dependencies.clock()
    let meter = ProgressMeter(began: began) { [store] in store.post($0) }
    let runner = PipelineRunner(
      plan.pipeline, batchCount: plan.memory.batchCount, batchBytes: plan.memory.batchBytes, scheduler: scheduler
    ) { meter.add($0) }
    let listener = store.listen { _, new in
      if new.interruption != nil { runner.cancel(Self.interrupted) }
    }
    defer { store.forget(listener) }
    if state.interruption != nil { throw Self.interrupted }
    return try await runner.run()
  }

  static let interrupted = OhanaError(.io, "cancelled", "the run was cancelled")
}
