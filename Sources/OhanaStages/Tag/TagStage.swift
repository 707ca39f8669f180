public import OhanaCore

/// Marks records with a tag.
public struct TagStage: PlannedStage {
  public static let help = StageHelp(
    name: "tag", usage: "NAME [where EXPR]", summary: "mark records with a tag",
    text: """
      Adds NAME to the list 'tags' of every record, or of those for which the expression is true, unless it is there already. The list is a JSON array; \
      in columns, and where it is text, it is text with semicolons between the tags. 'require --has-tag NAME' keeps those that have it.
      """,
    examples: [
      .init("ohana tag customer where \"company IS NOT NULL\" contacts.ndjson", "those who work somewhere"),
      .init("ohana run *.csv -o out.csv then tag import-2026 then keep email,tags", "all of them"),
    ], memoryClass: .streaming)

  /// The tag.
  public let name: String
  /// Which records get it; nil: all.
  public let condition: Expression?

  /// - Precondition: the name is not empty and holds no semicolon, which would be two tags.
  public init(_ name: String, where condition: Expression? = nil) {
    precondition(!name.isEmpty && !name.utf8.contains(UInt8(ascii: ";")), "a tag has a name without semicolons")
    self.name = name
    self.condition = condition
  }

  /// - Parameter arguments: the words after `tag`.
  public static func parse(arguments: [String]) throws(OhanaError) -> TagStage {
    let arguments = try StageArguments(arguments, for: help)
    var words = arguments.positionals
    guard let name = words.first, !name.isEmpty else {
      throw arguments.problem("missing-argument", "there is no NAME", fix: "write tag NAME, or tag NAME where EXPR")
    }
    if name.utf8.contains(UInt8(ascii: ";")) {
      throw arguments.problem("bad-value", "a tag cannot hold a semicolon, which stands between tags", fix: "add two tags by two stages")
    }
    words.removeFirst()
    if words.isEmpty { return TagStage(name) }
    guard words.count == 2, words[0].lowercased() == "where" else {
      throw arguments.problem("surplus-argument", "'\(words[0])' is not expected here", fix: "write tag NAME where EXPR, EXPR in quotes")
    }
    return TagStage(name, where: try Expression(words[1], functions: .standard))
  }

  public var text: String { "tag \(name)" + (condition.map { " where \($0.text)" } ?? "") }
  public var memoryClass: MemoryClass { .streaming }
  public var dropReason: String? { nil }

  public func bind(_ schema: inout RecordSchema, _ context: StageContext) throws -> [StageStep] {
    let condition = try self.condition?.bind(&schema)
    let slot = try schema.slot(writing: TagList.name)
    schema.slotsRead.insert(slot)
    return [.row(TagStep(tag: Array(name.utf8), slot: slot, isColumn: schema.columns != nil, condition: condition))]
  }
}

private struct TagStep: RowStage {
  let tag: [UInt8]
  let slot: Int
  let isColumn: Bool
  let condition: CompiledExpression?
  let scratch = ExpressionScratchPool()

  func process(_ batch: RecordBatch) throws -> StageTally {
    let out = ByteBuffer()
    let decoded = ByteBuffer()
    try forEachMarked(batch) { record throws(OhanaError) in
      let field = batch.field(slot, of: record)
      if TagList.contains(tag, field, in: batch, decoded) { return }
      let kind = TagList.append(tag, to: field, in: batch, isColumn: isColumn, into: out, decoded)
      try batch.write(out.bytes, kind, to: slot, of: record)
    }
    return StageTally()
  }

  private func forEachMarked(_ batch: RecordBatch, _ body: (_ record: Int) throws(OhanaError) -> Void) throws(OhanaError) {
    guard let condition else {
      for index in 0..<batch.selectedCount { try body(Int(batch.selection[index])) }
      return
    }
    let selected = Array(UnsafeBufferPointer(start: batch.selection, count: batch.selectedCount))
    _ = try scratch.with { scratch throws(OhanaError) in try condition.filter(batch, scratch) }
    for index in 0..<batch.selectedCount { try body(Int(batch.selection[index])) }
    for (index, record) in selected.enumerated() { batch.selection[index] = record }
    batch.selectedCount = selected.count
  }
}
