public import OhanaCore
internal import OhanaEngine
internal import OhanaFormats
internal import Synchronization

/// What became of a run.
public struct RunOutcome: Sendable {
  public var books = RunBooks()
  public var error: OhanaError?
  /// Things worth knowing that are no errors.
  public var notes: [String] = []
  /// The signal that ended it.
  public var signal: Int32?
}

/// Makes runs. Holds nothing.
public struct RunManager: Sendable {
  /// What a run is for.
  public enum Purpose: Sendable {
    /// To write the request's output.
    case write
    /// Only to read, pass the stages, and count.
    case count
    /// To read everything, however much of it is unreadable.
    case check
  }
  public init() {}

  public func makeRun(_ request: RunRequest, purpose: Purpose = .write) -> Run { Run(request, purpose: purpose) }
}

/// One run: begun once, cancelled any time, asked for its progress from anywhere.
public final class Run: Sendable {
  public struct Progress: Sendable, Equatable {
    /// Compressed bytes of the inputs.
    public var bytesRead = 0
    /// nil where an input has no size.
    public var bytesTotal: Int?
    public var records = 0
    public var seconds = 0.0
  }

  private struct State {
    var runner: PipelineRunner?
    var signal: Int32?
    var isCancelled = false
    var hasReservedReport = false
    var progress = Progress()
    var began: UInt64 = 0
  }

  private let request: RunRequest
  private let purpose: RunManager.Purpose
  private let state = Mutex(State())

  init(_ request: RunRequest, purpose: RunManager.Purpose) {
    self.request = request
    self.purpose = purpose
  }

  public var progress: Progress {
    state.withLock { state in
      var progress = state.progress
      progress.seconds = state.began == 0 ? 0 : Double(monotonicNanoseconds() - state.began) / 1e9
      return progress
    }
  }

  /// Ends the run: what it made is thrown away.
  ///
  /// - Parameter signal: why, for ``RunOutcome/signal``.
  public func cancel(signal: Int32? = nil) {
    let runner = state.withLock { state in
      state.signal = state.signal ?? signal
      state.isCancelled = true
      return state.runner
    }
    runner?.cancel(Self.cancelled)
  }

  private static let cancelled = OhanaError(.io, "cancelled", "the run was cancelled")

  /// Runs to the end. Never throws: the outcome says what went wrong.
  public func execute() async -> RunOutcome {
    var outcome = RunOutcome()
    state.withLock { $0.began = monotonicNanoseconds() }
    do {
      try await execute(&outcome)
    } catch let error as OhanaError {
      outcome.error = error
    } catch {
      outcome.error = OhanaError(.io, "unknown", "\(error)")
    }
    outcome.books.seconds = progress.seconds
    if let path = request.options.report, mayReport(outcome, at: path) {
      do {
        try ReportManager().write(outcome, to: path, overwrites: request.options.overwrite)
      } catch let error as OhanaError {
        outcome.error = outcome.error ?? error
      } catch {}
    }
    outcome.signal = state.withLock { $0.signal }
    return outcome
  }

  /// A report takes the place of no input, no other output, and without `--overwrite` of no file; a run that failed before it looked at
  /// its outputs is looked at here.
  private func mayReport(_ outcome: RunOutcome, at path: FilePath) -> Bool {
    if state.withLock({ $0.hasReservedReport }) { return outcome.error?.code != "output-twice" }
    do {
      try OutputChecks(inputs: request.inputs, overwrites: request.options.overwrite).check(path)
      return outcome.error.map { !$0.code.hasPrefix("output-") } ?? true
    } catch {
      return false
    }
  }

  private func execute(_ outcome: inout RunOutcome) async throws {
    let options = request.options
    let threads = options.threads ?? ProcessorManager().usableCount
    let scheduler = WorkScheduler(width: threads)
    let spill = FileSpillStore(folder: options.tempDir)
    defer { spill.close() }
    let manager = InputManager()
    let paths = try request.files ?? InputResolver.resolve(request.inputs, filesFrom: request.filesFrom)
    let outputs = try OutputSet(
      options, inputs: paths, pool: scheduler,
      compressors: MemoryPlan(total: options.memory, threads: threads, outputs: 1, weights: 0).compressors)
    defer { outputs.discard() }
    if let report = options.report {
      try outputs.reserve(report)
      state.withLock { $0.hasReservedReport = true }
    }
    var probed = try manager.probe(paths, options: options)
    if options.ragged == .pad { probed = try manager.widen(probed, options: options, spill: spill) }
    let sink = try self.sink(probed)
    let planner = RunPlanner(inputs: manager, scheduler: scheduler, spill: spill)
    let request = effective(self.request)
    var table: CSVColumnTable?
    if needsColumnsFirst(probed, sink) {
      probed = try probed.map { try manager.spool($0, to: spill) }
      let first = try planner.plan(request, probed: probed, sink: sink, threads: threads, outputs: outputs, onlyColumns: true)
      _ = try await run(first, scheduler: scheduler)
      table = first.collector?.table
    }
    let plan = try planner.plan(request, probed: probed, sink: sink, threads: threads, outputs: outputs, table: table)
    state.withLock {
      $0.progress.bytesTotal = probed.reduce(0 as Int?) { total, input in total.flatMap { total in input.size.map { total + $0 } } }
    }
    do {
      let counts = try await run(plan, scheduler: scheduler)
      outcome.books = RunBooks(
        stages: plan.stages.map(\.stage), steps: plan.pipeline.steps, counts: counts, ledger: plan.ledger.totals, sources: paths,
        sink: plan.sinkStep)
      outcome.notes += Self.notes(outcome.books, probed)
      try check(outcome.books, plan: plan)
      try await outputs.finish()
      if let table = plan.collector?.table { try await outputs.widen(to: table.columns.names, options: options) }
      outcome.books.outputs = try await outputs.publish()
    } catch {
      let ledger = plan.ledger.totals
      outcome.books.rejectReasons = ledger.reasons
      outcome.books.rejected = ledger.rejected
      outcome.books.read = ledger.read + ledger.rejected
      try? await outputs.publishRejects()
      throw error
    }
    if let fault = plan.ledger.totals.inputs.lazy.compactMap(\.fault).first {
      var fault = fault
      fault.fix = "what was whole before it is published"
      outcome.error = fault
    }
  }

  private func sink(_ probed: [ProbedInput]) throws -> SinkPlan {
    let format = probed.first?.format ?? .ndjson
    return purpose == .write ? try SinkPlan(request, firstInput: format) : SinkPlan(nowhere: format)
  }

  /// CSV made of NDJSON, to a place where the header cannot be mended afterwards, by a chain that streams.
  private func needsColumnsFirst(_ probed: [ProbedInput], _ sink: SinkPlan) -> Bool {
    guard sink.format == .csv, probed.first?.format == .ndjson, request.options.columns == nil else { return false }
    if request.stages.contains(where: { $0.memoryClass == .breaker }) { return false }
    switch sink.place {
    case .nowhere: return false
    case .standardOutput, .chunks: return true
    case .file(let path): return OutputTarget.isWrittenInPlace(path)
    }
  }

  /// `check` wants to know of everything.
  private func effective(_ request: RunRequest) -> RunRequest {
    guard purpose == .check else { return request }
    var request = request
    request.options.maxRejects = .percent(100)
    request.options.onBadChunk = .skip
    return request
  }

  private func run(_ plan: RunPlan, scheduler: WorkScheduler) async throws -> FlowCounts {
    let runner = PipelineRunner(
      plan.pipeline, batchCount: plan.memory.batchCount, batchBytes: plan.memory.batchBytes, scheduler: scheduler
    ) { [self] batch in
      state.withLock { state in
        state.progress.bytesRead = max(state.progress.bytesRead, batch.inputBytesRead)
        state.progress.records += batch.recordCount
      }
    }
    let isCancelled = state.withLock { state in
      state.runner = runner
      return state.isCancelled
    }
    if isCancelled { throw Self.cancelled }
    return try await runner.run()
  }

  /// What stands between a finished pipeline and its publication.
  private func check(_ books: RunBooks, plan: RunPlan) throws {
    if let imbalance = books.imbalance {
      throw OhanaError(.books, "unbalanced", "the books do not balance: \(imbalance)", fix: "nothing is published; please report this")
    }
    if let found = plan.found?(), !books.stoppedEarly, books.read > books.rejected {
      for (field, isFound) in zip(plan.schema.sourceFields, found.fields) where field.mustExist && !isFound {
        throw OhanaError(
          .usage, "unknown-field", field: field.name.description, "no record of the input has this field",
          fix: RecordSchema.suggestion(for: field.name.whole, among: found.names) + ", or --optional \(field.name) where it may be missing")
      }
    }
    let options = request.options
    if let least = options.minRecords, books.written < least {
      throw OhanaError(
        .guardFailed, "min-records", "only \(Quantity.grouped(books.written)) records would be written, fewer than --min-records \(least)",
        fix: "nothing is published")
    }
    if let percent = options.maxDrop, books.read > 0 {
      let lost = Double(max(0, books.read - books.written)) / Double(books.read) * 100
      if lost > percent {
        throw OhanaError(
          .guardFailed, "max-drop",
          "\(Quantity.fixed(lost, 1)) % of the records would be dropped, more than --max-drop \(Quantity.fixed(percent, 1))%",
          fix: "nothing is published")
      }
    }
  }

  /// Inputs that held nothing, where all were read.
  private static func notes(_ books: RunBooks, _ inputs: [ProbedInput]) -> [String] {
    if books.stoppedEarly { return [] }
    return zip(books.inputs, inputs).compactMap { book, input in
      guard book.read == 0, book.fault == nil else { return nil }
      return "\(book.name): " + (input.isEmpty ? "the file is empty" : "there is no record in it")
    }
  }
}

extension RunManager {
  /// What a request would do, for people; reads no further than the inputs' first bytes.
  public func describe(_ request: RunRequest) throws -> [String] {
    let options = request.options
    let threads = options.threads ?? ProcessorManager().usableCount
    let manager = InputManager()
    let paths = try request.files ?? InputResolver.resolve(request.inputs, filesFrom: request.filesFrom)
    let probed = try manager.probe(paths, options: options)
    let sink = try SinkPlan(request, firstInput: probed.first?.format ?? .ndjson)
    let scheduler = WorkScheduler(width: threads)
    let spill = FileSpillStore(folder: options.tempDir)
    defer { spill.close() }
    var dry = options
    dry.rejects = nil
    var request = request
    request.options = dry
    let plan = try RunPlanner(inputs: manager, scheduler: scheduler, spill: spill).plan(
      request, probed: probed, sink: sink, threads: threads, outputs: OutputSet.dry(options, pool: scheduler))
    return PlanText.lines(plan, options: options)
  }
}
