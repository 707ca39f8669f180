public import OhanaCore
internal import OhanaEngine
internal import OhanaFormats

/// One run from request to final state.
///
/// ```swift
/// let session = RunSession(request)
/// session.store.listen { old, new in … }
/// let state = await session.run()
/// ```
public final class RunSession: Sendable {
  /// Holds the run's state: listen to it, or post changes that ``run(observes:)`` does not make by itself.
  public let store: RunStore
  private let request: RunRequest
  private let purpose: RunPurpose
  private let dependencies: RunDependencies
  private let desk = RunDesk()

  /// Opens nothing yet.
  ///
  /// - Parameters:
  ///   - request: what is to be done.
  ///   - purpose: whether outputs are written at all.
  ///   - dependencies: managers and clocks; tests give others.
  public init(_ request: RunRequest, purpose: RunPurpose = .write, dependencies: RunDependencies = RunDependencies()) {
    var request = request
    let retries = ReadRetries(pauses: dependencies.readPauses)
    request.options.readRetries = retries
    self.request = request.inLinks
    self.purpose = purpose
    self.dependencies = dependencies
    store = dependencies.makeStore(request.options, journal: desk.journal, trace: desk.trace)
    // Nobody who wants the run to end waits for a disk.
    store.listen { _, new in if new.interruption != nil { retries.end() } }
  }

  /// Runs to the end; called once. Never throws: the state says what went wrong.
  ///
  /// - Parameter observes: signals of the process end the run; false where the caller dispatches what it wants.
  public func run(observes: Bool = true) async -> RunState {
    let began = dependencies.clock()
    desk.began = began
    store.start()
    let observers = observes ? dependencies.makeObservers(of: store, request.options, since: began) : []
    defer { withExtendedLifetime(observers) {} }
    do {
      try request.checkOrder()
      try request.checkTemporaryFolder()
      if purpose.publishes { try request.checkManifest() }
      try await store.perform(LockActions.Take(request: request, purpose: purpose, desk: desk))
      if purpose.publishes, let commit = try await store.perform(JournalActions.Hold(request: request, desk: desk)) {
        try await store.dispatch(PublishActions.Published(commit: commit))
      } else if case .generate(let options) = purpose {
        try await store.perform(GenerateActions.Generate(request: request, options: options, desk: desk))
      } else {
        try await store.perform(InputActions.Find(request: request, desk: desk))
        let plan = try await store.perform(PlanActions.Plan(request: request, purpose: purpose, desk: desk))
        // Whoever was asked to end before it was known what is kept leaves it.
        if desk.earlier != nil, let interruption = store.state.interruption, interruption.signal != SIGINT { throw OhanaError.cancelled }
        (desk.isPlanned, desk.keepsState) = (true, false)
        try await store.perform(RunActions.Run(run: plan))
      }
    } catch {
      // A run that is published cannot fail any more.
      try? await store.dispatch(RunActions.Fail(request.judged(error, purpose)))
    }
    try? await store.dispatch(RunActions.End(seconds: Double(dependencies.clock() - began) / 1e9))
    if store.state.hasLeft || store.state.isHalted { desk.keepsState = true }
    desk.stop()
    try? await store.perform(ReportActions.Write(request: request, desk: desk))
    // A run that was never planned has nothing to trace, and its places may be somebody else's.
    do {
      if desk.isPlanned { try desk.trace.withLock { $0 }?.finish() }
      if store.state.hasLeft, let tell = request.options.trace.flatMap({ JournalActions.Tell($0) }) { try await store.dispatch(tell) }
    } catch {
      try? await store.dispatch(ReportActions.Fail(failure: .init(error)))
    }
    desk.close()
    return store.state
  }

  /// The command line of the run that was ended before it had published `output`, and the folder it was given in; nil if there is none.
  ///
  /// - Throws: `locked`/`damaged-checkpoint` if it cannot be read.
  public static func leftover(
    at output: FilePath, dependencies: RunDependencies = RunDependencies()
  ) throws -> (arguments: [FilePath], directory: FilePath)? {
    guard let folder = try dependencies.locks.stateFolder(of: output) else { return nil }
    guard fileStatus(folder, followsLinks: false) != nil else {
      throw OhanaError(
        .usage, "state-gone", at: .init(output), "a run to this output was ended, but what it kept in \(folder) is gone",
        fix: "give the whole command")
    }
    let read = dependencies.journals.read(folder, kinds: JournalActions.kinds)
    guard let kept = JournalActions.fold(read?.changes ?? []).kept else {
      if read == nil, dependencies.journals.holdsCheckpoint(folder) { throw CheckpointReader.damaged }
      return nil
    }
    return (kept.arguments, kept.directory)
  }

  /// Ends the run: what it made is thrown away.
  public func cancel(signal: Int32 = SIGINT) { store.post(InterruptActions.Interrupt(signal: signal)) }

  /// Takes away all that is temporary while the run still goes on, or ends by itself: for a process that is about to end.
  public func abandon() {
    let state = store.state
    // The next run finishes what has begun to appear.
    if state.hasLeft || state.phase == .committing || state.isHalted { desk.keepsState = true }
    desk.abandon()
  }

  /// Holds the files of a published set against its manifest.
  ///
  /// - Returns: a line for each file, and whether all are as they were published.
  /// - Throws: `io`; `badInput` for what is no manifest.
  public static func check(
    manifest path: FilePath, dependencies: RunDependencies = RunDependencies()
  ) throws -> (lines: [String], isWhole: Bool) {
    let manifest = try dependencies.manifests.read(path)
    // Written through a link, it lies where that points, and names its files from there.
    let folder = try resolvingLinks(path).parent
    var isWhole = true
    var lines = try manifest.files.map { file in
      let fault = try dependencies.manifests.fault(file, beside: folder)
      isWhole = isWhole && fault == nil
      return "\(file.path): " + (fault ?? "\(ReportText.records(file.records)), \(Quantity.sized(file.size)), as published")
    }
    let surplus = dependencies.manifests.surplus(manifest, beside: folder)
    lines += surplus.map { "\($0): has a name of this set, and is no file of it" }
    isWhole = isWhole && surplus.isEmpty
    if manifest.files.isEmpty { lines.append("\(path): there is no file in this set") }
    return (lines, isWhole)
  }

  /// What a request would do, for people; reads no further than the inputs' first bytes.
  public static func describe(_ request: RunRequest, dependencies: RunDependencies = RunDependencies()) throws -> [String] {
    let options = request.options
    try request.checkOrder()
    try request.checkManifest()
    let threads = options.threads ?? dependencies.processors.usableCount
    let listing = try dependencies.inputs.list(request, leavingOut: options.leavesOut)
    let items = try dependencies.inputs.open(listing, of: request, leavingOut: options.leavesOut).items
    let probed = try dependencies.inputs.probe(items, of: request)
    let sink = try SinkPlan(request, firstInput: probed.first?.format ?? .ndjson)
    if sink.needsColumnsFirst(probed, request) { try request.checkOrder(readsTwice: true) }
    let scheduler = WorkScheduler(width: threads)
    let spill = dependencies.makeSpill(options)
    defer { spill.close() }
    var request = request.inLinks
    request.options.rejects = nil
    let plan = try RunPlanner(inputs: dependencies.inputs, scheduler: scheduler, spill: spill).plan(
      RunDraft(
        request: request, probed: probed, sink: sink, threads: threads, outputs: OutputSet.dry(options, pool: scheduler),
        fingerprintSeed: 0))
    return PlanText.lines(plan, options: options)
  }
}

extension RunRequest {
  /// The same with chains of stages taken apart.
  fileprivate var inLinks: RunRequest {
    var request = self
    request.stages = stages.flatMap(\.links)
    return request
  }
}
