/// Everything that can go wrong with input, output or usage, as one line for a person and stable codes for a program.
///
/// Libraries throw it, the command line prints it and takes its exit status from ``category``. A message names files, fields and
/// places, never a contact's values.
public struct OhanaError: Error, Sendable, Equatable, Codable, CustomStringConvertible {
  /// What kind of trouble it is; the raw value is the exit status of the command line.
  public enum Category: Int32, Sendable, Codable {
    /// The caller asked for something impossible: unknown option, unknown field, an existing output.
    case usage = 2
    /// Input that cannot be read, beyond the budget of rejects.
    case badInput = 3
    /// Reading or writing failed: missing file, no access, disk full.
    case io = 4
    /// A legal record or structure that the memory limit cannot hold.
    case memory = 5
    /// The books do not balance: a defect of ours, and the reason why nothing was published.
    case books = 6
    /// Another run holds the output, or its state does not fit.
    case locked = 7
    /// A guard of the run failed: `--min-records`, `--max-drop`, a refused selection.
    case guardFailed = 8
  }

  /// A place in the decompressed input; lines and byte columns count from 1.
  public struct Location: Sendable, Equatable, Codable {
    /// Name of the file or stream.
    public var source: FilePath
    /// 1-based; nil where the whole file is meant.
    public var line: Int?
    /// 1-based byte column within the line.
    public var byte: Int?

    /// - Parameter byte: 1-based, in bytes from the line's start.
    public init(_ source: FilePath, line: Int? = nil, byte: Int? = nil) {
      self.source = source
      self.line = line
      self.byte = byte
    }
  }

  /// The kind of trouble, and so the exit status.
  public var category: Category
  /// A stable, machine-readable word, for example `unknown-field` or `auth`.
  public var code: String
  /// Where it happened; nil where no place in a file is to blame.
  public var location: Location?
  /// Name of the field or column concerned.
  public var field: String?
  /// What is wrong, as a sentence without full stop; never a contact's values.
  public var problem: String
  /// What the user can do about it; may be empty.
  public var fix: String

  /// - Parameter fix: what to do about it; empty where nothing can be.
  public init(
    _ category: Category, _ code: String, at location: Location? = nil, field: String? = nil, _ problem: String, fix: String = ""
  ) {
    self.category = category
    self.code = code
    self.location = location
    self.field = field
    self.problem = problem
    self.fix = fix
  }

  /// `file:line:byte: field: what; what to do`, on one line.
  public var description: String {
    var text = ""
    if let location {
      text += location.source.description
      if let line = location.line {
        text += ":\(line)"
        if let byte = location.byte { text += ":\(byte)" }
      }
      text += ": "
    }
    if let field { text += "\(field): " }
    text += problem
    if !fix.isEmpty { text += "; \(fix)" }
    return text
  }
}
