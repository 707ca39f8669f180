internal import OhanaCore
internal import OhanaEngine
internal import OhanaFormats

/// What a run keeps for the case that it is killed.
public enum JournalActions {
  /// All changes a journal may hold.
  static let kinds: [any DurableUpdater.Type] = [Open.self, AddFolders.self, PublishActions.Committing.self]

  /// The run is known.
  struct Open: DurableUpdater {
    static let journalName = "open"
    let kept: RunState.Kept
    func update(_ state: inout RunState) { state.kept = kept }
  }

  /// Private files are in more folders than were known.
  struct AddFolders: DurableUpdater {
    static let journalName = "folders"
    let folders: [FilePath]
    func update(_ state: inout RunState) { state.kept?.folders += folders }
  }

  /// What a journal says, as a state.
  static func fold(_ changes: [any DurableUpdater]) -> RunState {
    var state = RunState()
    for change in changes { change.update(&state) }
    return state
  }

  /// Takes the lock of the output, and sees to what the last run to it left: its renames are finished, what can be gone on with is kept
  /// for that, and all else is cleared away.
  struct Hold: RunEffect {
    let request: RunRequest
    let desk: RunDesk

    func perform(in context: RunContext) async throws -> RunHolding {
      guard let output = request.output, !OutputTarget.isWrittenInPlace(output) else { return RunHolding() }
      let (locks, journals) = (context.dependencies.locks, context.dependencies.journals)
      guard let lock = try locks.acquire(output) else { return RunHolding() }
      desk.onClose { [desk] in lock.release(keepsFile: desk.keepsState) }
      var holding = RunHolding()
      if let folder = try locks.stateFolder(of: output), let read = journals.read(folder, kinds: kinds) {
        holding = try takeUp(fold(read.changes), in: folder, length: read.length, journals)
      }
      guard holding.earlier == nil else { return holding }
      let temporary = request.options.tempDir ?? FileSpillStore.defaultFolder
      guard let journal = journals.create(in: temporary, for: output) else { return holding }
      desk.onClose { [desk] in if !desk.keepsState { journals.remove(journal.folder) } }
      try lock.note(journal.folder)
      desk.journal.withLock { $0 = journal }
      return holding
    }

    private func takeUp(_ state: RunState, in folder: FilePath, length: Int, _ journals: JournalManager) throws -> RunHolding {
      var holding = RunHolding()
      if let commit = state.kept?.commit {
        for rename in commit.renames { try rename.finish() }
        for folder in Set(commit.renames.map(\.final.parent)) { syncFolder(folder) }
        if request.options.resume { holding.finished = commit }
      }
      if let kept = state.kept {
        for folder in kept.folders { TemporaryNames(mark: kept.mark).removeAll(in: folder) }
      }
      journals.remove(folder)
      return holding
    }
  }
}

/// What a run found when it took hold of its output.
struct RunHolding: Sendable {
  /// The last run was killed between renames, and this one was only to go on with it: it is done.
  var finished: RunState.Commit?
  /// The last run can be gone on with.
  var earlier: RunState.Kept?
}
