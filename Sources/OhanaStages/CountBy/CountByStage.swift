public import OhanaCore

/// `count-by KEY,…`: one record per key with its `count`, in order of first appearance.
public struct CountByStage: PlannedStage {
  /// Records that agree in all of them are counted together.
  public let keys: [EqualityKey]
  private let arguments: String

  /// - Parameter text: the arguments as they were written.
  public init(keys: [EqualityKey], text: String) {
    self.keys = keys
    arguments = text
  }

  public var text: String { "count-by \(arguments)" }
  public var memoryClass: MemoryClass { .keyed }
  public var dropReason: String? { nil }

  public static func parse(arguments words: [String]) throws -> CountByStage {
    let arguments = try StageArguments(words, for: help)
    let text = arguments.positionals.isEmpty ? try arguments.single("KEY") : arguments.positionals.joined(separator: ",")
    return CountByStage(keys: try EqualityKey.parse(list: text, what: "count-by"), text: text)
  }

  public static let help = StageHelp(
    name: "count-by", usage: "KEY,…", summary: "count the records of each key",
    text: """
      Makes one record per key, in order of first appearance, with the key's values as they were there and their number in count. A KEY is \
      FIELD[:KIND] or an expression, which gives the column its text for a name. Missing and null are one key, and an empty text is another.
      """,
    examples: [
      .init("ohana run contacts.ndjson.gz then count-by country then sort count:number:desc", "countries, the most frequent first"),
      .init("ohana count-by \"email_domain(email)\" contacts.csv", "domains of addresses"),
    ], memoryClass: .keyed)

  public func bind(_ schema: inout RecordSchema, _ context: StageContext) throws -> [StageStep] {
    var binding = KeyBinding()
    let parts = try binding.parts(of: keys, &schema)
    var entries: [RecordLayout.Entry] = []
    for (key, part) in zip(keys, parts) where !entries.contains(where: { $0.name == key.source.name.whole }) {
      // A slot of its own: the source's may go by another name later.
      entries.append(.init(name: key.source.name.whole, slot: part.slot))
    }
    let countName = Array("count".utf8)
    if entries.contains(where: { $0.name == countName }) {
      throw OhanaError(
        .usage, "name-taken", field: "count", "count-by: a key has the name of the new field", fix: "rename it before: rename count=NAME")
    }
    let countSlot = schema.newSlot()
    let keySlots = entries.map(\.slot)
    entries.append(.init(name: countName, slot: countSlot))
    schema.replaceLayout(entries)
    let fingerprints = FingerprintMaker(parts, seed: context.settings.fingerprintSeed, blanks: .areValues)
    return binding.steps + [.row(fingerprints), .ordered(KeyCounter(context, keySlots: keySlots, countSlot: countSlot))]
  }
}
