public import OhanaCore

/// A complete file that waits for its name: what is left to do when a run was killed between two renames.
public struct PendingRename: Sendable, Equatable, Codable {
  /// Both from the root.
  public var temporary: FilePath
  /// The name under which it is published.
  public var final: FilePath
  /// Permission bits the published file gets.
  public var mode: UInt32
  /// A file of the final name may be replaced.
  public var overwrites: Bool
  /// What the file is known by under either name; nil if there was none.
  private let content: FileContent?

  /// - Parameter mode: permission bits only.
  public init(temporary: FilePath, final: FilePath, mode: UInt32, overwrites: Bool) {
    (self.temporary, self.final, self.mode, self.overwrites) = (temporary, final, mode, overwrites)
    content = fileStatus(temporary, followsLinks: false).map { FileContent($0) }
  }

  /// The file has neither appeared nor waits for that: somebody has taken it away, changed it, or put another in its place.
  public var isLost: Bool {
    if let waiting = fileStatus(temporary, followsLinks: false) { return FileContent(waiting) != content }
    return FileContent(of: final) != content
  }

  /// Lets the file appear, if it has not yet. Can be done any number of times.
  ///
  /// - Throws: `io`; `usage`/`output-exists` if somebody else's file has appeared under the name and may not be replaced.
  public func finish() throws(OhanaError) {
    guard let waiting = fileStatus(temporary, followsLinks: false) else { return }
    let there = fileStatus(final, followsLinks: false)
    if let there, FileIdentity(there) == FileIdentity(waiting) {
      temporary.unlinkFile()
      return
    }
    if there != nil, !overwrites { throw OutputChecks.exists(final) }
    guard temporary.withCString({ chmod($0, mode) }) == 0 else { throw OhanaError.system(errno, "set the access rights of", final) }
    guard temporary.withCString({ from in final.withCString { rename(from, $0) } }) == 0 else {
      throw OhanaError.system(errno, "rename the finished output to", final)
    }
  }
}
