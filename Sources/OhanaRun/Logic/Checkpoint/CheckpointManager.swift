internal import OhanaCore

/// Writes and reads checkpoint files.
protocol CheckpointManaging: Sendable {
  typealias Part = (name: String, part: any Checkpointable)

  /// Writes down what the parts remember. - Throws: `io`; nothing is left then.
  func write(_ parts: [Part], number: Int, in folder: FilePath) throws -> (size: Int, checksum: UInt64, files: Set<Int>)
  /// Hands each part what it wrote. - Throws: ``CheckpointReader/damaged``.
  func read(_ parts: [Part], _ checkpoint: CheckpointMark, in folder: FilePath, spill: any SpillStore) throws
  /// Removes all checkpoints but one.
  func removeAll(but number: Int, in folder: FilePath)
}

/// Writes and reads checkpoint files. Holds nothing.
///
/// ```
/// "OHANAC" │ u16 version = 1                        8 bytes
/// name │ what the part wrote                        for each part, in the order of the flow
/// "end"
/// ```
/// Names are texts as ``CheckpointWriter`` writes them. Size and XXH3 of the whole file stand in the journal.
struct CheckpointManager: CheckpointManaging {
  private static let magic = Array("OHANAC".utf8) + [1, 0]
  private static let end = "end"

  private func path(_ number: Int, in folder: FilePath) -> FilePath { folder.appending(FilePath("checkpoint-\(number)")) }

  /// Everything is at rest. On return the file is on disk, with all that it refers to.
  ///
  /// - Returns: size and checksum of the file, and the spill files it names.
  /// - Throws: `io`; nothing is left then.
  func write(_ parts: [Part], number: Int, in folder: FilePath) throws -> (size: Int, checksum: UInt64, files: Set<Int>) {
    let path = path(number, in: folder)
    path.unlinkFile()
    let descriptor = openFile(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode: 0o600)
    guard descriptor >= 0 else { throw OhanaError.system(errno, "write a checkpoint in", folder, fix: Journal.fix) }
    defer { close(descriptor) }
    let digest = XXH3Digest()
    var size = 0
    let writer = CheckpointWriter { bytes in
      digest.update(bytes)
      size += bytes.count
      let error = writeFully(descriptor, bytes)
      guard error == 0 else { throw OhanaError.system(error, "write a checkpoint in", folder, fix: Journal.fix) }
    }
    do {
      try Self.magic.withUnsafeBytes { try writer.put(raw: $0) }
      for (name, part) in parts {
        try writer.put(name)
        try part.save(to: writer)
      }
      try writer.put(Self.end)
      try writer.finish()
      guard fdatasync(descriptor) == 0 else { throw OhanaError.system(errno, "write a checkpoint in", folder, fix: Journal.fix) }
      // The names too, of spill files as well; at first that of the folder.
      syncFolder(folder)
      if number == 1 { syncFolder(folder.parent) }
    } catch {
      path.unlinkFile()
      throw error
    }
    return (size, digest.value, writer.files)
  }

  /// Hands each part what it wrote.
  ///
  /// - Throws: ``CheckpointReader/damaged`` if the file is not as it was written, and what parts throw.
  func read(_ parts: [Part], _ checkpoint: CheckpointMark, in folder: FilePath, spill: any SpillStore) throws {
    let descriptor = openFile(path(checkpoint.number, in: folder), O_RDONLY | O_NOFOLLOW)
    guard descriptor >= 0 else { throw CheckpointReader.damaged }
    defer { close(descriptor) }
    guard try checksum(descriptor) == (checkpoint.size, checkpoint.checksum) else { throw CheckpointReader.damaged }
    lseek(descriptor, 0, SEEK_SET)
    let block = ByteBuffer(capacity: 1 << 16)
    var taken = 0
    let reader = CheckpointReader(spill: spill, limit: checkpoint.size) { target in
      if taken == block.count {
        taken = 0
        block.count = max(0, readSome(descriptor, into: UnsafeMutableRawBufferPointer(start: block.base, count: block.capacity)))
      }
      let count = min(target.count, block.count - taken)
      target.copyMemory(from: UnsafeRawBufferPointer(start: block.base + taken, count: count))
      taken += count
      return count
    }
    var magic = Self.magic
    try magic.withUnsafeMutableBytes { try reader.fill($0) }
    guard magic == Self.magic else { throw CheckpointReader.damaged }
    for (name, part) in parts {
      guard try reader.text() == name else { throw CheckpointReader.damaged }
      try part.restore(from: reader)
    }
    guard try reader.text() == Self.end else { throw CheckpointReader.damaged }
  }

  private func checksum(_ descriptor: Int32) throws -> (Int, UInt64) {
    let digest = XXH3Digest()
    let block = ByteBuffer(capacity: 1 << 18)
    var size = 0
    while true {
      let bytes = UnsafeMutableRawBufferPointer(start: block.base, count: block.capacity)
      let count = readSome(descriptor, into: bytes)
      guard count >= 0 else { throw CheckpointReader.damaged }
      if count == 0 { return (size, digest.value) }
      digest.update(UnsafeRawBufferPointer(rebasing: bytes[..<count]))
      size += count
    }
  }

  /// Removes all checkpoints but one.
  func removeAll(but number: Int, in folder: FilePath) {
    let kept = path(number, in: folder).lastComponent
    for name in (try? folder.folderNames()) ?? [] where name.bytes.starts(with: Array("checkpoint-".utf8)) && name != kept {
      folder.appending(name).unlinkFile()
    }
  }
}
