internal import CStructural
public import OhanaCore

/// Cuts CSV text into batches of whole records: the serial half of the reader.
///
/// It finds no cell and only the last record end of each batch, but checks every quote, since a faulty one decides where records end. What
/// RFC 4180 does not allow is read again by ``CSVRecordScanner`` and handed to the parallel half with its verdict. Bytes go from the stream
/// straight into the batch's arena. Cost: two passes of the masks' kernel less than `memcpy` of the text.
///
/// Memory: a batch, and while a record is longer than a batch, or a quote is not closed, up to `maxRecordBytes` more.
public final class CSVFramer: RecordFramer, Checkpointable, @unchecked Sendable {  // because one piece of work at a time uses it
  /// What every record of this input is read with.
  public let header: CSVHeader
  private let stream: any ByteStream
  private let source: FilePath?
  private let scanner: CSVRecordScanner
  private let bytes: ohana_csv_bytes
  private let kernel: ohana_kernel
  private let batchBytes: Int
  private let memoryLimit: Int
  private let isTolerant: Bool
  private let isPrompt: Bool
  /// The state of most batches, made once.
  private let regularState: CSVBatchState

  /// Bytes read and not handed out: `pending[pendingStart...]`.
  private let pending: ByteBuffer
  private var pendingStart = 0
  private var hasEnded = false
  /// Offset in the input of the next byte handed out.
  private var position = 0
  private var hasBegun = false
  private var irregular: [CSVBatchState.Irregular] = []

  /// - Parameters:
  ///   - stream: the input's UTF-8, from its first byte on, or behind `head`.
  ///   - header: what ``CSVHeader/scan(_:dialect:source:)`` said of the same input.
  ///   - source: the input's name, for messages.
  ///   - head: bytes that were read from `stream` before; taken over.
  ///   - batchBytes: bytes of input per batch.
  ///   - memoryLimit: bytes that a record longer than a batch may take; beyond it the input is refused with `memory`.
  ///   - isPrompt: what whole lines there are make a batch, where waiting for more would be waiting.
  public init(
    stream: any ByteStream, header: CSVHeader, source: FilePath? = nil, head: ByteBuffer? = nil, batchBytes: Int = 1 << 20,
    memoryLimit: Int = .max, isPrompt: Bool = false
  ) {
    precondition(batchBytes > 0, "a batch needs room for a byte")
    precondition(header.dialect.delimiter != nil, "the dialect comes from CSVHeader.scan")
    self.stream = stream
    self.source = source
    self.header = header
    self.batchBytes = batchBytes
    self.memoryLimit = memoryLimit
    self.isPrompt = isPrompt
    pending = head ?? ByteBuffer()
    scanner = CSVRecordScanner(header.dialect)
    kernel = ohana_kernel_best()
    bytes = header.dialect.kernelBytes
    // The kernels know no record longer than a batch and no line end but LF.
    isTolerant = header.dialect.lineEnd == .carriageReturn || header.dialect.maxRecordBytes < batchBytes
    regularState = CSVBatchState(header: header, isTolerant: isTolerant)
  }

  public func next(into batch: RecordBatch) throws -> Bool {
    let arena = batch.arena
    arena.removeAll()
    var start = 0
    if !hasBegun {
      start = header.dataOffset
    }
    try fill(arena, to: batchBytes + start)
    batch.firstByte = position
    if arena.count <= start, isAtEnd {
      // Nothing but the header; blank lines before it still count.
      let isNews = !hasBegun && header.blankLines > 0
      hasBegun = true
      guard isNews else { return false }
      finish(batch, cut: arena.count, dataStart: arena.count)
      return true
    }
    let isFirst = !hasBegun
    hasBegun = true
    irregular.removeAll(keepingCapacity: true)
    let cut = scanWindow(arena.base, from: start, to: arena.count, isEnd: isAtEnd && !isBroken)
    if cut > start || isFirst && start > 0 {
      putBack(arena, from: cut)
      finish(batch, cut: cut, dataStart: start, blankLines: isFirst ? header.blankLines : 0)
      return true
    }
    return try readLongRecord(into: batch)
  }

  /// The stream broke: what follows the last record end is no record.
  private var isBroken: Bool { hasEnded && stream.fault != nil }
  private var isAtEnd: Bool { hasEnded && pendingStart == pending.count }

  // MARK: Checkpoints

  public func save(to writer: CheckpointWriter) throws {
    try writer.put(hasBegun)
    try writer.put(hasEnded)
    try writer.put(position)
    try writer.put(UnsafeRawBufferPointer(start: pending.base + pendingStart, count: pending.count - pendingStart))
  }

  public func restore(from reader: CheckpointReader) throws {
    hasBegun = try reader.bool()
    hasEnded = try reader.bool()
    position = try reader.count()
    pending.removeAll()
    pendingStart = 0
    try reader.bytes(to: pending)
  }

  // MARK: Bytes

  private func fill(_ arena: ByteBuffer, to count: Int) throws {
    arena.reserve(count)
    let held = min(pending.count - pendingStart, count)
    if held > 0 {
      arena.append(pending.base + pendingStart, count: held)
      pendingStart += held
    }
    if pendingStart == pending.count {
      if pending.capacity > 4 * batchBytes { pending.recycle(limit: batchBytes) } else { pending.removeAll() }
      pendingStart = 0
    }
    while arena.count < count, !hasEnded {
      let room = count - arena.count
      let got = try stream.read(into: UnsafeMutableRawBufferPointer(start: arena.base + arena.count, count: room))
      if got == 0 { hasEnded = true }
      // A stream gives less than it is asked for where it would have to wait. The header's line is none that is waited for.
      let endsLine = isPrompt && got < room && memchr(arena.base + arena.count, 0x0a, got) != nil
      arena.count += got
      if endsLine, arena.count > header.dataOffset || hasBegun { break }
    }
  }

  /// Takes the arena's bytes from `cut` on back, to be handed out first next time.
  private func putBack(_ arena: ByteBuffer, from cut: Int) {
    let tail = arena.count - cut
    if tail == 0 { return }
    arena.count = cut
    if pendingStart >= tail {  // they came from there
      pendingStart -= tail
    } else if pendingStart == pending.count {
      pending.removeAll()
      pendingStart = 0
      pending.append(arena.base + cut, count: tail)
    } else {
      let rest = Array(UnsafeBufferPointer(start: pending.base + pendingStart, count: pending.count - pendingStart))
      pending.removeAll()
      pendingStart = 0
      pending.append(arena.base + cut, count: tail)
      rest.withUnsafeBufferPointer { pending.append($0) }
    }
  }

  private func finish(_ batch: RecordBatch, cut: Int, dataStart: Int, blankLines: Int = 0) {
    let isRegular = dataStart == 0 && irregular.isEmpty
    batch.readerState =
      isRegular
      ? regularState
      : CSVBatchState(header: header, dataStart: dataStart, blankLines: blankLines, irregular: irregular, isTolerant: isTolerant)
    batch.inputBytesRead = stream.inputBytesRead
    position += cut
  }

  // MARK: Records within a batch

  /// Finds the last record end in `start ..< end` and lists the irregular records before it. Returns `start` if no record ends there.
  private func scanWindow(_ base: UnsafePointer<UInt8>, from start: Int, to end: Int, isEnd: Bool) -> Int {
    var cut = start
    var frame = ohana_csv_frame()
    while cut < end {
      if !isTolerant {
        ohana_csv_find_frame(kernel, base + cut, end - cut, bytes, &frame)
        cut += frame.last_end
        if frame.violation < 0 {  // SIZE_MAX: none
          if !isEnd || cut == end { return cut }
          if !frame.in_quotes { return end }  // the last record, without a line end
        }
      }
      let outcome = scanner.scan(base, from: cut, to: end, isEnd: isEnd)
      switch outcome.kind {
      case .incomplete, .tooLong: return cut
      case .record:
        if !isTolerant { irregular.append(.init(outcome, from: cut)) }
      case .textAfterQuote, .unclosedQuote:
        if outcome.next < 0 { return cut }
        irregular.append(.init(outcome, from: cut))
      }
      cut = outcome.next
    }
    return cut
  }

  // MARK: Records longer than a batch

  /// Reads one record by itself; the arena holds its beginning and nothing else. Returns false if the stream broke within it.
  private func readLongRecord(into batch: RecordBatch) throws -> Bool {
    putBack(batch.arena, from: 0)
    while true {
      let base = UnsafePointer(pending.base)
      let outcome = scanner.scan(base, from: pendingStart, to: pending.count, isEnd: hasEnded && !isBroken)
      switch outcome.kind {
      case .incomplete:
        if hasEnded { return false }
        try readMore()
        continue
      case .tooLong:
        try skip(outcome, into: batch)
      case .textAfterQuote where outcome.next < 0, .unclosedQuote where outcome.next < 0:
        try skip(outcome, into: batch)
      case .record, .textAfterQuote, .unclosedQuote:
        let shift = pendingStart
        let size = outcome.next - shift
        batch.arena.append(base + shift, count: size)
        pendingStart = outcome.next
        irregular.removeAll(keepingCapacity: true)
        irregular.append(
          .init(start: 0, contentEnd: outcome.contentEnd - shift, next: size, kind: outcome.kind, fault: outcome.fault - shift))
        finish(batch, cut: size, dataStart: 0)
      }
      return true
    }
  }

  private func readMore() throws {
    if pendingStart > 0 {
      let rest = pending.count - pendingStart
      (pending.base).update(from: pending.base + pendingStart, count: rest)
      pending.count = rest
      pendingStart = 0
    }
    guard pending.count <= memoryLimit else {
      throw OhanaError(
        .memory, "record-too-long", at: source.map { .init($0) },
        "a record of more than \(pending.count) bytes at byte \(position + 1) does not fit into the memory limit",
        fix: "raise --memory, or lower --max-record to reject it")
    }
    // Doubling, but never much beyond the longest record.
    let longest = min(scanner.maxRecordBytes, .max - batchBytes) + batchBytes
    let wanted = max(batchBytes, min(pending.count, longest - pending.count))
    pending.reserve(wanted)
    let target = pending.count + wanted
    while pending.count < target, !hasEnded {
      let got = try stream.read(into: UnsafeMutableRawBufferPointer(start: pending.base + pending.count, count: target - pending.count))
      if got == 0 { hasEnded = true }
      pending.count += got
    }
  }

  /// Passes over a record that must not be held, and rejects it. The batch gets no bytes.
  private func skip(_ outcome: CSVRecordScanner.Outcome, into batch: RecordBatch) throws {
    let start = pendingStart
    var lines = scanner.countLines(pending.base, from: start, to: outcome.fault)
    let faultLine = lines
    var lineStart = outcome.fault
    while lineStart > start, pending.base[lineStart - 1] != 0x0a, pending.base[lineStart - 1] != 0x0d || !scanner.endsWithCR {
      lineStart -= 1
    }
    let faultColumn = outcome.fault - lineStart + 1
    var skipper = CSVRecordSkipper(scanner, state: outcome.state, maxBytes: scanner.maxRecordBytes)
    var size = outcome.fault - start
    pendingStart = outcome.fault
    while !skipper.isDone {
      if pendingStart == pending.count {
        if hasEnded { break }
        pending.removeAll()
        pendingStart = 0
        try readMore()
        continue
      }
      let taken = skipper.skip(pending.base + pendingStart, count: pending.count - pendingStart)
      pendingStart += taken
      size += taken
    }
    lines += skipper.lines
    let lineEnd = skipper.lineEndBytes
    let isLong = outcome.kind == .tooLong
    let detail: String =
      switch outcome.kind {
      case .textAfterQuote: CSVRejects.textAfterQuote
      case .unclosedQuote: CSVRejects.unclosedQuote
      default: "the record is longer than \(scanner.maxRecordBytes) bytes"
      }
    batch.rejects.append(
      Reject(
        reason: isLong ? .tooLong : outcome.kind == .unclosedQuote ? .unclosedQuote : .textAfterQuote, detail: detail,
        line: isLong ? 0 : faultLine, column: isLong ? 1 : faultColumn, offset: 0, length: size - lineEnd, raw: nil, before: 0))
    batch.lineCount = lines
    batch.readerState = nil
    batch.inputBytesRead = stream.inputBytesRead
    position += size
  }
}

extension CSVDialect {
  /// - Precondition: the delimiter is known.
  var kernelBytes: ohana_csv_bytes {
    ohana_csv_bytes(
      delimiter: delimiter!, quote: quote ?? 0, escape: escapeCode > 255 ? 0 : UInt8(escapeCode), has_quote: quote != nil,
      has_escape: escapeCode <= 255)
  }
}

extension CSVBatchState.Irregular {
  fileprivate init(_ outcome: CSVRecordScanner.Outcome, from start: Int) {
    self.init(start: start, contentEnd: outcome.contentEnd, next: outcome.next, kind: outcome.kind, fault: outcome.fault)
  }
}
