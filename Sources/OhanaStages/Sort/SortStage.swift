public import OhanaCore

/// `sort KEY,…`: a stable sort of the whole stream.
///
/// Row-local: makes the keys, sorts each batch, packs it into a run. In order: collects the runs, spills merged ones beyond the memory
/// share, and streams the merge of all of them at the end.
public struct SortStage: PlannedStage {
  /// The first decides, the next where it ties, and so on; in the end input order.
  public var keys: [OrderKey]
  /// Exactly the reverse of what the sort would give, ties and blanks included (a `reverse` behind it).
  public var reversed = false
  /// Only the first so many records are wanted (a `limit` behind it): the others are dropped as early as they are known.
  public var topLimit: Int?
  private let arguments: String

  /// - Parameter text: the arguments as they were written.
  public init(keys: [OrderKey], text: String) {
    self.keys = keys
    arguments = text
  }

  public var text: String { "sort \(arguments)" }
  public var memoryClass: MemoryClass { .breaker }
  public var dropReason: String? { topLimit == nil ? nil : "beyond the limit" }

  public static func parse(arguments words: [String]) throws -> SortStage {
    let arguments = try StageArguments(words, for: help)
    let text = arguments.positionals.isEmpty ? try arguments.single("KEY") : arguments.positionals.joined(separator: ",")
    return SortStage(keys: try OrderKey.parse(list: text, what: "sort"), text: text)
  }

  public static let help = StageHelp(
    name: "sort", usage: "KEY,…",
    summary: "sort the records; equal ones stay in their order",
    text: """
      A KEY is FIELD[:KIND][:desc][:nulls-first] or an expression. Kinds: locale (default: the rules of CLDR root, or of --locale), \
      locale/xx (of a language, for example locale/sv or locale/de-u-co-phonebk), binary (bytes of the text), number (exact decimal numbers, \
      other text behind them), natural (locale with runs of digits as numbers), ohana (code points of the decomposed text). Missing, null and \
      empty values come last together, under :desc too; :nulls-first puts them first. What does not fit --memory is sorted on disk.
      """,
    examples: [
      .init("ohana sort last,first contacts.ndjson", "by last name, then first name"),
      .init("ohana sort city:locale/sv,age:number:desc people.csv", "Swedish order, the oldest first within a city"),
    ],
    memoryClass: .breaker)

  public func bind(_ schema: inout RecordSchema, _ context: StageContext) throws -> [StageStep] {
    var binding = KeyBinding()
    var parts: [BoundOrderKey] = []
    for key in keys {
      let slot = try binding.slot(of: key.source, &schema)
      parts.append(try BoundOrderKey(key, slot: slot, locale: context.settings.locale))
    }
    return binding.steps + Self.steps(parts, reversed: reversed, limit: topLimit, context)
  }

  static func steps(_ parts: [BoundOrderKey], reversed: Bool, limit: Int?, _ context: StageContext) -> [StageStep] {
    let runs = SortedRunMaker(payload: context.payload, reversed: reversed, limit: limit) { OrderKeyWriter(parts) }
    return [.row(runs), .ordered(SortCollector(context, laterFirst: reversed, limit: limit))]
  }
}

/// `reverse`: exactly the records that arrive, the last first.
public struct ReverseStage: PlannedStage {
  /// The sort before it gives the records in reverse: nothing is left to do.
  public var isDoneBySort = false

  /// Takes no arguments.
  public init() {}

  public var text: String { "reverse" }
  public var memoryClass: MemoryClass { isDoneBySort ? .streaming : .breaker }
  public var dropReason: String? { nil }

  public static func parse(arguments words: [String]) throws -> ReverseStage {
    try StageArguments(words, for: help).noPositionals()
    return ReverseStage()
  }

  public static let help = StageHelp(
    name: "reverse", usage: "", summary: "turn the order of the records round",
    text: """
      The last record comes first. Behind a sort it turns round ties and empty values too, where KEY:desc would leave them. What does not fit \
      --memory goes to disk.
      """,
    examples: [.init("ohana run contacts.ndjson then sort last then reverse", "from Z to A, records without a last name first")],
    memoryClass: .breaker)

  public func bind(_ schema: inout RecordSchema, _ context: StageContext) throws -> [StageStep] {
    // All keys are equal, and of equal keys the later comes first.
    isDoneBySort ? [] : SortStage.steps([], reversed: true, limit: nil, context)
  }
}
