internal import OhanaCore
internal import OhanaEngine
internal import OhanaFormats

/// A run that reads nothing, and writes contacts it makes up.
public enum GenerateActions {
  /// From options to published outputs.
  struct Generate: RunEffect {
    let request: RunRequest
    let options: GenerateOptions
    let desk: RunDesk

    func perform(in context: RunContext) async throws {
      if desk.earlier != nil { throw RunIdentity.conflict("it read records, and this one makes them up") }
      let manager = context.dependencies.generator
      let scheduler = WorkScheduler(width: request.options.threads ?? context.dependencies.processors.usableCount)
      if let folder = options.truth.flatMap(OutputTarget.folder), context.state.kept != nil {
        try await context.dispatch(JournalActions.AddFolders(folders: [folder]))
      }
      let outputs = try desk.openOutputs(request, beside: [], scheduler)
      let files = try manager.open(request, options, in: outputs)
      (desk.isPlanned, desk.keepsState) = (true, false)
      try await context.dispatch(RunActions.Begin(plan: ["generate \(options.rows) records"], bytesTotal: nil))
      let meter = GenerateMeter(rows: options.rows, began: desk.began)
      try manager.write(options, to: files) { made in
        if context.state.interruption != nil { throw OhanaError.cancelled }
        if let progress = meter.progress(made, at: context.dependencies.clock()) { context.post(progress) }
      }
      try await context.dispatch(RunActions.Finish(books: RunBooks(generated: options.rows), notes: []))
      let publication = Publication(outputs: outputs, options: request.options, sink: files.contacts.sink, began: desk.began)
      try await context.perform(PublishActions.Commit(publication: publication))
    }
  }
}

extension RunBooks {
  /// All there is was made.
  fileprivate init(generated rows: Int) {
    self.init()
    (made, written) = (rows, rows)
    stages = [Stage(text: "generate", made: rows, output: rows)]
  }
}

/// Tells ten times a second at most how many contacts there are.
private final class GenerateMeter: Sendable {
  private let rows: Int
  private let began: UInt64
  private let pace = Locked(Pace())

  init(rows: Int, began: UInt64) {
    self.rows = rows
    self.began = began
  }

  func progress(_ made: Int, at now: UInt64) -> ProgressActions.Advance? {
    guard pace.withLock({ $0.isDue(at: now) }) else { return nil }
    return .init(
      bytesRead: 0, records: 0, held: .init(stage: "generate", passed: made, total: rows, since: 0), seconds: Double(now - began) / 1e9,
      limiting: nil)
  }
}
