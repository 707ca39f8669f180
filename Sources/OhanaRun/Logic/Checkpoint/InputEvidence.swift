internal import OhanaCore
internal import OhanaFormats

/// What was read of the inputs, as checksums: whoever goes on with a run reads the same bytes once more to see that they are the same.
///
/// Nothing is hashed while a run runs: at a checkpoint the bytes read since the last one are, from the file system's cache.
final class InputEvidence: Checkpointable {
  private let paths: [FilePath]
  private let source: InputSource
  /// Files read beside the inputs, whole.
  private let lists: [FilePath]
  /// Of the lists, as soon as somebody wants to know.
  private lazy var listDigests = Result { try lists.map { try Self.digest(of: $0) } }
  /// Of inputs that were read to their ends.
  private var done: [UInt64] = []
  private var digest = XXH3Digest()
  private var digested = 0

  /// nil where the plan reads something else than inputs.
  init?(_ draft: RunDraft, _ plan: RunPlan) {
    guard let source = plan.pipeline.source as? InputSource else { return nil }
    self.source = source
    paths = draft.probed.map(\.path)
    lists = draft.lists.withLock { $0 }
  }

  var canCheckpoint: Bool { lists.allSatisfy { RunIdentity.Input($0) != nil } }

  func save(to writer: CheckpointWriter) throws {
    let (index, bytes) = source.position
    try take(to: index, bytes)
    try writer.put(index)
    try writer.put(bytes)
    for checksum in done { try writer.put(checksum) }
    try writer.put(digest.value)
    for (list, digest) in zip(lists, try listDigests.get()) {
      try writer.put(JSONCoding.line(RunIdentity.Input(list)))
      try writer.put(digest)
    }
  }

  func restore(from reader: CheckpointReader) throws {
    let index = try reader.count(paths.count)
    let bytes = try reader.count()
    for input in 0..<index {
      try take(to: input + 1, 0)
      guard try reader.uint64() == done[input] else { throw Self.changed(paths[input]) }
    }
    try take(to: index, bytes)
    guard try reader.uint64() == digest.value else { throw Self.changed(paths[index]) }
    for (list, digest) in zip(lists, try listDigests.get()) {
      guard try reader.bytes() == JSONCoding.line(RunIdentity.Input(list)), try reader.uint64() == digest else { throw Self.changed(list) }
    }
  }

  /// Hashes all inputs before `index`, and `bytes` of that one.
  private func take(to index: Int, _ bytes: Int) throws {
    while done.count < index {
      digested = try Self.hash(paths[done.count], from: digested, to: .max, digest)
      done.append(digest.value)
      digest = XXH3Digest()
      digested = 0
    }
    if bytes > digested { digested = try Self.hash(paths[index], from: digested, to: bytes, digest) }
  }

  private static func digest(of path: FilePath) throws -> UInt64 {
    let digest = XXH3Digest()
    _ = try hash(path, from: 0, to: .max, digest)
    return digest.value
  }

  /// Adds bytes of a file to a digest. - Returns: up to where.
  private static func hash(_ path: FilePath, from start: Int, to end: Int, _ digest: XXH3Digest) throws -> Int {
    let descriptor = openFile(path, O_RDONLY)
    guard descriptor >= 0 else { throw OhanaError.system(errno, "read", path) }
    defer { close(descriptor) }
    let block = ByteBuffer(capacity: 1 << 18)
    var digested = start
    while digested < end {
      let count = readFully(
        descriptor, at: digested, into: UnsafeMutableRawBufferPointer(start: block.base, count: min(block.capacity, end - digested)))
      guard count >= 0 else { throw OhanaError.system(errno, "read", path) }
      if count == 0 { break }
      digest.update(UnsafeRawBufferPointer(start: block.base, count: count))
      digested += count
    }
    return digested
  }

  private static func changed(_ path: FilePath) -> OhanaError { RunIdentity.conflict("\(path) holds something else than it did") }
}
