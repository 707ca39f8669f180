public import OhanaCore

/// Gives the private files of one run names that tell whose they are, so that the next run finds what a killed one left. It knows where
/// they are, and can put an end to all of them whatever other threads do.
public final class TemporaryNames: Sendable {
  private struct State {
    var count = 0
    var folders: Set<FilePath> = []
    var isClosed = false
  }
  /// In every name, and in no other file's.
  public let mark: String
  private let state = Locked(State())
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
    return TemporaryNames(mark: start + String(random.next(), radix: 36))
  }

  /// Makes a file in a folder.
  ///
  /// - Parameter body: is given what the name is to end with. It only opens the file: others wait meanwhile.
  /// - Throws: what `body` throws; `io`/`cancelled` behind ``removeAll()``.
  func make<File>(in folder: FilePath, _ body: (String) throws(OhanaError) -> File) throws(OhanaError) -> File {
    let result = state.withLock { state -> Result<File, OhanaError> in
      if state.isClosed { return .failure(.cancelled) }
      state.count += 1
      state.folders.insert(folder.absolute ?? folder)
      let ending = mark + "-\(salt)\(state.count)"
      return Result { () throws(OhanaError) in try body(ending) }
    }
    return try result.get()
  }

  /// Takes the names of all files away that were made and have not appeared, and lets no more be made. What is open stays so.
  public func removeAll() {
    let folders = state.withLock { state in
      state.isClosed = true
      return state.folders
    }
    for folder in folders { remove(in: folder) { _, _ in false } }
  }

  /// Removes what earlier runs of this mark have left in a folder, but files that are `kept`, named from the root.
  public func removeEarlier(in folder: FilePath, but kept: Set<FilePath> = []) {
    let own = Array((mark + "-" + salt).utf8)
    remove(in: folder) { name, path in name.firstRange(of: own) != nil || kept.contains(path) }
  }

  /// Removes the files of this mark from a folder.
  private func remove(in folder: FilePath, but isKept: (_ name: [UInt8], _ path: FilePath) -> Bool) {
    let marked = Array((mark + "-").utf8)
    for name in (try? folder.folderNames()) ?? [] where name.bytes.first == UInt8(ascii: ".") && name.bytes.firstRange(of: marked) != nil {
      let path = folder.appending(name)
      if !isKept(name.bytes, path) { path.unlinkFile() }
    }
  }

  /// Whether a text that was read somewhere may be a mark.
  public static func isMark(_ text: String) -> Bool {
    let digits = text.utf8.dropFirst(start.utf8.count)
    return text.hasPrefix(start) && digits.count > 5 && digits.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x7a).contains($0) }
  }

  private static let start = ".ohana-"

  /// Bytes of an output's name in that of its private file: names may hold 255 bytes on most file systems.
  static let longestName = 200
}
