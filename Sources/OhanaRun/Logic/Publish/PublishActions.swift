internal import OhanaCore
internal import OhanaFormats

/// Outputs get their names.
public enum PublishActions {
  /// From here on every output is complete; what follows can be done again, and by the next run if this one is killed.
  struct Committing: PhaseUpdater, DurableUpdater {
    static let journalName = "committing"
    /// A run that finishes what another had to publish reads nothing before.
    static let follows: Set<RunState.Phase> = [.planning, .finishing]
    static let isOverWhenInterrupted = true
    let commit: RunState.Commit

    func update(_ state: inout RunState) {
      state.phase = .committing
      state.kept?.commit = commit
    }
  }

  struct Published: PhaseUpdater {
    static let follows: Set<RunState.Phase> = [.planning, .committing]
    let commit: RunState.Commit

    func update(_ state: inout RunState) {
      state.phase = .published
      state.books = commit.books
      state.notes = commit.notes
      state.inputs = commit.inputs
      state.failure = commit.fault
      state.plan = commit.plan
    }
  }

  /// Some have appeared, and the others cannot at the moment: they wait for the next run.
  struct Halt: RunUpdater {
    func update(_ state: inout RunState) { state.isHalted = true }
  }

  /// Brings all outputs to disk, then lets them appear.
  struct Commit: RunEffect {
    let publication: Publication

    func perform(in context: RunContext) async throws {
      let (outputs, options) = (publication.outputs, publication.options)
      try await outputs.finish()
      try await outputs.widen(options)
      let files = try outputs.files()
      var books = context.state.books
      books.outputs = outputs.books
      books.seconds = Double(context.dependencies.clock() - publication.began) / 1e9
      let surplus = try outputs.surplus()
      let targets = try files.map(\.target) + manifest(files, books, context)
      let commit = RunState.Commit(
        renames: targets.compactMap(\.pendingRename), removals: surplus, books: books,
        notes: context.state.notes + Self.notes(surplus), inputs: context.state.inputs, fault: publication.fault.map { .init($0) },
        plan: context.state.plan)
      try await context.dispatch(Committing(commit: commit))
      do {
        try OutputTarget.publish(targets)
        for removal in surplus { try removal.finish() }
      } catch { throw try await halt(targets, error, context) }
      for folder in Set(surplus.map(\.path.parent)) { syncFolder(folder) }
      try await context.dispatch(Published(commit: commit))
    }

    /// An output could not get its name. Where others have got theirs, and there is a journal, the rest is left for the next run.
    private func halt(_ targets: [OutputTarget], _ error: any Error, _ context: RunContext) async throws -> any Error {
      let targets = targets.filter { !$0.isInPlace }
      let count = targets.count { $0.isPublished }
      guard var error = error as? OhanaError, count > 0 else { return error }
      error.problem +=
        count < targets.count
        ? "; \(count) of \(targets.count) outputs have got their names, so that the set is half new"
        : "; all outputs have got their names, but old chunks are left behind them"
      error.fix = "see to that, and run again"
      guard context.state.kept != nil else { return error }
      for target in targets { target.leaveComplete() }
      try await context.dispatch(Halt())
      error.fix = "see to that; then 'ohana resume OUTPUT', or the next run to any of them, gives the others theirs"
      return error
    }

    private static func notes(_ surplus: [PendingRemoval]) -> [String] {
      guard let first = surplus.first?.path.lastComponent, let last = surplus.last?.path.lastComponent else { return [] }
      if surplus.count == 1 { return ["the set has fewer chunks than before: \(first) is removed"] }
      return ["the set has fewer chunks than before: \(first) to \(last) are removed (\(Quantity.grouped(surplus.count)) files)"]
    }

    /// Writes the manifest, if there is to be one; it appears last.
    private func manifest(_ files: [FinishedFile], _ books: RunBooks, _ context: RunContext) throws -> [OutputTarget] {
      guard let path = publication.options.manifest else { return [] }
      let manifests = context.dependencies.manifests
      let target = try publication.outputs.openBeside(path)
      let folder = target.pendingRename?.final.parent ?? "."
      do {
        let described = try files.map { try manifests.describe($0, beside: folder) }
        let chunks = manifests.chunks(publication.sink, beside: folder)
        let manifest = Manifest(chunks: chunks, files: described, plan: context.state.plan, versions: RunIdentity.versions, books: books)
        try manifests.write(manifest, to: target)
      } catch {
        target.discard()
        throw error
      }
      return [target]
    }
  }
}

/// Outputs that have got their last record.
struct Publication: Sendable {
  let outputs: OutputSet
  let options: RunOptions
  /// The main output.
  let sink: SinkPlan
  /// When the run began, on the monotonic clock.
  let began: UInt64
  /// What could not be read, and was left out.
  var fault: OhanaError?
}
