public import OhanaCore

/// Takes records out of a selection, as one attempt over the whole stream: all that comes in is selected.
public struct DeselectStage: PlannedStage {
  public static let help = StageHelp(
    name: "deselect", usage: "--ids FILE [--by KEY] [--min N] [--emit selected|rejected|both]",
    summary: "take the records that a list names out of the selection",
    text: """
      What comes in is the selection. Records whose id is in the file are deselected; the others come out. If fewer than --min records would stay, \
      none is deselected: the run fails with exit status 8 and publishes nothing. --emit rejected gives those that were deselected, both all of them, \
      with 'selected' true or false; a field of that name that is there already is refused.
      """,
    options: [
      .init("--ids", "FILE", "a file of any format with the ids of what is deselected"),
      .init("--by", "KEY", "what --ids looks up; 'id' if not given"), .init("--min", "N", "the fewest that may stay selected"),
      .init("--emit", "selected|rejected|both", "which records come out, both marked in the field 'selected'; selected if not given"),
    ],
    examples: [
      .init(
        "ohana run contacts.ndjson then select --require-type phone then deselect --ids called.txt --min 1",
        "those who are still to be called")
    ], memoryClass: .keyed, memoryNote: "B with --emit rejected and both")

  /// Names what is deselected.
  public let ids: FilePath
  /// What is looked up in it.
  public let key: EqualityKey
  /// Fewer that stay selected fail the run.
  public let min: Int
  /// Which records come out.
  public let emit: SelectionEmission
  private let arguments: String

  /// - Parameters:
  ///   - min: the fewest records that may stay selected.
  ///   - text: the arguments as they were written.
  public init(ids: FilePath, by key: EqualityKey, min: Int = 0, emit: SelectionEmission = .selected, text: String) {
    self.ids = ids
    self.key = key
    self.min = min
    self.emit = emit
    arguments = text
  }

  /// - Parameter arguments: the words after `deselect`.
  public static func parse(arguments words: [String]) throws -> DeselectStage {
    let arguments = try StageArguments(words, for: help)
    try arguments.noPositionals()
    guard let ids = arguments.value("--ids") else {
      throw arguments.problem("missing-argument", "--ids FILE is missing", fix: "usage: deselect \(help.usage)")
    }
    return DeselectStage(
      ids: FilePath(ids), by: try arguments.idKey(of: "deselect"), min: try arguments.number("--min") ?? 0,
      emit: try arguments.choice("--emit", of: SelectionEmission.self) ?? .selected, text: words.joined(separator: " "))
  }

  public var text: String { "deselect \(arguments)" }
  public var memoryClass: MemoryClass { emit == .selected ? .keyed : .breaker }
  public var dropReason: String? { emit == .rejected ? "still selected" : "deselected" }

  public func bind(_ schema: inout RecordSchema, _ context: StageContext) throws -> [StageStep] {
    if emit != .selected {
      return try emit.bind(DeselectStage(ids: ids, by: key, min: min, text: arguments), &schema, context)
    }
    let suppress = SuppressStage(list: ids, keys: [key], text: text)
    return try suppress.bind(&schema, context) + (min > 0 ? [.ordered(MinimumGuard(min, of: "deselect"))] : [])
  }
}
