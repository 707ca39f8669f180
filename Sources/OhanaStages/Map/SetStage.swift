public import OhanaCore

/// Writes fields computed from others, one assignment after the other.
public struct SetStage: PlannedStage {
  public static let help = StageHelp(
    name: "set", usage: "\"NAME = EXPR\"…", summary: "write fields computed from others",
    text: """
      Writes each NAME with the value of its expression: in the place of a field of that name where the record has one, behind the others where it \
      has none. Assignments work from left to right, so that a later one sees what an earlier one wrote. A null result is written as null. A NAME with \
      dots becomes a key with dots, not a nested object. The language is that of 'ohana help functions'.
      """,
    examples: [
      .init("ohana set \"full_name = concat_ws(' ', first, last)\" contacts.ndjson", "a new field"),
      .init("ohana set 'email = email(email)' 'domain = email_domain(email)' contacts.csv", "the second sees the first"),
      .init("ohana set \"kind = CASE WHEN company IS NULL THEN 'person' ELSE 'company' END\" contacts.csv", "by cases"),
    ], memoryClass: .streaming)

  /// A field and what it is set to.
  public struct Assignment: Sendable {
    /// New, or replaced.
    public var name: FieldName
    /// Sees what assignments before it wrote.
    public var expression: Expression
    /// - Parameter expression: sees what the assignments before it wrote.
    public init(name: FieldName, expression: Expression) {
      self.name = name
      self.expression = expression
    }
  }

  /// Carried out from left to right.
  public let assignments: [Assignment]

  /// - Parameter assignments: carried out in this order.
  public init(_ assignments: [Assignment]) { self.assignments = assignments }

  /// - Parameter arguments: the words after `set`.
  public static func parse(arguments: [String]) throws(OhanaError) -> SetStage {
    let arguments = try StageArguments(arguments, for: help)
    var assignments: [Assignment] = []
    for text in arguments.positionals {
      let (name, value) = try ArgumentList.assignment(text, what: "set")
      assignments.append(Assignment(name: name, expression: try Expression(value, functions: .standard)))
    }
    if assignments.isEmpty { throw arguments.problem("missing-argument", "there is no assignment", fix: "write set \"NAME = EXPR\"") }
    return SetStage(assignments)
  }

  public var text: String { "set " + assignments.map { "\($0.name) = \($0.expression.text)" }.joined(separator: ", ") }
  public var memoryClass: MemoryClass { .streaming }
  public var dropReason: String? { nil }

  public func bind(_ schema: inout RecordSchema, _ context: StageContext) throws -> [StageStep] {
    var steps: [StageStep] = []
    var bound: [AssignStep.Assignment] = []
    for assignment in assignments {
      let expression = try assignment.expression.bind(&schema)
      if let extractor = schema.takeExtractor() {
        // A path into what an earlier assignment wrote.
        if !bound.isEmpty { steps.append(.row(AssignStep(bound))) }
        bound = []
        steps.append(extractor)
      }
      bound.append(.init(slot: try schema.slot(writing: assignment.name), expression: expression))
    }
    return steps + [.row(AssignStep(bound))]
  }
}
