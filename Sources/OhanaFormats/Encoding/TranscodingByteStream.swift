internal import CICU
public import OhanaCore

/// Text of another encoding as UTF-8, a byte order mark included.
///
/// Nothing is ever replaced by U+FFFD: a sequence that means nothing in the encoding becomes a byte that is not UTF-8, so that the reader
/// behind rejects the record that holds it, with line and byte (counted in the converted text).
public final class TranscodingByteStream: ByteStream, @unchecked Sendable {  // because one piece of work at a time uses it
  private let stream: any ByteStream
  private let converter: OpaquePointer
  private let source = ByteBuffer(capacity: 64 << 10)
  private let converted = ByteBuffer()
  private var start = 0
  private var hasEnded = false

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
}
