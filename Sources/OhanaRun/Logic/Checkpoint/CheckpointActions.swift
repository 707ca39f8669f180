internal import OhanaCore
internal import OhanaEngine
internal import OhanaFormats

/// Rests of the flow that a next run can go on from.
public enum CheckpointActions {
  /// Somebody means to go on with the run, should it be ended.
  struct MeanToResume: RunUpdater {
    func update(_ state: inout RunState) { state.isToResume = true }
  }

  /// It is time for a checkpoint.
  struct Due: RunUpdater {
    /// Since the run began.
    let seconds: Double

    /// Declines before its time.
    init?(_ state: RunState) {
      seconds = state.progress.seconds
      guard isDue(state) else { return nil }
    }

    func update(_ state: inout RunState) { if isDue(state) { state.checkpoints.ask(at: seconds) } }

    private func isDue(_ state: RunState) -> Bool {
      state.phase == .running && state.interruption == nil && state.checkpoints.isDue(at: seconds)
    }
  }

  /// A checkpoint is on disk.
  struct Taken: DurableUpdater {
    static let journalName = "checkpoint"
    let mark: CheckpointMark
    func update(_ state: inout RunState) { state.kept?.checkpoint = mark }
  }

  /// Goes on with an earlier run, whose journal says all this already.
  struct Resume: RunUpdater {
    let kept: RunState.Kept
    func update(_ state: inout RunState) { state.kept = kept }
  }

  /// Writes down what all parts of a flow at rest remember.
  struct Take: RunEffect {
    let run: PreparedRun
    let counts: FlowCounts

    func perform(in context: RunContext) async throws {
      guard let folder = run.journal?.folder, let kept = context.state.kept else { return }
      let parts = run.parts(CountsPart(counts))
      guard parts.allSatisfy(\.part.canCheckpoint) else { return }
      let folders = run.outputs.folders.subtracting(kept.folders)
      if !folders.isEmpty { try await context.dispatch(JournalActions.AddFolders(folders: folders.sorted())) }
      let number = (kept.checkpoint?.number ?? 0) + 1
      let checkpoints = context.dependencies.checkpoints
      let written = try checkpoints.write(parts, number: number, in: folder)
      if number == 1 { run.lock?.sync() }
      let records = run.plan.ledger.totals
      let mark = CheckpointMark(
        number: number, size: written.size, checksum: written.checksum, records: records.read + records.rejected)
      try await context.dispatch(Taken(mark: mark))
      run.spill.seal(written.files)
      checkpoints.removeAll(but: number, in: folder)
    }
  }
}

/// What the engine has counted.
final class CountsPart: Checkpointable {
  private(set) var counts: FlowCounts?
  init(_ counts: FlowCounts?) { self.counts = counts }

  func save(to writer: CheckpointWriter) throws { try writer.put(JSONCoding.line(counts)) }
  func restore(from reader: CheckpointReader) throws {
    guard let counts = try? JSONCoding.value(FlowCounts?.self, from: try reader.bytes()) else { throw CheckpointReader.damaged }
    self.counts = counts
  }
}

extension PreparedRun {
  /// Takes up what an earlier run wrote down, and clears away what it made after that.
  mutating func restore(_ earlier: RunState.Kept, _ checkpoints: any CheckpointManaging) throws {
    guard let mark = earlier.checkpoint, let journal else { return }
    let part = CountsPart(nil)
    try checkpoints.read(parts(part), mark, in: journal.folder, spill: spill)
    counts = part.counts
    spill.removeUnsealed()
    checkpoints.removeAll(but: mark.number, in: journal.folder)
    for folder in earlier.folders { outputs.names.removeEarlier(in: folder, but: outputs.temporaryPaths) }
  }

  /// All that remembers something, in the order of the flow.
  func parts(_ counts: CountsPart) -> [CheckpointManaging.Part] {
    var parts: [CheckpointManaging.Part] = [("counts", counts)]
    if let evidence { parts.append(("inputs", evidence)) }
    if let source = plan.pipeline.source as? any Checkpointable { parts.append(("source", source)) }
    if let table { parts.append(("columns", table)) }
    for (index, step) in plan.pipeline.steps.enumerated() {
      switch step.step {
      case .row(let stage): if let part = stage as? any Checkpointable { parts.append(("step \(index)", part)) }
      case .ordered(let stage): if let part = stage as? any Checkpointable { parts.append(("step \(index)", part)) }
      }
    }
    return parts + [("outputs", outputs)]
  }

  /// There is a state folder, all inputs can be read again, and everything that remembers something can write it down.
  var mayCheckpoint: Bool { checkpointObstacle == nil }

  /// For whoever asked for `--resume`.
  ///
  /// - Parameter kept: of the earlier run, if it goes on with one.
  func resumeNotes(_ kept: RunState.Kept?) -> [String] {
    if counts != nil { return ["goes on with the run before, from record \(Quantity.grouped(kept?.checkpoint?.records ?? 0))"] }
    guard request.options.resume, let obstacle = checkpointObstacle else { return [] }
    return ["--resume: this run takes no checkpoints, since \(obstacle); should it be ended, it begins anew"]
  }

  /// Why the run takes no checkpoints; nil if it does.
  private var checkpointObstacle: String? {
    if request.sink != nil { return "its records go to the caller" }
    guard let output = request.output, !OutputTarget.isWrittenInPlace(output) else { return "its output is no regular file" }
    if journal == nil { return "there is no private folder for them in --temp-dir" }
    if evidence == nil { return "an input can be read only once" }
    if let input = plan.inputs.first(where: { !$0.isResumable }) {
      return "\(input.path) cannot be gone on with from its middle (by --codec zlib, or in this encoding or format)"
    }
    for step in plan.pipeline.steps {
      guard case .ordered(let stage) = step.step, !((stage as? any Checkpointable)?.canCheckpoint ?? false) else { continue }
      return step.stage.map { "the stage '\(plan.stages[$0].stage.text)' cannot be gone on with" } ?? "its output cannot be gone on with"
    }
    return nil
  }
}
