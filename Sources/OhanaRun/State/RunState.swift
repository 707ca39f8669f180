public import OhanaCore
public import OhanaFormats

/// Everything there is to know of a run, as one value: what a person, a report or an exit status needs, and what a killed run goes on from.
///
/// Only updaters that were dispatched to the ``RunStore`` change it. Records, keys and buffers are no part of it.
public struct RunState: Sendable, Equatable, Codable {
  /// How far the run has come; a phase only follows an earlier one.
  public enum Phase: String, Sendable, Codable, Comparable {
    /// Inputs are looked at, outputs opened.
    case planning
    /// Records pass.
    case running
    /// The last record has passed; outputs are brought to disk.
    case finishing
    /// Names are being changed: from here on the run is finished, by itself or by the next one.
    case committing
    /// Everything has its name.
    case published
    /// Nothing but rejects and report has appeared.
    case failed

    private var rank: Int {
      switch self {
      case .planning: 0
      case .running: 1
      case .finishing: 2
      case .committing: 3
      case .published, .failed: 4
      }
    }
    public static func < (a: Phase, b: Phase) -> Bool { a.rank < b.rank }
  }

  /// How far it is; the numbers of the progress line.
  public struct Progress: Sendable, Equatable, Codable {
    /// Compressed bytes of the inputs.
    public var bytesRead = 0
    /// nil where an input has no size.
    public var bytesTotal: Int?
    /// Good records read so far, those of an earlier run that this one goes on with included.
    public var records = 0
    /// Everything is read, and a stage gives out what it had held back until then; nil before.
    public var held: Held?
    /// Since the run began; a resumed run begins anew.
    public var seconds = 0.0
    /// The stage that takes most of the time; `reading` and `writing` are those before and behind all stages.
    public var limiting: String?
    /// What is short, in three words.
    public var warning: String?
    /// At the very beginning.
    public init() {}

    /// What a stage has held back until the end of its input (a sort, for example), and how much of that has gone on.
    public struct Held: Sendable, Equatable, Codable {
      /// The stage's name.
      public var stage: String
      /// Records that have gone on, through all stages behind it.
      public var passed: Int
      /// Records there were to go on.
      public var total: Int
      /// Seconds from the run's beginning to the first of them.
      public var since: Double
    }

    /// Done of what is being done, from 0 to 100: of the bytes to read, then of the records that ``held`` tells of; nil where an input has no
    /// size.
    public var percent: Int? { share.map { Int($0 * 100) } }

    /// Until what is being done will have been done; nil in its first second, and where that cannot be told.
    public var secondsLeft: Double? {
      guard let share, share > 0, share < 1 else { return nil }
      let passed = seconds - (held?.since ?? 0)
      return passed > 1 ? passed * (1 - share) / share : nil
    }

    private var share: Double? {
      if let held { return held.total > 0 ? min(1, Double(held.passed) / Double(held.total)) : 1 }
      return bytesTotal.flatMap { $0 > 0 ? min(1, Double(bytesRead) / Double($0)) : nil }
    }
  }

  /// What ended the run badly.
  public struct Failure: Sendable, Equatable, Codable {
    /// Decides the exit status.
    public var category: OhanaError.Category
    /// See ``OhanaError/code``.
    public var code: String
    /// One line, with place and fix.
    public var message: String

    /// Takes over category, code and text.
    public init(_ error: OhanaError) { (category, code, message) = (error.category, error.code, error.description) }
    /// An error that is none of ours becomes one of input and output.
    public init(_ error: any Error) { self.init(error as? OhanaError ?? OhanaError(.io, "unknown", "\(error)")) }

    /// The category's number. Whoever reads a pipe may have had enough: that is no failure of ours.
    public var exitStatus: Int32 { code == "closed-pipe" ? 0 : category.rawValue }
  }

  /// A signal that asks the run to end.
  public struct Interruption: Sendable, Equatable, Codable {
    /// Its number.
    public var signal: Int32
    /// How many of them have come.
    public var count = 1
  }

  /// What the journal keeps: enough for the next run to finish this one, to go on with it, or to clear up behind it.
  public struct Kept: Sendable, Equatable, Codable {
    /// What a run has to have in common with this one to go on with it; nil where none can, since an input cannot be read again.
    public var identity: RunIdentity?
    /// In the names of all its private files; see ``TemporaryNames``.
    public var mark: String
    /// Where those files are.
    public var folders: [FilePath]
    /// Locks that name its state folder, from the root.
    public var locks: [FilePath] = []
    /// Of the keys' fingerprints: spilled ones are of no use under another.
    public var fingerprintSeed: UInt64
    /// The command line, and where it was given.
    public var arguments: [FilePath]
    /// Where relative paths of `arguments` begin.
    public var directory: FilePath
    /// The last one; nil before the first.
    public var checkpoint: CheckpointMark?
    /// What is to appear; nil before all is complete.
    public var commit: Commit?
    /// Report and trace of the part that was ended, from the root; a run that goes on with it may replace them.
    var told: [ToldFile] = []
  }

  /// A file that tells of a run that was ended, as it was left.
  struct ToldFile: Sendable, Equatable, Codable {
    var path: FilePath
    var content: FileContent?
  }

  /// All is complete; only names are to be changed.
  public struct Commit: Sendable, Equatable, Codable {
    /// In the order in which files appear.
    public var renames: [PendingRename]
    /// Chunks of an earlier set that go then.
    public var removals: [PendingRemoval] = []
    /// As they are when everything is complete.
    public var books: RunBooks
    /// As they are when everything is complete.
    public var notes: [String]
    /// As they are when everything is complete.
    public var inputs: [InputState] = []
    /// As they are when everything is complete.
    public var fault: Failure?
    /// Lines of it, for people.
    public var plan: [String] = []
  }

  /// How far it has come.
  public var phase = Phase.planning
  /// Numbers for the progress line.
  public var progress = Progress()
  /// In the order of reading, and then those left out since they cannot be read. Empty until they are known.
  public var inputs: [InputState] = []
  /// Complete when the last record has passed; of a run that has failed before, how far records had come.
  public var books = RunBooks()
  /// Lines of the plan, for people.
  public var plan: [String] = []
  /// Things worth knowing that are no errors.
  public var notes: [String] = []
  /// nil while nothing is wrong.
  public var failure: Failure?
  /// The signal that asked it to end.
  public var interruption: Interruption?
  /// What the journal keeps of it; nil where there is no journal.
  public var kept: Kept?
  /// When the next checkpoint is due.
  public var checkpoints = CheckpointClock()
  /// `--resume`: a checkpoint is worth taking when the run has to end.
  public var isToResume = false
  /// Asked to end, and leaves a checkpoint for the next run to go on from.
  public var isLeaving = false
  /// Some outputs have got their names and others could not: the next run to any of them goes on with that.
  public var isHalted = false
  /// There is little room for temporary files.
  public var isDiskShort = false
  /// Processes wait for memory.
  public var isMemoryShort = false
  /// Times somebody asked to be shown the progress.
  public var progressRequests = 0

  /// A run that has not begun.
  public init() {}

  /// What it has made is left in place for `--resume`.
  public var hasLeft: Bool { isLeaving && isInterrupted && kept?.checkpoint != nil }

  /// The run ended because it was interrupted.
  public var isInterrupted: Bool { interruption != nil && phase != .published }

  /// What is wrong beside that the run was asked to end; nil if nothing is.
  public var ownFailure: Failure? { isInterrupted && failure?.code == OhanaError.cancelled.code ? nil : failure }

  /// What the process ends with: 0, a category's number, or 128 and the signal.
  public var exitStatus: Int32 {
    if let interruption, isInterrupted { return 128 + interruption.signal }
    return failure?.exitStatus ?? 0
  }
}
