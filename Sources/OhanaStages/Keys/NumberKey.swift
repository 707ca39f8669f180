internal import OhanaCore

/// A decimal number as bytes that compare as the numbers do, of any length and exactly.
///
/// With the number written as ±0.d₁d₂… × 10ᵉ, d₁ and the last digit not zero:
/// ```
/// zero      80
/// positive  C0 │ exponent │ pairs of digits, each plus 1 │ 00
/// negative  40 │ the same, every byte inverted
/// exponent  one byte, 80 + e, for −64 ≤ e ≤ 64; beyond: 01 or FF, then e as 8 bytes, big-endian, sign bit flipped
/// ```
/// Exponents are held to ±2⁶² by saturation; numbers beyond compare by sign only.
enum NumberKey {
  /// Appends the key of `text` if it is a number: digits with a point, a sign and an exponent, blanks around it allowed. Returns
  /// false, with nothing appended, if it is not.
  @inline(__always)
  static func append(_ text: UnsafeBufferPointer<UInt8>, to out: ByteBuffer) -> Bool {
    guard let number = parse(text) else { return false }
    guard number.digitCount > 0 else {
      out.append(0x80)
      return true
    }
    out.reserve(number.digitCount + 16)
    let start = out.count
    out.append(0xc0)
    appendExponent(number.exponent, to: out)
    // Digits, the point passed over, in pairs.
    var next = number.start
    var left = number.digitCount
    let bytes = text.baseAddress!
    while left > 0 {
      if bytes[next] == UInt8(ascii: ".") { next += 1 }
      let tens = bytes[next] &- 0x30
      next += 1
      left -= 1
      var ones: UInt8 = 0
      if left > 0 {
        if bytes[next] == UInt8(ascii: ".") { next += 1 }
        ones = bytes[next] &- 0x30
        next += 1
        left -= 1
      }
      out.append(tens &* 10 &+ ones &+ 1)
    }
    out.append(0)
    if number.isNegative {
      out.base[start] = 0x40
      for index in (start + 1)..<out.count { out.base[index] = ~out.base[index] }
    }
    return true
  }

  struct Parsed {
    var isNegative: Bool
    /// Offset of the first digit that is not zero.
    var start: Int
    /// Significant digits from there on, trailing zeros left out.
    var digitCount: Int
    /// The number is 0.d₁d₂… × 10 to this power.
    var exponent: Int
  }

  /// Takes a decimal number apart; nil if `text` is none.
  static func parse(_ text: UnsafeBufferPointer<UInt8>) -> Parsed? {
    guard let bytes = text.baseAddress else { return nil }
    var index = 0
    var end = text.count
    while index < end, bytes[index] == 0x20 || bytes[index] == 0x09 { index += 1 }
    while end > index, bytes[end - 1] == 0x20 || bytes[end - 1] == 0x09 { end -= 1 }
    guard index < end else { return nil }
    var isNegative = false
    if bytes[index] == UInt8(ascii: "-") || bytes[index] == UInt8(ascii: "+") {
      isNegative = bytes[index] == UInt8(ascii: "-")
      index += 1
    }
    var firstDigit = -1
    var digits = 0  // from the first that is not zero
    var significant = 0  // up to the last that is not zero
    var integerDigits = 0  // before the point, from the first that is not zero; negative: zeros behind the point
    var hasDigit = false
    var hasPoint = false
    scan: while index < end {
      let byte = bytes[index]
      switch byte {
      case 0x30...0x39:
        hasDigit = true
        if byte != 0x30, firstDigit < 0 { firstDigit = index }
        if firstDigit >= 0 {
          digits += 1
          if byte != 0x30 { significant = digits }
          if !hasPoint { integerDigits += 1 }
        } else if hasPoint {
          integerDigits -= 1
        }
      case UInt8(ascii: "."):
        if hasPoint { return nil }
        hasPoint = true
      case UInt8(ascii: "e"), UInt8(ascii: "E"): break scan
      default: return nil
      }
      index += 1
    }
    guard hasDigit else { return nil }
    var exponent = 0
    if index < end {
      index += 1
      var exponentIsNegative = false
      if index < end, bytes[index] == UInt8(ascii: "-") || bytes[index] == UInt8(ascii: "+") {
        exponentIsNegative = bytes[index] == UInt8(ascii: "-")
        index += 1
      }
      guard index < end else { return nil }
      while index < end {
        let digit = bytes[index] &- 0x30
        guard digit <= 9 else { return nil }
        if exponent < 1 << 58 { exponent = exponent * 10 + Int(digit) }
        index += 1
      }
      if exponentIsNegative { exponent = -exponent }
    }
    return Parsed(isNegative: isNegative, start: max(0, firstDigit), digitCount: significant, exponent: exponent + integerDigits)
  }

  private static func appendExponent(_ exponent: Int, to out: ByteBuffer) {
    if exponent >= -64, exponent <= 64 { return out.append(UInt8(truncatingIfNeeded: 0x80 + exponent)) }
    out.append(exponent < 0 ? 0x01 : 0xff)
    let bits = UInt64(bitPattern: Int64(exponent)) ^ 1 << 63
    for shift in stride(from: UInt64(56), through: 0, by: -8) { out.append(UInt8(truncatingIfNeeded: bits >> shift)) }
  }
}
