public import OhanaCore

/// The bytes of a file, a pipe or standard input, as they are.
///
/// Regular files are read ahead by the kernel (sequential advice); bytes go straight into the caller's buffer. One that has become shorter
/// meanwhile is an error (`input-shrank`), one that grows is read to where it ends then.
public final class FileByteStream: ByteStream, Checkpointable, @unchecked Sendable {  // because one piece of work at a time uses it
  /// The name as given; `-` is standard input.
  public let path: FilePath
  /// Bytes from where reading begins to the end of a regular file; nil of anything else.
  public let size: Int?

  private let descriptor: Int32
  private let ownsDescriptor: Bool
  /// Bytes read by ``peek(_:)`` that no read has returned yet: `peeked[peekedStart...]`.
  private var peeked: [UInt8] = []
  private var peekedStart = 0
  private var bytesRead = 0
  private let retries: ReadRetries?

  /// Opens `path`, or takes standard input for `-`.
  ///
  /// - Throws: `io` naming the file: `not-found`, `auth`, `is-directory`, `too-many-files`, `io-error`.
  public convenience init(_ path: FilePath) throws { try self.init(path, retries: nil) }

  /// - Parameter retries: tries reads of a regular file again; nil: nobody does.
  package convenience init(_ path: FilePath, retries: ReadRetries?) throws {
    if path == "-" {
      try self.init(descriptor: STDIN_FILENO, path: path, owned: false, retries: nil)
      return
    }
    let descriptor = openFile(path, O_RDONLY)
    guard descriptor >= 0 else { throw OhanaError.system(errno, "open", path) }
    do {
      try self.init(descriptor: descriptor, path: path, owned: true, retries: retries)
    } catch {
      close(descriptor)
      throw error
    }
  }

  private init(descriptor: Int32, path: FilePath, owned: Bool, retries: ReadRetries?) throws {
    guard let status = fileStatus(descriptor) else {
      if !owned, errno == EBADF {
        throw OhanaError(.io, "closed-input", at: .init(path), "standard input is closed", fix: "name an input file")
      }
      throw OhanaError.system(errno, "read", path)
    }
    guard !status.isDirectory else { throw OhanaError.system(EISDIR, "read", path) }
    self.path = path
    self.descriptor = descriptor
    ownsDescriptor = owned
    // Of standard input, somebody may have read the beginning.
    size = status.isRegular ? max(0, Int(status.st_size) - max(0, Int(lseek(descriptor, 0, SEEK_CUR)))) : nil
    self.retries = size != nil ? retries : nil
    if size != nil { _ = posix_fadvise(descriptor, 0, 0, POSIX_FADV_SEQUENTIAL) }
  }

  deinit { if ownsDescriptor { close(descriptor) } }

  public var inputBytesRead: Int { bytesRead - (peeked.count - peekedStart) }

  /// The next `count` bytes, fewer only at the end of the input, without taking them. Waits as often as it must.
  func peek(_ count: Int) throws -> ArraySlice<UInt8> {
    while peeked.count - peekedStart < count {
      var block = [UInt8](repeating: 0, count: 4096)
      let got = try block.withUnsafeMutableBytes { try readOnce(into: $0) }
      if got == 0 { break }
      peeked.append(contentsOf: block[..<got])
    }
    return peeked[peekedStart...].prefix(count)
  }

  public func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
    guard peekedStart < peeked.count else { return try readOnce(into: buffer) }
    let taken = min(buffer.count, peeked.count - peekedStart)
    peeked.withUnsafeBytes { buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[peekedStart..<(peekedStart + taken)])) }
    peekedStart += taken
    if peekedStart == peeked.count {
      peeked = []
      peekedStart = 0
    }
    // A pipe might make us wait here with bytes in hand; a regular file never does.
    guard size != nil, taken < buffer.count else { return taken }
    return taken + (try readOnce(into: UnsafeMutableRawBufferPointer(rebasing: buffer[taken...])))
  }

  // MARK: Checkpoints

  public var canCheckpoint: Bool { size != nil && ownsDescriptor }

  public func save(to writer: CheckpointWriter) throws {
    try writer.put(bytesRead)
    try writer.put(Array(peeked[peekedStart...]))
  }

  public func restore(from reader: CheckpointReader) throws {
    bytesRead = try reader.count(size ?? 0)
    peeked = try reader.bytes()
    peekedStart = 0
    guard lseek(descriptor, off_t(bytesRead), SEEK_SET) == off_t(bytesRead) else { throw OhanaError.system(errno, "read", path) }
  }

  private func readOnce(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
    var got = readSome(descriptor, into: buffer)
    if got < 0 { got = try readAgain(into: buffer, after: errno) }
    bytesRead += got
    if got == 0, buffer.count > 0, let size, bytesRead < size {
      throw OhanaError(
        .io, "input-shrank", at: .init(path), "the file had \(size) bytes when it was opened, and ends after \(bytesRead)",
        fix: "let nothing write to it while it is read, and run again")
    }
    return got
  }

  /// A read has failed.
  @inline(never)
  private func readAgain(into buffer: UnsafeMutableRawBufferPointer, after number: Int32) throws -> Int {
    var (number, tries) = (number, 1)
    while let retries, ReadRetries.isPassing(number), retries.wait(after: tries, of: path) {
      tries += 1
      // Where a failed read leaves the file nobody says.
      let got = lseek(descriptor, off_t(bytesRead), SEEK_SET) < 0 ? -1 : readSome(descriptor, into: buffer)
      if got >= 0 { return got }
      number = errno
    }
    var error = OhanaError.system(number, "read", path)
    if tries > 1 { error.problem += " (\(tries) tries)" }
    throw error
  }
}
