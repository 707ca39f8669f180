/// How CSV text is to be read (RFC 4180 and its usual relatives).
///
/// What is nil is told from an input's first bytes by ``CSVHeader/scan(_:dialect:source:)``, whose dialect has no nil left but `quote`
/// and `escape`.
///
/// Deviations from RFC 4180: records may end with LF, or with CR alone where an input holds no other line end; a quote inside a bare
/// cell is text; NUL is data; records may have fewer cells than the header; blank lines are skipped.
public struct CSVDialect: Sendable, Equatable {
  /// What names the columns.
  public enum HeaderMode: Sendable, Equatable {
    /// The input's first record.
    case firstRecord
    /// Nothing: all records are data, the columns are `_1`, `_2` …, as many as the first record has cells.
    case none
    /// These names; all records are data.
    case given([[UInt8]])
  }

  /// What becomes of cells beyond the header's width. Empty ones are always dropped.
  public enum Ragged: String, Sendable, Codable, CaseIterable {
    /// The record is rejected.
    case strict
    /// They go into columns `column_N`; the header has to be widened first, see ``CSVHeader/widen(by:)``.
    case pad
  }

  /// What ends a record.
  public enum LineEnd: Sendable {
    /// LF; a CR before it belongs to the line end.
    case lineFeed
    /// CR alone, LF and CRLF as well: a file that came from an old Macintosh.
    case carriageReturn
  }

  /// nil: sniffed among `, ; TAB |`.
  public var delimiter: UInt8?
  /// nil: no byte quotes.
  public var quote: UInt8? = UInt8(ascii: "\"")
  /// Makes the byte behind it text, in quotes and outside. nil: none; quotes are doubled.
  public var escape: UInt8?
  /// Cells, quoted or not, that are null. An unquoted empty cell is null anyway.
  public var nulls: [[UInt8]] = []
  /// Unquoted cells that are JSON numbers, `true` or `false` become such values.
  public var infersKinds = false
  /// Where the names of the columns come from.
  public var header = HeaderMode.firstRecord
  /// What becomes of rows with more cells than columns.
  public var ragged = Ragged.strict
  /// nil: told from the first 64 KiB.
  public var lineEnd: LineEnd?
  /// Longest record in bytes, its line end not counted.
  public var maxRecordBytes = 64 << 20
  /// Records are not UTF-8 because a converter could not read them: the reject's reason says so.
  public var isTranscoded = false

  /// RFC 4180: comma, double quotes, a header.
  public init() {}

  /// Comma and `"`: what our writer writes by default, so that a record's own bytes may be its output.
  public var isDefault: Bool {
    delimiter == UInt8(ascii: ",") && quote == UInt8(ascii: "\"") && escape == nil && lineEnd != .carriageReturn
  }

  /// Names why these bytes cannot be used together; nil if they can.
  public var problem: String? {
    let bytes = [delimiter, quote, escape].compactMap { $0 }
    if bytes.contains(where: { $0 == 0x0a || $0 == 0x0d }) { return "a line end cannot be a delimiter, quote or escape" }
    if bytes.contains(where: { $0 >= 0x80 }) { return "delimiter, quote and escape have to be single ASCII characters" }
    if let delimiter, delimiter == quote || delimiter == escape { return "the delimiter has to differ from quote and escape" }
    if maxRecordBytes < 1 { return "a record has at least one byte" }
    return nil
  }
}

extension CSVDialect {
  static let sniffedDelimiters: [UInt8] = [UInt8(ascii: ","), UInt8(ascii: ";"), 0x09, UInt8(ascii: "|")]

  /// Quote and escape as numbers that no byte equals where there is none.
  var quoteCode: UInt16 { quote.map(UInt16.init) ?? 256 }
  var escapeCode: UInt16 { escape.flatMap { $0 == quote ? nil : UInt16($0) } ?? 256 }
}
