public import OhanaCore

/// What a run has published, as one file (`--manifest`): the last to appear, so that a set with its manifest is a whole one.
///
/// JSON, keys in order:
///
/// | key | what |
/// |---|---|
/// | `format` | 1 |
/// | `chunks` | of a set of chunks: the pattern of its names, written as paths are |
/// | `files` | of each file: `path` (beside the manifest, or from the root), `role`, `records`, `size` in bytes, `sha256` of its bytes as they lie there |
/// | `plan` | the plan, as `ohana plan` shows it |
/// | `versions` | of the tool and of the libraries that results depend on |
/// | `books` | where every record went |
public struct Manifest: Sendable, Equatable, Codable {
  /// One published file.
  public struct File: Sendable, Equatable, Codable {
    /// Beside the manifest, else from the root.
    public var path: FilePath
    /// `main`, `tee`, `duplicates` or `rejects`.
    public var role: String
    /// Headers not counted.
    public var records: Int
    /// In bytes.
    public var size: Int
    /// Of its bytes as they lie there, 64 hexadecimal digits.
    public var sha256: String
  }

  /// Of the manifest; grows when the meaning of a key changes.
  public var format = 1
  /// The pattern of the names of a set of chunks, with its `{n}`; nil where there is one file.
  public var chunks: FilePath?
  /// In the order in which they appeared.
  public var files: [File]
  /// As `ohana plan` shows it.
  public var plan: [String]
  /// By name: this tool, and libraries that results depend on.
  public var versions: [String: String]
  /// Where every record went.
  public var books: RunBooks

  /// An output that is written in place has no bytes to hold against it afterwards.
  static func inPlace(_ path: FilePath) -> OhanaError {
    OhanaError(.usage, "no-manifest", at: .init(path), "--manifest is for outputs that are regular files", fix: "name a file with -o")
  }
}
