public import OhanaCore

/// What a run has published, as one file (`--manifest`): the last to appear, so that a set with its manifest is a whole one.
///
/// JSON, keys in order:
///
/// | key | what |
/// |---|---|
/// | `format` | 1 |
/// | `files` | of each file: `path` (beside the manifest, or from the root), `role`, `records`, `size` in bytes, `sha256` of its bytes as they lie there |
/// | `plan` | the plan, as `ohana plan` shows it |
/// | `versions` | of the tool and of the libraries that results depend on |
/// | `books` | where every record went |
public struct Manifest: Sendable, Equatable, Codable {
  public struct File: Sendable, Equatable, Codable {
    public var path: FilePath
    /// `main`, `tee`, `duplicates` or `rejects`.
    public var role: String
    public var records: Int
    public var size: Int
    public var sha256: String
  }

  public var format = 1
  public var files: [File]
  public var plan: [String]
  public var versions: [String: String]
  public var books: RunBooks
}
