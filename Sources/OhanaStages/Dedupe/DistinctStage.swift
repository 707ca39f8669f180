public import OhanaCore

/// `distinct --by record|KEY,…`: drops repeats and keeps the first.
public struct DistinctStage: PlannedStage {
  /// What is compared.
  public enum Basis: Sendable, Equatable {
    /// All that a record says, but for members of these names, at any depth.
    case record(ignoring: [FieldName])
    /// These, all of them.
    case keys([EqualityKey])
  }

  /// What is compared.
  public let basis: Basis
  public let text: String

  /// - Parameter text: the arguments as they were written.
  public init(by basis: Basis, text: String) {
    self.basis = basis
    self.text = text
  }

  public var memoryClass: MemoryClass { .keyed }
  public var dropReason: String? { "repeated" }

  public static func parse(arguments words: [String]) throws -> DistinctStage {
    let arguments = try StageArguments(words, for: help)
    try arguments.noPositionals()
    let text = (["distinct"] + words).joined(separator: " ")
    let ignored = try arguments.value("--ignore").map { try ArgumentList.fields([$0], what: "distinct --ignore") }
    let by = arguments.value("--by") ?? "record"
    if by == "record" { return DistinctStage(by: .record(ignoring: ignored ?? []), text: text) }
    if ignored != nil {
      throw arguments.problem(
        "bad-value", "--ignore goes with --by record only", fix: "leave it out: other fields than the keys do not count")
    }
    return DistinctStage(by: .keys(try EqualityKey.parse(list: by, what: "distinct --by")), text: text)
  }

  public static let help = StageHelp(
    name: "distinct", usage: "[--by record|KEY,…] [--ignore F,…]", summary: "drop records that repeat another, and keep the first",
    text: """
      By record, two records are the same if they hold the same values: the order of keys and of tags does not count, null and missing are the \
      same, empty lists too, and \"\" is something else. Records are compared as they are written: a phone in a column and the same one in the list \
      'fields' are two, and so are tags in a text and in a list. By KEYs only those count; null is a value like others, where dedupe lets records with a \
      blank key pass. A field named record is written "record", in double quotes.
      """,
    options: [
      .init("--by", "record|KEY,…", "what has to repeat; the whole record if not given"),
      .init("--ignore", "F,…", "members that do not count, at any depth; with --by record"),
    ],
    examples: [
      .init("ohana distinct --ignore source,tags merged.ndjson", "the same contact from two sources counts once"),
      .init("ohana distinct --by city,country contacts.csv", "one record for each pair, also for a missing city"),
    ], memoryClass: .keyed)

  public func bind(_ schema: inout RecordSchema, _ context: StageContext) throws -> [StageStep] {
    let keeper = StageStep.ordered(FirstKeeper(context, duplicates: nil))
    switch basis {
    case .record(let ignored):
      let content = try RecordContent(&schema)
      let maker = RecordFingerprintMaker(content, ignoring: Set(ignored.map(\.whole)), seed: context.settings.fingerprintSeed)
      for name in ignored { try schema.require(anywhere: name) { maker.hasMet(name.whole) } }
      return [.row(maker), keeper]
    case .keys(let keys):
      var binding = KeyBinding()
      let parts = try binding.parts(of: keys, &schema)
      return binding.steps + [.row(FingerprintMaker(parts, seed: context.settings.fingerprintSeed, blanks: .areValues)), keeper]
    }
  }
}
