public import OhanaCore
internal import OhanaFormats

/// What a run was asked to do beside its stages: the options in front of the first `then`.
public struct RunOptions: Sendable {
  /// What `--from` and `--to` can name. `rejects` is input only: the lines of a file of rejects, read as what they were.
  public enum Format: String, Sendable, CaseIterable {
    case ndjson, csv, tsv, rejects
  }
  /// `--compress`: overrules the name of the output.
  public enum Compression: String, Sendable, CaseIterable { case gz, none }
  /// What becomes of a run whose compressed chunk is damaged: it ends, or what is whole before the damage is delivered (exit 3 all the same).
  public enum BadChunkPolicy: String, Sendable, CaseIterable { case fail, skip }
  /// What becomes of an input or provider that cannot be opened, may not be read, or fails on its way: it ends the run, or it is left out
  /// from there on (exit 4 all the same).
  public enum ProviderErrorPolicy: String, Sendable, CaseIterable {
    /// It ends the run.
    case fail
    /// The run goes on without the rest of it.
    case skip
  }
  /// What becomes of an input or provider that may not be read.
  public enum AuthPolicy: String, Sendable, CaseIterable {
    /// Somebody is asked (``RunRequest/authorise``), and it is tried once more on consent; a refusal is an error of the provider.
    case ask
    /// It ends the run before anything is read.
    case fail
    /// The run goes on without it.
    case skip
  }
  /// When a progress line is shown; `auto` is on a terminal only.
  public enum ProgressPolicy: String, Sendable, CaseIterable { case auto, always, never }
  /// How messages to people and programs are written.
  public enum LogFormat: String, Sendable, CaseIterable {
    case text
    /// One object a line.
    case json
  }
  /// What becomes of CSV rows with more cells than columns: rejected unless the surplus is empty, or put into columns of their own.
  public enum RaggedPolicy: String, Sendable, CaseIterable { case strict, pad }
  /// How many records may be unreadable before the run fails.
  public enum RejectBudget: Sendable, Equatable {
    /// So many records; the run stops at the first beyond.
    case count(Int)
    /// Of the records read, judged at the end.
    case percent(Double)
  }

  // MARK: Resources
  /// Bytes the run may use; everything beyond spills.
  public var memory = 256 << 20
  /// Pieces of work at once; nil: the cores this process may use.
  public var threads: Int?
  /// Folder of spill files; nil: `$TMPDIR`, else `/var/tmp`.
  public var tempDir: FilePath?
  // MARK: Input
  /// Input format, whatever content and names say; nil: content first, names second.
  public var from: Format?
  /// Input encoding by name, where no byte order mark says otherwise; nil: UTF-8.
  public var encoding: String?
  /// CSV input: the delimiter, an ASCII byte; nil: told from the first records.
  public var delimiter: UInt8?
  /// CSV input: the quote; nil: `"`.
  public var quote: UInt8?
  /// CSV input: a byte that makes the next one text; nil: there is none.
  public var escape: UInt8?
  /// CSV input: cells with this text, quoted or not, are null.
  public var nulls: [[UInt8]] = []
  /// CSV input: the first record names the columns.
  public var hasHeader = true
  /// CSV input without header: names of the columns; nil: `_1`, `_2`, …
  public var header: [[UInt8]]?
  /// CSV input: cells that are spelled as numbers or booleans are such, instead of strings.
  public var infer = false
  /// CSV input: rows with too many cells.
  public var ragged = RaggedPolicy.strict
  /// In bytes; longer records are rejected without being held.
  public var maxRecord = 64 << 20
  /// A compressed input that is damaged.
  public var onBadChunk = BadChunkPolicy.fail
  /// An input or provider that cannot be read.
  public var onProviderError = ProviderErrorPolicy.fail
  /// An input or provider that may not be read; nil: what ``onProviderError`` says.
  public var onAuth: AuthPolicy?
  /// Records of several inputs come in the order in which they arrive, instead of that of the inputs: one that has to be waited for holds up no other.
  /// Another run may give another order. Records of one input keep theirs.
  public var interleave = false
  /// Fields that may be in no record at all.
  public var optional = RecordSchema.OptionalFields.names([])
  /// The field `image` is read where something needs it; otherwise it is left out, as if no record had one.
  public var loadsImages = true
  /// zlib reads and writes gzip, instead of the faster libraries.
  public var useZlib = false
  /// What tries reads again that fail for a passing reason; the run's own, nobody else's to set.
  var readRetries: ReadRetries?
  // MARK: Output
  /// Output format; nil: by the name of the output, else that of the first input.
  public var to: Format?
  /// nil: by the name of the output.
  public var compression: Compression?
  /// Of compression, 1 (fastest) to 12.
  public var level = 1
  /// CSV output: just these columns; nil: all there are.
  public var columns: [[UInt8]]?
  /// CSV output: the delimiter; nil: by the name, else comma.
  public var outDelimiter: UInt8?
  /// CSV output: quotes around every cell that is not null.
  public var quoteAll = false
  /// CSV output: CR LF at the end of rows.
  public var crlf = false
  /// CSV output: begins with a byte order mark.
  public var bom = false
  /// CSV output: begins with the names of the columns.
  public var outHeader = true
  /// NDJSON made of columns: `address.city` becomes a member of an object.
  public var unflatten = false
  /// NDJSON made of columns: cells of these are split at `;` into arrays.
  public var lists: [[UInt8]] = []
  /// Records per output file, for a name with `{n}`; nil: one file.
  public var chunkRecords: Int?
  /// Outputs that exist may be replaced.
  public var overwrite = false
  // MARK: Guards
  /// Unreadable records that are put up with.
  public var maxRejects = RejectBudget.count(0)
  /// Where unreadable records go, as NDJSON; nil: nowhere.
  public var rejects: FilePath?
  /// Fewer records written than this: nothing is published.
  public var minRecords: Int?
  /// Percent of the records read that may be dropped.
  public var maxDrop: Double?
  // MARK: Telling
  /// Where the report goes, as JSON; written for failed runs too.
  public var report: FilePath?
  /// Where the manifest of a published set goes.
  public var manifest: FilePath?
  /// Write what each step did with each batch there, for chrome://tracing.
  public var trace: FilePath?
  /// The tool tells of each signal of the run that fires, on standard error.
  public var traceSignals = false
  /// The progress line on standard error.
  public var progress = ProgressPolicy.auto
  /// Nothing on standard error but errors.
  public var quiet = false
  /// How messages on standard error are written.
  public var logFormat = LogFormat.text
  /// Messages may hold values of records.
  public var showValues = false
  // MARK: Meaning
  /// Language whose rules order text; nil: CLDR root, whatever the environment says.
  public var locale: String?
  /// Of `sample`.
  public var seed: UInt64 = 0
  /// Go on with an earlier run that was cut off.
  public var resume = false

  /// The defaults of the tool.
  public init() {}
}

/// A whole run as asked for: what to read, what to do, where to write.
public struct RunRequest: Sendable {
  /// As given: files, globs, directories, `-`.
  public var inputs: [FilePath] = []
  /// A file that lists further inputs, one a line.
  public var filesFrom: FilePath?
  /// Files that take the place of `inputs`: read as they are listed, the same one twice too (`diff A A`).
  public var files: [FilePath]?
  /// Read in this order, behind `inputs`, which may be none then.
  public var providers: [any DataProvider] = []
  /// Takes the records in place of an output.
  public var sink: (any RecordSink)?
  /// Told of each input as it is opened, when its last record has been read, and of what could not be read, in order and some times a second at
  /// most, however many records that is. Called by a piece of work: to be quick.
  public var onInput: (@Sendable (InputEvent) -> Void)?
  /// Asks, under ``RunOptions/onAuth`` `ask`, about an input that may not be read: the error names it. Called once for each, before anything is
  /// read; nil: nobody can be asked, and so it is refused.
  public var authorise: (@Sendable (OhanaError, AccessRetry) -> Void)?
  /// Told of temporary files: how many bytes have gone there so far, some times a second at most. Called by a piece of work: to be quick.
  public var onSpill: (@Sendable (Int) -> Void)?
  /// nil: standard output.
  public var output: FilePath?
  /// In order; none: records pass as they are.
  public var stages: [any PlannedStage] = []
  /// All that stands in front of the first `then`.
  public var options = RunOptions()
  /// The command line that says all this, for `ohana resume`.
  public var arguments: [FilePath] = []

  /// Reads nothing and does nothing yet.
  public init() {}
}

/// What happens to an input of a run.
public struct InputEvent: Sendable, Equatable {
  /// What can happen.
  public enum Kind: Sendable, Equatable {
    /// It is about to be read.
    case opened
    /// All of it, or as much as was wanted, was read: so many records, and so many that could not be.
    case ended(read: Int, rejected: Int)
    /// So many more records could not be read; the first of them, and where it stands.
    case rejected(Int, first: OhanaError)
    /// So many more faults of a kind that left the other fields whole; the first is in this line, from 1.
    case warned(Int, code: String, line: Int)
    /// It could not be opened, or not be read to its end, and the run goes on without the rest of it.
    case failed(OhanaError)
  }
  /// What happened.
  public var kind: Kind
  /// Index of the provider it belongs to; 0 without providers.
  public var provider: Int
  /// Of the input.
  public var name: FilePath
  /// It is the last one of its provider.
  public var isLast: Bool
}
