public import OhanaCore
internal import Synchronization

/// Gives the private files of one run names that tell whose they are, so that the next run finds what a killed one left.
public final class TemporaryNames: Sendable {
  /// In every name, and in no other file's.
  public let mark: String
  private let counter = Mutex(0)
  /// So that a run that goes on with another's files meets none of its names.
  private let salt: String

  /// - Parameter mark: tells the temporary files of this run from others'.
  public init(mark: String) {
    self.mark = mark
    var random = SystemRandomNumberGenerator()
    salt = String(random.next() >> 32, radix: 36)
  }

  /// A mark like no other.
  public static func random() -> TemporaryNames {
    var random = SystemRandomNumberGenerator()
    return TemporaryNames(mark: ".ohana-" + String(random.next(), radix: 36))
  }

  /// What the name of the next file ends with.
  func next() -> String {
    counter.withLock { counter in
      counter += 1
      return mark + "-\(salt)\(counter)"
    }
  }

  /// Removes all files of this mark from a folder, but those that are `kept`, named from the root.
  public func removeAll(in folder: FilePath, but kept: Set<FilePath> = []) {
    for name in (try? folder.folderNames()) ?? [] where name.bytes.first == UInt8(ascii: ".") {
      let path = folder.appending(name)
      if name.bytes.firstRange(of: Array((mark + "-").utf8)) != nil, !kept.contains(path) { path.unlinkFile() }
    }
  }
}
