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
    if count <= 32 {
      let source = UnsafeRawPointer(start)
      let target = UnsafeMutableRawPointer(at)
      target.storeBytes(of: source.loadUnaligned(as: SIMD16<UInt8>.self), as: SIMD16<UInt8>.self)
      if count > 16 {
        target.storeBytes(
          of: source.loadUnaligned(fromByteOffset: 16, as: SIMD16<UInt8>.self), toByteOffset: 16, as: SIMD16<UInt8>.self)
      }
    } else {
      at.update(from: start, count: count)
    }
    at += count
  }

  /// Makes `count` bytes that were stored behind the end part of the text.
  @inline(__always)
  mutating func advance(_ count: Int) { at += count }

  mutating func append(_ text: StaticString) {
    reserve(text.utf8CodeUnitCount)
    at.update(from: text.utf8Start, count: text.utf8CodeUnitCount)
    at += text.utf8CodeUnitCount
  }

  /// Appends text as the inside of a JSON string, with as few escapes as possible.
  @inline(__always)
  mutating func appendEscaped(_ start: UnsafePointer<UInt8>, _ count: Int) {
    reserve(count &+ 8)
    let low: UInt64 = 0x0101_0101_0101_0101
    let high: UInt64 = 0x8080_8080_8080_8080
    var index = 0
    while index < count {
      var word = UInt64(littleEndian: UnsafeRawPointer(start + index).loadUnaligned(as: UInt64.self))
      let rest = count &- index
      if rest < 8 {  // what lies behind the text becomes blanks, which nobody sees
        let mask = (1 as UInt64) << UInt64(rest &* 8) &- 1
        word = word & mask | (low &* 0x20) & ~mask
      }
      let control = (word &- low &* 0x20) & ~word
      let quote = word ^ (low &* 0x22)
      let slash = word ^ (low &* 0x5c)
      if (control | ((quote &- low) & ~quote) | ((slash &- low) & ~slash)) & high != 0 {
        at += index
        appendEscapedSlowly(start + index, rest)
        return
      }
      UnsafeMutableRawPointer(at + index).storeBytes(of: word.littleEndian, as: UInt64.self)
      index &+= 8
    }
    at += count
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
