/// A number read from its spelling without rounding: sign, significant digits, power of ten.
///
/// `[space] [+-] digits [. digits] [e [+-] digits] [space]`, with digits on one side of the point at least and single underscores between
/// digits, as DuckDB casts text. No infinities, no NaN.
struct DecimalText {
  var isNegative = false
  var isZero = true
  /// Spelled with an exponent: a DOUBLE in SQL's eyes.
  var hasExponent = false
  /// Spelled with a point: a DECIMAL.
  var hasPoint = false
  /// Digits behind the point.
  var scale = 0
  /// From the first significant digit on, to the end of the significand: digits, at most one point, underscores.
  var start: UnsafePointer<UInt8>
  var end: UnsafePointer<UInt8>
  /// The first significant digit stands for `digit × 10^magnitude`.
  var magnitude = 0

  /// nil if `text` is no number.
  init?(_ text: UnsafeBufferPointer<UInt8>) {
    guard var next = text.baseAddress.map({ UnsafePointer($0) }) else { return nil }
    var end = next + text.count
    while next < end, isASCIISpace(next[0]) { next += 1 }
    while next < end, isASCIISpace(end[-1]) { end -= 1 }
    if next < end, next[0] == UInt8(ascii: "-") || next[0] == UInt8(ascii: "+") {
      isNegative = next[0] == UInt8(ascii: "-")
      next += 1
    }
    self.start = next
    self.end = next
    var digits = 0
    var wholeDigits = 0  // significant, or behind a significant one, and before the point
    var leadingZeros = 0  // behind the point and before the first significant digit
    scan: while next < end {
      let byte = next[0]
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"):
        digits += 1
        if isZero, byte != UInt8(ascii: "0") {
          isZero = false
          start = next
        }
        if hasPoint {
          scale += 1
          if isZero { leadingZeros += 1 }
        } else if !isZero {
          wholeDigits += 1
        }
      case UInt8(ascii: "."):
        if hasPoint { return nil }
        hasPoint = true
      case UInt8(ascii: "_"):
        guard digits > 0, isDigit(next[-1]), next + 1 < end, isDigit(next[1]) else { return nil }
      default: break scan
      }
      next += 1
    }
    self.end = next
    guard digits > 0 else { return nil }
    var exponent = 0
    if next < end {
      guard next[0] | 0x20 == UInt8(ascii: "e") else { return nil }
      hasExponent = true
      next += 1
      var isDown = false
      if next < end, next[0] == UInt8(ascii: "-") || next[0] == UInt8(ascii: "+") {
        isDown = next[0] == UInt8(ascii: "-")
        next += 1
      }
      guard next < end else { return nil }
      while next < end {
        guard isDigit(next[0]) else { return nil }
        if exponent < 1 << 59 { exponent = exponent * 10 + Int(next[0] - 0x30) }
        next += 1
      }
      if isDown { exponent = -exponent }
    }
    magnitude = (wholeDigits > 0 ? wholeDigits - 1 : -1 - leadingZeros) + exponent
  }

  /// Calls `body` with each significant digit (0 to 9) until it returns false.
  @inline(__always)
  func forEachDigit(_ body: (UInt8) -> Bool) {
    guard !isZero else { return }
    var next = start
    while next < end {
      let digit = next[0] &- 0x30
      next += 1
      if digit <= 9, !body(digit) { return }
    }
  }

  /// Exact order of two numbers: -1, 0 or 1.
  static func compare(_ a: DecimalText, _ b: DecimalText) -> Int {
    if a.isZero || b.isZero {
      if a.isZero && b.isZero { return 0 }
      return a.isZero ? (b.isNegative ? 1 : -1) : (a.isNegative ? -1 : 1)
    }
    if a.isNegative != b.isNegative { return a.isNegative ? -1 : 1 }
    let sign = a.isNegative ? -1 : 1
    if a.magnitude != b.magnitude { return a.magnitude < b.magnitude ? -sign : sign }
    var left = a.start
    var right = b.start
    while true {
      let x = nextDigit(&left, a.end)
      let y = nextDigit(&right, b.end)
      if x != y { return x < y ? -sign : sign }
      if left >= a.end && right >= b.end { return 0 }
    }
  }

  /// Zeros follow the last digit.
  @inline(__always)
  private static func nextDigit(_ next: inout UnsafePointer<UInt8>, _ end: UnsafePointer<UInt8>) -> UInt8 {
    while next < end {
      let digit = next[0] &- 0x30
      next += 1
      if digit <= 9 { return digit }
    }
    return 0
  }

  /// All digits as one whole number, without the sign; nil beyond 38 digits. The value is this × 10^-scale where there is no exponent.
  var mantissa: Int128? {
    var value: Int128 = 0
    var count = 0
    forEachDigit { digit in
      count += 1
      if count > 38 { return false }
      value = value * 10 + Int128(digit)
      return true
    }
    return count > 38 ? nil : value
  }

  /// The nearest whole number; a half goes away from zero, or to the even neighbour. nil beyond 38 digits.
  func rounded(halfToEven: Bool) -> Int128? {
    if isZero || magnitude < -1 { return 0 }
    if magnitude > 37 { return nil }
    var value: Int128 = 0
    var position = magnitude
    var half: UInt8 = 0  // digit behind the point
    var isExact = true  // nothing behind that one
    forEachDigit { digit in
      if position >= 0 {
        value = value * 10 + Int128(digit)
      } else if position == -1 {
        half = digit
      } else if digit != 0 {
        isExact = false
        return false
      }
      position -= 1
      return true
    }
    while position >= 0 {
      value *= 10
      position -= 1
    }
    if half > 5 || half == 5 && !(halfToEven && isExact && value & 1 == 0) { value += 1 }
    return isNegative ? -value : value
  }
}

@inline(__always) func isDigit(_ byte: UInt8) -> Bool { byte &- 0x30 <= 9 }

/// The value of a plain whole number of at most 18 digits, the usual case.
@inline(__always)
func smallInteger(_ text: UnsafeBufferPointer<UInt8>) -> Int64? {
  guard var next = text.baseAddress, text.count > 0, text.count <= 19 else { return nil }
  let end = next + text.count
  let isNegative = next[0] == UInt8(ascii: "-")
  if isNegative { next += 1 }
  if next == end || end - next > 18 { return nil }
  var value: Int64 = 0
  while next < end {
    let digit = next[0] &- 0x30
    if digit > 9 { return nil }
    value = value &* 10 &+ Int64(digit)
    next += 1
  }
  return isNegative ? 0 &- value : value
}
