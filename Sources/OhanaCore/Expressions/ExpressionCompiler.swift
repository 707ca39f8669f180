/// Turns syntax into nodes: names become slots, constants are folded, patterns compiled.
struct ExpressionCompiler {
  let text: String
  /// Slot of a field.
  let slot: (FieldName) throws(OhanaError) -> Int

  func compile(_ syntax: ExpressionSyntax) throws(OhanaError) -> ExpressionNode { folded(try node(syntax)) }

  private func compile(_ list: [ExpressionSyntax]) throws(OhanaError) -> [ExpressionNode] {
    var nodes: [ExpressionNode] = []
    for syntax in list { nodes.append(try compile(syntax)) }
    return nodes
  }

  /// A node whose parts are all constant is constant.
  private func folded(_ node: ExpressionNode) -> ExpressionNode {
    let children = node.children
    guard node.constant == nil, !(node is FieldNode), children.allSatisfy({ $0.constant != nil }) else { return node }
    let scratch = ExpressionScratch()
    var row: UInt32 = 0
    var value = ExpressionValue.null
    // What is too large to fold is too large for a record too, and says so there.
    guard (try? node.evaluate(scratch, &row, 1, &value)) != nil else { return node }
    return withExtendedLifetime(scratch) { ConstantNode(value) }
  }

  private func problem(_ what: String, at offset: Int, fix: String = "") -> OhanaError {
    ExpressionLexer(text).problem(what, at: offset, fix: fix)
  }

  private func node(_ syntax: ExpressionSyntax) throws(OhanaError) -> ExpressionNode {
    switch syntax {
    case .null: return ConstantNode(.null)
    case .bool(let value): return ConstantNode(.bool(value))
    case .number(let bytes): return ConstantNode.make(.number, bytes)
    case .text(let bytes): return ConstantNode.make(.string, bytes)
    case .field(let name, _): return FieldNode(slot: try slot(name))
    case .not(let term): return NotNode(try compile(term))
    case .and(let terms): return JunctionNode(try compile(terms), isAnd: true)
    case .or(let terms): return JunctionNode(try compile(terms), isAnd: false)
    case .compare(let comparison, let left, let right): return compare(comparison, try compile(left), try compile(right))
    case .isNull(let term, let negated): return IsNullNode(try compile(term), negated: negated)
    case .isTruth(let term, let truth, let negated): return IsTruthNode(try compile(term), truth, negated: negated)
    case .isDistinct(let left, let right, let negated): return DistinctNode(try compile(left), try compile(right), negated: negated)
    case .inList(let value, let items, let negated): return InNode(try compile(value), try compile(items), negated: negated)
    case .between(let value, let low, let high, let negated):
      return BetweenNode(try compile(value), try compile(low), try compile(high), negated: negated)
    case .like(let value, let pattern, let escape, let ignoresCase, let negated, let at):
      return try like(try compile(value), pattern, escape, ignoresCase, negated, at)
    case .matches(let value, let pattern, let negated, let at): return try matches(try compile(value), try compile(pattern), negated, at)
    case .join(let parts): return JoinNode(try compile(parts))
    case .arithmetic(let operation, let left, let right): return ArithmeticNode(operation, try compile(left), try compile(right))
    case .negate(let term): return NegateNode(try compile(term))
    case .cases(let subject, let branches, let otherwise): return try cases(subject, branches, otherwise)
    case .cast(let term, let type): return CastNode(try compile(term), type)
    case .coalesce(let terms): return CoalesceNode(try compile(terms))
    case .nullIf(let left, let right): return NullIfNode(try compile(left), try compile(right))
    case .call(let function, let arguments, let at): return try call(function, try compile(arguments), at)
    }
  }

  /// The constant goes right, where it is not spread over a column.
  private func compare(_ comparison: ComparisonOperator, _ left: ExpressionNode, _ right: ExpressionNode) -> ExpressionNode {
    left.constant != nil && right.constant == nil ? CompareNode(comparison.mirrored, right, left) : CompareNode(comparison, left, right)
  }

  private func like(
    _ value: ExpressionNode, _ pattern: ExpressionSyntax, _ escape: ExpressionSyntax?, _ ignoresCase: Bool, _ negated: Bool, _ at: Int
  ) throws(OhanaError) -> ExpressionNode {
    let escapeNode: ExpressionNode?
    if let escape { escapeNode = try compile(escape) } else { escapeNode = nil }
    if let constant = escapeNode?.constant, !constant.isNull, TextFunctions.codePoints(constant.bytes) > 1 {
      throw problem("ESCAPE takes one character", at: at)
    }
    let patternNode = try compile(pattern)
    if escapeNode?.constant?.isNull == true { return ConstantNode(.null) }
    do throws(LikePattern.Fault) {
      return try LikeNode(value, pattern: patternNode, escape: escapeNode, ignoresCase: ignoresCase, negated: negated)
    } catch {
      throw problem("the pattern ends with its escape character", at: at, fix: "double it, or take it away")
    }
  }

  private func matches(_ value: ExpressionNode, _ pattern: ExpressionNode, _ negated: Bool, _ at: Int) throws(OhanaError) -> ExpressionNode
  {
    let site = FunctionSite(constants: [value.constant, pattern.constant], functionName: "~")
    let regex: RegularExpression?
    do throws(OhanaError) {
      regex = try RegexFunctions.constantRegex(site, 1, .init())
    } catch {
      throw problem(error.problem, at: at, fix: error.fix)
    }
    let test = CallNode([value, pattern], RegexFunctions.matchBody(regex, .init()))
    return negated ? NotNode(test) : test
  }

  private func cases(
    _ subject: ExpressionSyntax?, _ branches: [ExpressionSyntax.CaseBranch], _ otherwise: ExpressionSyntax?
  ) throws(OhanaError) -> ExpressionNode {
    var compiled: [(condition: ExpressionNode, result: ExpressionNode)] = []
    for branch in branches { compiled.append((try compile(branch.condition), try compile(branch.result))) }
    let subjectNode: ExpressionNode?
    if let subject { subjectNode = try compile(subject) } else { subjectNode = nil }
    let otherwiseNode: ExpressionNode?
    if let otherwise { otherwiseNode = try compile(otherwise) } else { otherwiseNode = nil }
    return CaseNode(subject: subjectNode, branches: compiled, otherwise: otherwiseNode)
  }

  private func call(_ function: ExpressionFunction, _ arguments: [ExpressionNode], _ at: Int) throws(OhanaError) -> ExpressionNode {
    let site = FunctionSite(constants: arguments.map(\.constant), functionName: function.name)
    do throws(OhanaError) {
      return CallNode(arguments, try function.make(site))
    } catch {
      throw problem(error.problem, at: at, fix: error.fix)
    }
  }
}
