internal import CICU
public import OhanaCore

/// Text of another encoding as UTF-8, a byte order mark included.
///
/// Nothing is ever replaced by U+FFFD: a sequence that means nothing in the encoding becomes a byte that is not UTF-8, so that the reader
/// behind rejects the record that holds it, with line and byte (counted in the converted text).
public final class TranscodingByteStream: ByteStream, Checkpointable, @unchecked Sendable {  // because one piece of work at a time uses it
  private let stream: any ByteStream
  private let converter: OpaquePointer
  private let source = ByteBuffer(capacity: 64 << 10)
  private let converted = ByteBuffer()
  private var start = 0
  private var hasEnded = false
  /// Bytes of `source` that were converted last.
  private var sourceCount = 0

  /// - Parameter encoding: of the bytes that `stream` gives.
  public init(_ stream: any ByteStream, from encoding: InputEncoding) {
    guard let converter = ohana_icu_converter_open(encoding.name) else { preconditionFailure("the encoding was looked up before") }
    self.stream = stream
    self.converter = converter
  }

  deinit { ohana_icu_converter_close(converter) }

  public var inputBytesRead: Int { stream.inputBytesRead }
  public var fault: OhanaError? { stream.fault }

  public func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
    guard buffer.count > 0 else { return 0 }
    while start == converted.count {
      guard !hasEnded else { return 0 }
      let count = try stream.read(into: UnsafeMutableRawBufferPointer(start: source.base, count: source.capacity))
      hasEnded = count == 0
      if count > 0 { sourceCount = count }
      // What a broken input was cut in is no faulty sequence.
      if hasEnded, stream.fault != nil { return 0 }
      converted.removeAll()
      start = 0
      converted.reserve(ohana_icu_converted_bound(count))
      let made = ohana_icu_convert(converter, source.base, count, hasEnded, converted.base)
      guard made >= 0 else {
        throw OhanaError(
          .io, "conversion", "the text could not be converted to UTF-8", fix: "convert the file before, for example with iconv")
      }
      converted.count = made
    }
    let count = min(buffer.count, converted.count - start)
    buffer.copyMemory(from: UnsafeRawBufferPointer(start: converted.base + start, count: count))
    start += count
    return count
  }

  // MARK: Checkpoints

  /// Of encodings where what is to come depends on nothing but a character that has begun; not of ISO 2022 and its like.
  public var canCheckpoint: Bool { (0...sourceCount).contains(Int(ohana_icu_kept(converter))) && stream.canBeSaved }

  public func save(to writer: CheckpointWriter) throws {
    let kept = Int(ohana_icu_kept(converter))
    guard (0...sourceCount).contains(kept) else { throw CheckpointReader.damaged }
    try stream.save(to: writer)
    try writer.put(hasEnded)
    try writer.put(UnsafeRawBufferPointer(start: source.base + sourceCount - kept, count: kept))
    try writer.put(UnsafeRawBufferPointer(start: converted.base + start, count: converted.count - start))
  }

  public func restore(from reader: CheckpointReader) throws {
    try stream.restore(from: reader)
    hasEnded = try reader.bool()
    source.removeAll()
    try reader.bytes(to: source)
    sourceCount = source.count
    converted.removeAll()
    converted.reserve(ohana_icu_converted_bound(sourceCount))
    // A character that has begun: nothing comes out of it yet.
    guard ohana_icu_convert(converter, source.base, sourceCount, false, converted.base) == 0 else { throw CheckpointReader.damaged }
    start = 0
    try reader.bytes(to: converted)
  }
}
