internal import CICU
public import OhanaCore

/// Converts a stream of text to UTF-8 through ICU.
///
/// What stands for nothing in the encoding becomes the byte FF, which no UTF-8 holds: the reader behind rejects the record and names the
/// place, instead of a replacement character that nobody would notice. Memory: 64 KiB.
public final class TranscodingByteStream: ByteStream, @unchecked Sendable {  // because one piece of work at a time uses it
  private let source: any ByteStream
  private let converter: OpaquePointer
  private let input = ByteBuffer(capacity: 64 << 10)
  private var taken = 0
  private var hasEnded = false
  private var isFlushed = false

  public init(_ source: any ByteStream, from encoding: InputEncoding) {
    self.source = source
    guard let converter = ohana_icu_converter_open(encoding.name) else { preconditionFailure("the encoding was looked up before") }
    self.converter = converter
  }

  deinit { ohana_icu_converter_close(converter) }

  public var inputBytesRead: Int { source.inputBytesRead }
  public var fault: OhanaError? { source.fault }

  public func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
    // A character takes up to four bytes; a caller with less room is none of ours.
    precondition(buffer.count >= 8, "there must be room for a character")
    let start = buffer.baseAddress!.assumingMemoryBound(to: CChar.self)
    // One byte is kept for FF.
    let end = start + buffer.count - 1
    var target: UnsafeMutablePointer<CChar>? = start
    while target == start, !isFlushed {
      if taken == input.count, !hasEnded {
        input.count = try source.read(into: UnsafeMutableRawBufferPointer(start: input.base, count: input.capacity))
        taken = 0
        hasEnded = input.count == 0
      }
      let base = UnsafeRawPointer(input.base).assumingMemoryBound(to: CChar.self)
      var next: UnsafePointer<CChar>? = base + taken
      let outcome = ohana_icu_convert(converter, &next, base + input.count, &target, end, hasEnded ? 1 : 0)
      taken = next! - base
      switch Int(outcome) {
      case Int(ohana_icu_converted): isFlushed = hasEnded
      case Int(ohana_icu_target_full): break
      case Int(ohana_icu_invalid):
        target!.pointee = CChar(bitPattern: 0xff)
        target! += 1
      default:
        throw OhanaError(.badInput, "conversion-failed", "the text cannot be converted to UTF-8", fix: "check --encoding")
      }
    }
    return target! - start
  }
}
