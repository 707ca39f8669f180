public import OhanaCore

/// Cuts a byte stream into batches of whole lines: the serial half of the NDJSON reader.
///
/// Bytes are read straight into the batch's arena; only the part of a line that is cut off at the end is copied once. A last line
/// without a line feed counts. Lines that outgrow the limit are passed over without being held: each becomes a batch of its own with
/// one ``Reject`` (`record-too-long`) and no bytes.
///
/// One array of objects, and objects spread over several lines, are recognised by the input's first 64 KiB and read as if each object
/// were a compact line; messages keep the source's lines and columns.
///
/// `firstByte` and `inputBytesRead` are set; lines are counted by the ``NDJSONParser`` that must follow.
public final class NDJSONFramer: RecordFramer, Checkpointable, @unchecked Sendable {  // because one piece of work at a time uses it
  private let stream: any ByteStream
  private let source: FilePath?
  private let batchBytes: Int
  private let maxRecordBytes: Int
  private let maxHeldBytes: Int
  private let isPrompt: Bool
  /// The beginning of the line that the last batch was cut in.
  private let tail = ByteBuffer()
  /// Offset in the input of the first byte of `tail`.
  private var offset = 0
  private var isAtEnd = false
  /// What the stream threw, until the lines before it are delivered.
  private var failure: (any Error)?
  /// The first bytes, read to see what the input is; given out before any others.
  private var head: ByteBuffer?
  private var headPosition = 0
  /// What the stream threw behind the first bytes.
  private var headFailure: (any Error)?
  private var hasBegun = false
  /// Reads inputs that are not lines of records.
  private var unfolder: NDJSONUnfolder?

  /// - Parameters:
  ///   - source: the input's name, for messages.
  ///   - batchBytes: bytes of a batch, where its lines are not longer.
  ///   - maxRecordBytes: longer records are rejected (`--max-record`), line end not counted. The parser has to be told the same.
  ///   - maxHeldBytes: what memory allows for one record. A legal record over it ends the run, since another result would depend on the
  ///     memory given.
  ///   - isPrompt: what whole lines there are make a batch, where waiting for more would be waiting.
  public init(
    _ stream: any ByteStream, source: FilePath? = nil, batchBytes: Int = 1 << 20, maxRecordBytes: Int = 64 << 20, maxHeldBytes: Int = .max,
    isPrompt: Bool = false
  ) {
    precondition(batchBytes > 0 && maxRecordBytes > 0 && maxRecordBytes < 1 << 31, "sizes have to be positive, a record below 2 GiB")
    self.stream = stream
    self.source = source
    self.batchBytes = batchBytes
    self.maxRecordBytes = maxRecordBytes
    self.maxHeldBytes = min(maxHeldBytes, maxRecordBytes)
    self.isPrompt = isPrompt
  }

  /// - Throws: what the stream throws, once the whole lines before its fault are delivered; ``OhanaError`` (`memory`,
  ///   `record-over-memory`) for a record over `maxHeldBytes`.
  public func next(into batch: RecordBatch) throws -> Bool {
    do { return try cut(into: batch) } catch var error as OhanaError {
      if error.category == .memory, error.location == nil { error.location = source.map { .init($0) } }
      throw error
    }
  }

  private func cut(into batch: RecordBatch) throws -> Bool {
    if !hasBegun { begin() }
    if let unfolder { return try unfolder.next(into: batch) }
    let arena = batch.arena
    arena.reserve(max(batchBytes, tail.count))
    arena.append(tail.bytes)
    tail.removeAll()
    // The tail holds no line end but behind a line that was passed over.
    var lastLineEnd = lastLineEnd(in: arena, from: 0)
    while !isAtEnd, failure == nil, lastLineEnd < 0 || arena.count < batchBytes {
      // One byte more than a record may have can still be its CR.
      if lastLineEnd < 0, arena.count > maxHeldBytes + 1 { return try passOverLine(batch) }
      let room = arena.count < batchBytes ? batchBytes - arena.count : min(arena.count, maxHeldBytes + 2 - arena.count)
      let searched = arena.count
      read(room, into: arena)
      lastLineEnd = max(lastLineEnd, self.lastLineEnd(in: arena, from: searched))
      // A stream gives less than it is asked for where it would have to wait.
      if isPrompt, lastLineEnd >= 0, arena.count < searched + room { break }
    }
    if !isAtEnd || stream.fault != nil {
      let end = lastLineEnd + 1
      // What a break cut off is no record.
      if failure == nil, !isAtEnd { tail.append(arena.base + end, count: arena.count - end) }
      arena.count = end
    }
    if arena.count == 0 {
      if let failure { throw failure }
      return false
    }
    batch.firstByte = offset
    batch.inputBytesRead = stream.inputBytesRead
    offset += arena.count
    return true
  }

  /// Looks at the first bytes. How many there are to look at must not depend on the size of batches.
  private func begin() {
    hasBegun = true
    let first = ByteBuffer(capacity: 64 << 10)
    while first.count < first.capacity, !isAtEnd, failure == nil {
      read(first.capacity - first.count, into: first)
      if isPrompt, lastLineEnd(in: first, from: 0) >= 0 { break }
    }
    if let form = NDJSONUnfolder.form(of: first.bytes) {
      unfolder = NDJSONUnfolder(
        form, first, then: stream, failure: failure, batchBytes: batchBytes, maxRecordBytes: maxRecordBytes, maxHeldBytes: maxHeldBytes)
      return
    }
    head = first
    // The end and the failure come behind these bytes.
    headFailure = failure
    failure = nil
    isAtEnd = false
  }

  // MARK: Checkpoints

  public var canCheckpoint: Bool { failure == nil && headFailure == nil && unfolder?.canCheckpoint ?? true }

  public func save(to writer: CheckpointWriter) throws {
    try writer.put(hasBegun)
    try writer.put(isAtEnd)
    try writer.put(offset)
    try writer.put(tail)
    try writer.put(
      head.map { UnsafeRawBufferPointer(start: $0.base + headPosition, count: $0.count - headPosition) } ?? .init(start: nil, count: 0))
    try writer.put(unfolder != nil)
    try unfolder?.save(to: writer)
  }

  public func restore(from reader: CheckpointReader) throws {
    hasBegun = try reader.bool()
    isAtEnd = try reader.bool()
    offset = try reader.count()
    tail.removeAll()
    try reader.bytes(to: tail)
    let rest = ByteBuffer()
    try reader.bytes(to: rest)
    head = rest.count > 0 ? rest : nil
    headPosition = 0
    guard try reader.bool() else { return }
    unfolder = try NDJSONUnfolder(
      from: reader, then: stream, batchBytes: batchBytes, maxRecordBytes: maxRecordBytes, maxHeldBytes: maxHeldBytes)
  }

  private func lastLineEnd(in buffer: ByteBuffer, from start: Int) -> Int {
    let length = lengthThroughLastLineEnd(buffer.base + start, buffer.count - start)
    return length == 0 ? -1 : start + length - 1
  }

  /// Appends up to `room` bytes to `buffer`, or notes the end or failure of the stream.
  private func read(_ room: Int, into buffer: ByteBuffer) {
    buffer.reserve(room)
    if let head {
      let count = min(room, head.count - headPosition)
      buffer.append(head.base + headPosition, count: count)
      headPosition += count
      if headPosition == head.count { self.head = nil }
      if count > 0 { return }
    }
    if let headFailure {
      failure = headFailure
      return
    }
    do {
      let count = try stream.read(into: UnsafeMutableRawBufferPointer(start: buffer.base + buffer.count, count: room))
      buffer.count += count
      if count == 0 { isAtEnd = true }
    } catch {
      failure = error
    }
  }

  static func overMemory(_ length: Int, at offset: Int) -> OhanaError {
    OhanaError(
      .memory, "record-over-memory", "a record of \(length) bytes at byte \(offset + 1) is more than the memory limit can hold",
      fix: "raise --memory, or lower --max-record to reject such records")
  }

  /// Reads to the end of the line that fills the arena without holding it, and makes one reject of it.
  private func passOverLine(_ batch: RecordBatch) throws -> Bool {
    let arena = batch.arena
    var length = 0  // of the line without its line feed
    var hasLineEnd = false
    var lastByte: UInt8 = 0
    var isBlank = true
    while true {
      var count = arena.count
      if let found = memchr(arena.base, 0x0a, arena.count) {
        count = UnsafeMutablePointer(found.assumingMemoryBound(to: UInt8.self)) - arena.base
        hasLineEnd = true
        tail.append(arena.base + count + 1, count: arena.count - count - 1)
      }
      length += count
      if count > 0 { lastByte = arena.base[count - 1] }
      isBlank = isBlank && UnsafeBufferPointer(start: arena.base, count: count).allSatisfy { $0 == 0x20 || $0 == 0x09 || $0 == 0x0d }
      arena.removeAll()
      if hasLineEnd || isAtEnd { break }
      if let failure { throw failure }
      read(batchBytes, into: arena)
    }
    if !hasLineEnd, stream.fault != nil { return false }
    let recordLength = length - (lastByte == 0x0d ? 1 : 0)
    if isBlank {
      batch.blankLines = 1
    } else if recordLength <= maxRecordBytes {
      throw Self.overMemory(recordLength, at: offset)
    } else {
      batch.rejects.append(NDJSONParser.tooLong(line: 0, offset: 0, length: recordLength, limit: maxRecordBytes, before: 0))
    }
    batch.lineCount = hasLineEnd ? 1 : 0
    batch.firstByte = offset
    batch.inputBytesRead = stream.inputBytesRead
    offset += length + (hasLineEnd ? 1 : 0)
    return true
  }
}

/// Bytes up to and including the last line feed of `count` bytes; 0 if there is none. Looks from the end, since lines are short.
func lengthThroughLastLineEnd(_ start: UnsafePointer<UInt8>, _ count: Int) -> Int {
  var length = count
  while length > 0, start[length &- 1] != 0x0a { length &-= 1 }
  return length
}
