/// Recursive descent over SQL's scalar expressions.
///
/// From loose to tight: `OR`, `AND`, `NOT`, `IS`, comparisons (which do not chain), `BETWEEN` `IN` `LIKE` `~`, `||`, `+ -`, `* / %`, sign.
struct ExpressionParser {
  /// Deep enough for any person, and shallow enough for a thread's stack.
  private static let maxDepth = 200

  private let lexer: ExpressionLexer
  private let registry: FunctionRegistry
  private let tokens: [ExpressionToken]
  private var index = 0
  private var depth = 0

  static func parse(_ text: String, _ registry: FunctionRegistry) throws(OhanaError) -> ExpressionSyntax {
    var parser = try ExpressionParser(text, registry)
    let syntax = try parser.expression()
    guard parser.token.kind == .end else { throw parser.unexpected("an operator or the end") }
    return syntax
  }

  private init(_ text: String, _ registry: FunctionRegistry) throws(OhanaError) {
    lexer = ExpressionLexer(text)
    self.registry = registry
    tokens = try lexer.tokens()
    if tokens.count == 1 {
      throw OhanaError(.usage, "bad-expression", "the expression is empty", fix: "see 'ohana help functions'")
    }
  }

  // MARK: Tokens

  private var token: ExpressionToken { tokens[index] }

  private func isSymbol(_ symbol: String, _ token: ExpressionToken) -> Bool { token.kind == .symbol && lexer.string(token) == symbol }

  private func isWord(_ word: String, _ token: ExpressionToken) -> Bool {
    token.kind == .word && token.end - token.start == word.utf8.count && lexer.string(token).lowercased() == word
  }

  private mutating func take(symbol: String) -> Bool {
    guard isSymbol(symbol, token) else { return false }
    index += 1
    return true
  }

  private mutating func take(word: String) -> Bool {
    guard isWord(word, token) else { return false }
    index += 1
    return true
  }

  private mutating func expect(symbol: String, _ what: String) throws(OhanaError) {
    if !take(symbol: symbol) { throw unexpected("'\(symbol)' \(what)") }
  }

  private mutating func expect(word: String, _ what: String) throws(OhanaError) {
    if !take(word: word) { throw unexpected("\(word.uppercased()) \(what)") }
  }

  private func unexpected(_ expected: String, fix: String = "") -> OhanaError {
    let found: String
    switch token.kind {
    case .end: found = "the end"
    case .text: found = "a text"
    default: found = "'\(lexer.string(token))'"
    }
    return lexer.problem("expected \(expected), found \(found)", at: token.start, fix: fix)
  }

  private mutating func deeper<T>(_ body: (inout ExpressionParser) throws(OhanaError) -> T) throws(OhanaError) -> T {
    depth += 1
    defer { depth -= 1 }
    if depth > Self.maxDepth {
      throw lexer.problem("nested more than \(Self.maxDepth) deep", at: token.start, fix: "split it over several set stages")
    }
    return try body(&self)
  }

  // MARK: Logic

  private mutating func expression() throws(OhanaError) -> ExpressionSyntax {
    try deeper { parser throws(OhanaError) in
      var terms = [try parser.conjunction()]
      while parser.take(word: "or") { terms.append(try parser.conjunction()) }
      return terms.count == 1 ? terms[0] : .or(terms)
    }
  }

  private mutating func conjunction() throws(OhanaError) -> ExpressionSyntax {
    var terms = [try negation()]
    while take(word: "and") { terms.append(try negation()) }
    return terms.count == 1 ? terms[0] : .and(terms)
  }

  private mutating func negation() throws(OhanaError) -> ExpressionSyntax {
    guard take(word: "not") else { return try predicate() }
    return try deeper { parser throws(OhanaError) in .not(try parser.negation()) }
  }

  private static let comparisons: [String: ComparisonOperator] = [
    "=": .equal, "==": .equal, "<>": .notEqual, "!=": .notEqual, "<": .less, "<=": .lessOrEqual, ">": .greater, ">=": .greaterOrEqual,
  ]

  /// Comparisons and `IS …`. A comparison takes no comparison as its side, unless IS came between.
  private mutating func predicate() throws(OhanaError) -> ExpressionSyntax {
    var left = try range()
    var mayCompare = true
    var length = 0
    while true {
      length += 1
      if length > Self.maxDepth { throw lexer.problem("too many tests in a row", at: token.start) }
      if token.kind == .symbol, let comparison = Self.comparisons[lexer.string(token)] {
        if !mayCompare {
          throw lexer.problem("comparisons do not chain", at: token.start, fix: "join them with AND, or put one in parentheses")
        }
        index += 1
        left = .compare(comparison, left, try range())
        mayCompare = false
      } else if take(word: "is") {
        left = try isTest(left)
        mayCompare = true
      } else {
        return left
      }
    }
  }

  private mutating func isTest(_ left: ExpressionSyntax) throws(OhanaError) -> ExpressionSyntax {
    let negated = take(word: "not")
    if take(word: "null") { return .isNull(left, negated: negated) }
    if take(word: "true") { return .isTruth(left, .yes, negated: negated) }
    if take(word: "false") { return .isTruth(left, .no, negated: negated) }
    if take(word: "distinct") {
      try expect(word: "from", "after IS DISTINCT")
      return .isDistinct(left, try range(), negated: negated)
    }
    throw unexpected("NULL, TRUE, FALSE or DISTINCT FROM after IS")
  }

  // MARK: BETWEEN, IN, LIKE, ~

  private mutating func range() throws(OhanaError) -> ExpressionSyntax {
    let left = try joined()
    let at = token.start
    let isNegated = isWord("not", token) && ["between", "in", "like", "ilike"].contains { isWord($0, tokens[index + 1]) }
    if isNegated { index += 1 }
    if take(word: "between") {
      let low = try joined()
      try expect(word: "and", "between the bounds of BETWEEN")
      return .between(left, low, try joined(), negated: isNegated)
    }
    if take(word: "in") {
      try expect(symbol: "(", "after IN")
      if take(symbol: ")") { return .inList(left, [], negated: isNegated) }
      return .inList(left, try list(closing: "the list of IN"), negated: isNegated)
    }
    let isInsensitive = isWord("ilike", token)
    if take(word: "like") || take(word: "ilike") {
      let pattern = try joined()
      let escape = take(word: "escape") ? try joined() : nil
      return .like(left, pattern: pattern, escape: escape, ignoresCase: isInsensitive, negated: isNegated, at: at)
    }
    if isSymbol("~", token) || isSymbol("!~", token) {
      let isNegation = isSymbol("!~", token)
      index += 1
      return .matches(left, pattern: try joined(), negated: isNegation, at: at)
    }
    return left
  }

  /// Items up to the closing parenthesis; the opening one is taken already, and there is at least one.
  private mutating func list(closing what: String) throws(OhanaError) -> [ExpressionSyntax] {
    var items = [try expression()]
    while take(symbol: ",") { items.append(try expression()) }
    if !take(symbol: ")") { throw unexpected("',' or ')' in \(what)") }
    return items
  }

  // MARK: Arithmetic

  private mutating func joined() throws(OhanaError) -> ExpressionSyntax {
    var parts = [try sum()]
    while take(symbol: "||") { parts.append(try sum()) }
    return parts.count == 1 ? parts[0] : .join(parts)
  }

  private mutating func sum() throws(OhanaError) -> ExpressionSyntax {
    var left = try product()
    var length = 0
    while true {
      let operation: ArithmeticOperator
      if take(symbol: "+") { operation = .add } else if take(symbol: "-") { operation = .subtract } else { return left }
      length += 1
      if length > Self.maxDepth { throw lexer.problem("more than \(Self.maxDepth) terms in a sum", at: token.start) }
      left = .arithmetic(operation, left, try product())
    }
  }

  private mutating func product() throws(OhanaError) -> ExpressionSyntax {
    var left = try signed()
    var length = 0
    while true {
      let operation: ArithmeticOperator
      if take(symbol: "*") {
        operation = .multiply
      } else if take(symbol: "/") {
        operation = .divide
      } else if take(symbol: "%") {
        operation = .remainder
      } else {
        return left
      }
      length += 1
      if length > Self.maxDepth { throw lexer.problem("more than \(Self.maxDepth) factors in a product", at: token.start) }
      left = .arithmetic(operation, left, try signed())
    }
  }

  private mutating func signed() throws(OhanaError) -> ExpressionSyntax {
    if take(symbol: "-") { return try deeper { parser throws(OhanaError) in .negate(try parser.signed()) } }
    if take(symbol: "+") { return try deeper { parser throws(OhanaError) in try parser.signed() } }
    return try primary()
  }

  // MARK: Values

  /// Words that cannot be names unless quoted.
  static let reserved: Set<String> = [
    "and", "or", "not", "is", "null", "in", "between", "like", "ilike", "case", "when", "then", "else", "end", "cast", "true", "false",
  ]

  private mutating func primary() throws(OhanaError) -> ExpressionSyntax {
    let token = token
    switch token.kind {
    case .number:
      index += 1
      return .number(try jsonNumber(token))
    case .text(let bytes):
      index += 1
      return .text(bytes)
    case .quotedName(let bytes):
      index += 1
      return .field(FieldName(whole: bytes), at: token.start)
    case .symbol where isSymbol("(", token):
      index += 1
      let inner = try expression()
      try expect(symbol: ")", "closing the '(' at column \(lexer.column(token.start))")
      return inner
    case .word: return try word(token)
    default: throw unexpected("a value: a name, a number, 'text' or a function")
    }
  }

  private mutating func word(_ token: ExpressionToken) throws(OhanaError) -> ExpressionSyntax {
    let lowered = lexer.string(token).lowercased()
    switch lowered {
    case "null":
      index += 1
      return .null
    case "true", "false":
      index += 1
      return .bool(lowered == "true")
    case "case":
      index += 1
      return try cases()
    case "cast", "try_cast":
      if lowered == "cast" || isSymbol("(", tokens[index + 1]) {
        index += 1
        return try cast()
      }
    default:
      if Self.reserved.contains(lowered) {
        throw unexpected(
          "a value: a name, a number, 'text' or a function",
          fix: "a field called so is written in double quotes: \"\(lexer.string(token))\"")
      }
    }
    index += 1
    if take(symbol: "(") { return try call(token, lowered) }
    return .field(FieldName(unquoted: Array(lexer.text[token.start..<token.end])), at: token.start)
  }

  private func jsonNumber(_ token: ExpressionToken) throws(OhanaError) -> [UInt8] {
    if tokens[index].kind == .word, tokens[index].start == token.end {
      throw lexer.problem(
        "a name cannot start with a digit", at: token.start, fix: "put it in double quotes, or a blank behind the number")
    }
    var digits = lexer.text[token.start..<token.end]
    while digits.count > 1, digits.first == UInt8(ascii: "0"), isDigit(digits[digits.startIndex + 1]) { digits.removeFirst() }
    var spelled = Array(digits)
    if spelled.first == UInt8(ascii: ".") { spelled.insert(UInt8(ascii: "0"), at: 0) }
    if let point = spelled.firstIndex(of: UInt8(ascii: ".")), point + 1 == spelled.count || !isDigit(spelled[point + 1]) {
      spelled.remove(at: point)  // "5." is 5
    }
    return spelled
  }

  private mutating func cases() throws(OhanaError) -> ExpressionSyntax {
    try deeper { parser throws(OhanaError) in
      let subject = parser.isWord("when", parser.token) ? nil : try parser.expression()
      var branches: [ExpressionSyntax.CaseBranch] = []
      while parser.take(word: "when") {
        let condition = try parser.expression()
        try parser.expect(word: "then", "after the condition of WHEN")
        branches.append(.init(condition: condition, result: try parser.expression()))
      }
      if branches.isEmpty { throw parser.unexpected("WHEN after CASE") }
      let otherwise = parser.take(word: "else") ? try parser.expression() : nil
      if !parser.take(word: "end") { throw parser.unexpected("WHEN, ELSE or END in CASE") }
      return .cases(subject: subject, branches: branches, otherwise: otherwise)
    }
  }

  private mutating func cast() throws(OhanaError) -> ExpressionSyntax {
    try expect(symbol: "(", "after CAST")
    let value = try expression()
    try expect(word: "as", "in CAST(value AS TYPE)")
    guard token.kind == .word, let type = CastType(word: lexer.string(token)) else {
      throw unexpected("a type", fix: "types are TEXT, INTEGER (32 bits), BIGINT, HUGEINT, DOUBLE and BOOLEAN")
    }
    index += 1
    try expect(symbol: ")", "after the type of CAST")
    return .cast(value, type)
  }

  private mutating func call(_ name: ExpressionToken, _ lowered: String) throws(OhanaError) -> ExpressionSyntax {
    let arguments = take(symbol: ")") ? [] : try list(closing: "the arguments of \(lowered)")
    if lowered == "coalesce" {
      if arguments.isEmpty { throw lexer.problem("coalesce needs at least one argument", at: name.start) }
      return .coalesce(arguments)
    }
    if lowered == "nullif" {
      guard arguments.count == 2 else { throw lexer.problem("nullif takes two arguments, not \(arguments.count)", at: name.start) }
      return .nullIf(arguments[0], arguments[1])
    }
    guard let function = registry[lowered] else {
      let near = NearMiss.best(for: lowered, among: registry.names + ["coalesce", "nullif"]).map { "did you mean \($0)? " } ?? ""
      throw lexer.problem("there is no function \(lowered)", at: name.start, fix: near + "'ohana help functions' lists them")
    }
    guard function.arity.contains(arguments.count) else {
      throw lexer.problem(
        "\(function.name) cannot take \(arguments.count) argument\(arguments.count == 1 ? "" : "s")", at: name.start,
        fix: "write \(function.usage)")
    }
    return .call(function, arguments, at: name.start)
  }
}
