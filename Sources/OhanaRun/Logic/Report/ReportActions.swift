internal import OhanaCore
internal import OhanaFormats

/// What became of a run, for people and programs.
public enum ReportActions {
  /// The report could not be written.
  struct Fail: RunUpdater {
    let failure: RunState.Failure
    func update(_ state: inout RunState) {
      // What went wrong first is what went wrong; that nothing tells of it is worth a word.
      if state.failure == nil { state.failure = failure } else { state.notes.append("not written either: \(failure.message)") }
    }
  }

  /// Writes the report, if there is to be one; of a failed run too.
  struct Write: RunEffect {
    let request: RunRequest
    let desk: RunDesk

    func perform(in context: RunContext) async throws {
      guard let path = request.options.report, mayWrite(context.state, at: path) else { return }
      do {
        let text = try ReportText.text(context.state, for: path)
        let overwrites = request.options.overwrite || desk.wasWrittenEarlier(path)
        try context.dependencies.reports.write(text, to: path, overwrites: overwrites, names: desk.names)
        if context.state.hasLeft, let tell = JournalActions.Tell(path) { try await context.dispatch(tell) }
      } catch { try await context.dispatch(Fail(failure: .init(error))) }
    }

    /// A report takes the place of no input, no other output, and without `--overwrite` of no file; a run that failed before it looked
    /// at its outputs is looked at here.
    private func mayWrite(_ state: RunState, at path: FilePath) -> Bool {
      // Its place was looked at with the outputs.
      if desk.mayReport { return state.failure?.code != "output-twice" }
      do {
        try OutputChecks(inputs: request.inputs, overwrites: request.options.overwrite).check(path)
        return state.failure.map { !$0.code.hasPrefix("output-") } ?? true
      } catch {
        return false
      }
    }
  }
}
