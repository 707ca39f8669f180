public import OhanaCore
internal import Synchronization

/// Spills to unnamed files: each is created with mode 0600 and loses its name at once, so that nothing stays behind however the process
/// ends.
public final class FileSpillStore: SpillStore {
  /// Where the files are.
  public let folder: FilePath
  private let isClosed = Locked(false)

  /// - Parameter folder: `--temp-dir`; by default `$TMPDIR`, else `/var/tmp`. Looked at when the first file is made.
  public init(folder: FilePath? = nil) {
    self.folder = folder ?? Self.defaultFolder
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

  public func makeFile() throws -> any SpillFile {
    precondition(!isClosed.withLock { $0 }, "the spill store is closed")
    var random = SystemRandomNumberGenerator()
    for _ in 0..<100 {
      let path = folder.appending(FilePath(".ohana-spill-" + String(random.next(), radix: 36)))
      let descriptor = openFile(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, mode: 0o600)
      if descriptor >= 0 {
        _ = path.withCString { unlink($0) }
        return UnnamedSpillFile(descriptor, folder: folder)
      }
      if errno != EEXIST { throw Self.failure(errno, "create a temporary file", folder) }
    }
    throw Self.failure(EEXIST, "create a temporary file", folder)
  }

  /// No file is made after this. Files in use go when they are removed or forgotten.
  public func close() { isClosed.withLock { $0 = true } }

  static func failure(_ number: Int32, _ doing: String, _ folder: FilePath, bytes: Int = 0) -> OhanaError {
    var error = OhanaError.system(number, doing, folder, fix: "name another folder with --temp-dir")
    if error.code == "disk-full" {
      var system = statvfs()
      if bytes > 0, folder.withCString({ statvfs($0, &system) }) == 0 {
        error.problem += " (\(bytes) bytes to write, \(Int(system.f_bavail) * Int(system.f_frsize)) free)"
      }
      error.fix = "free some space or name another folder with --temp-dir"
    }
    return error
  }
}

private func closeFile(_ descriptor: Int32) { close(descriptor) }

/// An open file without a name; its space is free as soon as it is closed.
private final class UnnamedSpillFile: SpillFile {
  private let descriptor: Int32
  private let folder: FilePath
  private let end = Atomic<Int>(0)
  private let isOpen = Atomic<Bool>(true)

  init(_ descriptor: Int32, folder: FilePath) {
    self.descriptor = descriptor
    self.folder = folder
  }
  deinit { release() }

  var size: Int { end.load(ordering: .acquiring) }

  func append(_ bytes: UnsafeRawBufferPointer) throws {
    let number = writeFully(descriptor, bytes)
    guard number == 0 else { throw FileSpillStore.failure(number, "write a temporary file", folder, bytes: bytes.count) }
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

  func remove() { release() }

  private func release() {
    if isOpen.exchange(false, ordering: .acquiringAndReleasing) { close(descriptor) }
  }
}
