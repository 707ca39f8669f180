internal import OhanaCore
internal import OhanaEngine

/// The one place where managers and observers are made. Tests make another.
public struct RunDependencies: Sendable {
  var inputs: any InputManaging = InputManager()
  var processors: any ProcessorManaging = ProcessorManager()
  var reports: any ReportManaging = ReportManager()
  var locks: any LockManaging = LockManager()
  var journals: any JournalManaging = JournalManager()
  var checkpoints: any CheckpointManaging = CheckpointManager()
  var manifests: any ManifestManaging = ManifestManager()
  var generator: any GenerateManaging = GenerateManager()
  /// Time on a clock that is never set, in nanoseconds.
  let clock: @Sendable () -> UInt64
  /// Milliseconds before a read that failed for a passing reason is tried again, once more, and so on.
  var readPauses = [50, 200]
  /// Seconds between two checkpoints.
  let checkpointInterval: Double
  /// Seconds between two looks at what memory there is, and how small files of the system are read for that.
  let memoryInterval: Double
  let readSystemFile: @Sendable (FilePath) -> String?
  /// What each stage may hold, whatever `--memory` would give it; nil: its share.
  let stageBytes: Int?

  /// For tests, the environment may say more: `OHANA_CHECKPOINT_SECONDS` how often checkpoints are taken, since they cannot wait for 30 s, and
  /// `OHANA_STAGE_BYTES` how much each stage may hold, so that a handful of records spill.
  public init() {
    func number<Value>(_ name: String, _ value: (String) -> Value?) -> Value? { getenv(name).flatMap { value(String(cString: $0)) } }
    self.init(
      clock: monotonicNanoseconds, checkpointInterval: number("OHANA_CHECKPOINT_SECONDS") { Double($0) } ?? 30,
      stageBytes: number("OHANA_STAGE_BYTES") { Int($0) })
  }

  init(
    clock: @escaping @Sendable () -> UInt64, checkpointInterval: Double, memoryInterval: Double = 2,
    readSystemFile: @escaping @Sendable (FilePath) -> String? = { $0.smallText }, stageBytes: Int? = nil
  ) {
    self.clock = clock
    self.checkpointInterval = checkpointInterval
    self.memoryInterval = memoryInterval
    self.readSystemFile = readSystemFile
    self.stageBytes = stageBytes
  }

  func makeSpill(_ options: RunOptions, journal: Journal? = nil) -> FileSpillStore {
    FileSpillStore(folder: options.tempDir, stateFolder: journal?.folder)
  }

  /// - Parameters:
  ///   - journal: where durable changes go, once there is one.
  ///   - trace: where all changes are told, once there is one.
  func makeStore(_ options: RunOptions, journal: Locked<Journal?>, trace: Locked<TraceLog?>) -> RunStore {
    RunStore(
      dependencies: self, interceptors: [TraceInterceptor(trace: trace, clock: clock), OrderInterceptor(), JournalInterceptor(journal)],
      rules: RunRule.table(options))
  }

  /// What tells the store's rules of outside events, for as long as it is held.
  ///
  /// - Parameter began: when the run began, on ``clock``.
  func makeObservers(of store: RunStore, _ options: RunOptions, since began: UInt64) -> [any Sendable] {
    let notify: @Sendable (RunEvent) -> Void = { [weak store] event in store?.notify(event) }
    return [
      SignalObserver(notify), DiskObserver(options.tempDir ?? FileSpillStore.defaultFolder, notify),
      MemoryObserver(every: memoryInterval, read: readSystemFile, notify),
      TimerObserver(since: began, every: min(0.2, checkpointInterval / 2), clock: clock, notify),
    ]
  }
}
