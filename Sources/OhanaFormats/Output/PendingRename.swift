public import OhanaCore
internal import Synchronization

/// A complete file that waits for its name: what is left to do when a run was killed between two renames.
public struct PendingRename: Sendable, Equatable, Codable {
  /// Both from the root.
  public var temporary: FilePath
  public var final: FilePath
  public var mode: UInt32
  public var overwrites: Bool

  public init(temporary: FilePath, final: FilePath, mode: UInt32, overwrites: Bool) {
    (self.temporary, self.final, self.mode, self.overwrites) = (temporary, final, mode, overwrites)
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

/// Gives the private files of one run names that tell whose they are, so that the next run finds what a killed one left.
public final class TemporaryNames: Sendable {
  /// In every name, and in no other file's.
  public let mark: String
  private let counter = Mutex(0)

  public init(mark: String) { self.mark = mark }

  /// A mark like no other.
  public static func random() -> TemporaryNames {
    var random = SystemRandomNumberGenerator()
    return TemporaryNames(mark: ".ohana-" + String(random.next(), radix: 36))
  }

  /// What the name of the next file ends with.
  func next() -> String {
    counter.withLock { counter in
      counter += 1
      return mark + "-\(counter)"
    }
  }

  /// Removes all files of this mark from a folder.
  public func removeAll(in folder: FilePath) {
    for name in (try? folder.folderNames()) ?? [] where name.bytes.first == UInt8(ascii: ".") {
      if name.bytes.firstRange(of: Array((mark + "-").utf8)) != nil { folder.appending(name).unlinkFile() }
    }
  }
}
