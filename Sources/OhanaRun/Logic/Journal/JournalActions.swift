internal import OhanaCore
internal import OhanaEngine
internal import OhanaFormats

/// What a run keeps for the case that it is killed.
public enum JournalActions {
  /// All changes a journal may hold.
  static let kinds: [any DurableUpdater.Type] = [
    Open.self, AddFolders.self, Tell.self, CheckpointActions.Taken.self, PublishActions.Committing.self,
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

  /// The run is ended for now, and this file tells of it.
  struct Tell: DurableUpdater {
    static let journalName = "told"
    static let isSynced = false
    let file: RunState.ToldFile
    func update(_ state: inout RunState) { state.kept?.told.append(file) }

    /// - Parameter path: of a file that is written.
    init?(_ path: FilePath) {
      guard let absolute = path.absolute else { return nil }
      file = .init(path: absolute, content: .init(of: path))
    }
  }

  /// What a journal says, as a state.
  static func fold(_ changes: [any DurableUpdater]) -> RunState {
    var state = RunState()
    for change in changes { change.update(&state) }
    return state
  }

  /// Sees to what the last runs to the outputs left: renames are finished, what can be gone on with is kept for that
  /// (``RunDesk/earlier``), and all else is cleared away. Their locks are held.
  struct Hold: RunEffect {
    let request: RunRequest
    let desk: RunDesk

    /// - Returns: what the last run was to publish, if it is published by this and nothing else was asked for.
    func perform(in context: RunContext) async throws -> RunState.Commit? {
      let locks = desk.locks
      let main = locks.first { $0.output == request.output }
      let own = main?.earlier.flatMap { $0.isBeside ? nil : $0.folder }
      for lock in locks {
        guard let note = lock.earlier, note.isBeside || lock !== main, note.folder != own else { continue }
        try await clear(note, isOwn: !note.isBeside, context)
      }
      try await finishNeighbours(context)
      guard let main else {
        context.dependencies.locks.clearUp(locks)
        for lock in locks { try lock.note(nil, mark: desk.names.mark) }
        return nil
      }
      if let note = main.earlier, !note.isBeside, let commit = try await takeUp(note.folder, context) { return commit }
      if desk.earlier == nil { context.dependencies.locks.clearUp(locks) }
      if let journal = desk.journal.withLock({ $0 }), let earlier = desk.earlier {
        try note(journal.folder, main, mark: earlier.mark)
      } else {
        try await begin(main, context)
      }
      return nil
    }

    /// Begins a journal: in the folder for temporary files, or beside the output where that one is full.
    private func begin(_ main: OutputLock, _ context: RunContext) async throws {
      let journals = context.dependencies.journals
      for place in [request.options.tempDir ?? FileSpillStore.defaultFolder, main.path.parent] {
        guard let folder = journals.newFolder(in: place, for: main.output) else { continue }
        // First the notes: whoever comes after a kill finds the folder.
        try note(folder, main, mark: desk.names.mark)
        removeAtEnd(folder, journals)
        guard let journal = journals.create(folder) else { continue }
        desk.journal.withLock { $0 = journal }
        return try await context.dispatch(Open(kept: .init(request, desk)))
      }
    }

    private func note(_ folder: FilePath, _ main: OutputLock, mark: String) throws {
      for lock in desk.locks { try lock.note(.init(folder: folder, isBeside: lock !== main), mark: mark) }
    }

    /// Sees to the state that the last run with this output left, where it cannot be gone on with: what was only to be renamed is; of a
    /// state that belongs to another output nothing else is touched.
    private func clear(_ note: OutputLock.Note, isOwn: Bool, _ context: RunContext) async throws {
      let journals = context.dependencies.journals
      guard let kept = fold(journals.read(note.folder, kinds: kinds)?.changes ?? []).kept else {
        if isOwn { journals.remove(note.folder) }
        return
      }
      guard let commit = kept.commit else {
        if isOwn { remove(kept, note.folder, context) }
        return
      }
      let lost = try finish(commit)
      remove(kept, note.folder, context)
      if !lost.isEmpty { throw Self.lost(lost, of: commit) }
      try await tell(commit, context)
    }

    private func tell(_ commit: RunState.Commit, _ context: RunContext) async throws {
      guard let first = commit.renames.first else { return }
      let others = commit.renames.count > 1 ? " and \(Quantity.grouped(commit.renames.count - 1)) more" : ""
      let removed = commit.removals.isEmpty ? "" : "; \(Quantity.grouped(commit.removals.count)) old chunks behind them are removed"
      try await context.dispatch(
        RunActions.Note(
          text: "the run before was ended while its outputs got their names; they have them now: \(first.final)\(others)\(removed)"))
    }

    /// The last run to a set of chunks may have been killed while they got their names, and one of them is this run's output: it is not to
    /// take the place of a newer one afterwards.
    private func finishNeighbours(_ context: RunContext) async throws {
      for lock in try context.dependencies.locks.deadNeighbours(of: desk.locks) {
        defer { lock.release(keepsFile: lock.hasLeft) }
        if let note = lock.earlier { try await clear(note, isOwn: false, context) }
      }
    }

    private func remove(_ kept: RunState.Kept?, _ folder: FilePath, _ context: RunContext) {
      for folder in kept?.folders ?? [] { TemporaryNames(mark: kept!.mark).removeEarlier(in: folder) }
      for lock in kept?.locks ?? [] { context.dependencies.locks.forget(folder, in: lock) }
      context.dependencies.journals.remove(folder)
    }

    private func removeAtEnd(_ folder: FilePath, _ journals: any JournalManaging) {
      let remove: @Sendable () -> Void = { [desk] in if !desk.keepsState { journals.remove(folder) } }
      desk.onClose(remove, abandoning: remove)
    }

    /// Lets what is complete appear: all of it, or nothing where something of it is lost.
    ///
    /// - Returns: what is lost.
    private func finish(_ commit: RunState.Commit) throws -> [PendingRename] {
      let lost = commit.renames.filter(\.isLost)
      guard lost.isEmpty else { return lost }
      do {
        for rename in commit.renames { try rename.finish() }
        for removal in commit.removals { try removal.finish() }
      } catch {
        // It waits for the next run once more.
        desk.keepsState = true
        throw error
      }
      for folder in Set(commit.renames.map(\.final.parent)) { syncFolder(folder) }
      return []
    }

    private static func lost(_ lost: [PendingRename], of commit: RunState.Commit) -> OhanaError {
      OhanaError(
        .locked, "outputs-lost", at: .init(lost[0].final),
        "the run before was ended while its outputs got their names, and \(lost.count) of \(commit.renames.count) are neither there nor waiting",
        fix: "the set may be half new: run its command again with --overwrite")
    }

    /// Sees to the state that the last run left in `folder`.
    private func takeUp(_ folder: FilePath, _ context: RunContext) async throws -> RunState.Commit? {
      let journals = context.dependencies.journals
      let read = journals.read(folder, kinds: kinds)
      let kept = fold(read?.changes ?? []).kept
      desk.earlierFolder = folder
      if let commit = kept?.commit {
        if request.options.resume {
          // An interruption before this leaves all as it is; one behind it waits.
          desk.keepsState = true
          try await context.dispatch(PublishActions.Committing(commit: commit))
          desk.keepsState = false
        }
        let lost = try finish(commit)
        guard lost.isEmpty else {
          remove(kept, folder, context)
          guard request.options.resume else {
            // This run makes the set anew.
            desk.earlierFolder = nil
            try await context.dispatch(RunActions.Note(text: Self.lost(lost, of: commit).problem))
            return nil
          }
          throw Self.lost(lost, of: commit)
        }
        if !request.options.resume { try await tell(commit, context) }
      } else if request.options.resume, let read, let kept, kept.checkpoint != nil, kept.identity != nil {
        // It stays until it is known to be of no use.
        desk.keepsState = true
        removeAtEnd(folder, journals)
        let journal = try journals.reopen(folder, behind: read.length)
        desk.journal.withLock { $0 = journal }
        desk.earlier = kept
        return nil
      } else if request.options.resume, read == nil, journals.holdsCheckpoint(folder) {
        desk.keepsState = true
        throw CheckpointReader.damaged
      }
      remove(kept, folder, context)
      desk.earlierFolder = nil
      return request.options.resume ? kept?.commit : nil
    }
  }
}
