internal import OhanaCore
internal import OhanaEngine

/// The one place where managers and observers are made. Tests make another.
public struct RunDependencies: Sendable {
  let inputs = InputManager()
  let processors = ProcessorManager()
  let reports = ReportManager()
  let locks = LockManager()
  let journals = JournalManager()
  let checkpoints = CheckpointManager()
  let manifests = ManifestManager()
  /// Time on a clock that is never set, in nanoseconds.
  let clock: @Sendable () -> UInt64
  /// Seconds between two checkpoints.
  let checkpointInterval: Double
  /// Seconds between two looks at what memory there is, and how small files of the system are read for that.
  let memoryInterval: Double
  let readSystemFile: @Sendable (FilePath) -> String?

  /// `OHANA_CHECKPOINT_SECONDS` in the environment changes how often checkpoints are taken; for tests, which cannot wait for 30 s.
  public init() {
    let text = getenv("OHANA_CHECKPOINT_SECONDS").map { String(cString: $0) }
    self.init(clock: monotonicNanoseconds, checkpointInterval: text.flatMap { Double($0) } ?? 30)
  }

  init(
    clock: @escaping @Sendable () -> UInt64, checkpointInterval: Double, memoryInterval: Double = 2,
    readSystemFile: @escaping @Sendable (FilePath) -> String? = { $0.smallText }
  ) {
    self.clock = clock
    self.checkpointInterval = checkpointInterval
    self.memoryInterval = memoryInterval
    self.readSystemFile = readSystemFile
  }

  func makeSpill(_ options: RunOptions, journal: Journal? = nil) -> FileSpillStore {
    FileSpillStore(folder: options.tempDir, stateFolder: journal?.folder)
  }

  /// - Parameter journal: where durable changes go, once there is one.
  func makeStore(journal: Locked<Journal?>) -> RunStore {
    RunStore(dependencies: self, interceptors: [OrderInterceptor(), JournalInterceptor(journal)])
  }

  /// What turns outside events into dispatches, for as long as it is held.
  ///
  /// - Parameter began: when the run began, on ``clock``.
  func makeObservers(of store: RunStore, _ options: RunOptions, since began: UInt64) -> [any Sendable] {
    let post: @Sendable (any RunUpdater) -> Void = { [weak store] updater in store?.post(updater) }
    return [
      SignalObserver(post), DiskObserver(options.tempDir ?? FileSpillStore.defaultFolder, post),
      MemoryObserver(every: memoryInterval, read: readSystemFile, post),
      TimerObserver(since: began, every: min(0.2, checkpointInterval / 2), clock: clock, post),
    ]
  }
}
