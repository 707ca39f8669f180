public import OhanaCore

/// Gives fields new names, in place.
public struct RenameStage: PlannedStage {
  public static let help = StageHelp(
    name: "rename", usage: "OLD=NEW…", summary: "give fields new names",
    text: """
      Gives fields new names and leaves them where they are. All pairs are taken at once, so that two fields can exchange their names. A new name that \
      is taken already is refused; where only records can tell, one that holds both ends the run (exit 3).
      """,
    examples: [
      .init("ohana rename mail=email tel=phone contacts.ndjson", "two fields"),
      .init("ohana rename '\"E-mail 1 - Value\"=email' google.csv", "a name with blanks and signs"),
    ], memoryClass: .streaming)

  /// All at once, so that two fields can change places.
  public let pairs: [(old: FieldName, new: FieldName)]

  /// - Parameter pairs: no old or new name twice.
  public init(_ pairs: [(old: FieldName, new: FieldName)]) { self.pairs = pairs }

  /// - Parameter arguments: the words after `rename`; a word may hold several pairs with commas between them.
  public static func parse(arguments: [String]) throws(OhanaError) -> RenameStage {
    let arguments = try StageArguments(arguments, for: help)
    var pairs: [(old: FieldName, new: FieldName)] = []
    for word in arguments.positionals {
      for item in try ArgumentList.split(word, what: "rename") {
        guard item.contains("=") else {
          throw arguments.problem("bad-assignment", "'\(item)' has no '='", fix: "write OLD=NEW, the name that the field has first")
        }
        let (old, new) = try ArgumentList.assignment(item, what: "rename")
        let name = FieldName(whole: try ArgumentList.field(new, what: "rename").whole)
        if pairs.contains(where: { $0.old == old }) {
          throw arguments.problem("repeated-name", "'\(old)' is renamed twice", fix: "leave one of them out")
        }
        if pairs.contains(where: { $0.new == name }) {
          throw arguments.problem("repeated-name", "two fields would be called '\(name)'", fix: "choose another name")
        }
        pairs.append((old, name))
      }
    }
    if pairs.isEmpty { throw arguments.problem("missing-argument", "there is no OLD=NEW", fix: "write rename OLD=NEW") }
    return RenameStage(pairs)
  }

  public var text: String { "rename " + pairs.map { "\($0.old)=\($0.new)" }.joined(separator: " ") }
  public var memoryClass: MemoryClass { .streaming }
  public var dropReason: String? { nil }

  public func bind(_ schema: inout RecordSchema, _ context: StageContext) throws -> [StageStep] {
    try schema.rename(pairs)
    return []
  }
}
