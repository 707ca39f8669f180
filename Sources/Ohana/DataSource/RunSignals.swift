public import OhanaCore
public import OhanaRun

/// What a run that a ``RunSession`` makes announces, as signals.
///
/// ```swift
/// let session = RunSession(request)
/// let signals = RunSignals(of: session)
/// signals.onCheckpoint.observe(self) { owner, mark in … }
/// let state = await session.run()
/// ```
/// A data source has signals of its own; this is for runs that write files as the tool does. All fire in the order of the run's state, where
/// nobody waits for a callback, and for as long as this is held.
public final class RunSignals: Sendable {
  /// Fires some times a second while the run goes on.
  public let onProgress = Signal<RunState.Progress>("progress")
  /// Fires when a checkpoint is on disk, which the run could be gone on with from.
  public let onCheckpoint = Signal<CheckpointMark>("checkpoint")
  /// Fires when the outputs are in their places.
  public let onPublished = Signal<RunBooks>("published")
  /// Fires when the run has been asked to end, with the number of the signal.
  public let onCancelled = Signal<Int32>("cancelled")
  /// Fires when the run has failed; not when it only ended since it was asked to.
  public let onFailed = Signal<RunState.Failure>("failed")
  private let store: RunStore
  private let listener = Locked<Int?>(nil)

  /// - Parameter session: one that has not begun.
  public init(of session: RunSession) {
    store = session.store
    let (onProgress, onCheckpoint, onPublished) = (onProgress, onCheckpoint, onPublished)
    let (onCancelled, onFailed) = (onCancelled, onFailed)
    let number = store.listen { old, new in
      if new.progress != old.progress { onProgress.fire(new.progress) }
      if let mark = new.kept?.checkpoint, mark != old.kept?.checkpoint { onCheckpoint.fire(mark) }
      if let interruption = new.interruption, old.interruption == nil { onCancelled.fire(interruption.signal) }
      if new.phase == .published, old.phase != .published { onPublished.fire(new.books) }
      if let failure = new.ownFailure, old.ownFailure == nil { onFailed.fire(failure) }
    }
    listener.withLock { $0 = number }
  }

  deinit { if let number = listener.withLock({ $0 }) { store.forget(number) } }
}
