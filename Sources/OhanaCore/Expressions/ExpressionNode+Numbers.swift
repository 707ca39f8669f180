final class ArithmeticNode: ExpressionNode, @unchecked Sendable {
  private let operation: ArithmeticOperator
  private let left: ExpressionNode
  private let right: ExpressionNode
  init(_ operation: ArithmeticOperator, _ left: ExpressionNode, _ right: ExpressionNode) {
    self.operation = operation
    self.left = left
    self.right = right
  }
  override var children: [ExpressionNode] { [left, right] }

  override func evaluate(_ scratch: ExpressionScratch, _ rows: UnsafePointer<UInt32>, _ count: Int, _ out: Column) throws(OhanaError) {
    try left.evaluate(scratch, rows, count, out)
    try with(right, scratch, rows, count) { column throws(OhanaError) in
      for index in 0..<count {
        guard let a = CalculatedNumber(out[index]), let b = CalculatedNumber(column[index]) else {
          out[index] = .null
          continue
        }
        out[index] = try scratch.makeNumber(CalculatedNumber.calculate(operation, a, b))
      }
    }
  }
}

final class NegateNode: ExpressionNode, @unchecked Sendable {
  private let term: ExpressionNode
  init(_ term: ExpressionNode) { self.term = term }
  override var children: [ExpressionNode] { [term] }

  override func evaluate(_ scratch: ExpressionScratch, _ rows: UnsafePointer<UInt32>, _ count: Int, _ out: Column) throws(OhanaError) {
    try term.evaluate(scratch, rows, count, out)
    for index in 0..<count {
      let number = CalculatedNumber(out[index])
      if out[index].kind == .number, case .double? = number {
        // Beyond what can be calculated with exactly; another sign can.
        out[index] = try flipped(out[index], scratch)
      } else if case .double(let value)? = number, !value.isFinite {
        out[index] = .null
      } else {
        out[index] = try scratch.makeNumber(number?.negated)
      }
    }
  }

  private func flipped(_ number: ExpressionValue, _ scratch: ExpressionScratch) throws(OhanaError) -> ExpressionValue {
    var flipped = number
    if number.base[0] == UInt8(ascii: "-") {
      flipped.base += 1
      flipped.length -= 1
      return flipped
    }
    let text = try scratch.allocate(number.count + 1)
    text[0] = UInt8(ascii: "-")
    (text + 1).update(from: number.base, count: number.count)
    flipped.base = UnsafePointer(text)
    flipped.length += 1
    return flipped
  }
}

/// `CAST(x AS TYPE)`; what cannot be converted is null.
final class CastNode: ExpressionNode, @unchecked Sendable {
  private let term: ExpressionNode
  private let type: CastType
  init(_ term: ExpressionNode, _ type: CastType) {
    self.term = term
    self.type = type
  }
  override var children: [ExpressionNode] { [term] }

  override func evaluate(_ scratch: ExpressionScratch, _ rows: UnsafePointer<UInt32>, _ count: Int, _ out: Column) throws(OhanaError) {
    try term.evaluate(scratch, rows, count, out)
    for index in 0..<count where !out[index].isNull { out[index] = try cast(out[index], scratch) }
  }

  private func cast(_ value: ExpressionValue, _ scratch: ExpressionScratch) throws(OhanaError) -> ExpressionValue {
    switch type {
    case .text: return ExpressionValue(.string, try scratch.textBytes(value))
    case .boolean: return Truth(value).value
    case .integer(let bits):
      switch value.kind {
      case .true, .false: return try scratch.makeNumber(.integer(value.kind == .true ? 1 : 0))
      case .number, .string:
        // Doubles round to the even neighbour, decimals and text away from zero.
        guard let rounded = rounded(value),
          bits == 128 || rounded >= -(Int128(1) << (bits - 1)) && rounded < Int128(1) << (bits - 1)
        else { return .null }
        return try scratch.makeNumber(.integer(rounded))
      default: return .null
      }
    case .double:
      switch value.kind {
      case .true, .false: return try scratch.makeNumber(.double(value.kind == .true ? 1 : 0))
      case .number, .string: return try scratch.makeNumber(CalculatedNumber.double(value.bytes).flatMap(CalculatedNumber.finite))
      default: return .null
      }
    }
  }
}

extension CastNode {
  private func rounded(_ value: ExpressionValue) -> Int128? {
    // The nearest to a double is not always the nearest to its shortest spelling.
    if value.isDouble { return CalculatedNumber.double(value.bytes).flatMap { Int128(exactly: $0.rounded(.toNearestOrEven)) } }
    guard let number = DecimalText(value.bytes) else { return nil }
    return number.rounded(halfToEven: value.kind == .number && number.hasExponent)
  }
}

/// Null where two values are equal, else the first.
final class NullIfNode: ExpressionNode, @unchecked Sendable {
  private let left: ExpressionNode
  private let right: ExpressionNode
  init(_ left: ExpressionNode, _ right: ExpressionNode) {
    self.left = left
    self.right = right
  }
  override var children: [ExpressionNode] { [left, right] }

  override func evaluate(_ scratch: ExpressionScratch, _ rows: UnsafePointer<UInt32>, _ count: Int, _ out: Column) throws(OhanaError) {
    try left.evaluate(scratch, rows, count, out)
    try with(right, scratch, rows, count) { column throws(OhanaError) in
      for index in 0..<count where try Comparison.order(out[index], column[index], scratch) == 0 { out[index] = .null }
    }
  }
}

extension ExpressionScratch {
  @inline(__always)
  final func makeNumber(_ number: CalculatedNumber?) throws(OhanaError) -> ExpressionValue {
    guard let number else { return .null }
    builder.removeAll()
    number.append(to: builder)
    var value = try makeText(builder, kind: .number)
    if case .double = number { value.isDouble = true }
    return value
  }
}
