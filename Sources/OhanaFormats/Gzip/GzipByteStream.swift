public import OhanaCore

/// The contents of a gzip file (RFC 1952): all members one after the other, as one stream.
///
/// CRC and length of every member are always checked. Zeros behind a member are padding; anything else that is no member is an error,
/// since a damaged member looks the same. Bytes before a fault are delivered, then the fault is thrown, again and again. Memory is one
/// buffer of compressed bytes and the inflater's window, whatever the data claims to be.
public final class GzipByteStream: ByteStream, Checkpointable, @unchecked Sendable {  // because one piece of work at a time uses it
  private enum Phase {
    case header
    case body
    /// The deflate data broke at this byte, counted from 1; contents before it may still be on their way.
    case broken(byte: Int)
    case trailer
    /// Behind a member: zeros, the end, or another member.
    case between
    case finished
    case failed(OhanaError)
  }

  private let source: any ByteStream
  private let name: FilePath
  private let inflater: any Inflater

  private let buffer: UnsafeMutableBufferPointer<UInt8>
  /// Compressed bytes not yet used: `buffer[start..<end]`.
  private var start = 0
  private var end = 0
  private var sourceEnded = false
  /// The last read of the source filled less than there was room for, as pipes do: the next one may have to wait.
  private var sourceIsSlow = false
  /// Compressed bytes before `buffer[0]`.
  private var bufferOffset = 0

  private var phase = Phase.header
  private var header = GzipHeaderParser()
  private var members = 0
  /// Compressed offset of the member's first byte.
  private var memberOffset = 0
  private var crc: UInt32 = 0
  private var length: UInt32 = 0
  /// The eight bytes of the trailer as they come: CRC, then length, little-endian.
  private var trailer: UInt64 = 0
  private var trailerCount = 0

  /// What gzip data begins with.
  package static let magic: [UInt8] = [0x1f, 0x8b, 0x08]

  /// - Parameters:
  ///   - source: the compressed bytes, from the first on.
  ///   - name: what messages call the file.
  ///   - inputCapacity: bytes of compressed data read at once.
  public init(_ source: any ByteStream, name: FilePath, codec: DeflateCodec = .fast, inputCapacity: Int = 128 << 10) {
    precondition(inputCapacity > 0, "a gzip stream needs an input buffer")
    self.source = source
    self.name = name
    switch codec {
    case .fast: inflater = ISALInflater()
    case .zlib: inflater = ZlibInflater()
    }
    buffer = .allocate(capacity: inputCapacity)
  }

  deinit { buffer.deallocate() }

  public var inputBytesRead: Int { source.inputBytesRead }

  /// Members read to their end so far, checks passed.
  public var memberCount: Int { members }

  public func read(into target: UnsafeMutableRawBufferPointer) throws -> Int {
    let output = target.bindMemory(to: UInt8.self)
    guard output.count > 0 else { return 0 }
    var written = 0
    while written < output.count {
      do {
        let before = written
        let goesOn = try step(into: UnsafeMutableBufferPointer(rebasing: output[before...]), written: &written)
        if !goesOn { break }
        if start == end, !sourceEnded {
          if written > 0, sourceIsSlow { break }
          try fill()
        }
      } catch {
        phase = .failed(error)
        if written == 0 { throw error }
        break
      }
    }
    return written
  }

  /// Does what can be done with the bytes in hand. Returns false at the end.
  private func step(into output: UnsafeMutableBufferPointer<UInt8>, written: inout Int) throws(OhanaError) -> Bool {
    switch phase {
    case .failed(let error): throw error
    case .finished: return false
    case .header: try takeHeader()
    case .body: try takeBody(into: output, written: &written)
    case .broken(let byte):
      let room = output.count
      let rest = inflater.inflate(UnsafeBufferPointer(start: nil, count: 0), into: output).written
      written += rest
      if rest < room { throw broken("gzip-corrupt", "compressed data is damaged", at: byte) }
    case .trailer: try takeTrailer()
    case .between: return try passPadding()
    }
    return true
  }

  private func fill() throws(OhanaError) {
    bufferOffset += end
    start = 0
    end = 0
    do {
      end = try source.read(into: UnsafeMutableRawBufferPointer(buffer))
    } catch let error as OhanaError {
      throw error
    } catch {
      throw OhanaError(.io, "io-error", at: .init(name), "cannot read: \(error)")
    }
    sourceEnded = end == 0
    sourceIsSlow = end < buffer.count
  }

  private var input: UnsafeBufferPointer<UInt8> { UnsafeBufferPointer(rebasing: buffer[start..<end]) }

  // MARK: Parts of a member

  private func takeHeader() throws(OhanaError) {
    guard start < end else {
      if sourceEnded { throw truncated() }
      return
    }
    let (taken, fault) = header.consume(input)
    start += taken
    if let fault { throw headerFault(fault) }
    guard header.isDone else { return }
    inflater.reset()
    crc = 0
    length = 0
    phase = .body
  }

  private func headerFault(_ fault: GzipHeaderParser.Fault) -> OhanaError {
    let byte = bufferOffset + start
    switch fault {
    case .magic where members > 0, .method where members > 0: return garbage(at: memberOffset)
    case .magic: return broken("gzip-header", "not gzip data", at: byte)
    case .method: return broken("gzip-header", "compressed by a method other than deflate", at: byte)
    case .reservedFlags: return broken("gzip-header", "the gzip header has flags that no standard defines", at: byte)
    case .checksum: return broken("gzip-header", "the checksum of the gzip header is wrong", at: byte)
    }
  }

  private func takeBody(into output: UnsafeMutableBufferPointer<UInt8>, written: inout Int) throws(OhanaError) {
    let step = inflater.inflate(input, into: output)
    let isStuck = step.taken == 0 && step.written == 0
    if step.written > 0 {
      crc = inflater.crc32(crc, UnsafeBufferPointer(rebasing: output[..<step.written]))
      length &+= UInt32(truncatingIfNeeded: step.written)
      written += step.written
    }
    start += step.taken
    switch step.outcome {
    case .outputFull: break
    case .needsInput:
      if isStuck, sourceEnded {
        let rest = inflater.takeCutEnd(into: output)
        written += rest
        if rest < output.count { throw truncated() }
      }
      // Neither library does this; if one ever did, waiting would be for ever.
      if isStuck, !sourceEnded, start < end { throw broken("gzip-corrupt", "compressed data is damaged", at: bufferOffset + start + 1) }
    case .end:
      let surplus = inflater.surplus
      trailer = surplus.count == 0 ? 0 : surplus.bytes & (UInt64.max >> UInt64(64 - 8 * surplus.count))
      trailerCount = surplus.count
      phase = .trailer
    case .broken:
      phase = .broken(byte: bufferOffset + start)
      start = end
      sourceEnded = true
    }
  }

  private func takeTrailer() throws(OhanaError) {
    while trailerCount < 8, start < end {
      trailer |= UInt64(buffer[start]) << UInt64(8 * trailerCount)
      trailerCount += 1
      start += 1
    }
    guard trailerCount == 8 else {
      if sourceEnded { throw truncated() }
      return
    }
    let behind = bufferOffset + start
    guard UInt32(truncatingIfNeeded: trailer) == crc else {
      throw broken("gzip-crc", "the checksum of the contents is wrong (CRC-32)", at: behind - 7)
    }
    guard UInt32(truncatingIfNeeded: trailer >> 32) == length else {
      throw broken("gzip-length", "the length of the contents is wrong", at: behind - 3)
    }
    members += 1
    phase = .between
  }

  private func passPadding() throws(OhanaError) -> Bool {
    while start < end, buffer[start] == 0 { start += 1 }
    guard start < end else {
      if sourceEnded { phase = .finished }
      return !sourceEnded
    }
    memberOffset = bufferOffset + start
    header = GzipHeaderParser()
    phase = .header
    return true
  }

  // MARK: Checkpoints

  /// Phases that a checkpoint can be taken in, by number.
  private var phaseNumber: Int? {
    switch phase {
    case .header: 0
    case .body: 1
    case .trailer: 2
    case .between: 3
    case .finished: 4
    case .broken, .failed: nil
    }
  }

  public var canCheckpoint: Bool { phaseNumber != nil && inflater.canCheckpoint && source.canBeSaved }

  public func save(to writer: CheckpointWriter) throws {
    guard let phaseNumber else { throw CheckpointReader.damaged }
    for number in [phaseNumber, bufferOffset + start, members, memberOffset, Int(crc), Int(length), trailerCount] { try writer.put(number) }
    try writer.put(trailer)
    try writer.put(sourceEnded)
    try writer.put(sourceIsSlow)
    try withUnsafeBytes(of: &header) { try writer.put($0) }
    try writer.put(UnsafeRawBufferPointer(input))
    try inflater.save(to: writer)
    try source.save(to: writer)
  }

  public func restore(from reader: CheckpointReader) throws {
    let phases: [Phase] = [.header, .body, .trailer, .between, .finished]
    phase = phases[try reader.count(phases.count - 1)]
    bufferOffset = try reader.count()
    members = try reader.count()
    memberOffset = try reader.count()
    crc = UInt32(truncatingIfNeeded: try reader.int())
    length = UInt32(truncatingIfNeeded: try reader.int())
    trailerCount = try reader.count(8)
    trailer = try reader.uint64()
    sourceEnded = try reader.bool()
    sourceIsSlow = try reader.bool()
    guard try reader.count() == MemoryLayout<GzipHeaderParser>.size else { throw CheckpointReader.damaged }
    try withUnsafeMutableBytes(of: &header) { try reader.fill($0) }
    end = try reader.count(buffer.count)
    start = 0
    try reader.fill(UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(buffer)[..<end]))
    try inflater.restore(from: reader)
    try source.restore(from: reader)
  }

  // MARK: Faults

  private func truncated() -> OhanaError {
    OhanaError(
      .badInput, "gzip-truncated", at: .init(name), "unexpected end of compressed data after byte \(bufferOffset + end)",
      fix: Self.advice)
  }

  private func garbage(at offset: Int) -> OhanaError {
    broken("gzip-garbage", "bytes after the last gzip member are neither a member nor zeros", at: offset + 1)
  }

  /// - Parameter byte: counted from 1, in the compressed file.
  private func broken(_ code: String, _ problem: String, at byte: Int) -> OhanaError {
    OhanaError(.badInput, code, at: .init(name), "\(problem), at compressed byte \(max(1, byte))", fix: Self.advice)
  }

  private static let advice = "get the file again, or keep the whole records before that with --on-bad-chunk skip"
}

extension OhanaError {
  /// The error is about one compressed input that breaks off or is damaged (`--on-bad-chunk` decides what happens).
  public var isBrokenChunk: Bool { category == .badInput && code.hasPrefix("gzip-") }
}
