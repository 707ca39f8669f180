internal import OhanaCore
internal import OhanaFormats

/// Outputs get their names.
public enum PublishActions {
  /// From here on every output is complete; what follows can be done again, and by the next run if this one is killed.
  struct Committing: PhaseUpdater, DurableUpdater {
    static let journalName = "committing"
    static let follows: Set<RunState.Phase> = [.finishing]
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
      state.failure = commit.fault
    }
  }

  /// Brings all outputs to disk, then lets them appear.
  struct Commit: RunEffect {
    let run: PreparedRun

    func perform(in context: RunContext) async throws {
      try await run.outputs.finish()
      try await run.outputs.widen(run.request.options)
      let files = try run.outputs.files()
      var books = context.state.books
      books.outputs = run.outputs.books
      let targets = try files.map(\.target) + manifest(files, books, context)
      let commit = RunState.Commit(
        renames: targets.compactMap(\.pendingRename), books: books, notes: context.state.notes, fault: run.fault.map { .init($0) })
      try await context.dispatch(Committing(commit: commit))
      try OutputTarget.publish(targets)
      try await context.dispatch(Published(commit: commit))
    }

    /// Writes the manifest, if there is to be one; it appears last.
    private func manifest(_ files: [FinishedFile], _ books: RunBooks, _ context: RunContext) throws -> [OutputTarget] {
      guard let path = run.request.options.manifest else { return [] }
      let manifests = context.dependencies.manifests
      let target = try run.outputs.openBeside(path)
      let folder = target.pendingRename?.final.parent ?? "."
      do {
        let described = try files.map { try manifests.describe($0, beside: folder) }
        let manifest = Manifest(files: described, plan: context.state.plan, versions: RunIdentity.versions, books: books)
        try manifests.write(manifest, to: target)
      } catch {
        target.discard()
        throw error
      }
      return [target]
    }
  }
}
