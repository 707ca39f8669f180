internal import OhanaCore

/// Who may write where.
public enum LockActions {
  /// Takes the locks of all files that a run is to write; they are held until the desk is closed.
  struct Take: RunEffect {
    let request: RunRequest
    let purpose: RunPurpose
    let desk: RunDesk

    func perform(in context: RunContext) async throws {
      let locks = try context.dependencies.locks.acquire(request.writtenPaths(purpose))
      desk.locks = locks
      let release: @Sendable () -> Void = { [desk] in
        // Of an earlier run's state, the locks that tell of it stay, and none that this run has made beside.
        let kept = desk.earlierFolder
        for lock in locks { lock.release(keepsFile: desk.keepsState && (kept == nil || lock.earlier?.folder == kept)) }
      }
      desk.onClose(release, abandoning: release)
    }
  }
}
