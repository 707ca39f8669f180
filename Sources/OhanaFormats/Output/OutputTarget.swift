internal import CFileStatus
public import OhanaCore

/// Where one output goes, from opening to its appearance under its name.
///
/// A regular file is written under a private name (mode 0600) in the folder of its target, and nobody sees it before ``publish()``
/// renames it. Devices, FIFOs and open descriptors (`-` is standard output, and there are `/dev/stdout`, `/dev/stderr`, `/dev/fd/N`) are
/// written in place, and publishing or discarding them does nothing.
/// A symbolic link is followed: what it points to is replaced.
///
/// ```
/// open ── write… ── complete() ── publish()
///   └────────┴──────────┴──────── discard()
/// ```
/// Used by one piece of work at a time.
public final class OutputTarget: Sendable {
  private enum Kind {
    /// Was open when the process began, and is not closed.
    case descriptor
    case inPlace
    /// Written under a private name, to become `final` with `mode`.
    case replacing(final: FilePath, mode: mode_t)
  }
  private enum Stage { case open, complete, published, discarded }
  private struct State {
    var stage = Stage.open
    var descriptor: Int32
    /// Bytes written, and those of them that the system was asked to bring to disk.
    var size = 0
    var hinted = 0
    /// Complete, and on disk.
    var isSynced = false
    /// A checkpoint names it: it is to outlive the process.
    var isNamed = false
    /// What could not be written: without it there is nothing to appear.
    var failure: OhanaError?
    /// The private name; nil where the output is written in place.
    var temporary: FilePath?
  }

  /// The name as given.
  public let path: FilePath
  private let kind: Kind
  private let overwrites: Bool
  private let state: Locked<State>
  /// Of all bytes written; used by who writes.
  private let sum = XXH3Digest()

  /// Opens `path` (`-` is standard output) for writing.
  ///
  /// - Parameters:
  ///   - overwrites: whether ``publish()`` may replace a file. That it exists already is ``OutputChecks``' business.
  ///   - names: names the private file; nil for any name.
  /// - Throws: `io`: `auth` or `not-found` naming the folder, `closed-output`, `disk-full`, …; `usage` for a folder.
  public init(_ path: FilePath, overwrites: Bool, names: TemporaryNames? = nil) throws(OhanaError) {
    self.path = path
    self.overwrites = overwrites
    let final = try resolvingLinks(path)
    if let number = Self.descriptor(final) {
      // Files of ours are closed on execution of another program, so that they cannot be taken for one that was handed in.
      let flags = fcntl(number, F_GETFD)
      guard flags >= 0, flags & FD_CLOEXEC == 0 else { throw Self.closedOutput(path) }
      kind = .descriptor
      state = Locked(State(descriptor: number))
      return
    }
    let existing = fileStatus(final)
    // The private name is cut to fit; the rename at the end would fail.
    if existing == nil, errno == ENAMETOOLONG { throw OhanaError.system(ENAMETOOLONG, "write", path) }
    if let existing, existing.isDirectory {
      throw OhanaError(.usage, "output-is-folder", at: .init(path), "the output is a folder", fix: "name a file in it")
    }
    if let existing, !existing.isRegular {
      let descriptor = openFile(final, O_WRONLY)
      guard descriptor >= 0 else { throw OhanaError.system(errno, "write", path) }
      kind = .inPlace
      state = Locked(State(descriptor: descriptor))
      return
    }
    if existing != nil, let obstacle = Self.obstacle(final) {
      throw OhanaError(
        .io, "not-replaceable", at: .init(path), "the file there cannot be replaced: \(obstacle)", fix: "write to another file")
    }
    let (temporary, descriptor) = try Self.makeTemporary(for: final, names ?? .random())
    let mode = existing.map { $0.st_mode & 0o777 } ?? 0o666 & ~Self.umask
    kind = .replacing(final: final, mode: mode)
    state = Locked(State(descriptor: descriptor, temporary: temporary))
  }

  deinit { discard() }

  /// Whether an output of this name would be written in place: an open descriptor, a device, a FIFO.
  public static func isWrittenInPlace(_ path: FilePath) -> Bool {
    (try? resolvingLinks(path)).flatMap { descriptor($0) } != nil || fileStatus(path).map { !$0.isRegular && !$0.isDirectory } ?? false
  }

  /// Asks, before it is needed, whether a file can be made where this one is to be.
  ///
  /// - Throws: `io` naming the folder.
  package static func checkFolder(of path: FilePath) throws(OhanaError) {
    let final = try resolvingLinks(path)
    if isWrittenInPlace(path) || final.parent.withCString({ access($0, W_OK | X_OK) }) == 0 { return }
    throw OhanaError.system(errno, "create a file in this folder", final.parent, fix: fix(errno))
  }

  /// The folder that an output of this name, and its private file, lies in, from the root; nil where links lead nowhere.
  package static func folder(of path: FilePath) -> FilePath? { (try? resolvingLinks(path))?.absolute?.parent }

  /// The private name under which what was written can be read until it is published; nil where it is written in place.
  public var temporaryPath: FilePath? { state.withLock { $0.temporary } }

  /// The descriptor that `-` and the system's names for open ones stand for: what lies behind it may have a name, but replacing that would
  /// not write to it.
  static func descriptor(_ path: FilePath) -> Int32? {
    switch path {
    case "-", "/dev/stdout": return STDOUT_FILENO
    case "/dev/stderr": return STDERR_FILENO
    default: break
    }
    for folder in ["/dev/fd/", "/proc/self/fd/", "/proc/\(getpid())/fd/"] where path.bytes.starts(with: folder.utf8) {
      let digits = path.bytes.dropFirst(folder.utf8.count)
      guard digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else { return nil }
      return Int32(String(decoding: digits, as: UTF8.self))
    }
    return nil
  }

  /// What is written can be seen at once, and ``publish()`` does nothing.
  public var isInPlace: Bool { if case .replacing = kind { false } else { true } }

  /// It has appeared.
  public var isPublished: Bool { state.withLock { $0.stage == .published } }

  // MARK: Writing

  /// Writes all of `bytes`, straight to the descriptor.
  ///
  /// - Throws: `io`: `closed-pipe` (the reader has gone; needs SIGPIPE to be ignored), `disk-full`, `closed-output`, ….
  public func write(_ bytes: UnsafeRawBufferPointer) throws(OhanaError) {
    let descriptor = state.withLock { state in
      precondition(state.stage == .open, "an output is written while it is open")
      return state.descriptor
    }
    let number = writeFully(descriptor, bytes)
    guard number == 0 else {
      let failure = failure(number, bytes: bytes.count)
      state.withLock { $0.failure = failure }
      throw failure
    }
    guard case .replacing = kind else { return }
    sum.update(bytes)
    beginWriteback(behind: bytes.count, descriptor)
  }

  /// Bytes between two requests to bring what was written to disk.
  private static let writebackBytes = 4 << 20

  /// Lets the disk work while the next bytes are being made, so that there is little left to wait for in ``complete(syncs:)``.
  private func beginWriteback(behind count: Int, _ descriptor: Int32) {
    let stretch = state.withLock { state -> (offset: Int, count: Int)? in
      state.size += count
      guard state.size - state.hinted >= Self.writebackBytes else { return nil }
      defer { state.hinted = state.size }
      return (state.hinted, state.size - state.hinted)
    }
    if let stretch { OhanaCore.beginWriteback(descriptor, from: stretch.offset, count: stretch.count) }
  }

  /// Makes what was written last: syncs it to disk and closes it. Nothing is visible yet.
  ///
  /// - Parameter syncs: false where the caller syncs the whole file system before publishing.
  /// - Throws: `io`; what ``write(_:)`` has thrown, once more.
  public func complete(syncs: Bool = true) throws(OhanaError) {
    if let failure = state.withLock({ $0.failure }) { throw failure }
    let descriptor = state.withLock { state in
      precondition(state.stage == .open, "an output is completed once")
      state.stage = .complete
      state.isSynced = syncs
      defer { state.descriptor = -1 }
      return state.descriptor
    }
    if case .descriptor = kind { return }
    var number: Int32 = 0
    // Pipes and devices cannot be synced; that is no fault.
    if syncs, fsync(descriptor) != 0, errno != EINVAL, errno != EROFS, errno != ENOTSUP { number = errno }
    if close(descriptor) != 0, errno != EINTR, number == 0 { number = errno }
    guard number == 0 else { throw failure(number) }
  }

  // MARK: Appearing

  /// Lets a completed file appear under its name, with the mode of the file it replaces, else 0666 less the umask. Durable only when
  /// the folder is synced too: see ``publish(_:)``. If it throws, what was written stays under its private name, for ``discard()`` or
  /// ``leaveComplete()``.
  ///
  /// - Throws: `usage`/`output-exists` if a file of that name has appeared meanwhile and may not be overwritten.
  public func publish() throws(OhanaError) {
    precondition(state.withLock { $0.stage } == .complete, "an output is published once, after it is complete")
    try appear()
    state.withLock { $0.stage = .published }
  }

  private func appear() throws(OhanaError) {
    guard case .replacing(let final, let mode) = kind, let temporary = temporaryPath else { return }
    guard temporary.withCString({ chmod($0, mode) }) == 0 else { throw OhanaError.system(errno, "set the access rights of", path) }
    if !overwrites, try Self.linkWithoutReplacing(temporary, final, path) { return }
    guard temporary.withCString({ from in final.withCString { rename(from, $0) } }) == 0 else {
      throw OhanaError.system(errno, "rename the finished output to", path)
    }
  }

  /// Publishes complete outputs one after the other, then makes their names durable. Call it once, when the last output is complete.
  public static func publish(_ targets: [OutputTarget]) throws(OhanaError) {
    var folders: Set<FilePath> = []
    for target in targets {
      try target.publish()
      if case .replacing(let final, _) = target.kind { folders.insert(final.parent) }
    }
    for folder in folders { syncFolder(folder) }
  }

  /// What ``publish()`` is going to do; nil for an output written in place.
  public var pendingRename: PendingRename? {
    guard case .replacing(let final, let mode) = kind, let from = temporaryPath?.absolute, let to = final.absolute else { return nil }
    return PendingRename(temporary: from, final: to, mode: mode, overwrites: overwrites)
  }

  /// Removes everything this output has left, if it is not published. May be called at any time, and again.
  public func discard() {
    let descriptor = state.withLock { state -> Int32? in
      guard state.stage == .open || state.stage == .complete else { return nil }
      state.stage = .discarded
      defer { state.descriptor = -1 }
      return state.descriptor
    }
    guard let descriptor else { return }
    if case .descriptor = kind { return }
    if descriptor >= 0 { close(descriptor) }
    removeTemporary()
  }

  /// Takes the private name away at once, while some thread may still be writing; ``discard()`` has to follow.
  func unlinkTemporary() {
    let isPublished = state.withLock { $0.stage == .published || $0.stage == .discarded }
    if !isPublished { removeTemporary() }
  }

  private func removeTemporary() {
    temporaryPath?.unlinkFile()
  }

  /// Syncs a file that was completed without.
  func syncByName() throws(OhanaError) {
    guard let temporary = temporaryPath, !state.withLock({ $0.isSynced }) else { return }
    let descriptor = openFile(temporary, O_RDONLY)
    guard descriptor >= 0 else { throw failure(errno) }
    let number = fsync(descriptor) == 0 ? 0 : errno
    close(descriptor)
    guard number == 0 else { throw failure(number) }
    state.withLock { $0.isSynced = true }
  }

  // MARK: Checkpoints

  /// Another process can go on with it: it has a name.
  var canCheckpoint: Bool { if case .replacing = kind { true } else { false } }

  /// A checkpoint names it: it is to outlive the process.
  var isNamed: Bool { state.withLock { $0.isNamed } }

  /// Lets go of the file and leaves it under its private name, if a checkpoint names it. Nobody writes to it any more.
  public func leave() {
    guard isNamed else { return discard() }
    let descriptor = state.withLock { state -> Int32 in
      guard state.stage == .open || state.stage == .complete, state.temporary != nil else { return -1 }
      state.stage = .discarded
      defer { state.descriptor = -1 }
      return state.descriptor
    }
    if descriptor >= 0 { close(descriptor) }
  }

  /// Lets go of what is complete and waits for its name, for the next run to give it that.
  public func leaveComplete() {
    state.withLock { state in
      if state.stage == .complete { state.stage = .discarded }
    }
  }

  /// Name and size of what is written so far, once that is on disk. The folder's names are the caller's to sync.
  func save(to writer: CheckpointWriter) throws {
    let (temporary, descriptor, isOpen) = state.withLock { ($0.temporary, $0.descriptor, $0.stage == .open) }
    guard let temporary, let path = temporary.absolute else { throw failure(ENOENT) }
    let size = (isOpen ? fileStatus(descriptor) : fileStatus(temporary))?.st_size
    guard let size else { throw failure(errno) }
    if !isOpen { try syncByName() } else if fdatasync(descriptor) != 0 { throw failure(errno) }
    try writer.put(path.bytes)
    try writer.put(Int(size))
    try writer.put(sum.value)
    try writer.put(isOpen)
    state.withLock { $0.isNamed = true }
  }

  /// Goes on with the file of an earlier process, in the place of the one just made.
  func restore(from reader: CheckpointReader) throws {
    guard canCheckpoint else { throw CheckpointReader.damaged }
    let path = FilePath(bytes: try reader.bytes())
    let size = try reader.count()
    let digest = try reader.uint64()
    let isOpen = try reader.bool()
    let descriptor = openFile(path, O_RDWR | O_NOFOLLOW)
    guard descriptor >= 0 else { throw CheckpointReader.damaged }
    guard let status = fileStatus(descriptor), Int(status.st_size) >= size, ftruncate(descriptor, off_t(size)) == 0,
      lseek(descriptor, off_t(size), SEEK_SET) == off_t(size), sum.update(reading: descriptor, count: size), sum.value == digest
    else {
      close(descriptor)
      throw CheckpointReader.damaged
    }
    removeTemporary()
    let old = state.withLock { state in
      defer { state = State(stage: .open, descriptor: descriptor, size: size, hinted: size, isNamed: true, temporary: path) }
      return state.descriptor
    }
    close(old)
    if !isOpen { try complete(syncs: false) }
  }

  // MARK: Private

  /// Why a file would not let another take its place, as far as that can be known; nil where nothing stands in the way.
  private static func obstacle(_ final: FilePath) -> String? {
    guard let file = fileStatus(final, followsLinks: false), let folder = fileStatus(final.parent) else { return nil }
    if folder.st_mode & mode_t(S_ISVTX) != 0, ![0, folder.st_uid, file.st_uid].contains(geteuid()) {
      return "it is somebody else's, in a folder where only owners may (sticky bit)"
    }
    switch final.withCString({ ohana_obstacle_of($0) }) {
    case OHANA_IMMUTABLE: return "it is immutable, or for appending only (chattr)"
    case OHANA_MOUNTED: return "something is mounted on it"
    default: return nil
    }
  }

  /// link(2) refuses to replace. Returns false where the file system has no links.
  private static func linkWithoutReplacing(_ temporary: FilePath, _ final: FilePath, _ path: FilePath) throws(OhanaError) -> Bool {
    let result = temporary.withCString { from in final.withCString { link(from, $0) } }
    if result == 0 {
      _ = temporary.withCString { unlink($0) }
      return true
    }
    if errno == EEXIST || fileStatus(final, followsLinks: false) != nil { throw OutputChecks.exists(path) }
    return false
  }

  private static func makeTemporary(for final: FilePath, _ names: TemporaryNames) throws(OhanaError) -> (FilePath, Int32) {
    let visible = final.lastComponent.bytes.prefix(TemporaryNames.longestName)
    for _ in 0..<100 {
      let file = try names.make(in: final.parent) { ending throws(OhanaError) -> (FilePath, Int32)? in
        let name = FilePath(bytes: [UInt8(ascii: ".")] + visible + Array(ending.utf8))
        let temporary = final.bytes.contains(UInt8(ascii: "/")) ? final.parent.appending(name) : name
        let descriptor = openFile(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode: 0o600)
        if descriptor >= 0 { return (temporary, descriptor) }
        guard errno == EEXIST else { throw OhanaError.system(errno, "create a file in this folder", final.parent, fix: fix(errno)) }
        return nil
      }
      if let file { return file }
    }
    throw OhanaError.system(EEXIST, "create a file in this folder", final.parent)
  }

  private static func fix(_ number: Int32) -> String? {
    switch number {
    case ENOENT: "create the folder first, or check the name"
    case EACCES, EPERM, EROFS: "choose a folder you may write to"
    default: nil
    }
  }

  private func failure(_ number: Int32, bytes: Int = 0) -> OhanaError {
    if case .descriptor = kind, number == EBADF { return Self.closedOutput(path) }
    return OhanaError.system(number, "write", path, bytes: bytes)
  }

  private static func closedOutput(_ path: FilePath) -> OhanaError {
    if path == "-" { return OhanaError(.io, "closed-output", at: .init(path), "standard output is closed", fix: "name a file with -o") }
    return OhanaError(.io, "closed-output", at: .init(path), "this descriptor is not open for writing", fix: "open it, or name a file")
  }

  /// The process's mask, looked up without changing it for other threads where the system tells.
  private static let umask: mode_t = {
    if let mask = umaskOfProcess() { return mask }
    let mask = setUmask(0)
    _ = setUmask(mask)
    return mask
  }()
}

private func setUmask(_ mask: mode_t) -> mode_t { umask(mask) }

/// `Umask:` of /proc/self/status, in octal.
private func umaskOfProcess() -> mode_t? {
  let descriptor = openFile("/proc/self/status", O_RDONLY)
  guard descriptor >= 0 else { return nil }
  defer { close(descriptor) }
  var text = [UInt8](repeating: 0, count: 4096)
  let count = text.withUnsafeMutableBytes { readSome(descriptor, into: $0) }
  let label = Array("Umask:".utf8)
  for line in text.prefix(max(0, count)).split(separator: 10) where line.starts(with: label) {
    let digits = line.dropFirst(label.count).filter { (UInt8(ascii: "0")...UInt8(ascii: "7")).contains($0) }
    return mode_t(String(decoding: digits, as: UTF8.self), radix: 8)
  }
  return nil
}

/// `path` with symbolic links of its last component followed, also to a file that does not exist, up to the name of an open descriptor.
package func resolvingLinks(_ path: FilePath) throws(OhanaError) -> FilePath {
  var current = path
  for _ in 0..<40 {
    if OutputTarget.descriptor(current) != nil { return current }
    var buffer = [UInt8](repeating: 0, count: 4096)
    let count = current.withCString { name in
      buffer.withUnsafeMutableBytes { readlink(name, $0.baseAddress!.assumingMemoryBound(to: CChar.self), $0.count) }
    }
    guard count > 0 else { return current }
    let target = FilePath(bytes: Array(buffer[..<count]))
    current = target.bytes.first == UInt8(ascii: "/") ? target : current.parent.appending(target)
  }
  throw OhanaError.system(ELOOP, "write", path)
}
