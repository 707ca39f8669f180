internal import OhanaCore
internal import OhanaEngine
internal import OhanaFormats

/// A planned run with all that is open for it: what no state can hold.
struct PreparedRun: @unchecked Sendable {  // because the evidence is touched by one checkpoint at a time
  let request: RunRequest
  let found: FoundInputs
  let plan: RunPlan
  let scheduler: WorkScheduler
  let outputs: OutputSet
  let spill: FileSpillStore
  var journal: Journal?
  /// Of the main output: names the journal's folder.
  var lock: OutputLock?
  /// nil where an input cannot be read again.
  var evidence: InputEvidence?
  /// Columns that a pass of its own has found.
  var table: CSVColumnTable?
  var trace: TraceLog?
  /// On the monotonic clock.
  var began: UInt64 = 0
  /// Tells how inputs go on.
  var meter: InputMeter?
  /// Of an earlier run that this one goes on with.
  var counts: FlowCounts?
  /// Of the batches that had done their work when the run failed; nil before.
  let countsAtFailure = Locked<FlowCounts?>(nil)

  var publication: Publication {
    Publication(outputs: outputs, options: request.options, sink: plan.sink, began: began, fault: fault)
  }

  var lines: [String] { PlanText.lines(plan, options: request.options) }

  /// Compressed; nil where one has no size.
  var bytesTotal: Int? {
    plan.inputs.reduce(0 as Int?) { total, input in total.flatMap { total in input.size.map { total + $0 } } }
  }

  /// The first input that was left out, or whose rest was.
  var fault: OhanaError? {
    if var fault = skipped.first {
      let others = skipped.count > 1 ? " (and \(Quantity.grouped(skipped.count - 1)) more inputs)" : ""
      (fault.problem, fault.fix) = (fault.problem + others, "the other inputs are published without it")
      return fault
    }
    var fault = plan.ledger.totals.inputs.lazy.compactMap(\.fault).first
    fault?.fix = "what was whole before it is published"
    return fault
  }

  /// Inputs that were left out since they cannot be read.
  private var skipped: [OhanaError] { found.leftOut.map(\.error) }

  /// At the run's beginning: it may not come to its end.
  var skippedNotes: [String] { skipped.prefix(20).map { "left out, since it cannot be read: \($0)" } }

  /// Inputs whose names mislead, empty lists, and inputs that held nothing, where all were read.
  func notes(_ books: RunBooks) -> [String] {
    let misnamed = (plan.inputs.misnamedNote.map { [$0] } ?? []) + plan.emptyLists.map { "\($0): there is no record in this list" }
    if books.stoppedEarly { return misnamed }
    return misnamed
      + zip(books.inputs, plan.inputs).compactMap { book, input in
        guard book.read == 0, book.fault == nil else { return nil }
        return "\(book.name): " + (input.isEmpty ? "the file is empty" : "there is no record in it")
      }
  }

  /// A folder for temporary files that lies in memory is of little use where something may go there.
  var temporaryNotes: [String] {
    let maySpill = plan.stages.contains { $0.stage.memoryClass != .streaming }
    guard maySpill || request.options.resume, spill.isMemoryBacked else { return [] }
    return ["\(spill.folder) lies in memory (tmpfs), which --memory does not count: name a folder on disk with --temp-dir"]
  }

  /// Tells the caller's sink, if there is one, that records are about to come.
  func begin() async throws {
    guard let sink = request.sink else { return }
    let sources = plan.inputs.map(\.path)
    try await SinkStage.named { try await sink.begin(sources: sources) }
  }

  /// Tells the caller's sink that it has all.
  func finish() async throws {
    guard let sink = request.sink else { return }
    try await SinkStage.named { try await sink.finish() }
  }

  /// An output written in place has got records already, whatever a message says that was made for files.
  func told(_ error: any Error) -> any Error {
    guard var error = error as? OhanaError, let written = outputs.recordsInPlace, written > 0 else { return error }
    let place = request.output == nil || request.output == "-" ? "standard output" : request.output!.description
    let truth = "\(ReportText.records(written)) \(written == 1 ? "is" : "are") already on \(place)"
    error.problem = error.problem.replacing("nothing is published", with: truth)
    error.fix = error.fix.replacing("nothing is published", with: truth)
    return error
  }

  /// All is read: fields that stages ask for were somewhere in it.
  func checkFields() throws {
    guard let found = plan.found?(), plan.ledger.totals.read > 0 else { return }
    for (field, isFound) in zip(plan.schema.sourceFields, found.fields) where field.mustExist && !isFound {
      throw OhanaError(
        .usage, "unknown-field", field: field.name.description, "no record of the input has this field",
        fix: RecordSchema.suggestion(for: field.name.whole, among: found.names) + ", or --optional \(field.name) where it may be missing")
    }
    let slots = Set(zip(plan.schema.sourceFields, found.fields).lazy.filter(\.1).map(\.0.slot))
    if let demand = plan.schema.demands.first(where: { !$0.isMet(slots, found.names) }) { throw demand.problem(found.names) }
  }

  /// What stands between a finished pipeline and its publication.
  func check(_ books: RunBooks) throws {
    if let imbalance = books.imbalance {
      throw OhanaError(.books, "unbalanced", "the books do not balance: \(imbalance)", fix: "nothing is published; please report this")
    }
    if !books.stoppedEarly { try checkFields() }
    // Rows without a cell are blank lines, which nobody reads back.
    if plan.sink.format == .csv, plan.sink.place != .nowhere, books.written > 0, plan.writesNoColumn {
      throw OhanaError(
        .badInput, "no-columns", "the records to be written have no field, and CSV cannot hold such records",
        fix: "name columns with --columns, or write NDJSON")
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
}

extension RunPlan {
  /// What is written as CSV is known, and has no column.
  fileprivate var writesNoColumn: Bool {
    if let collector { return collector.table.columns.names.isEmpty }
    return !schema.layout.followsSource && schema.layout.entries.isEmpty
  }
}

extension RunBooks {
  /// Draws the books up when a run's pipeline has ended.
  init(_ run: PreparedRun, counts: FlowCounts) {
    self.init(
      stages: run.plan.stages.map(\.stage), steps: run.plan.pipeline.steps, counts: counts, ledger: run.plan.ledger.totals,
      sources: run.plan.inputs.map(\.path), sink: run.plan.sinkStep)
    for (path, count) in run.request.options.readRetries?.counts ?? [:] {
      if let index = run.plan.inputs.firstIndex(where: { $0.path == path }) { inputs[index].warnings["read-retried"] = count }
    }
  }

  /// How far records had come when a run failed. What was under way then is counted as read only: such books do not balance.
  init(failed run: PreparedRun) {
    self.init(run, counts: run.countsAtFailure.withLock { $0 } ?? run.counts ?? FlowCounts(steps: run.plan.pipeline.steps.count))
    // Keys that have not been met may have come later.
    for index in stages.indices { stages[index].clusters = nil }
  }
}

/// What is to be put away when a run is over, however it ends; filled while the run is planned.
final class RunDesk: Sendable {
  private struct Things {
    var stoppers: [@Sendable () -> Void] = []
    var closers: [@Sendable () -> Void] = []
    var abandoners: [@Sendable () -> Void] = []
    var names = TemporaryNames.random()
    var mayReport = false
    var keepsState = false
    var isPlanned = false
    var earlier: RunState.Kept?
    var earlierFolder: FilePath?
    var began: UInt64 = 0
    var locks: [OutputLock] = []
    var found = FoundInputs()
  }
  private let things = Locked(Things())
  /// The run's journal, once there is one.
  let journal = Locked<Journal?>(nil)
  let trace = Locked<TraceLog?>(nil)
  /// When the run began, on the monotonic clock.
  var began: UInt64 {
    get { things.withLock { $0.began } }
    set { things.withLock { $0.began = newValue } }
  }

  /// Of all files the run is to write, until all is put away.
  var locks: [OutputLock] {
    get { things.withLock { $0.locks } }
    set { things.withLock { $0.locks = newValue } }
  }

  /// What is going to be read, and what was left out.
  var found: FoundInputs {
    get { things.withLock { $0.found } }
    set { things.withLock { $0.found = newValue } }
  }

  /// Inputs were looked at, and all outputs are open.
  var isPlanned: Bool {
    get { things.withLock { $0.isPlanned } }
    set { things.withLock { $0.isPlanned = newValue } }
  }

  /// The run that this one goes on with.
  var earlier: RunState.Kept? {
    get { things.withLock { $0.earlier } }
    set { things.withLock { $0.earlier = newValue } }
  }

  /// The state folder of an earlier run, if that is what is kept.
  var earlierFolder: FilePath? {
    get { things.withLock { $0.earlierFolder } }
    set { things.withLock { $0.earlierFolder = newValue } }
  }

  /// What was kept for a next run to go on from stays.
  var keepsState: Bool {
    get { things.withLock { $0.keepsState } }
    set { things.withLock { $0.keepsState = newValue } }
  }

  /// The report's place was found free.
  var mayReport: Bool {
    get { things.withLock { $0.mayReport } }
    set { things.withLock { $0.mayReport = newValue } }
  }

  /// Of the private files beside the outputs, by all who make some.
  var names: TemporaryNames {
    get { things.withLock { $0.names } }
    set { things.withLock { $0.names = newValue } }
  }

  /// - Parameter body: gives back what the run has used, as soon as it is known how it ends.
  func onStop(_ body: @escaping @Sendable () -> Void) { things.withLock { $0.stoppers.append(body) } }

  /// - Parameters:
  ///   - body: puts something away when the run has ended, and all is told.
  ///   - abandoning: does what of it can be done from any thread while the run goes on and ``close()`` may be under way, since the process is
  ///     about to end.
  func onClose(_ body: @escaping @Sendable () -> Void, abandoning: (@Sendable () -> Void)? = nil) {
    things.withLock { things in
      things.closers.append(body)
      if let abandoning { things.abandoners.append(abandoning) }
    }
  }

  /// Takes the names of all that is temporary away, the last first, while the run may still go on. May be called again.
  func abandon() {
    let (abandoners, names, keepsState) = things.withLock { ($0.abandoners, $0.names, $0.keepsState) }
    if !keepsState { names.removeAll() }
    for abandoner in abandoners.reversed() { abandoner() }
  }

  /// Gives back what the run has used, the last first: of a run that failed for want of room, the report needs that room. May be called
  /// again.
  func stop() {
    let stoppers = things.withLock { things in
      defer { things.stoppers = [] }
      return things.stoppers
    }
    for stopper in stoppers.reversed() { stopper() }
  }

  /// Puts all away, the last first. May be called again.
  func close() {
    stop()
    let closers = things.withLock { things in
      defer { things.closers = [] }
      return things.closers
    }
    for closer in closers.reversed() { closer() }
    // There is nothing left to abandon, and what would be holds this desk.
    things.withLock { $0.abandoners = [] }
  }
}
