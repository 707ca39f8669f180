internal import Synchronization

/// Hands out batches in stream order. Called from one piece of work at a time.
public protocol BatchSource: AnyObject, Sendable {
  /// Fills an empty batch with at least one record, reject or counted blank line. `batch.slotCount` is set already; the source selects
  /// all records it adds, unless a row-local reader behind it does. Returns false at the end, with the batch untouched.
  func next(into batch: RecordBatch) throws -> Bool
}

/// Row-local work on a batch: any thread, any order, nothing remembered from one batch to the next. Neighbours of this kind are fused.
public protocol RowStage: Sendable {
  /// Works on the selected records. Returns what it dropped or made; the engine counts what goes in and comes out by itself and the two
  /// have to agree.
  func process(_ batch: RecordBatch) throws -> StageTally
}

/// Work that sees batches in stream order, one at a time: stateful stages, breakers and sinks.
public protocol OrderedStage: AnyObject, Sendable {
  /// Works on the next batch.
  func process(_ batch: RecordBatch) throws -> OrderedOutcome
  /// Called once, behind the last batch, unless the run failed. What it returns is streamed to the next stage: the output of a breaker,
  /// or what a stage had to spill.
  func finish() throws -> (any BatchSource)?
  /// What was dropped, made or merged so far, the source returned by `finish` included.
  var tally: StageTally { get }
}

/// An ordered stage whose work on a batch may end after the call, without holding a thread: the batch stays with it until `done` is called.
public protocol DeferredStage: OrderedStage {
  /// Begins with the next batch; the one after it comes when `done` has been called, once, from any thread.
  func process(_ batch: RecordBatch, done: @escaping @Sendable (Result<OrderedOutcome, any Error>) -> Void)
  /// The run has failed or was cancelled while a batch may be with the stage: `done` is to be called soon.
  func cancel()
}

/// What becomes of a batch that an ordered stage has seen.
public enum OrderedOutcome: Sendable {
  /// The batch goes on to the next stage.
  case pass
  /// Nothing of it goes on; the engine may recycle it.
  case consumed
  /// It goes on, and nothing before this stage needs to be read any more.
  case passAndStop
}

/// What a stage did to the number of records: in + made = out + dropped + merged.
public struct StageTally: Sendable, Equatable, Codable {
  /// Records that went in and do not come out.
  public var dropped = 0
  /// Records that come out and were in no input.
  public var made = 0
  /// Records that went into others.
  public var merged = 0
  /// What the stage has to tell beside the books, as ``PlannedStage/noteReason`` says.
  public var noted = 0
  /// Counts of one batch, or of all so far.
  @inlinable public init(dropped: Int = 0, made: Int = 0, merged: Int = 0, noted: Int = 0) {
    self.dropped = dropped
    self.made = made
    self.merged = merged
    self.noted = noted
  }
  /// Adds count by count.
  public static func += (a: inout StageTally, b: StageTally) {
    a.dropped += b.dropped
    a.made += b.made
    a.merged += b.merged
    a.noted += b.noted
  }
  /// What came between `b` and `a`.
  public static func - (a: StageTally, b: StageTally) -> StageTally {
    StageTally(dropped: a.dropped - b.dropped, made: a.made - b.made, merged: a.merged - b.merged, noted: a.noted - b.noted)
  }
}

/// One step that a planned stage becomes. Neighbouring row steps, also of different stages, are fused.
public enum StageStep: Sendable {
  /// Any batch, any thread, any order.
  case row(any RowStage)
  /// One batch at a time, in stream order.
  case ordered(any OrderedStage)
}

/// How a stage may use memory.
public enum MemoryClass: String, Sendable, Codable {
  /// One record at a time.
  case streaming = "S"
  /// State per key; spills beyond its share.
  case keyed = "K"
  /// Needs the whole input; spills beyond its share.
  case breaker = "B"
}

/// A stage with its arguments understood, not yet bound to names and slots.
public protocol PlannedStage: Sendable {
  /// The stage as the user wrote it, for plans and messages: `dedupe --by email:email`.
  var text: String { get }
  var memoryClass: MemoryClass { get }
  /// Why it drops records, for the books: `duplicate`, `not true`; nil if it never does.
  var dropReason: String? { get }
  /// What the numbers that its tallies note are: `invalid numbers`; nil if it notes none.
  var noteReason: String? { get }
  /// It may have enough before the input ends: what lies behind is not read then, and is no error.
  var mayStopReading: Bool { get }
  /// It only lets records through or drops them, one by one, whatever the others are, and changes none: it becomes row-local steps.
  var isPredicate: Bool { get }
  /// Where it writes records beside the main output.
  var sideOutputs: [FilePath] { get }
  /// The stages that it stands for, one after the other; itself, unless it is a chain.
  var links: [any PlannedStage] { get }
  /// Resolves names against `schema`, changes the schema to what the stage's output looks like, and returns the steps that do it.
  func bind(_ schema: inout RecordSchema, _ context: StageContext) throws -> [StageStep]
}

extension PlannedStage {
  public var noteReason: String? { nil }
  public var mayStopReading: Bool { false }
  public var isPredicate: Bool { false }
  public var sideOutputs: [FilePath] { [] }
  public var links: [any PlannedStage] { [self] }
}

/// What the planner gives a stage while binding it.
public struct StageContext: Sendable {
  /// Where to put what memory cannot hold.
  public var spill: any SpillStore
  /// The share of `--memory` for this stage. Filled in by the planner when all stages are bound: read it when the run begins.
  public var memory: MemoryShare
  /// What has to be carried per record through this stage. Filled in like `memory`.
  public var payload: RecordPayload
  /// Runs pieces of work beside the pipeline, within `--threads`.
  public var pool: any WorkPool
  /// What the run's options say that stages look at.
  public var settings: StageSettings
  /// Opens an output beside the main one (`tee FILE`, `--duplicates FILE`) for records of the schema's layout at this point.
  public var openOutput: @Sendable (FilePath, RecordSchema) throws -> [StageStep]
  /// Reads another input whole, in a format told by content and name (`suppress --list`), record by record: the named fields, or the
  /// only column where `fields` is nil.
  public var readList: @Sendable (FilePath, [FieldName]?, (RecordBatch) throws -> Void) throws -> Void

  /// For the planner, and for tests that run a stage alone.
  public init(
    spill: any SpillStore, memory: MemoryShare, payload: RecordPayload, pool: any WorkPool, settings: StageSettings,
    openOutput: @escaping @Sendable (FilePath, RecordSchema) throws -> [StageStep],
    readList: @escaping @Sendable (FilePath, [FieldName]?, (RecordBatch) throws -> Void) throws -> Void
  ) {
    self.spill = spill
    self.memory = memory
    self.payload = payload
    self.pool = pool
    self.settings = settings
    self.openOutput = openOutput
    self.readList = readList
  }
}

/// Settings of the run that stages look at.
public struct StageSettings: Sendable, Equatable {
  /// `--locale`; nil is CLDR root. Never taken from the environment.
  public var locale: String?
  /// `--seed`, for `sample`.
  public var seed: UInt64 = 0
  /// Seed of the fingerprints: random per run.
  public var fingerprintSeed: UInt64 = 0
  /// Pieces of work that may run at once (`--threads`).
  public var threads = 1
  /// Names of the inputs, by ``RecordBatch/source``.
  public var sources: [FilePath] = []
  /// `--show-values`: messages may hold values of records.
  public var showsValues = false
  /// The settings of a run without options.
  public init() {}
}

/// A number of bytes that is known only after planning.
public final class MemoryShare: @unchecked Sendable {  // because it is written before the run begins and only read after
  /// May be used for as long as the run lasts.
  public var bytes: Int
  /// Where more may be had while nobody else has taken it; nil where the share is all there is.
  public var reserve: MemoryReserve?
  /// - Parameter bytes: what holds until the planner says otherwise.
  public init(bytes: Int = 32 << 20) { self.bytes = bytes }
}

/// Memory that several stages may need and none has a claim on: the first to ask gets it. What a run gives out never depends on it, only
/// how much of its work goes to disk.
public final class MemoryReserve: Sendable {
  private let left: Mutex<Int>

  /// - Parameter bytes: what there is to give out.
  public init(bytes: Int) { left = Mutex(bytes) }

  /// Takes `bytes`, all of them or none.
  public func take(_ bytes: Int) -> Bool {
    left.withLock { left in
      guard bytes <= left else { return false }
      left -= bytes
      return true
    }
  }

  /// Puts back what was taken.
  public func give(_ bytes: Int) { left.withLock { $0 = $0 < 0 ? $0 : $0 + bytes } }

  /// Gives out nothing any more, whatever is put back.
  public func close() { left.withLock { $0 = -1 } }
}

/// What of a record must survive a sort or a spill: known only after all later stages are bound.
public final class RecordPayload: @unchecked Sendable {  // because it is written before the run begins and only read after
  /// Slots that later stages or the writer look at, ascending.
  public var slots: [Int] = []
  /// The record's own bytes are needed, since the writer follows the source.
  public var needsBytes = true
  /// Source and ordinal are needed.
  public var needsOrigin = false
  /// A payload of all bytes and no slot, until the planner fills it in.
  public init() {}
}

/// Runs work on the run's threads. `submit` returns at once; the work must not wait for other work.
public protocol WorkPool: AnyObject, Sendable {
  /// Pieces of work that may run at once.
  var width: Int { get }
  /// Begins `work` on some thread as soon as one is free.
  func submit(_ work: @escaping @Sendable () -> Void)
}

/// Private temporary files in the run's own folder. Everything is gone when the run ends.
public protocol SpillStore: AnyObject, Sendable {
  /// A new, empty file. - Throws: `io` with the folder's name and `--temp-dir` as the fix.
  func makeFile() throws -> any SpillFile
  /// Files that may be open at once without hurting the rest of the run.
  var maxOpenFiles: Int { get }
  /// A file of an earlier process, as it was when it had this number and size.
  func reopen(_ number: Int, size: Int) throws -> any SpillFile
}

extension SpillStore {
  public func reopen(_ number: Int, size: Int) throws -> any SpillFile { throw CheckpointReader.damaged }
}

/// One temporary file. Written at its end by one piece of work at a time, read anywhere by any number at once.
public protocol SpillFile: AnyObject, Sendable {
  /// Bytes appended so far.
  var size: Int { get }
  /// - Throws: `io`/`disk-full` naming the folder, how much is missing where known, and `--temp-dir`.
  func append(_ bytes: UnsafeRawBufferPointer) throws
  /// Fills `buffer` from `offset` on; returns how many bytes there were.
  func read(at offset: Int, into buffer: UnsafeMutableRawBufferPointer) throws -> Int
  /// XXH3 of all bytes appended so far, of a file with a ``number``.
  var digest: UInt64 { get }
  /// Brings what was appended so far to disk, for a checkpoint that names the file.
  func sync() throws
  /// Gives the space back. Called once; the file must not be used after.
  func remove()
  /// What ``SpillStore/reopen(_:size:)`` finds it by; nil where the file ends with the process.
  var number: Int? { get }
}

extension SpillFile {
  public var number: Int? { nil }
  public var digest: UInt64 { 0 }
  public func sync() throws {}
}
