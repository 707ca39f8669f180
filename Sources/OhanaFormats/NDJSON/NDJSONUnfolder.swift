internal import OhanaCore

/// Where the lines of a batch stand in the input, for batches whose records were not lines of their own there. Handed from framer to
/// parser.
final class NDJSONLineMap: Sendable {
  struct Place {
    /// 0-based, counted from the batch's first line.
    var line: UInt32
    /// Bytes before the record in its line.
    var column: UInt32
    /// Counted from the batch's first byte.
    var offset: UInt32
  }
  /// By line of the arena.
  private let places: [Place]
  private let lineCount: Int
  /// Found by the framer; `before` counts lines of the arena.
  private let rejects: [Reject]

  init(places: [Place], lineCount: Int, rejects: [Reject]) { (self.places, self.lineCount, self.rejects) = (places, lineCount, rejects) }

  /// Turns the parser's places into the source's.
  func apply(to batch: RecordBatch) {
    // Only records that stood in one line reach the parser unchecked, so columns move by the same number in all of it.
    var merged = batch.rejects
    for index in merged.indices {
      let place = places[merged[index].line]
      merged[index].line = Int(place.line)
      merged[index].column += Int(place.column)
      merged[index].offset = Int(place.offset)
    }
    let isMixed = !merged.isEmpty && !rejects.isEmpty
    let records = batch.records
    var next = 0
    for record in 0...batch.recordCount {
      let line = record < batch.recordCount ? Int(records[record].line) : .max
      while next < rejects.count, rejects[next].before <= line {
        merged.append(rejects[next])
        merged[merged.count - 1].before = record
        next += 1
      }
      if record < batch.recordCount { records[record].line = places[line].line }
    }
    if isMixed { merged.sort { $0.offset < $1.offset } }
    batch.rejects = merged
    batch.lineCount = lineCount
  }
}

/// Reads one array of objects, or objects spread over lines, as if each object were one compact line.
///
/// Objects are cut out by brackets and quotes. Those that stand in one line go to the arena as they are; others are checked exactly where
/// they stand, and written without white space. Faults keep the lines and columns of the source. Memory is one record. Where brackets or quotes do not match up, reading goes on at the next
/// line that begins with a brace at the indentation records have; what lies between is one reject.
final class NDJSONUnfolder {
  enum Form { case array, objects }
  private enum State { case beforeArray, beforeElement(mayEnd: Bool), behindElement, behindArray }
  private enum ItemEnd { case whole, broken, cutOff }

  private let form: Form
  private let stream: any ByteStream
  private let batchBytes: Int
  private let maxRecordBytes: Int
  private let maxHeldBytes: Int
  private var state: State

  /// Source bytes not yet done with.
  private let raw: ByteBuffer
  /// Next byte of `raw` to look at.
  private var position = 0
  /// Start of the item that is being cut out, if it is held.
  private var mark: Int?
  /// Offset in the input of `raw`'s first byte.
  private var rawOffset: Int
  /// 0-based line of `position`, and the offset in the input of that line's first byte.
  private var line = 0
  private var lineStart = 0
  /// White space before the first record that begins a line.
  private var indentation: [UInt8]?
  private var isAtEnd = false
  private var failure: (any Error)?

  private let validator = JSONValidator(maxDepth: NDJSONGrammar.maxDepth)

  // The batch being filled.
  private var places: [NDJSONLineMap.Place] = []
  private var rejects: [Reject] = []
  private var rejectedBytes = 0
  private var firstLine = 0
  private var firstByte = 0

  /// - Parameter raw: the first bytes of the stream, read already.
  init(
    _ form: Form, _ raw: ByteBuffer, then stream: any ByteStream, failure: (any Error)?, batchBytes: Int, maxRecordBytes: Int,
    maxHeldBytes: Int
  ) {
    self.form = form
    self.raw = raw
    self.stream = stream
    self.failure = failure
    self.batchBytes = batchBytes
    self.maxRecordBytes = maxRecordBytes
    self.maxHeldBytes = maxHeldBytes
    state = form == .array ? .beforeArray : .beforeElement(mayEnd: true)
    rawOffset = 0
    if raw.count >= 3, raw.base[0] == 0xef, raw.base[1] == 0xbb, raw.base[2] == 0xbf { position = 3 }
  }

  // MARK: Checkpoints

  var canCheckpoint: Bool { failure == nil }

  /// Between two batches nothing is being cut out.
  func save(to writer: CheckpointWriter) throws {
    // With the present line's margin, as ``fill()`` keeps it.
    let kept = lineStart >= rawOffset && position - (lineStart - rawOffset) < 4_096 ? lineStart - rawOffset : position
    try writer.put(form == .array)
    let stateNumber =
      switch state {
      case .beforeArray: 0
      case .beforeElement(let mayEnd): mayEnd ? 1 : 2
      case .behindElement: 3
      case .behindArray: 4
      }
    for number in [stateNumber, rawOffset + kept, position - kept, line, lineStart] { try writer.put(number) }
    try writer.put(isAtEnd)
    try writer.put(indentation != nil)
    try writer.put(indentation ?? [])
    try writer.put(UnsafeRawBufferPointer(start: raw.base + kept, count: raw.count - kept))
  }

  /// Goes on where another was saved.
  convenience init(
    from reader: CheckpointReader, then stream: any ByteStream, batchBytes: Int, maxRecordBytes: Int, maxHeldBytes: Int
  ) throws {
    self.init(
      try reader.bool() ? .array : .objects, ByteBuffer(), then: stream, failure: nil, batchBytes: batchBytes,
      maxRecordBytes: maxRecordBytes, maxHeldBytes: maxHeldBytes)
    state = [.beforeArray, .beforeElement(mayEnd: true), .beforeElement(mayEnd: false), .behindElement, .behindArray][try reader.count(4)]
    rawOffset = try reader.count()
    position = try reader.count()
    line = try reader.count()
    lineStart = try reader.count()
    isAtEnd = try reader.bool()
    let hasIndentation = try reader.bool()
    let margin = try reader.bytes()
    indentation = hasIndentation ? margin : nil
    try reader.bytes(to: raw)
    guard position <= raw.count, lineStart <= rawOffset + position else { throw CheckpointReader.damaged }
  }

  /// The form of an input, from its first bytes; nil if it is read line by line.
  ///
  /// An array counts if its first element is an object. Objects count as spread over lines if the first line is the beginning of one,
  /// and the lines behind it go on with it: to its end, to the end of `bytes`, or for at least three lines.
  static func form(of bytes: UnsafeBufferPointer<UInt8>) -> Form? {
    func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x0a || byte == 0x0d || byte == 0x09 }
    var rest = bytes[...]
    if rest.starts(with: [0xef, 0xbb, 0xbf]) { rest = rest.dropFirst(3) }
    rest = rest.drop(while: isSpace)
    switch rest.first {
    case UInt8(ascii: "["):
      let inside = rest.dropFirst().drop(while: isSpace)
      if inside.first == UInt8(ascii: "{") { return .array }
      return inside.first == UInt8(ascii: "]") && inside.dropFirst().allSatisfy(isSpace) ? .array : nil
    case UInt8(ascii: "{"):
      guard let lineEnd = rest.firstIndex(of: 0x0a), !rest[lineEnd...].allSatisfy(isSpace) else { return nil }
      let validator = JSONValidator(maxDepth: NDJSONGrammar.maxDepth)
      let firstLine = rest[..<lineEnd]
      guard let cut = validator.firstFault(in: UnsafeBufferPointer(rebasing: firstLine)), cut.offset == firstLine.count else { return nil }
      guard let fault = validator.firstFault(in: UnsafeBufferPointer(rebasing: rest)) else { return .objects }
      if fault.reason == .textAfterValue || fault.offset == rest.count { return .objects }
      let good = rest[..<(rest.startIndex + fault.offset)]
      return good.count { $0 == 0x0a } >= 3 ? .objects : nil
    default: return nil
    }
  }

  /// Fills a batch as ``NDJSONFramer/next(into:)`` does.
  func next(into batch: RecordBatch) throws -> Bool {
    places.removeAll(keepingCapacity: true)
    rejects.removeAll(keepingCapacity: true)
    rejectedBytes = 0
    firstLine = line
    firstByte = rawOffset + position
    while batch.arena.count + rejectedBytes < batchBytes {
      guard try step(batch) else { break }
    }
    if batch.arena.count == 0 && rejects.isEmpty {
      if let failure { throw failure }
      return false
    }
    batch.firstByte = firstByte
    batch.inputBytesRead = stream.inputBytesRead
    batch.readerState = NDJSONLineMap(places: places, lineCount: line - firstLine, rejects: rejects)
    return true
  }

  // MARK: Between records

  /// Does the next thing. Returns false at the end of the input.
  private func step(_ batch: RecordBatch) throws -> Bool {
    guard let byte = skipSpace() else {
      if case .behindArray = state { return false }
      if form == .array, isWhole { rejectEnd() }
      state = .behindArray
      return false
    }
    switch (state, byte) {
    case (.beforeArray, UInt8(ascii: "[")):
      advance()
      state = .beforeElement(mayEnd: true)
    case (.beforeElement(mayEnd: true), UInt8(ascii: "]")) where form == .array, (.behindElement, UInt8(ascii: "]")):
      advance()
      state = .behindArray
    case (.beforeElement, UInt8(ascii: "]")) where form == .array:
      rejectByte("expected a value, not ']', behind ','")
      state = .behindArray
    case (.beforeElement, UInt8(ascii: ",")) where form == .array:
      rejectByte("expected a value, not ','")
      state = .beforeElement(mayEnd: false)
    case (.behindElement, UInt8(ascii: ",")):
      advance()
      state = .beforeElement(mayEnd: false)
    case (.behindElement, _):
      try element(batch, fault: "expected ',' or ']'")
    case (.beforeElement, _) where form == .array || byte == UInt8(ascii: "{"):
      try element(batch, fault: nil)
    default:
      rejectLine(form == .array ? "text after the array" : "expected an object")
    }
    return true
  }

  private func element(_ batch: RecordBatch, fault: String?) throws {
    let start = rawOffset + position
    let startLine = line
    let startLineStart = lineStart
    noteIndentation()
    if fault == nil, let end = endOfPlainObject() {
      let length = end - position
      if length <= maxHeldBytes {
        add(batch, UnsafeBufferPointer(start: raw.base + position, count: length), isOneLine: true, start, startLine, startLineStart)
        position = end
        state = form == .array ? .behindElement : .beforeElement(mayEnd: true)
        return
      }
    }
    mark = position
    let end = cutItem()
    if case .cutOff = end, !isWhole {
      mark = nil
      return
    }
    state = form == .array ? .behindElement : .beforeElement(mayEnd: true)
    let length = rawOffset + position - start
    guard let mark, length <= maxHeldBytes else {
      self.mark = nil
      if case .broken = end { skipToRecord() }
      guard length > maxRecordBytes else { throw NDJSONFramer.overMemory(length, at: start) }
      rejects.append(
        NDJSONParser.tooLong(
          line: startLine - firstLine, offset: start - firstByte, length: length, limit: maxRecordBytes, before: places.count))
      return
    }
    let text = UnsafeBufferPointer(start: UnsafePointer(raw.base + mark), count: length)
    if let fault {
      if case .broken = end { skipToRecord() }
      addReject(.invalidJSON, fault, start, startLine, startLineStart, offset: 0)
    } else if let fault = validator.firstFault(in: text) {
      if case .broken = end { skipToRecord() }
      addReject(Reject.Reason(fault.reason), "\(fault.detail)", start, startLine, startLineStart, offset: fault.offset)
    } else if text[0] != UInt8(ascii: "{") {
      addReject(.notAnObject, "a record has to be a JSON object", start, startLine, startLineStart, offset: 0)
    } else {
      add(batch, text, isOneLine: line == startLine, start, startLine, startLineStart)
    }
    self.mark = nil
  }

  private func add(
    _ batch: RecordBatch, _ text: UnsafeBufferPointer<UInt8>, isOneLine: Bool, _ start: Int, _ startLine: Int, _ startLineStart: Int
  ) {
    if isOneLine { batch.arena.append(text) } else { JSONScanner.appendCompact(text, to: batch.arena) }
    batch.arena.append(0x0a)
    places.append(
      NDJSONLineMap.Place(
        line: UInt32(truncatingIfNeeded: startLine - firstLine), column: UInt32(truncatingIfNeeded: start - startLineStart),
        offset: UInt32(truncatingIfNeeded: start - firstByte)))
  }

  /// The input ended where it should have: what is unfinished now is a fault of the text, not of the stream.
  private var isWhole: Bool { failure == nil && stream.fault == nil }

  // MARK: Items

  /// Where the object at `position` ends, if all of it is there, in one line, its brackets match, and it is nested at most 64 deep; nil
  /// for everything else, which ``cutItem()`` then goes through.
  private func endOfPlainObject() -> Int? {
    let text = UnsafePointer(raw.base)
    let count = raw.count
    var index = position
    guard text[index] == UInt8(ascii: "{") else { return nil }
    var depth = 0
    var kinds: UInt64 = 0  // the lowest bit is the innermost bracket: 1 is a brace
    let low: UInt64 = 0x0101_0101_0101_0101
    let high: UInt64 = 0x8080_8080_8080_8080
    while index < count {
      let byte = text[index]
      index &+= 1
      switch byte {
      case UInt8(ascii: "\""):
        while true {
          guard index < count else { return nil }
          // Eight bytes at once; the buffer has padding behind it, and what lies there is looked at again before it counts.
          let word = UInt64(littleEndian: UnsafeRawPointer(text + index).loadUnaligned(as: UInt64.self))
          let control = (word &- low &* 0x20) & ~word
          let quote = word ^ (low &* 0x22)
          let slash = word ^ (low &* 0x5c)
          let found = (control | ((quote &- low) & ~quote) | ((slash &- low) & ~slash)) & high
          // Of several marks only the lowest is sure.
          index &+= found.trailingZeroBitCount >> 3
          guard index < count else { return nil }
          if found == 0 { continue }
          if text[index] == UInt8(ascii: "\"") { break }
          if text[index] != UInt8(ascii: "\\") || text[index &+ 1] == 0x0a { return nil }
          index &+= 2
        }
        index &+= 1
      case UInt8(ascii: "{"), UInt8(ascii: "["):
        guard depth < 64 else { return nil }
        depth &+= 1
        kinds = kinds << 1 | (byte == UInt8(ascii: "{") ? 1 : 0)
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        guard kinds & 1 == (byte == UInt8(ascii: "}") ? 1 : 0) else { return nil }
        depth &-= 1
        kinds >>= 1
        if depth == 0 { return index }
      case 0x0a: return nil
      default: break
      }
    }
    return nil
  }

  /// Moves behind the value that begins at `position`, by its brackets and quotes alone.
  private func cutItem() -> ItemEnd {
    let start = rawOffset + position
    var kinds: [Bool] = []  // of the open brackets: true is a brace
    var depth = 0
    var isInString = false
    while let byte = current() {
      if mark != nil, rawOffset + position - start > maxHeldBytes { mark = nil }
      if isInString {
        if byte == UInt8(ascii: "\"") {
          isInString = false
          advance()
          if depth == 0 { return .whole }
          continue
        }
        if byte == 0x0a { return .broken }
        advance()
        if byte == UInt8(ascii: "\\"), let escaped = current(), escaped != 0x0a { advance() }
        continue
      }
      switch byte {
      case UInt8(ascii: "\""): isInString = true
      case UInt8(ascii: "{"), UInt8(ascii: "["):
        // Deeper than a record may be, only the number counts: the validator refuses it.
        if depth < NDJSONGrammar.maxDepth { kinds.append(byte == UInt8(ascii: "{")) }
        depth += 1
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        if depth == 0 { return rawOffset + position > start ? .whole : single() }
        depth -= 1
        if depth < NDJSONGrammar.maxDepth, kinds.removeLast() != (byte == UInt8(ascii: "}")) { return .broken }
        if depth == 0 {
          advance()
          return .whole
        }
      case UInt8(ascii: ","), 0x20, 0x09, 0x0a, 0x0d:
        if depth == 0 { return rawOffset + position > start ? .whole : single() }
      default: break
      }
      advance()
    }
    return .cutOff
  }

  /// A byte that begins nothing is an item of its own.
  private func single() -> ItemEnd {
    advance()
    return .whole
  }

  /// Moves to the next line that begins as records do, or to the end of the array or input.
  private func skipToRecord() {
    while let byte = current() {
      advance()
      guard byte == 0x0a else { continue }
      var indent: [UInt8] = []
      while let space = current(), space == 0x20 || space == 0x09 {
        if indent.count < 1_024 { indent.append(space) }
        advance()
      }
      guard let first = current() else { return }
      let isAtMargin = indentation == nil || indent == indentation!
      if first == UInt8(ascii: "{"), isAtMargin {
        state = .beforeElement(mayEnd: true)
        return
      }
      if form == .array, first == UInt8(ascii: "]"), indentation == nil || indent.count < indentation!.count || indent.isEmpty { return }
      if let mark, position - mark > maxHeldBytes { self.mark = nil }
    }
  }

  private func noteIndentation() {
    guard indentation == nil, raw.base[position] == UInt8(ascii: "{"), lineStart >= rawOffset else { return }
    let margin = UnsafeBufferPointer(start: raw.base + (lineStart - rawOffset), count: rawOffset + position - lineStart)
    if margin.allSatisfy({ $0 == 0x20 || $0 == 0x09 }) { indentation = Array(margin) }
  }

  // MARK: Rejects

  /// Rejects what lies between `mark` and `position`; the fault is `offset` bytes behind its start.
  private func addReject(_ reason: Reject.Reason, _ detail: String, _ start: Int, _ startLine: Int, _ startLineStart: Int, offset: Int) {
    var line = startLine
    var lineStart = startLineStart
    var length = rawOffset + position - start
    var text: [UInt8]?
    if let mark {
      for index in 0..<min(offset, length) where raw.base[mark + index] == 0x0a {
        line += 1
        lineStart = start + index + 1
      }
      while length > 0, raw.base[mark + length - 1] <= 0x20 { length -= 1 }
      text = Array(UnsafeBufferPointer(start: raw.base + mark, count: length))
    }
    rejectedBytes += length
    rejects.append(
      Reject(
        reason: reason, detail: detail, line: line - firstLine, column: start + offset - lineStart + 1, offset: start - firstByte,
        length: length, raw: text, before: places.count))
  }

  private func rejectEnd() {
    let end = rawOffset + position
    rejects.append(
      Reject(
        reason: .invalidJSON, detail: "the text ends inside an array", line: line - firstLine, column: end - lineStart + 1,
        offset: end - firstByte, length: 0, raw: [], before: places.count))
  }

  private func rejectByte(_ detail: String) {
    let (start, startLine, startLineStart) = (rawOffset + position, line, lineStart)
    mark = position
    advance()
    addReject(.invalidJSON, detail, start, startLine, startLineStart, offset: 0)
    mark = nil
  }

  /// Rejects the rest of the line, or all before the next brace where objects follow each other.
  private func rejectLine(_ detail: String) {
    let (start, startLine, startLineStart) = (rawOffset + position, line, lineStart)
    mark = position
    while let byte = current(), byte != 0x0a, form == .array || byte != UInt8(ascii: "{") {
      advance()
      if let mark, position - mark > maxHeldBytes { self.mark = nil }
    }
    addReject(.invalidJSON, detail, start, startLine, startLineStart, offset: 0)
    mark = nil
  }

  // MARK: Bytes

  private func skipSpace() -> UInt8? {
    while let byte = current() {
      guard byte == 0x20 || byte == 0x0a || byte == 0x0d || byte == 0x09 else { return byte }
      advance()
    }
    return nil
  }

  /// The byte at `position`, read if need be; nil at the end.
  @inline(__always)
  private func current() -> UInt8? {
    position < raw.count || fill() ? raw.base[position] : nil
  }

  @inline(__always)
  private func advance() {
    if raw.base[position] == 0x0a {
      line &+= 1
      lineStart = rawOffset &+ position &+ 1
    }
    position &+= 1
  }

  /// Reads more, and lets go of what is done with.
  @inline(never)
  private func fill() -> Bool {
    guard !isAtEnd, failure == nil else { return false }
    let done = min(mark ?? position, position)
    // Keeps the present line's margin, which tells how records are indented; it is short where it matters.
    let kept = lineStart >= rawOffset && position - (lineStart - rawOffset) < 4_096 ? min(done, lineStart - rawOffset) : done
    if kept > 0 {
      raw.base.update(from: raw.base + kept, count: raw.count - kept)
      raw.count -= kept
      position -= kept
      rawOffset += kept
      if let mark { self.mark = mark - kept }
    }
    let room = max(64 << 10, min(raw.count, 1 << 20))
    raw.reserve(room)
    do {
      let count = try stream.read(into: UnsafeMutableRawBufferPointer(start: raw.base + raw.count, count: room))
      raw.count += count
      if count == 0 { isAtEnd = true }
    } catch {
      failure = error
    }
    return position < raw.count
  }
}
