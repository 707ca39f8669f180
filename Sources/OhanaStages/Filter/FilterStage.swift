public import OhanaCore

/// Keeps the records for which an expression is true.
public struct FilterStage: PlannedStage {
  public static let help = StageHelp(
    name: "filter", usage: "EXPR", summary: "keep the records for which EXPR is true",
    text: """
      Keeps the records for which the expression is true; where it is false or null the record is dropped. The language is SQL's: comparisons, \
      AND OR NOT, IS NULL, IN, BETWEEN, LIKE, ILIKE, ~ for regular expressions, CASE, CAST and functions ('ohana help functions'). Texts stand in \
      single quotes, names with blanks or signs in double quotes.
      """,
    examples: [
      .init("ohana filter \"email LIKE '%@example.org'\" contacts.ndjson", "one domain's contacts"),
      .init("ohana run *.csv.gz -o adults.csv then filter \"age >= 18 AND country IN ('DE', 'AT')\"", "numbers and lists"),
      .init("ohana filter 'length(trim(\"First Name\")) > 0' google.csv", "a name with a blank"),
    ], memoryClass: .streaming)

  /// Records for which it is true stay; null is not true.
  public let expression: Expression

  /// - Parameter expression: evaluated once a record.
  public init(_ expression: Expression) { self.expression = expression }

  /// - Parameter arguments: the words after `filter`.
  public static func parse(arguments: [String]) throws(OhanaError) -> FilterStage {
    let arguments = try StageArguments(arguments, for: help)
    return FilterStage(try Expression(try arguments.single("the expression"), functions: .standard))
  }

  public var text: String { "filter \(expression.text)" }
  public var memoryClass: MemoryClass { .streaming }
  public var dropReason: String? { "not true" }
  public var isPredicate: Bool { true }

  public func bind(_ schema: inout RecordSchema, _ context: StageContext) throws -> [StageStep] {
    [.row(FilterStep(expression: try expression.bind(&schema)))]
  }
}

private struct FilterStep: RowStage {
  let expression: CompiledExpression
  let scratch = ExpressionScratchPool()

  func process(_ batch: RecordBatch) throws -> StageTally {
    StageTally(dropped: try scratch.with { scratch throws(OhanaError) in try expression.filter(batch, scratch) })
  }
}
