internal import OhanaCore
internal import OhanaFormats

/// Sees to it that each output is written by one run at a time.
protocol LockManaging: Sendable {
  /// Takes the locks of outputs, all or none. - Throws: `locked`.
  func acquire(_ outputs: [FilePath]) throws -> [OutputLock]
  /// Where the last run that wrote this output, or wrote it beside another, left its state; nil if it left none.
  func stateFolder(of output: FilePath) throws -> FilePath?
  /// Takes away what a dead run's lock says of its state folder.
  func forget(_ folder: FilePath, in lock: FilePath)
  /// Takes away the private files of outputs whose last runs were killed.
  func clearUp(_ locks: [OutputLock])
  /// The locks of dead runs that have left a state, and of whose files some may be among those of `locks`.
  func deadNeighbours(of locks: [OutputLock]) throws -> [OutputLock]
}

/// Sees to it that each output is written by one run at a time. Holds nothing.
struct LockManager: LockManaging {
  /// Takes the locks of outputs, those of dead runs too: in the order of their names, so that of two runs that name the same ones in
  /// different orders the first gets them all, and nobody waits for anybody.
  ///
  /// - Returns: none for outputs where locks are of no use: written in place, or in a folder that is missing or closed, which opening
  ///   will tell better.
  /// - Throws: `locked`, naming the output, while another run holds it; then none is held.
  func acquire(_ outputs: [FilePath]) throws -> [OutputLock] {
    var wanted: [FilePath: FilePath] = [:]
    for output in outputs where !OutputTarget.isWrittenInPlace(output) {
      if let path = OutputLock.path(of: try resolvingLinks(output)) { wanted[path] = wanted[path] ?? output }
    }
    var held: [OutputLock] = []
    do {
      for (path, output) in wanted.sorted(by: { $0.key < $1.key }) {
        if let lock = try acquire(path, of: output) { held.append(lock) }
      }
      for lock in held {
        for other in try neighbours(of: lock, own: Set(wanted.keys)) { try checkIsFree(other, lock.output) }
      }
    } catch {
      for lock in held { lock.release(keepsFile: lock.earlier != nil) }
      throw error
    }
    return held
  }

  private func acquire(_ path: FilePath, of output: FilePath) throws -> OutputLock? {
    for _ in 0..<100 {
      let descriptor = openFile(path, O_RDWR | O_CREAT | O_NOFOLLOW, mode: 0o600)
      guard descriptor >= 0 else {
        let number = errno
        if fileStatus(path, followsLinks: false) == nil { return nil }
        throw Self.closed(path, of: output, number)
      }
      while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
        if errno == EINTR { continue }
        let number = errno
        let holder = read(descriptor).first
        // Where the file system has no locks, a holder is known by its process: on this machine only, and not while it is just beginning.
        if number != EWOULDBLOCK, !isAlive(holder) { break }
        close(descriptor)
        throw Self.locked(output, by: holder)
      }
      // The one before may have taken the name away between our two calls.
      if let mine = fileStatus(descriptor), let there = fileStatus(path, followsLinks: false), FileIdentity(mine) == FileIdentity(there) {
        let lines = read(descriptor)
        return OutputLock(path, of: output, descriptor: descriptor, earlier: note(lines), earlierMark: mark(lines))
      }
      OutputLock.giveBack(descriptor)
    }
    throw Self.locked(output, by: nil)
  }

  private func isAlive(_ holder: [UInt8]?) -> Bool {
    guard let process = holder.flatMap({ pid_t(String(decoding: $0, as: UTF8.self)) }), process > 0, process != getpid() else {
      return false
    }
    return kill(process, 0) == 0 || errno == EPERM
  }

  /// A file may be one of another run's chunks, and chunks may be another run's file: the locks of such runs. Whoever comes second finds the
  /// other's lock, since each takes its own first.
  private func neighbours(of lock: OutputLock, own: Set<FilePath>) throws -> [FilePath] {
    let name = lock.path.lastComponent
    guard let bytes = OutputLock.output(ofName: name) else { return [] }
    let folder = lock.path.parent
    guard let chunks = try? ChunkName(FilePath(bytes: bytes)) else {
      return ChunkName.patterns(covering: bytes).map { folder.appending(OutputLock.name($0)) }.filter { !own.contains($0) }
    }
    return try folder.folderNames().compactMap { other in
      guard let file = OutputLock.output(ofName: other), chunks.mayCoincide(with: FilePath(bytes: file)) else { return nil }
      let path = folder.appending(other)
      return own.contains(path) ? nil : path
    }
  }

  /// The locks of dead runs that have left a state, and of whose files some may be among those of `locks`: held, so that what is to appear
  /// there can be seen to. Whoever takes them releases them.
  ///
  /// - Throws: `locked` if one has come to life meanwhile.
  func deadNeighbours(of locks: [OutputLock]) throws -> [OutputLock] {
    let own = Set(locks.map(\.path))
    var held: [FilePath: OutputLock] = [:]
    do {
      for lock in locks {
        for path in try neighbours(of: lock, own: own) where held[path] == nil && lines(path).flatMap({ note($0) }) != nil {
          held[path] = try acquire(path, of: lock.output)
        }
      }
    } catch {
      for lock in held.values { lock.release(keepsFile: true) }
      throw error
    }
    return held.sorted { $0.key < $1.key }.map(\.value)
  }

  private func checkIsFree(_ path: FilePath, _ output: FilePath) throws {
    let descriptor = openFile(path, O_RDONLY | O_NOFOLLOW)
    guard descriptor >= 0 else { return }
    defer { OutputLock.giveBack(descriptor) }
    if flock(descriptor, LOCK_SH | LOCK_NB) != 0, errno == EWOULDBLOCK { throw Self.locked(output, by: read(descriptor).first) }
  }

  /// Where the last run that wrote this output, or wrote it beside another, left its state; nil if it left none.
  func stateFolder(of output: FilePath) throws -> FilePath? {
    guard let path = OutputLock.path(of: try resolvingLinks(output)) else { return nil }
    if let lines = lines(path) { return note(lines)?.folder }
    if errno == ENOENT { return nil }
    throw Self.closed(path, of: output, errno)
  }

  /// What a lock says, held or not; nil, and the reason in `errno`, if it cannot be opened.
  private func lines(_ path: FilePath) -> [[UInt8]]? {
    let descriptor = openFile(path, O_RDONLY | O_NOFOLLOW)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    return read(descriptor)
  }

  /// Takes away what a dead run's lock says of its state folder, unless another run has taken it over.
  func forget(_ folder: FilePath, in path: FilePath) {
    let descriptor = openFile(path, O_RDONLY | O_NOFOLLOW)
    guard descriptor >= 0 else { return }
    defer { OutputLock.giveBack(descriptor) }
    if flock(descriptor, LOCK_EX | LOCK_NB) == 0, note(read(descriptor))?.folder == folder { path.unlinkFile() }
  }

  /// Takes away the private files of outputs whose last runs were killed, where there is no state any more that tells of them.
  func clearUp(_ locks: [OutputLock]) {
    for lock in locks {
      if let note = lock.earlier, fileStatus(note.folder, followsLinks: false) != nil { continue }
      if let mark = lock.earlierMark { TemporaryNames(mark: mark).removeEarlier(in: lock.path.parent) }
    }
  }

  private func mark(_ lines: [[UInt8]]) -> String? {
    guard lines.count > 1 else { return nil }
    let mark = String(decoding: lines[1], as: UTF8.self)
    return TemporaryNames.isMark(mark) ? mark : nil
  }

  private func note(_ lines: [[UInt8]]) -> OutputLock.Note? {
    guard lines.count > 2, !lines[2].isEmpty else { return nil }
    return OutputLock.Note(folder: FilePath(bytes: lines[2]), isBeside: lines.count > 3 && lines[3] == Array("beside".utf8))
  }

  private func read(_ descriptor: Int32) -> [[UInt8]] {
    var text = [UInt8](repeating: 0, count: 8192)
    let count = text.withUnsafeMutableBytes { readFully(descriptor, at: 0, into: $0) }
    return text.prefix(max(0, count)).split(separator: 0x0a, omittingEmptySubsequences: false).map(Array.init)
  }

  private static func closed(_ path: FilePath, of output: FilePath, _ number: Int32) -> OhanaError {
    if number == EMFILE || number == ENFILE { return OhanaError.system(number, "open", path) }
    return OhanaError(
      .locked, "lock-closed", at: .init(output),
      "the lock \(path) of this output cannot be opened (\(String(cString: strerror(number))))",
      fix: "remove it, unless a run to this output is under way")
  }

  private static func locked(_ output: FilePath, by holder: [UInt8]?) -> OhanaError {
    let process = holder.flatMap { $0.isEmpty ? nil : " (process \(String(decoding: $0, as: UTF8.self)))" } ?? ""
    return OhanaError(
      .locked, "output-locked", at: .init(output), "another run\(process) is writing this output",
      fix: "wait for its end, or write to another file")
  }
}
