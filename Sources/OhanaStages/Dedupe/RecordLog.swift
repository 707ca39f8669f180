internal import OhanaCore

/// Packed records in stream order, as items (see ``SortItem``): in memory up to a limit, then in a file.
final class RecordLog {
  private let spill: any SpillStore
  private let memoryLimit: Int
  /// What a single record may take when it is read back.
  private let recordLimit: Int
  private var memory: RunMemory
  private var segments: [RunPlace.Segment] = []
  private var file: (any SpillFile)?
  private var writer: SpillWriter?
  private let bufferSize: Int
  private(set) var count = 0

  /// - Parameters:
  ///   - memoryLimit: bytes of records kept in memory.
  ///   - budget: the share of the stage, which a single record may not exceed.
  init(spill: any SpillStore, memoryLimit: Int, budget: Int) {
    self.spill = spill
    self.memoryLimit = memoryLimit
    recordLimit = budget
    bufferSize = min(1 << 18, max(1024, budget / 16))
    memory = RunMemory(share: memoryLimit)
  }

  deinit { file?.remove() }

  func append(_ item: UnsafeRawPointer) throws {
    let size = SortItem.size(item)
    guard size <= recordLimit else { throw tooLong(size, recordLimit) }
    count += 1
    if writer == nil {
      if memory.allocated + memory.growth(for: size, longest: size) <= memoryLimit {
        return memory.append(item, byteCount: size, to: &segments)
      }
      let file = try spill.makeFile()
      self.file = file
      writer = SpillWriter(file, capacity: bufferSize)
    }
    try writer!.append(item, size)
  }

  func save(to writer: CheckpointWriter) throws {
    try self.writer?.flush()
    try writer.put(count)
    try writer.put(segments.count)
    for segment in segments { try writer.put(UnsafeRawBufferPointer(start: segment.start, count: segment.end - segment.start)) }
    try writer.put(file != nil)
    if let file { try writer.put(file) }
  }

  func restore(from reader: CheckpointReader) throws {
    count = try reader.count()
    let items = ByteBuffer()
    for _ in 0..<(try reader.count()) {
      items.removeAll()
      try reader.bytes(to: items)
      guard SortItem.isWhole(items.bytes) else { throw CheckpointReader.damaged }
      memory.append(items.base, byteCount: items.count, to: &segments)
    }
    guard try reader.bool() else { return }
    let file = try reader.file()
    self.file = file
    writer = SpillWriter(file, capacity: bufferSize)
  }

  /// Reads all from the start on. No more is appended.
  func makeReader() throws -> Reader {
    try writer?.flush()
    writer = nil
    return Reader(self)
  }

  final class Reader {
    private let log: RecordLog
    private var segment = 0
    private var next: UnsafeRawPointer?
    private var end: UnsafeRawPointer?
    private var offset = 0
    private let buffer = ByteBuffer()

    init(_ log: RecordLog) { self.log = log }

    /// The next item, valid until the next call.
    func read() throws -> UnsafeRawPointer? {
      while true {
        if let item = next, item < end! {
          if segment > log.segments.count, end! - item < SortItem.headerSize || end! - item < SortItem.size(item) {
            try fill(keeping: item)
            continue
          }
          next = item + SortItem.size(item)
          return item
        }
        if segment < log.segments.count {
          next = UnsafeRawPointer(log.segments[segment].start)
          end = UnsafeRawPointer(log.segments[segment].end)
          segment += 1
          continue
        }
        segment = log.segments.count + 1
        guard let file = log.file, offset < file.size else { return nil }
        try fill(keeping: end ?? UnsafeRawPointer(buffer.base))
      }
    }

    /// Reads on in the file, with the bytes from `rest` on kept in front.
    private func fill(keeping rest: UnsafeRawPointer) throws {
      let base = UnsafeRawPointer(buffer.base)
      let isInBuffer = rest >= base && rest <= base + buffer.count && end == base + buffer.count
      let kept = isInBuffer ? base + buffer.count - rest : 0
      if kept > 0 { memmove(buffer.base, rest, kept) }
      buffer.count = kept
      let needed = kept >= SortItem.headerSize ? SortItem.size(UnsafeRawPointer(buffer.base)) : 0
      guard needed <= log.recordLimit else { throw tooLong(needed, log.recordLimit) }
      buffer.reserve(max(log.bufferSize, needed) - kept)
      let target = UnsafeMutableRawBufferPointer(start: buffer.base + kept, count: max(log.bufferSize, needed) - kept)
      let count = try log.file!.read(at: offset, into: target)
      guard count > 0 else {
        throw OhanaError(.io, "spill-truncated", "a temporary file is shorter than what was written to it", fix: "try another --temp-dir")
      }
      offset += count
      buffer.count += count
      next = UnsafeRawPointer(buffer.base)
      end = next! + buffer.count
    }
  }
}
