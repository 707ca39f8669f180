internal import OhanaCore

/// Outputs get their names.
public enum PublishActions {
  /// From here on every output is complete; what follows can be done again.
  struct Committing: PhaseUpdater {
    static let follows: Set<RunState.Phase> = [.finishing]
    func update(_ state: inout RunState) { state.phase = .committing }
  }

  struct Published: PhaseUpdater {
    static let follows: Set<RunState.Phase> = [.committing]
    let outputs: [RunBooks.Output]
    /// A chunk was skipped: what was whole before its fault is published.
    let fault: RunState.Failure?

    func update(_ state: inout RunState) {
      state.phase = .published
      state.books.outputs = outputs
      state.failure = fault
    }
  }

  /// Brings all outputs to disk, then lets them appear.
  struct Commit: RunEffect {
    let run: PreparedRun

    func perform(in context: RunContext) async throws {
      try await run.outputs.finish()
      try await run.outputs.widen(run.request.options)
      try await context.dispatch(Committing())
      let outputs = try await run.outputs.publish()
      try await context.dispatch(Published(outputs: outputs, fault: run.fault.map { .init($0) }))
    }
  }
}
