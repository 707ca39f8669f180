public import OhanaCore
internal import OhanaFormats

/// Files, patterns and folders of NDJSON or CSV, packed by gzip or not: what the tool's INPUT takes.
public struct FileDataProvider: DataProvider {
  public let identifier: String
  /// As given.
  public let patterns: [FilePath]

  /// - Parameters:
  ///   - patterns: files, globs (`exports/*.ndjson.gz`) and folders, read in this order, those of a glob or a folder in byte order.
  ///   - identifier: the patterns, unless given. To be unique in a data source.
  public init(_ patterns: FilePath..., identifier: String? = nil) { self.init(patterns, identifier: identifier) }
  /// The same for a list. - Precondition: it is not empty.
  public init(_ patterns: [FilePath], identifier: String? = nil) {
    precondition(!patterns.isEmpty, "a file provider needs a file")
    self.patterns = patterns
    self.identifier = identifier ?? patterns.map(\.description).joined(separator: " ")
  }

  /// `denied` where a file that is there may not be read.
  public var access: ProviderAccess {
    guard let files = try? InputResolver.resolve(patterns) else { return .granted }  // opening says what is wrong
    return files.allSatisfy { $0 == "-" || $0.isReadable } ? .granted : .denied
  }

  /// - Throws: ``OhanaError`` `io`: `not-found`, `no-files`.
  public func open() throws -> ProviderContent { .files(try InputResolver.resolve(patterns)) }
}

extension FilePath {
  fileprivate var isReadable: Bool { withCString { OhanaCore.access($0, R_OK) == 0 || errno != EACCES } }
}
