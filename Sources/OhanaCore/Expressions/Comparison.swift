/// The six comparisons.
enum ComparisonOperator: Sendable {
  case equal, notEqual, less, lessOrEqual, greater, greaterOrEqual

  /// - Parameter order: below, at or above zero as ``Comparison`` gives it.
  @inline(__always) func holds(_ order: Int) -> Bool {
    switch self {
    case .equal: order == 0
    case .notEqual: order != 0
    case .less: order < 0
    case .lessOrEqual: order <= 0
    case .greater: order > 0
    case .greaterOrEqual: order >= 0
    }
  }

  /// The operator with its sides exchanged.
  var mirrored: ComparisonOperator {
    switch self {
    case .equal, .notEqual: self
    case .less: .greater
    case .lessOrEqual: .greaterOrEqual
    case .greater: .less
    case .greaterOrEqual: .lessOrEqual
    }
  }
}

/// Order of two values, whatever their kinds.
///
/// Text compares by bytes, numbers by exact value, as doubles where one was calculated
/// as one, false before true. Text against a number or boolean is converted to it first; where that
/// fails, and for null, there is no order. Arrays and objects count as their compact JSON text. A boolean against a number is 0 or 1.
enum Comparison {
  static let none = Int.min

  @inline(__always)
  static func order(_ a: ExpressionValue, _ b: ExpressionValue, _ scratch: ExpressionScratch) throws(OhanaError) -> Int {
    if a.kind == .string && b.kind == .string { return bytes(a.bytes, b.bytes) }
    return try orderAcross(a, b, scratch)
  }

  @inline(never)
  private static func orderAcross(_ a: ExpressionValue, _ b: ExpressionValue, _ scratch: ExpressionScratch) throws(OhanaError) -> Int {
    if a.isNull || b.isNull { return none }
    switch (a.kind, b.kind) {
    case (.number, .number), (.number, .string), (.string, .number):
      return a.isDouble || b.isDouble ? doubles(a.bytes, b.bytes) : numbers(a.bytes, b.bytes)
    case (.number, .true), (.number, .false), (.true, .number), (.false, .number):
      return numbers(asNumber(a).bytes, asNumber(b).bytes)
    case (.true, _), (.false, _), (_, .true), (_, .false):
      let left = Truth(a)
      let right = Truth(b)
      return left == .unknown || right == .unknown ? none : Int(left.rawValue) - Int(right.rawValue)
    case (.number, _), (_, .number): return none
    default: return bytes(try scratch.textBytes(a), try scratch.textBytes(b))
    }
  }

  /// memcmp order: that of code points, for UTF-8.
  @inline(__always)
  static func bytes(_ a: UnsafeBufferPointer<UInt8>, _ b: UnsafeBufferPointer<UInt8>) -> Int {
    let shorter = min(a.count, b.count)
    if shorter > 0 {
      let order = Int(memcmp(a.baseAddress!, b.baseAddress!, shorter))
      if order != 0 { return order }
    }
    return a.count - b.count
  }

  /// Of which one was calculated as a DOUBLE: then the other is compared as one, too.
  @inline(never)
  private static func doubles(_ a: UnsafeBufferPointer<UInt8>, _ b: UnsafeBufferPointer<UInt8>) -> Int {
    guard let x = CalculatedNumber.double(a), let y = CalculatedNumber.double(b) else { return none }
    return x < y ? -1 : x > y ? 1 : 0
  }

  @inline(__always)
  static func numbers(_ a: UnsafeBufferPointer<UInt8>, _ b: UnsafeBufferPointer<UInt8>) -> Int {
    if let x = smallInteger(a), let y = smallInteger(b) { return x < y ? -1 : x > y ? 1 : 0 }
    return numbersSlowly(a, b)
  }

  @inline(never)
  private static func numbersSlowly(_ a: UnsafeBufferPointer<UInt8>, _ b: UnsafeBufferPointer<UInt8>) -> Int {
    guard let x = DecimalText(a), let y = DecimalText(b) else { return none }
    return DecimalText.compare(x, y)
  }

  private static func asNumber(_ value: ExpressionValue) -> ExpressionValue {
    switch value.kind {
    case .true: ExpressionValue(.number, StaticString("1").utf8Start, count: 1)
    case .false: ExpressionValue(.number, StaticString("0").utf8Start, count: 1)
    default: value
    }
  }
}
