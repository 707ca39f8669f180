enum ArithmeticOperator: Sendable { case add, subtract, multiply, divide, remainder }

/// A number to calculate with.
///
/// As DuckDB does it: whole numbers stay whole, in 64 bits unless one of the two has more, then in 128; numbers with a point are decimals of
/// up to 38 digits, whose scales add up under `*`; an exponent, or more digits, makes a DOUBLE; `/` always gives a DOUBLE. What overflows or
/// divides by zero has no value.
enum CalculatedNumber {
  case integer(Int128)
  case decimal(Int128, scale: Int)
  case double(Double)

  /// Text is converted; other kinds have no number. nil also for text that is none.
  init?(_ value: ExpressionValue) {
    guard value.kind == .number || value.kind == .string else { return nil }
    if value.isDouble {
      guard let double = Self.double(value.bytes) else { return nil }
      self = .double(double)
      return
    }
    if let small = smallInteger(value.bytes) {
      self = .integer(Int128(small))
      return
    }
    guard let number = DecimalText(value.bytes) else { return nil }
    if !number.hasExponent, let mantissa = number.mantissa, number.scale <= 38 {
      let signed = number.isNegative ? -mantissa : mantissa
      self = number.hasPoint && number.scale > 0 ? .decimal(signed, scale: number.scale) : .integer(signed)
    } else {
      guard let double = Self.double(value.bytes) else { return nil }
      self = .double(double)
    }
  }

  static func calculate(_ operation: ArithmeticOperator, _ a: CalculatedNumber, _ b: CalculatedNumber) -> CalculatedNumber? {
    if operation == .divide {
      let divisor = b.asDouble
      return divisor == 0 ? nil : finite(a.asDouble / divisor)
    }
    switch (a, b) {
    case (.integer(let x), .integer(let y)): return integers(operation, x, y)
    case (.double, _), (_, .double): return doubles(operation, a.asDouble, b.asDouble)
    default: return decimals(operation, a, b)
    }
  }

  var negated: CalculatedNumber? {
    switch self {
    case .integer(let value): value == Int128(Int64.min) ? nil : .integer(-value)
    case .decimal(let value, let scale): .decimal(-value, scale: scale)
    case .double(let value): .double(-value)
    }
  }

  private static func integers(_ operation: ArithmeticOperator, _ x: Int128, _ y: Int128) -> CalculatedNumber? {
    let result: (partialValue: Int128, overflow: Bool)
    switch operation {
    case .add: result = x.addingReportingOverflow(y)
    case .subtract: result = x.subtractingReportingOverflow(y)
    case .multiply: result = x.multipliedReportingOverflow(by: y)
    default: result = y == 0 ? (0, true) : x.remainderReportingOverflow(dividingBy: y)
    }
    if result.overflow { return nil }
    let isNarrow = Int64(exactly: x) != nil && Int64(exactly: y) != nil
    return isNarrow && Int64(exactly: result.partialValue) == nil ? nil : .integer(result.partialValue)
  }

  private static func decimals(_ operation: ArithmeticOperator, _ a: CalculatedNumber, _ b: CalculatedNumber) -> CalculatedNumber? {
    var (x, scaleX) = a.scaled
    var (y, scaleY) = b.scaled
    if operation == .multiply {
      let product = x.multipliedReportingOverflow(by: y)
      return product.overflow || scaleX + scaleY > 38
        ? doubles(.multiply, a.asDouble, b.asDouble) : limited(product.partialValue, scaleX + scaleY)
    }
    let scale = max(scaleX, scaleY)
    while scaleX < scale {
      let product = x.multipliedReportingOverflow(by: 10)
      if product.overflow { return doubles(operation, a.asDouble, b.asDouble) }
      x = product.partialValue
      scaleX += 1
    }
    while scaleY < scale {
      let product = y.multipliedReportingOverflow(by: 10)
      if product.overflow { return doubles(operation, a.asDouble, b.asDouble) }
      y = product.partialValue
      scaleY += 1
    }
    switch operation {
    case .add:
      let sum = x.addingReportingOverflow(y)
      return sum.overflow ? nil : limited(sum.partialValue, scale)
    case .subtract:
      let difference = x.subtractingReportingOverflow(y)
      return difference.overflow ? nil : limited(difference.partialValue, scale)
    default: return y == 0 ? nil : limited(x % y, scale)
    }
  }

  /// Decimals have at most 38 digits.
  private static func limited(_ value: Int128, _ scale: Int) -> CalculatedNumber? {
    value.magnitude > 99_999_999_999_999_999_999_999_999_999_999_999_999 ? nil : .decimal(value, scale: scale)
  }

  private static func doubles(_ operation: ArithmeticOperator, _ x: Double, _ y: Double) -> CalculatedNumber? {
    switch operation {
    case .add: finite(x + y)
    case .subtract: finite(x - y)
    case .multiply: finite(x * y)
    case .divide: y == 0 ? nil : finite(x / y)
    case .remainder: y == 0 ? nil : finite(fmod(x, y))
    }
  }

  static func finite(_ value: Double) -> CalculatedNumber? { value.isFinite ? .double(value) : nil }

  private var scaled: (Int128, Int) {
    switch self {
    case .integer(let value): (value, 0)
    case .decimal(let value, let scale): (value, scale)
    case .double: (0, 0)
    }
  }

  var asDouble: Double {
    switch self {
    case .integer(let value):
      if let small = Int64(exactly: value) { return Double(small) }  // the conversion of 128 bits is slow
      return Double(value)
    case .double(let value): return value
    case .decimal(let value, let scale):
      // Through text, so that the result is the double nearest to the decimal.
      let text = ByteBuffer(capacity: 48)
      Self.append(value, scale: scale, to: text)
      return Self.double(text.bytes) ?? 0
    }
  }

  /// The double nearest to a number's text, which may be infinite. nil if it is no number.
  static func double(_ text: UnsafeBufferPointer<UInt8>) -> Double? {
    guard DecimalText(text) != nil else { return nil }
    return withUnsafeTemporaryAllocation(of: CChar.self, capacity: text.count + 1) { copy in
      var count = 0
      for byte in text where byte != UInt8(ascii: "_") && !isASCIISpace(byte) {
        copy[count] = CChar(bitPattern: byte)
        count += 1
      }
      copy[count] = 0
      return strtod(copy.baseAddress!, nil)
    }
  }

  /// Appends the number as JSON spells it; decimals keep the zeros of their scale, doubles are the shortest text that reads back.
  func append(to out: ByteBuffer) {
    switch self {
    case .integer(let value): Self.append(value, scale: 0, to: out)
    case .decimal(let value, let scale): Self.append(value, scale: scale, to: out)
    case .double(let value): out.append(string: value.description)
    }
  }

  private static func append(_ value: Int128, scale: Int, to out: ByteBuffer) {
    var digits: (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0, 0, 0, 0)  // 56 bytes: 39 digits, point, sign, zero
    withUnsafeMutableBytes(of: &digits) { text in
      var next = text.count
      var rest = value.magnitude
      var written = 0
      while rest > 0 || written <= scale {
        if scale > 0, written == scale {
          next -= 1
          text[next] = UInt8(ascii: ".")
        }
        next -= 1
        if let small = UInt64(exactly: rest) {  // division of 128 bits is slow
          text[next] = UInt8(truncatingIfNeeded: 0x30 + small % 10)
          rest = UInt128(small / 10)
        } else {
          let (quotient, remainder) = rest.quotientAndRemainder(dividingBy: 10)
          text[next] = UInt8(truncatingIfNeeded: 0x30 + remainder)
          rest = quotient
        }
        written += 1
      }
      if value < 0 {
        next -= 1
        text[next] = UInt8(ascii: "-")
      }
      let start = text.baseAddress!.assumingMemoryBound(to: UInt8.self) + next
      out.append(start, count: text.count - next)
    }
  }
}
