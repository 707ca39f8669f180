/// An expression as it was written, understood but not bound to fields.
indirect enum ExpressionSyntax: Sendable {
  case null
  case bool(Bool)
  /// As JSON spells it.
  case number([UInt8])
  case text([UInt8])
  case field(FieldName, at: Int)
  case not(ExpressionSyntax)
  case and([ExpressionSyntax])
  case or([ExpressionSyntax])
  case compare(ComparisonOperator, ExpressionSyntax, ExpressionSyntax)
  case isNull(ExpressionSyntax, negated: Bool)
  /// `IS TRUE`, `IS FALSE`.
  case isTruth(ExpressionSyntax, Truth, negated: Bool)
  case isDistinct(ExpressionSyntax, ExpressionSyntax, negated: Bool)
  case inList(ExpressionSyntax, [ExpressionSyntax], negated: Bool)
  case between(ExpressionSyntax, ExpressionSyntax, ExpressionSyntax, negated: Bool)
  case like(ExpressionSyntax, pattern: ExpressionSyntax, escape: ExpressionSyntax?, ignoresCase: Bool, negated: Bool, at: Int)
  case matches(ExpressionSyntax, pattern: ExpressionSyntax, negated: Bool, at: Int)
  case join([ExpressionSyntax])
  case arithmetic(ArithmeticOperator, ExpressionSyntax, ExpressionSyntax)
  case negate(ExpressionSyntax)
  case cases(subject: ExpressionSyntax?, branches: [CaseBranch], otherwise: ExpressionSyntax?)
  case cast(ExpressionSyntax, CastType)
  case coalesce([ExpressionSyntax])
  case nullIf(ExpressionSyntax, ExpressionSyntax)
  case call(ExpressionFunction, [ExpressionSyntax], at: Int)

  struct CaseBranch: Sendable {
    var condition: ExpressionSyntax
    var result: ExpressionSyntax
  }
}

/// What CAST can make.
enum CastType: Sendable {
  case text
  /// 32, 64 or 128 bits.
  case integer(bits: Int)
  case double
  case boolean

  init?(word: String) {
    switch word.lowercased() {
    case "text", "varchar", "string", "char": self = .text
    case "integer", "int", "int4": self = .integer(bits: 32)
    case "bigint", "int8", "long": self = .integer(bits: 64)
    case "hugeint": self = .integer(bits: 128)
    case "double", "float8": self = .double
    case "boolean", "bool": self = .boolean
    default: return nil
    }
  }
}
