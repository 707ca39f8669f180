internal import OhanaCore
internal import OhanaEngine
internal import OhanaFormats

/// What a run keeps for the case that it is killed.
public enum JournalActions {
  /// All changes a journal may hold.
  static let kinds: [any DurableUpdater.Type] = [
    Open.self, AddFolders.self, CheckpointActions.Taken.self, PublishActions.Committing.self,
  ]

  /// The run is known.
  struct Open: DurableUpdater {
    static let journalName = "open"
    // Nothing is to be found after a power cut yet that it would have to tell of, and waiting for the disk costs each run.
    static let isSynced = false
    let kept: RunState.Kept
    func update(_ state: inout RunState) { state.kept = kept }
  }

  /// Private files are in more folders than were known.
  struct AddFolders: DurableUpdater {
    static let journalName = "folders"
    static let isSynced = false
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
  /// for that (``RunDesk/earlier``), and all else is cleared away.
  struct Hold: RunEffect {
    let request: RunRequest
    let desk: RunDesk

    /// - Returns: what the last run was to publish, if it is published by this and nothing else was asked for.
    func perform(in context: RunContext) async throws -> RunState.Commit? {
      guard let output = request.output, !OutputTarget.isWrittenInPlace(output) else { return nil }
      let (locks, journals) = (context.dependencies.locks, context.dependencies.journals)
      guard let lock = try locks.acquire(output) else { return nil }
      desk.onClose { [desk] in lock.release(keepsFile: desk.keepsState) }
      if let folder = try locks.stateFolder(of: output) {
        if let commit = try takeUp(folder, journals) { return commit }
        if let journal = desk.journal.withLock({ $0 }) {
          try lock.note(journal.folder)
          return nil
        }
      }
      guard let folder = journals.newFolder(in: request.options.tempDir ?? FileSpillStore.defaultFolder, for: output) else { return nil }
      // First the note: whoever comes after a kill finds the folder.
      try lock.note(folder)
      desk.onClose { [desk] in if !desk.keepsState { journals.remove(folder) } }
      desk.journal.withLock { $0 = journals.create(folder) }
      return nil
    }

    /// Sees to the state that the last run left in `folder`.
    private func takeUp(_ folder: FilePath, _ journals: JournalManager) throws -> RunState.Commit? {
      let read = journals.read(folder, kinds: kinds)
      let kept = fold(read?.changes ?? []).kept
      if let commit = kept?.commit {
        for rename in commit.renames { try rename.finish() }
        for folder in Set(commit.renames.map(\.final.parent)) { syncFolder(folder) }
      } else if request.options.resume, let read, let kept, kept.checkpoint != nil, kept.identity != nil {
        // It stays until it is known to be of no use.
        desk.keepsState = true
        desk.onClose { [desk] in if !desk.keepsState { journals.remove(folder) } }
        let journal = try journals.reopen(folder, behind: read.length)
        desk.journal.withLock { $0 = journal }
        desk.earlier = kept
        return nil
      }
      for folder in kept?.folders ?? [] { TemporaryNames(mark: kept!.mark).removeAll(in: folder) }
      journals.remove(folder)
      return request.options.resume ? kept?.commit : nil
    }
  }
}
