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
      let targets = try run.outputs.targets()
      var books = context.state.books
      books.outputs = run.outputs.books
      let commit = RunState.Commit(
        renames: targets.compactMap(\.pendingRename), books: books, notes: context.state.notes, fault: run.fault.map { .init($0) })
      try await context.dispatch(Committing(commit: commit))
      try OutputTarget.publish(targets)
      try await context.dispatch(Published(commit: commit))
    }
  }
}
