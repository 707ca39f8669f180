public import OhanaCore
public import OhanaRun

/// Providers, post-processors and selection filters put together: the library's face.
///
/// ```swift
/// let source = ContactsDataSource(
///   dataProviders: [FileDataProvider("exports/*.ndjson.gz")],
///   postProcessors: [RequiredFieldPostProcessor(.email), DedupePostProcessor(by: "email")])
/// for try await contact in source.contacts { … }
/// ```
/// Each iteration of ``contacts``, each ``loadContacts()`` and each ``run(into:)`` is a run of its own over all providers, in the order they are
/// given, with the same result every time. Runs are bounded by ``options``, as those of the tool are.
public final class ContactsDataSource: Sendable {
  /// A data source's way through a run.
  public enum Status: String, Sendable {
    /// There has been no run.
    case initialized
    /// A run is under way, the asking for access included.
    case processing
    /// All records have been handed over.
    case ready
    /// Something went wrong; ``onFailed`` says what.
    case failed
    /// Nobody wanted the rest.
    case cancelled
  }

  /// A provider that was read to its end, or as far as anybody wanted.
  public struct ProviderReport: Sendable {
    /// The one that is done.
    public let provider: any DataProvider
    /// Records read, without those that could not be.
    public let read: Int
    /// Records that could not be read.
    public let rejected: Int
  }

  /// A file or stream of a provider that was read to its end.
  public struct ChunkReport: Sendable {
    /// Whose input it is.
    public let provider: any DataProvider
    /// Of the file, or the provider's identifier.
    public let name: FilePath
    /// Records read, without those that could not be.
    public let read: Int
    /// Records that could not be read.
    public let rejected: Int
  }

  /// Records that could not be read.
  public struct RejectReport: Sendable {
    /// Whose input it is.
    public let provider: any DataProvider
    /// Of the file, or the provider's identifier.
    public let name: FilePath
    /// How many since the last report.
    public let count: Int
    /// What is wrong with the first of them, and where it stands.
    public let first: OhanaError
  }

  /// Faults that left the other fields of their records whole.
  public struct WarningReport: Sendable {
    /// Whose input it is.
    public let provider: any DataProvider
    /// Of the file, or the provider's identifier.
    public let name: FilePath
    /// The kind.
    public let code: String
    /// How many since the last report.
    public let count: Int
    /// Of the first of them, from 1.
    public let line: Int
  }

  /// A provider that could not be read.
  public struct ProviderFailure: Sendable {
    /// Whose fault it is.
    public let provider: any DataProvider
    /// What went wrong, and what to do about it.
    public let error: OhanaError
  }

  /// Asks for access to a provider that is undecided, under ``RunOptions/onAuth`` `ask` to one that is denied too; see ``AccessRetry``. Called
  /// once a load and provider, before any record is read.
  public typealias Authorise = @Sendable (_ provider: any DataProvider, _ retry: AccessRetry) -> Void

  /// In the order they are read.
  public let dataProviders: [any DataProvider]
  /// In the order they work.
  public let postProcessors: [any PostProcessor]
  /// What is selected; outlives reloads.
  public let selection: Selection

  /// Fires when a provider's status has become `loaded`.
  public let onProviderFinished = Signal<ProviderReport>("provider finished")
  /// Fires when a provider's status has become `failed`.
  public let onProviderFailed = Signal<ProviderFailure>("provider failed")
  /// Fires once per run, when the status has become `ready`: all records have been handed over.
  public let onReady = Signal<ContactsDataSource>("ready")
  /// Fires when the status has become `failed`, whosever fault it is.
  public let onFailed = Signal<OhanaError>("failed")
  /// Fires when the status has become `cancelled`: nobody wanted the rest.
  public let onCancelled = Signal<ContactsDataSource>("cancelled")
  /// Fires when an input of a provider has been read.
  public let onChunkDone = Signal<ChunkReport>("chunk done")
  /// Fires when records could not be read that ``options`` allow for, some times a second at most and always before ``onChunkDone``.
  public let onReject = Signal<RejectReport>("reject")
  /// Fires when faults were met that cost no record, as ``onReject`` does.
  public let onWarning = Signal<WarningReport>("warning")
  /// Fires when something had to go to temporary files, with the bytes so far, some times a second at most.
  public let onSpill = Signal<Int>("spill")
  /// Fires some times a second while a run goes on.
  public let onProgress = Signal<RunState.Progress>("progress")
  /// ``Selection/onSelected``.
  public var onSelected: Signal<[Contact]> { selection.onSelected }
  /// ``Selection/onDeselected``.
  public var onDeselected: Signal<[Contact]> { selection.onDeselected }

  private struct State {
    var options: RunOptions
    var authorise: Authorise?
    var status = Status.initialized
    var providers: [ProviderStatus]
    var loaded: [Contact]?
    /// Number of the latest run: what an earlier one still has to say changes no status.
    var run = 0
    /// Names of inputs opened, with their providers, and what was counted of each provider.
    var inputs: [(name: FilePath, provider: Int)] = []
    var counts: [(read: Int, rejected: Int)] = []
  }
  private let state: Locked<State>

  /// - Parameters:
  ///   - dataProviders: read in this order; their identifiers differ.
  ///   - postProcessors: work in this order, each on what the one before it gives.
  ///   - selectionFilters: of ``selection``.
  ///   - options: memory, threads, and how inputs are read.
  ///   - authorise: without it an undecided provider fails.
  /// - Precondition: there is a provider, and no two have one identifier.
  public init(
    dataProviders: [any DataProvider], postProcessors: [any PostProcessor] = [], selectionFilters: [any SelectionFilter] = [],
    options: RunOptions = RunOptions(), authorise: Authorise? = nil
  ) {
    precondition(!dataProviders.isEmpty, "a data source needs a provider")
    precondition(Set(dataProviders.map(\.identifier)).count == dataProviders.count, "providers have identifiers of their own")
    self.dataProviders = dataProviders
    self.postProcessors = postProcessors
    selection = Selection(filters: selectionFilters)
    state = Locked(
      State(options: options, authorise: authorise, providers: Array(repeating: .initialized, count: dataProviders.count)))
  }

  // MARK: State

  /// Of the latest run.
  public var status: Status { state.withLock { $0.status } }
  /// Of each provider, in the latest run.
  public var providerStatuses: [ProviderStatus] { state.withLock { $0.providers } }
  /// In force from the next run on.
  public var options: RunOptions {
    get { state.withLock { $0.options } }
    set { state.withLock { $0.options = newValue } }
  }
  /// In force from the next run on.
  public var authorise: Authorise? {
    get { state.withLock { $0.authorise } }
    set {
      // What the one before holds ends outside the lock: it may use the data source.
      var authorise = newValue
      state.withLock { swap(&$0.authorise, &authorise) }
    }
  }
  /// Filters of ``selection``; replaced ones take effect at the next attempt.
  public var selectionFilters: [any SelectionFilter] {
    get { selection.filters }
    set { selection.filters = newValue }
  }

  // MARK: Contacts

  /// The contacts, streamed: iterating begins a run, and only as much is read as is asked for, but for some batches ahead.
  ///
  /// A contact is made when it is asked for. Breaking off ends the run. An error of the run is thrown in place of the next contact; those
  /// before it are good.
  public var contacts: ContactSequence { ContactSequence(source: self, isIncluded: nil) }

  /// The same, of those for which `isIncluded` says so; asked for each contact, in order.
  public func contacts(where isIncluded: @escaping @Sendable (Contact) -> Bool) -> ContactSequence {
    ContactSequence(source: self, isIncluded: isIncluded)
  }

  /// Runs to the end and keeps all contacts, also as ``loadedContacts``. They all are in memory then.
  ///
  /// To load again replaces what was loaded and reads everything anew; it never doubles.
  @discardableResult
  public func loadContacts() async throws -> [Contact] {
    let collector = ContactCollector(rowNumbers)
    try await run(into: collector) { _ in
      let contacts = collector.contacts
      state.withLock { $0.loaded = contacts }
    }
    return collector.contacts
  }

  /// What ``loadContacts()`` loaded last; nil before.
  public var loadedContacts: [Contact]? { state.withLock { $0.loaded } }

  /// Of the contacts loaded, those for which `isIncluded` says so, in order.
  public func loadedContacts(where isIncluded: (Contact) -> Bool) -> [Contact] { (loadedContacts ?? []).filter(isIncluded) }

  // MARK: Runs

  /// Hands all records to a sink and returns the books.
  ///
  /// - Throws: ``OhanaError``; `cancelled` where the task was.
  @discardableResult
  public func run(into sink: any RecordSink) async throws -> RunBooks {
    try await run(into: sink) { _ in }
  }

  /// - Parameter whenReady: called when all has been handed over, before the status says so.
  @discardableResult
  func run(into sink: any RecordSink, whenReady: @Sendable (RunBooks) -> Void) async throws -> RunBooks {
    let (number, options) = state.withLock { state in
      state.run += 1
      state.status = .processing
      state.providers = Array(repeating: .initialized, count: dataProviders.count)
      state.counts = Array(repeating: (0, 0), count: dataProviders.count)
      state.inputs = []
      return (state.run, state.options)
    }
    do {
      try await checkAccess(number, options)
    } catch let error as OhanaError {
      throw fail(error, number, isCancelled: Task.isCancelled)
    }
    let session = RunSession(request(options, into: sink, number))
    let listener = session.store.listen { [onProgress] old, new in
      if old.progress != new.progress { onProgress.fire(new.progress) }
    }
    defer { session.store.forget(listener) }
    let end = await withTaskCancellationHandler {
      await session.run(observes: false)
    } onCancel: {
      session.cancel(signal: SIGTERM)
    }
    // What providers that were left out would have given is missing, of which signals and the books tell.
    let isSkipping = options.onProviderError == .skip || options.onAuth == .skip && end.failure?.code == "auth"
    let isPutUpWith = isSkipping && end.phase == .published && end.failure?.category == .io
    if let failure = end.failure, !isPutUpWith {
      throw fail(
        OhanaError(failure.category, failure.code, failure.message), number,
        isCancelled: end.isInterrupted || failure.code == OhanaError.cancelled.code)
    }
    whenReady(end.books)
    if update(number, { $0.status = .ready }) { onReady.fire(self) }
    return end.books
  }

  /// nil where each record is one contact at most.
  var rowNumbers: RowNumbers? {
    guard postProcessors.contains(where: \.makesRows) else { return nil }
    return RowNumbers(areScattered: unwrapped(postProcessors).contains(where: givesByBranch))
  }

  private func request(_ options: RunOptions, into sink: any RecordSink, _ number: Int) -> RunRequest {
    var request = RunRequest()
    request.providers = dataProviders
    request.stages = unwrapped(postProcessors)
    request.sink = sink
    request.options = options
    // Contacts without a field of some type are no slip of the pen.
    if case .names(let names) = options.optional {
      request.options.optional = .names(names.union(optionalNames(of: postProcessors).map(\.whole) + [Array("fields".utf8)]))
    }
    request.onInput = { [weak self] event in self?.handle(event, number) }
    request.onSpill = { [weak self] bytes in self?.onSpill.fire(bytes) }
    return request
  }

  // MARK: Access

  private func checkAccess(_ number: Int, _ options: RunOptions) async throws {
    for (index, provider) in dataProviders.enumerated() {
      var access = provider.access
      var fix = "grant access to it"
      if access == .undecided || access == .denied && options.onAuth == .ask, let authorise {
        let isGranted = await AccessRetry.answer { authorise(provider, $0) }
        if Task.isCancelled { throw OhanaError.cancelled }
        access = isGranted ? provider.access : .denied
        if !isGranted { fix = "access was refused" }
      }
      guard access != .granted else { continue }
      let error = OhanaError(
        .io, "auth", at: .init(FilePath(provider.identifier)), "the provider may not read",
        fix: access == .undecided ? "ask for access with authorise" : fix)
      if update(number, { $0.providers[index] = .failed }) { onProviderFailed.fire(.init(provider: provider, error: error)) }
      if !options.leavesOut(error) { throw error }
    }
  }

  // MARK: Events

  /// Changes the state on behalf of a run; false if it is not the latest.
  @discardableResult
  private func update(_ number: Int, _ change: (inout State) -> Void) -> Bool {
    state.withLock { state in
      guard state.run == number else { return false }
      change(&state)
      return true
    }
  }

  private func handle(_ event: InputEvent, _ number: Int) {
    let provider = dataProviders[event.provider]
    switch event.kind {
    case .opened:
      update(number) { state in
        state.inputs.append((event.name, event.provider))
        if state.providers[event.provider] == .initialized { state.providers[event.provider] = .processing }
      }
    case .ended(let read, let rejected):
      var report = ProviderReport(provider: provider, read: 0, rejected: 0)
      var hasFailed = false
      let isCurrent = update(number) { state in
        state.counts[event.provider].read += read
        state.counts[event.provider].rejected += rejected
        let counts = state.counts[event.provider]
        report = ProviderReport(provider: provider, read: counts.read, rejected: counts.rejected)
        hasFailed = state.providers[event.provider] == .failed
        if event.isLast, !hasFailed { state.providers[event.provider] = .loaded }
      }
      guard isCurrent else { return }
      onChunkDone.fire(.init(provider: provider, name: event.name, read: read, rejected: rejected))
      if event.isLast, !hasFailed { onProviderFinished.fire(report) }
    case .failed(let error):
      var isNews = false
      update(number) { state in
        isNews = state.providers[event.provider] != .failed
        state.providers[event.provider] = .failed
      }
      if isNews { onProviderFailed.fire(.init(provider: provider, error: error)) }
    case .rejected(let count, let first):
      onReject.fire(.init(provider: provider, name: event.name, count: count, first: first))
    case .warned(let count, let code, let line):
      onWarning.fire(.init(provider: provider, name: event.name, code: code, count: count, line: line))
    }
  }

  /// Puts the blame, tells everybody, and returns the error.
  private func fail(_ error: OhanaError, _ number: Int, isCancelled: Bool) -> OhanaError {
    var failed: [Int] = []
    let isCurrent = update(number) { state in
      state.status = isCancelled ? .cancelled : .failed
      for index in dataProviders.indices where state.providers[index] != .loaded && state.providers[index] != .failed {
        if !isCancelled, isFault(of: index, error, state.inputs) {
          state.providers[index] = .failed
          failed.append(index)
        } else if state.providers[index] == .processing {
          state.providers[index] = .cancelled
        }
      }
    }
    guard isCurrent else { return error }
    for index in failed { onProviderFailed.fire(.init(provider: dataProviders[index], error: error)) }
    if isCancelled { onCancelled.fire(self) } else { onFailed.fire(error) }
    return error
  }

  /// An error names the input it is about.
  private func isFault(of index: Int, _ error: OhanaError, _ inputs: [(name: FilePath, provider: Int)]) -> Bool {
    var names = [dataProviders[index].identifier]
    names += inputs.filter { $0.provider == index }.map(\.name.description)
    if let files = dataProviders[index] as? FileDataProvider {
      names += files.patterns.map(\.description)
      if case .files(let paths)? = try? files.open() { names += paths.map(\.description) }
    }
    return names.contains { error.description.hasPrefix($0 + ":") }
  }
}
