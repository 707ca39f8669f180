internal import CStructural
internal import OhanaCore

/// Writes into a batch's output through a pointer held in a register, instead of through the buffer's properties.
///
/// Every source handed to it must have ``ByteBuffer/padding`` readable bytes behind it, as all arenas, outputs and scratch buffers do:
/// short runs are copied 32 bytes at once, whatever their length.
struct OutputCursor {
  private(set) var at: UnsafeMutablePointer<UInt8>
  private var limit: UnsafeMutablePointer<UInt8>
  private let buffer: ByteBuffer

  /// Begins behind what the buffer holds. Nothing else may write to it until ``finish()``.
  init(_ buffer: ByteBuffer) {
    self.buffer = buffer
    at = buffer.base + buffer.count
    limit = buffer.base + buffer.capacity
  }

  /// Bytes in the buffer, those written through the cursor included.
  var count: Int { at - buffer.base }

  func finish() { buffer.count = count }

  @inline(__always)
  mutating func reserve(_ extra: Int) {
    if limit - at < extra { grow(extra) }
  }

  @inline(never)
  private mutating func grow(_ extra: Int) {
    finish()
    buffer.reserve(extra)
    at = buffer.base + buffer.count
    limit = buffer.base + buffer.capacity
  }

  @inline(__always)
  mutating func append(_ byte: UInt8) {
    reserve(1)
    at.pointee = byte
    at += 1
  }

  @inline(__always)
  mutating func append(_ start: UnsafePointer<UInt8>, _ count: Int) {
    reserve(count)
    appendReserved(start, count)
  }

  /// As ``append(_:_:)``, where there is room for sure.
  @inline(__always)
  mutating func appendReserved(_ start: UnsafePointer<UInt8>, _ count: Int) {
    copyBytes(from: start, to: at, count: count)
    at += count
  }

  /// As ``append(_:)`` of one byte, where there is room for sure.
  @inline(__always)
  mutating func appendReserved(_ byte: UInt8) {
    at.pointee = byte
    at += 1
  }

  /// `true`, `false` or `null`.
  @inline(__always)
  mutating func appendLiteral(_ kind: ValueKind) {
    reserve(8)
    let (word, count): (UInt64, Int) =
      switch kind {
      case .true: (0x6575_7274, 4)
      case .false: (0x65_736c_6166, 5)
      default: (0x6c6c_756e, 4)
      }
    UnsafeMutableRawPointer(at).storeBytes(of: word.littleEndian, as: UInt64.self)
    at += count
  }

  /// Makes `count` bytes that were stored behind the end part of the text.
  @inline(__always)
  mutating func advance(_ count: Int) { at += count }

  /// Appends text as the inside of a JSON string, with as few escapes as possible.
  @inline(__always)
  mutating func appendEscaped(_ start: UnsafePointer<UInt8>, _ count: Int) {
    reserve(count)
    if ohana_json_copy_text(at, start, count) { appendEscapedSlowly(start, count) } else { at += count }
  }

  @inline(never)
  private mutating func appendEscapedSlowly(_ start: UnsafePointer<UInt8>, _ count: Int) {
    withBuffer { JSONEscaping.append(text: UnsafeBufferPointer(start: start, count: count), to: $0) }
  }

  /// Lets `body` append to the buffer itself.
  mutating func withBuffer(_ body: (ByteBuffer) -> Void) {
    finish()
    body(buffer)
    at = buffer.base + buffer.count
    limit = buffer.base + buffer.capacity
  }

  /// The last byte at or behind `start` of the buffer that is no white space; nil if there is none.
  func lastToken(from start: Int) -> UInt8? {
    var index = count
    while index > start {
      index -= 1
      let byte = buffer.base[index]
      if byte > 0x20 { return byte }
    }
    return nil
  }

  /// Takes back a comma at the end, and the white space around it, if there is one.
  mutating func removeTrailingComma(from start: Int) {
    var end = at
    let first = buffer.base + start
    while end > first, end[-1] <= 0x20 { end -= 1 }
    guard end > first, end[-1] == UInt8(ascii: ",") else { return }
    end -= 1
    while end > first, end[-1] <= 0x20 { end -= 1 }
    at = end
  }
}
