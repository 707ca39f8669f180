internal import OhanaCore
internal import OhanaEngine
internal import OhanaFormats

/// The right to write one output. The kernel gives it back when the process ends, however it ends; then the file stays, and tells the next
/// run where the state of the last one lies.
///
/// The file lies beside the output, is called `.NAME.ohana-lock`, and has mode 0600. A set of chunks has one, whatever the width of its
/// numbers: `.part-{n}.csv.ohana-lock`. Its lines: the process; what is in the names of its private files; the state folder, empty
/// where there is none; `own`, or `beside` where the state is that of another output, which this one appears with.
final class OutputLock: Sendable {
  /// What a dead run has left.
  struct Note: Sendable, Equatable {
    var folder: FilePath
    /// The folder belongs to the main output of a run that wrote this one beside it.
    var isBeside: Bool
  }
  /// As it was given.
  let output: FilePath
  let path: FilePath
  /// What the file said when it was taken.
  let earlier: Note?
  /// In the names of the private files of the last run that held it, if it was ended before it could clear up behind itself.
  let earlierMark: String?
  private let descriptor: Int32
  private let isHeld = Locked(true)

  init(_ path: FilePath, of output: FilePath, descriptor: Int32, earlier: Note?, earlierMark: String?) {
    self.path = path
    self.output = output
    self.descriptor = descriptor
    self.earlier = earlier
    self.earlierMark = earlierMark
  }

  deinit { release(keepsFile: true) }

  /// Of an output whose links have been followed; nil where its folder is missing.
  static func path(of output: FilePath) -> FilePath? {
    var output = output
    if let chunks = try? ChunkName(output) {
      // With the number in the folder's name there is no one folder: whoever writes such a set writes its first chunk.
      output = output.lastComponent.bytes.firstRange(of: Array("{n".utf8)) == nil ? chunks.path(1) : chunks.bare
    }
    guard let place = output.absolute else { return nil }
    return place.parent.appending(name(place.lastComponent.bytes))
  }

  private static let ending = Array(".ohana-lock".utf8)
  /// Names may hold 255 bytes on most file systems.
  private static let longestName = 200

  /// The lock's name for an output's.
  static func name(_ output: some Sequence<UInt8>) -> FilePath {
    FilePath(bytes: [UInt8(ascii: ".")] + output.prefix(longestName) + ending)
  }

  /// The output's name for a lock's; nil for what is no lock.
  static func output(ofName name: FilePath) -> [UInt8]? {
    guard name.bytes.first == UInt8(ascii: "."), name.bytes.count > ending.count + 1, name.bytes.suffix(ending.count) == ending[...] else {
      return nil
    }
    return Array(name.bytes.dropFirst().dropLast(ending.count))
  }

  /// There is something of the last run that held it yet.
  var hasLeft: Bool { earlier.map { fileStatus($0.folder, followsLinks: false) != nil } ?? (earlierMark != nil) }

  /// Notes for the next run where the state lies, and which private files are this run's.
  func note(_ note: Note?, mark: String) throws {
    let folder = note?.folder.bytes ?? []
    let text = Array("\(getpid())\n\(mark)\n".utf8) + folder + Array((note?.isBeside == true ? "\nbeside\n" : "\nown\n").utf8)
    // Over what is there, which has as many lines: at no moment does it tell of nothing.
    guard lseek(descriptor, 0, SEEK_SET) == 0 else { throw OhanaError.system(errno, "write", path) }
    let number = text.withUnsafeBytes { writeFully(descriptor, $0) }
    guard number == 0 else { throw OhanaError.system(number, "write", path) }
    guard ftruncate(descriptor, off_t(text.count)) == 0 else { throw OhanaError.system(errno, "write", path) }
  }

  /// Brings the note to disk. Where that fails, a run is not gone on with after a power cut; nothing else comes of it.
  func sync() {
    fdatasync(descriptor)
    syncFolder(path.parent)
  }

  /// Gives the right back. May be called again.
  ///
  /// - Parameter keepsFile: there is a state to find.
  func release(keepsFile: Bool) {
    // Whoever comes second waits: behind it the process may end.
    isHeld.withLock { isHeld in
      guard isHeld else { return }
      isHeld = false
      if !keepsFile { path.unlinkFile() }
      Self.giveBack(descriptor)
    }
  }

  /// Closing alone would leave the lock to a program that another thread is just starting: until it runs, it holds all descriptors of ours.
  static func giveBack(_ descriptor: Int32) {
    flock(descriptor, LOCK_UN)
    close(descriptor)
  }
}
