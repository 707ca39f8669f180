internal import OhanaCore

/// One record's key, on its way to the decision who survives.
///
/// ```
/// fingerprint (16) │ u64 position │ u64 ordinal │ u32 source │ u32 rank length │ rank
/// ```
/// The position counts the records of the log beside it; the rank is bytes that compare by `memcmp`.
struct KeyLogEntry: BitwiseCopyable {
  var fingerprint: Fingerprint
  var position: UInt64
  var ordinal: UInt64
  var source: UInt32
  var rankLength: UInt32

  static let size = 40
  /// Position of a key that stands for no record but for a list to be kept out.
  static let listed = UInt64.max
}

/// Keys of records in stream order: in memory up to a limit, then cut by hash into parts that lie on disk.
final class KeyLog {
  private let spill: any SpillStore
  private let memoryLimit: Int
  private let chunkSize: Int
  private var chunks: [(base: UnsafeMutableRawPointer, count: Int, capacity: Int)] = []
  private var allocated = 0
  private var parts: KeyPartitions?

  init(spill: any SpillStore, memoryLimit: Int) {
    self.spill = spill
    self.memoryLimit = memoryLimit
    chunkSize = min(1 << 18, max(1024, memoryLimit / 16))
  }

  deinit { free() }

  private func free() {
    for chunk in chunks { chunk.base.deallocate() }
    chunks = []
    allocated = 0
  }

  func append(_ entry: KeyLogEntry, rank: UnsafeRawPointer?) throws {
    if let parts { return try parts.append(entry, rank: rank) }
    let size = KeyLogEntry.size + Int(entry.rankLength)
    if chunks.isEmpty || chunks[chunks.count - 1].capacity - chunks[chunks.count - 1].count < size {
      let capacity = max(chunkSize, size)
      if allocated + capacity > memoryLimit {
        let parts = KeyPartitions(try spill.makeFile(), level: 0, bufferBudget: memoryLimit)
        self.parts = parts
        try forEachChunk { try parts.append(all: $0) }
        free()
        return try parts.append(entry, rank: rank)
      }
      chunks.append((.allocate(byteCount: capacity, alignment: 16), 0, capacity))
      allocated += capacity
    }
    let last = chunks.count - 1
    let target = chunks[last].base + chunks[last].count
    target.storeBytes(of: entry, as: KeyLogEntry.self)
    if let rank { (target + KeyLogEntry.size).copyMemory(from: rank, byteCount: Int(entry.rankLength)) }
    chunks[last].count += size
  }

  func save(to writer: CheckpointWriter) throws {
    try writer.put(parts != nil)
    if let parts { return try parts.save(to: writer) }
    try writer.put(chunks.count)
    try forEachChunk { try writer.put($0) }
  }

  func restore(from reader: CheckpointReader) throws {
    if try reader.bool() {
      parts = try KeyPartitions(from: reader, bufferBudget: memoryLimit)
      return
    }
    let chunk = ByteBuffer()
    for _ in 0..<(try reader.count()) {
      chunk.removeAll()
      try reader.bytes(to: chunk)
      var next = UnsafeRawPointer(chunk.base)
      let end = next + chunk.count
      while end - next >= KeyLogEntry.size {
        let entry = next.loadUnaligned(as: KeyLogEntry.self)
        let size = KeyLogEntry.size + Int(entry.rankLength)
        guard end - next >= size else { throw CheckpointReader.damaged }
        try append(entry, rank: next + KeyLogEntry.size)
        next += size
      }
    }
  }

  private func forEachChunk(_ body: (UnsafeRawBufferPointer) throws -> Void) throws {
    for chunk in chunks { try body(UnsafeRawBufferPointer(start: chunk.base, count: chunk.count)) }
  }

  /// Decides on all keys and lists what is dropped. No more is appended.
  ///
  /// - Parameters:
  ///   - tableBudget: bytes for the table of distinct keys; a part with more of them is cut again.
  ///   - sizes: gets the keys, by how often they were met; nothing for rules of a list.
  func decide(_ rule: KeepRule, tableBudget: Int, into drops: DropList, counting sizes: inout ClusterSizes) throws {
    if parts == nil {
      let isDecided = try KeyDecision.decide(
        rule, tableBudget: tableBudget, chunks: { try self.forEachChunk($0) }, into: drops, counting: &sizes)
      if isDecided { return }
      let parts = KeyPartitions(try spill.makeFile(), level: 0, bufferBudget: memoryLimit)
      self.parts = parts
      try forEachChunk { try parts.append(all: $0) }
      free()
    }
    let parts = self.parts!
    self.parts = nil
    try parts.decide(rule, tableBudget: tableBudget, spill: spill, into: drops, counting: &sizes)
  }
}

/// Keys cut by 4 bits of their hash into 16 parts, which lie in pieces in one file.
final class KeyPartitions {
  private static let count = 16
  private let file: any SpillFile
  private let level: Int
  private let bufferSize: Int
  private let bufferBudget: Int
  private var buffers: [ByteBuffer] = []
  private var pieces = [[(offset: Int, count: Int)]](repeating: [], count: KeyPartitions.count)

  init(_ file: any SpillFile, level: Int, bufferBudget: Int) {
    self.file = file
    self.level = level
    self.bufferBudget = bufferBudget
    bufferSize = min(1 << 18, max(512, bufferBudget / Self.count))
    for _ in 0..<Self.count { buffers.append(ByteBuffer()) }
  }

  deinit { file.remove() }

  /// The buffers go to the file first.
  func save(to writer: CheckpointWriter) throws {
    for index in 0..<Self.count { try flush(index) }
    try writer.put(level)
    try writer.put(file)
    for part in pieces {
      try writer.put(part.count)
      for piece in part {
        try writer.put(piece.offset)
        try writer.put(piece.count)
      }
    }
  }

  convenience init(from reader: CheckpointReader, bufferBudget: Int) throws {
    let level = try reader.count(15)
    self.init(try reader.file(), level: level, bufferBudget: bufferBudget)
    for index in 0..<Self.count {
      for _ in 0..<(try reader.count()) {
        let piece = (offset: try reader.count(), count: try reader.count())
        guard piece.count <= file.size, piece.offset <= file.size - piece.count else { throw CheckpointReader.damaged }
        pieces[index].append(piece)
      }
    }
  }

  func append(_ entry: KeyLogEntry, rank: UnsafeRawPointer?) throws {
    let index = Int(truncatingIfNeeded: entry.fingerprint.high >> UInt64(60 - 4 * level)) & 15
    let buffer = buffers[index]
    let size = KeyLogEntry.size + Int(entry.rankLength)
    if buffer.count + size > bufferSize { try flush(index) }
    buffer.reserve(size)
    UnsafeMutableRawPointer(buffer.base + buffer.count).storeBytes(of: entry, as: KeyLogEntry.self)
    buffer.count += KeyLogEntry.size
    if let rank { buffer.append(rank.assumingMemoryBound(to: UInt8.self), count: Int(entry.rankLength)) }
  }

  func append(all entries: UnsafeRawBufferPointer) throws {
    guard var next = entries.baseAddress else { return }
    let end = next + entries.count
    while next < end {
      let entry = next.loadUnaligned(as: KeyLogEntry.self)
      try append(entry, rank: next + KeyLogEntry.size)
      next += KeyLogEntry.size + Int(entry.rankLength)
    }
  }

  private func flush(_ index: Int) throws {
    let buffer = buffers[index]
    guard buffer.count > 0 else { return }
    pieces[index].append((file.size, buffer.count))
    try file.append(UnsafeRawBufferPointer(buffer.bytes))
    buffer.recycle(limit: bufferSize)
  }

  func decide(
    _ rule: KeepRule, tableBudget: Int, spill: any SpillStore, into drops: DropList, counting sizes: inout ClusterSizes
  ) throws {
    for index in 0..<Self.count { try flush(index) }
    buffers = []
    for index in 0..<Self.count where !pieces[index].isEmpty {
      let isDecided = try KeyDecision.decide(
        rule, tableBudget: tableBudget, chunks: { try self.forEachPiece(of: index, $0) }, into: drops, counting: &sizes)
      if isDecided { continue }
      guard level < 15 else {
        throw OhanaError(
          .memory, "keys-exceed-memory", "this stage's share of memory cannot hold its keys", fix: "give the run more with --memory")
      }
      let finer = KeyPartitions(try spill.makeFile(), level: level + 1, bufferBudget: bufferBudget)
      try forEachPiece(of: index) { try finer.append(all: $0) }
      try finer.decide(rule, tableBudget: tableBudget, spill: spill, into: drops, counting: &sizes)
    }
  }

  private func forEachPiece(of index: Int, _ body: (UnsafeRawBufferPointer) throws -> Void) throws {
    let buffer = ByteBuffer()
    for piece in pieces[index] {
      buffer.removeAll()
      buffer.reserve(piece.count)
      while buffer.count < piece.count {
        let target = UnsafeMutableRawBufferPointer(start: buffer.base + buffer.count, count: piece.count - buffer.count)
        let count = try file.read(at: piece.offset + buffer.count, into: target)
        guard count > 0 else {
          throw OhanaError(.io, "spill-truncated", "a temporary file is shorter than what was written to it", fix: "try another --temp-dir")
        }
        buffer.count += count
      }
      try body(UnsafeRawBufferPointer(buffer.bytes))
    }
  }
}
