public import OhanaCore
internal import Synchronization

/// Spills to files of mode 0600. Without a state folder each loses its name at once, so that nothing stays behind however the process
/// ends; with one they are called `spill-N` there, for a checkpoint to name them.
public final class FileSpillStore: SpillStore {
  private struct Names {
    var next = 1
    /// Files that the last checkpoint names: they are kept, used or not.
    var sealed: Set<Int> = []
    /// Those of them that nobody uses any more.
    var unused: Set<Int> = []
  }
  /// Where the files are.
  public let folder: FilePath
  private let stateFolder: FilePath?
  private let names = Locked(Names())
  private let isClosed = Locked(false)

  /// - Parameters:
  ///   - folder: `--temp-dir`; by default `$TMPDIR`, else `/var/tmp`. Looked at when the first file is made.
  ///   - stateFolder: a private folder for files with names; whoever made it removes it.
  public init(folder: FilePath? = nil, stateFolder: FilePath? = nil) {
    self.folder = folder ?? Self.defaultFolder
    self.stateFolder = stateFolder
  }

  /// `$TMPDIR` unless it is empty, else `/var/tmp`, which is on disk where `/tmp` often is not.
  public static var defaultFolder: FilePath {
    guard let value = getenv("TMPDIR"), value.pointee != 0 else { return "/var/tmp" }
    return FilePath(bytes: Array(UnsafeBufferPointer(start: value, count: strlen(value)).map { UInt8(bitPattern: $0) }))
  }

  /// A quarter of what the process may open, at most 256: inputs, outputs and other spilling stages need theirs.
  public var maxOpenFiles: Int {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 16 }
    return max(2, min(256, Int(clamping: limit.rlim_cur) / 4))
  }

  /// The folder lies in memory (tmpfs, ramfs): what is spilled there takes the memory that spilling is to save. Worth a warning.
  public var isMemoryBacked: Bool {
    guard let device = fileStatus(folder)?.st_dev else { return false }
    let major = (device >> 8) & 0xfff | (device >> 32) & ~0xfff
    let minor = device & 0xff | (device >> 12) & ~0xff
    return ["tmpfs", "ramfs"].contains(Self.fileSystem(ofDevice: "\(major):\(minor)"))
  }

  /// The type that /proc/self/mountinfo gives for a device: `… major:minor root place options … - type source …`, see proc(5).
  private static func fileSystem(ofDevice device: String) -> String? {
    let descriptor = openFile("/proc/self/mountinfo", O_RDONLY)
    guard descriptor >= 0 else { return nil }
    defer { closeFile(descriptor) }
    var text: [UInt8] = []
    var block = [UInt8](repeating: 0, count: 16 << 10)
    while case let got = block.withUnsafeMutableBytes({ readSome(descriptor, into: $0) }), got > 0 { text += block[..<got] }
    for line in text.split(separator: UInt8(ascii: "\n")) {
      let words = line.split(separator: UInt8(ascii: " "))
      guard words.count > 2, words[2].elementsEqual(device.utf8), let dash = words.lastIndex(where: { $0.elementsEqual("-".utf8) }) else {
        continue
      }
      if dash + 1 < words.count { return String(decoding: words[dash + 1], as: UTF8.self) }
    }
    return nil
  }

  /// Whether files can be made in the folder, for a user who named it: better before the run than when something spills for the first time.
  ///
  /// - Parameter name: what the user named it by: `--temp-dir`, `TMPDIR`.
  /// - Throws: `io`, naming the folder.
  public static func check(_ folder: FilePath, namedBy name: String = "--temp-dir") throws {
    let beside = name == "--temp-dir" ? "" : " with --temp-dir"
    guard let status = fileStatus(folder) else {
      throw OhanaError.system(errno, "use \(name)", folder, fix: "make the folder, or name another" + beside)
    }
    guard status.isDirectory else {
      throw OhanaError(.io, "not-found", at: .init(folder), "cannot use \(name): it is no folder", fix: "name another folder" + beside)
    }
    guard folder.withCString({ access($0, W_OK | X_OK) }) == 0 else {
      throw OhanaError.system(errno, "use \(name)", folder, fix: "name a folder you may write to" + beside)
    }
  }

  public func makeFile() throws -> any SpillFile {
    precondition(!isClosed.withLock { $0 }, "the spill store is closed")
    if let stateFolder { return try makeNamedFile(in: stateFolder) }
    var random = SystemRandomNumberGenerator()
    for _ in 0..<100 {
      let path = folder.appending(FilePath(".ohana-spill-" + String(random.next(), radix: 36)))
      let descriptor = openFile(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, mode: 0o600)
      if descriptor >= 0 {
        _ = path.withCString { unlink($0) }
        return OpenSpillFile(descriptor, folder: folder, number: nil) {}
      }
      if errno != EEXIST { throw Self.failure(errno, "create a temporary file", folder) }
    }
    throw Self.failure(EEXIST, "create a temporary file", folder)
  }

  private func makeNamedFile(in stateFolder: FilePath) throws -> any SpillFile {
    while true {
      let number = names.withLock { names in
        defer { names.next += 1 }
        return names.next
      }
      let path = Self.path(number, in: stateFolder)
      let descriptor = openFile(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, mode: 0o600)
      if descriptor >= 0 { return OpenSpillFile(descriptor, folder: folder, number: number) { [weak self] in self?.removed(number, path) } }
      if errno != EEXIST { throw Self.failure(errno, "create a temporary file", folder) }
    }
  }

  public func reopen(_ number: Int, size: Int) throws -> any SpillFile {
    guard let stateFolder else { throw CheckpointReader.damaged }
    let path = Self.path(number, in: stateFolder)
    let descriptor = openFile(path, O_RDWR | O_NOFOLLOW)
    guard descriptor >= 0 else {
      if errno == ENOENT { throw CheckpointReader.damaged }
      throw Self.failure(errno, "open a temporary file", folder)
    }
    let digest = XXH3Digest()
    guard let status = fileStatus(descriptor), Int(status.st_size) >= size, ftruncate(descriptor, off_t(size)) == 0,
      lseek(descriptor, off_t(size), SEEK_SET) == off_t(size), digest.update(reading: descriptor, count: size)
    else {
      closeFile(descriptor)
      throw CheckpointReader.damaged
    }
    names.withLock { names in
      names.next = max(names.next, number + 1)
      names.sealed.insert(number)
    }
    return OpenSpillFile(descriptor, folder: folder, number: number, size: size, sum: digest) { [weak self] in self?.removed(number, path) }
  }

  /// The last checkpoint names these files: they stay until the next one, while those of the checkpoint before may go.
  public func seal(_ numbers: Set<Int>) {
    guard let stateFolder else { return }
    let dead = names.withLock { names in
      let dead = names.unused.subtracting(numbers)
      names.unused.subtract(dead)
      names.sealed = numbers
      return dead
    }
    for number in dead { Self.path(number, in: stateFolder).unlinkFile() }
  }

  /// Takes away what an earlier process made after its last checkpoint, once that has been taken up.
  public func removeUnsealed() {
    guard let stateFolder else { return }
    let sealed = Set(names.withLock { $0.sealed }.map { Self.path($0, in: stateFolder).lastComponent })
    for name in (try? stateFolder.folderNames()) ?? [] where name.bytes.starts(with: Array("spill-".utf8)) && !sealed.contains(name) {
      stateFolder.appending(name).unlinkFile()
    }
  }

  private func removed(_ number: Int, _ path: FilePath) {
    let isKept = names.withLock { names in
      guard names.sealed.contains(number) else { return false }
      names.unused.insert(number)
      return true
    }
    if !isKept { path.unlinkFile() }
  }

  private static func path(_ number: Int, in folder: FilePath) -> FilePath { folder.appending(FilePath("spill-\(number)")) }

  /// No file is made after this. Files in use go when they are removed or forgotten.
  public func close() { isClosed.withLock { $0 = true } }

  static func failure(_ number: Int32, _ doing: String, _ folder: FilePath, bytes: Int = 0) -> OhanaError {
    // The limit on a file's size holds in any folder.
    let fix = number == EFBIG ? nil : "name another folder with --temp-dir"
    var error = OhanaError.system(number, doing, folder, fix: fix, bytes: bytes)
    if error.code == "disk-full", number != EFBIG { error.fix = "free some space or name another folder with --temp-dir" }
    return error
  }
}

private func closeFile(_ descriptor: Int32) { close(descriptor) }

/// An open temporary file; closed, and its name taken away, when it is removed or forgotten.
private final class OpenSpillFile: SpillFile {
  let number: Int?
  private let descriptor: Int32
  private let folder: FilePath
  private let onRemove: @Sendable () -> Void
  private let end: Atomic<Int>
  private let isOpen = Atomic<Bool>(true)
  /// nil where no checkpoint can name the file.
  private let sum: XXH3Digest?

  init(
    _ descriptor: Int32, folder: FilePath, number: Int?, size: Int = 0, sum: XXH3Digest? = nil, onRemove: @escaping @Sendable () -> Void
  ) {
    self.sum = sum ?? number.map { _ in XXH3Digest() }
    self.descriptor = descriptor
    self.folder = folder
    self.number = number
    self.onRemove = onRemove
    end = Atomic(size)
  }
  deinit { release() }

  var size: Int { end.load(ordering: .acquiring) }
  var digest: UInt64 { sum?.value ?? 0 }

  func append(_ bytes: UnsafeRawBufferPointer) throws {
    let number = writeFully(descriptor, bytes)
    guard number == 0 else { throw FileSpillStore.failure(number, "write a temporary file", folder, bytes: bytes.count) }
    sum?.update(bytes)
    end.add(bytes.count, ordering: .releasing)
  }

  func read(at offset: Int, into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
    let wanted = min(buffer.count, size - offset)
    guard wanted > 0 else { return 0 }
    let got = readFully(descriptor, at: offset, into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<wanted]))
    guard got >= 0 else { throw FileSpillStore.failure(errno, "read a temporary file", folder) }
    guard got == wanted else {
      throw OhanaError(.io, "io-error", at: .init(folder), "a temporary file is shorter than what was written", fix: "check the disk")
    }
    return got
  }

  func sync() throws {
    guard fdatasync(descriptor) == 0 else { throw FileSpillStore.failure(errno, "write a temporary file", folder) }
  }

  func remove() { release() }

  private func release() {
    guard isOpen.exchange(false, ordering: .acquiringAndReleasing) else { return }
    close(descriptor)
    onRemove()
  }
}
