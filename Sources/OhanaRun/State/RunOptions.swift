public import OhanaCore

/// What a run was asked to do beside its stages: the options in front of the first `then`.
public struct RunOptions: Sendable {
  public enum Format: String, Sendable, CaseIterable {
    case ndjson, csv, tsv, rejects
  }
  public enum Compression: String, Sendable, CaseIterable { case gz, none }
  public enum BadChunkPolicy: String, Sendable, CaseIterable { case fail, skip }
  public enum ProgressPolicy: String, Sendable, CaseIterable { case auto, always, never }
  public enum RaggedPolicy: String, Sendable, CaseIterable { case strict, pad }
  /// How many records may be unreadable before the run fails.
  public enum RejectBudget: Sendable, Equatable {
    case count(Int)
    /// Of the records read, judged at the end.
    case percent(Double)
  }

  // MARK: Resources
  /// Bytes the run may use; everything beyond spills.
  public var memory = 256 << 20
  /// Pieces of work at once; nil: the cores this process may use.
  public var threads: Int?
  public var tempDir: FilePath?
  // MARK: Input
  public var from: Format?
  public var encoding: String?
  public var delimiter: UInt8?
  public var quote: UInt8?
  public var escape: UInt8?
  public var nulls: [[UInt8]] = []
  public var hasHeader = true
  public var header: [[UInt8]]?
  public var infer = false
  public var ragged = RaggedPolicy.strict
  public var maxRecord = 64 << 20
  public var onBadChunk = BadChunkPolicy.fail
  public var optional = RecordSchema.OptionalFields.names([])
  public var useZlib = false
  // MARK: Output
  public var to: Format?
  public var compression: Compression?
  public var level = 1
  public var columns: [[UInt8]]?
  public var outDelimiter: UInt8?
  public var quoteAll = false
  public var crlf = false
  public var bom = false
  public var outHeader = true
  public var unflatten = false
  public var lists: [[UInt8]] = []
  public var chunkRecords: Int?
  public var overwrite = false
  // MARK: Guards
  public var maxRejects = RejectBudget.count(0)
  public var rejects: FilePath?
  public var minRecords: Int?
  /// Percent of the records read that may be dropped.
  public var maxDrop: Double?
  // MARK: Telling
  public var report: FilePath?
  public var manifest: FilePath?
  public var progress = ProgressPolicy.auto
  public var quiet = false
  public var showValues = false
  // MARK: Meaning
  public var locale: String?
  public var seed: UInt64 = 0
  public var resume = false

  public init() {}
}

/// A whole run as asked for: what to read, what to do, where to write.
public struct RunRequest: Sendable {
  /// As given: files, globs, directories, `-`.
  public var inputs: [FilePath] = []
  public var filesFrom: FilePath?
  /// Files that take the place of `inputs`: read as they are listed, the same one twice too (`diff A A`).
  public var files: [FilePath]?
  /// nil: standard output.
  public var output: FilePath?
  public var stages: [any PlannedStage] = []
  public var options = RunOptions()
  public init() {}
}
