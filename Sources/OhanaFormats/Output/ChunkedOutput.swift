public import OhanaCore

/// Spreads records over numbered files of a fixed number of records each (`--chunk-records`). All appear together at the end.
///
/// One file is open at a time, so that any number of chunks needs no more descriptors. The first chunk is made even if no record comes.
/// Used by one piece of work at a time.
public final class ChunkedOutput: @unchecked Sendable {  // because one piece of work at a time uses it
  private let name: ChunkName
  private let recordsPerChunk: Int
  private let checks: OutputChecks
  private let overwrites: Bool
  private let workspace: GzipWorkspace?
  private let names: TemporaryNames?
  private let begin: @Sendable (OutputFile) throws -> Void

  private var file: OutputFile?
  /// The file lacks what every chunk begins with: that may be known only when the first record comes.
  private var isHeadDue = false
  /// Records in each chunk begun.
  private var recordsInFiles: [Int] = []
  private var finished: [OutputTarget] = []
  /// Bytes of records in each chunk begun.
  private var bytesInFiles: [Int] = []
  private var number = 0

  /// Chunks that are synced one by one; with more of them, all are synced at the end.
  private static let syncedSingly = 16

  /// Opens the first chunk, so that a wrong name is known before anything is read.
  ///
  /// - Parameters:
  ///   - recordsPerChunk: at least 1.
  ///   - checks: asked for the name of every chunk.
  ///   - begin: writes what every chunk begins with, such as a header; called in front of the chunk's first record, or at its end.
  /// - Throws: as ``OutputTarget/init(_:overwrites:)`` and ``OutputChecks/check(_:)``.
  public init(
    _ name: ChunkName, recordsPerChunk: Int, checks: OutputChecks, overwrites: Bool, gzip workspace: GzipWorkspace? = nil,
    names: TemporaryNames? = nil, begin: @escaping @Sendable (OutputFile) throws -> Void
  ) throws {
    precondition(recordsPerChunk > 0, "a chunk holds at least one record")
    self.name = name
    self.recordsPerChunk = recordsPerChunk
    self.checks = checks
    self.overwrites = overwrites
    self.workspace = workspace
    self.names = names
    self.begin = begin
    if !overwrites { try checkIsNew() }
    try open()
  }

  /// Files finished or begun, in order.
  public var paths: [FilePath] { (0..<number).map { name.path($0 + 1) } }

  /// Without `--overwrite` there must be no chunk of the set: those that this run does not replace would look like its own.
  private func checkIsNew() throws {
    let folder = try resolvingLinks(name.path(1)).parent
    for other in ((try? folder.folderNames()) ?? []).sorted() where name.number(of: other) != nil {
      throw OutputChecks.exists(name.path(1).bytes.contains(UInt8(ascii: "/")) ? name.path(1).parent.appending(other) : other)
    }
  }

  /// Chunks of an earlier set behind the last one of this: regular files of exactly the next names, without a gap, that are no input and
  /// no other output of the run. Asked when all is finished.
  ///
  /// - Throws: `usage`/`output-exists` if there is one, and nothing may be overwritten.
  public func surplus() throws -> [PendingRemoval] {
    var surplus: [PendingRemoval] = []
    var next = number + 1
    while let removal = PendingRemoval(of: name.path(next)), !checks.isKnown(name.path(next)) {
      if !overwrites { throw OutputChecks.exists(name.path(next)) }
      surplus.append(removal)
      next += 1
    }
    return surplus
  }

  /// Adds whole records.
  ///
  /// - Parameters:
  ///   - bytes: `records` records, one behind the other.
  ///   - split: the number of bytes that the first so many records of a run of them take. Called only where a chunk ends within `bytes`.
  public func write(
    _ bytes: UnsafeBufferPointer<UInt8>, records: Int, split: (UnsafeBufferPointer<UInt8>, _ records: Int) -> Int
  ) throws {
    var bytes = bytes
    var records = records
    while records > 0 {
      if recordsInFiles[number - 1] == recordsPerChunk { try beginNext() }
      try writeHead()
      let fitting = min(records, recordsPerChunk - recordsInFiles[number - 1])
      let size = fitting == records ? bytes.count : split(bytes, fitting)
      try file?.write(UnsafeBufferPointer(rebasing: bytes[..<size]))
      bytes = UnsafeBufferPointer(rebasing: bytes[size...])
      records -= fitting
      recordsInFiles[number - 1] += fitting
      bytesInFiles[number - 1] += size
    }
  }

  /// Completes the last chunk.
  public func finish() throws { try close() }

  /// Lets all chunks appear; call it once, after ``finish()`` and when every other output of the run is complete.
  public func publish() throws {
    try OutputTarget.publish(try targets())
  }

  /// The finished chunks, for a publication together with other outputs. - Throws: `io` if they cannot be made durable.
  public func targets() throws -> [OutputTarget] {
    if finished.count > Self.syncedSingly { try syncFileSystem() }
    return finished
  }

  /// Of all chunks so far, finished or not.
  public var allTargets: [OutputTarget] { finished + (file.map { [$0.target] } ?? []) }

  public var canCheckpoint: Bool { allTargets.allSatisfy(\.canCheckpoint) }

  /// Writes down the finished chunks and where the present one stands.
  public func save(to writer: CheckpointWriter) throws {
    try writer.put(number)
    try writer.put(recordsInFiles[number - 1])
    try writer.put(finished.count)
    for target in finished { try target.save(to: writer) }
    for bytes in bytesInFiles { try writer.put(bytes) }
    try writer.put(isHeadDue)
    try writer.put(file != nil)
    try file?.save(to: writer)
  }

  /// Goes on with the chunks of an earlier process; they are made anew first, to be replaced.
  public func restore(from reader: CheckpointReader) throws {
    let last = try reader.count()
    let records = try reader.count()
    for _ in 0..<(try reader.count(last)) {
      guard let file else { throw CheckpointReader.damaged }
      try file.target.restore(from: reader)
      finished.append(file.target)
      self.file = nil
      if number < last { try open() }
    }
    guard number == last else { throw CheckpointReader.damaged }
    recordsInFiles = recordsInFiles.map { _ in recordsPerChunk }
    recordsInFiles[last - 1] = records
    for index in bytesInFiles.indices { bytesInFiles[index] = try reader.count() }
    isHeadDue = try reader.bool()
    if try reader.bool() {
      guard let file else { throw CheckpointReader.damaged }
      try file.restore(from: reader)
    } else {
      file?.discard()
      file = nil
    }
  }

  /// Bytes of records, without what each file begins with, in each chunk begun.
  public var byteCounts: [Int] { bytesInFiles }

  /// Records of each finished chunk, when all are finished.
  public var recordCounts: [Int] { Array(recordsInFiles.prefix(finished.count)) }

  /// Leaves nothing of what is not published.
  public func discard() {
    file?.discard()
    for target in finished { target.discard() }
  }

  /// Leaves those under their private names that a checkpoint names, and nothing of the others.
  public func leave() {
    file?.leave()
    for target in finished { target.leave() }
  }

  private func writeHead() throws {
    guard isHeadDue, let file else { return }
    isHeadDue = false
    try begin(file)
  }

  private func open() throws {
    number += 1
    let path = name.path(number)
    try checks.check(path)
    let file = OutputFile(try OutputTarget(path, overwrites: overwrites, names: names), gzip: workspace)
    self.file = file
    recordsInFiles.append(0)
    bytesInFiles.append(0)
    isHeadDue = true
  }

  private func close() throws {
    guard let file else { return }
    try writeHead()
    try file.finish(syncs: number <= Self.syncedSingly)
    finished.append(file.target)
    self.file = nil
  }

  /// Goes on with the next chunk, however many records are in this one.
  public func beginNext() throws {
    try close()
    try open()
  }

  /// One sync for all chunks leaves little to do for the single ones, which tell what failed.
  private func syncFileSystem() throws {
    sync()
    for target in finished { try target.syncByName() }
  }
}
