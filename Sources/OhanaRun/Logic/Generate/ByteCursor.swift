/// A write position in memory that is known to be large enough: the generator bounds every record (see ``ContactGenerator/maxRecordSize``).
struct ByteCursor: BitwiseCopyable {
  var next: UnsafeMutablePointer<UInt8>

  @inline(__always) init(_ next: UnsafeMutablePointer<UInt8>) { self.next = next }

  @inline(__always) mutating func put(_ byte: UInt8) {
    next.pointee = byte
    next += 1
  }

  @inline(__always) mutating func put(_ start: UnsafePointer<UInt8>, count: Int) {
    next.update(from: start, count: count)
    next += count
  }

  @inline(__always) mutating func put(_ text: StaticString) { put(text.utf8Start, count: text.utf8CodeUnitCount) }

  /// Decimal digits, no leading zeros.
  @inline(__always) mutating func put(decimal value: UInt64) {
    var digits = 1
    var limit: UInt64 = 10
    while digits < 19, value >= limit {
      digits += 1
      limit &*= 10
    }
    put(decimal: value, digits: digits)
  }

  /// The last `digits` decimal digits, with leading zeros.
  @inline(__always) mutating func put(decimal value: UInt64, digits: Int) {
    var rest = value
    var at = next + digits
    while at > next {
      at -= 1
      at.pointee = 0x30 | UInt8(truncatingIfNeeded: rest % 10)
      rest /= 10
    }
    next += digits
  }
}
