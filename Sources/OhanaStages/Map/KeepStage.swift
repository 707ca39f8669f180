public import OhanaCore

/// Leaves records with some fields only, in the order given.
public struct KeepStage: PlannedStage {
  public static let help = StageHelp(
    name: "keep", usage: "F,…", summary: "keep only these fields, in this order",
    text: """
      Leaves each record with the fields named, in the order named, and drops all others. A path such as address.city becomes a field of that name. \
      A field that a record lacks stays missing.
      """,
    examples: [
      .init("ohana keep first,last,email contacts.ndjson", "three fields, in this order"),
      .init("ohana keep '\"First Name\",\"E-mail 1 - Value\"' google.csv", "names with blanks and signs"),
    ], memoryClass: .streaming)

  /// In the order of the output.
  public let names: [FieldName]

  /// - Parameter names: a repeated one counts once.
  public init(_ names: [FieldName]) { self.names = names }

  /// - Parameter arguments: the words after `keep`.
  public static func parse(arguments: [String]) throws(OhanaError) -> KeepStage { KeepStage(try namedFields(arguments, help)) }

  public var text: String { "keep " + names.map(\.description).joined(separator: ",") }
  public var memoryClass: MemoryClass { .streaming }
  public var dropReason: String? { nil }

  public func bind(_ schema: inout RecordSchema, _ context: StageContext) throws -> [StageStep] {
    try schema.keep(names)
    return []
  }
}

/// Takes fields away.
public struct DropStage: PlannedStage {
  public static let help = StageHelp(
    name: "drop", usage: "F,…", summary: "drop these fields",
    text: "Takes the fields named away and leaves all others as they are.",
    examples: [
      .init("ohana drop notes,image contacts.ndjson", "two fields"),
      .init("ohana run *.csv -o out.csv then drop 'Group Membership'", "a name with a blank"),
    ], memoryClass: .streaming)

  /// The fields that go.
  public let names: [FieldName]

  /// - Parameter names: fields the input has to have somewhere.
  public init(_ names: [FieldName]) { self.names = names }

  /// - Parameter arguments: the words after `drop`.
  public static func parse(arguments: [String]) throws(OhanaError) -> DropStage { DropStage(try namedFields(arguments, help)) }

  public var text: String { "drop " + names.map(\.description).joined(separator: ",") }
  public var memoryClass: MemoryClass { .streaming }
  public var dropReason: String? { nil }

  public func bind(_ schema: inout RecordSchema, _ context: StageContext) throws -> [StageStep] {
    try schema.drop(names)
    return []
  }
}

/// The fields of a stage that takes nothing else.
private func namedFields(_ words: [String], _ help: StageHelp) throws(OhanaError) -> [FieldName] {
  let arguments = try StageArguments(words, for: help)
  let names = try ArgumentList.fields(arguments.positionals, what: help.name)
  if names.isEmpty { throw arguments.problem("missing-argument", "no field is named", fix: "usage: \(help.name) \(help.usage)") }
  return names
}
