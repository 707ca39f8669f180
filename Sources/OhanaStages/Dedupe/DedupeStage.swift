public import OhanaCore

/// `dedupe --by KEY,…`: one record per key, at its survivor's place in input order.
public struct DedupeStage: PlannedStage {
  /// Which record of a key survives.
  public enum Keep: Sendable, Equatable {
    /// By place in the input.
    case first, last
    /// The highest rank of the field: null, then text by bytes, then numbers, then ISO 8601 instants; the earliest of equals.
    case newest(FieldName)
    /// The lowest rank of the field; the earliest of equals.
    case oldest(FieldName)
    /// Most fields that are neither null, blank nor an empty list; the earliest of equals.
    case mostComplete
    /// None, unless it is the only one.
    case none
  }

  /// Records that agree in all of them are duplicates.
  public var keys: [EqualityKey]
  /// Which of the duplicates survives.
  public var keep: Keep
  /// Where the records that do not survive go.
  public var duplicates: FilePath?
  public let text: String

  /// - Parameters duplicates: gets the records that do not survive. `text`: the arguments as they were written.
  public init(keys: [EqualityKey], keep: Keep = .first, duplicates: FilePath? = nil, text: String) {
    self.keys = keys
    self.keep = keep
    self.duplicates = duplicates
    self.text = text
  }

  public var memoryClass: MemoryClass { keep == .first ? .keyed : .breaker }
  public var sideOutputs: [FilePath] { duplicates.map { [$0] } ?? [] }
  public var dropReason: String? { "duplicate" }

  public static func parse(arguments words: [String]) throws -> DedupeStage {
    let arguments = try StageArguments(words, for: help)
    try arguments.noPositionals()
    guard let by = arguments.value("--by") else {
      throw arguments.problem(
        "missing-argument", "--by KEY,… is missing", fix: "say what makes two records the same: dedupe --by email:email")
    }
    return DedupeStage(
      keys: try EqualityKey.parse(list: by, what: "dedupe --by"), keep: try parseKeep(arguments),
      duplicates: arguments.value("--duplicates").map { FilePath($0) }, text: (["dedupe"] + words).joined(separator: " "))
  }

  private static func parseKeep(_ arguments: StageArguments) throws -> Keep {
    guard let text = arguments.value("--keep") else { return .first }
    switch text {
    case "first": return .first
    case "last": return .last
    case "most-complete": return .mostComplete
    case "none": return .none
    default: break
    }
    for (word, make) in [("newest", Keep.newest), ("oldest", Keep.oldest)] where text == word || text.hasPrefix(word + ":") {
      let field = String(text.dropFirst(word.count + 1))
      guard !field.isEmpty else {
        throw arguments.problem("bad-value", "--keep \(word) needs a field", fix: "write --keep \(word):FIELD")
      }
      return make(try ArgumentList.field(field, what: "dedupe --keep"))
    }
    let known = ["first", "last", "newest:F", "oldest:F", "most-complete", "none"]
    let near = NearMiss.best(for: text, among: known).map { "did you mean \($0)? " } ?? ""
    throw arguments.problem("bad-value", "--keep cannot be '\(text)'", fix: near + "there are " + known.joined(separator: ", "))
  }

  public static let help = StageHelp(
    name: "dedupe", usage: "--by KEY,… [--keep first|last|newest:F|oldest:F|most-complete|none] [--duplicates FILE]",
    summary: "keep one record per key",
    text: """
      A KEY is FIELD[:KIND] or an expression; with several, all have to be equal. Kinds: exact (default: the decoded text), fold (case, \
      diacritics and width do not count), email, email/provider (dots and +tags of gmail do not count either), name, phone or phone/REGION (E.164 of possible numbers); 'ohana help keys' explains them. A record with a blank in \
      its key equals no other and always stays. The survivor stays at its place in the input.
      """,
    options: [
      .init("--by", "KEY,…", "what makes records the same"),
      .init(
        "--keep", "first|last|newest:F|oldest:F|most-complete|none",
        "which of them stays, first if not given. F ranks null, then text, then numbers, then ISO 8601 instants; of equals the earliest stays; "
          + "most-complete counts fields with a value; none keeps only records that are alone"),
      .init("--duplicates", "FILE", "write the others there, in input order, with _survivor: input and number of the record kept"),
    ],
    examples: [
      .init("ohana dedupe --by email:email exports/*.ndjson.gz -o clean.ndjson.gz", "one record per e-mail address, the first"),
      .init("ohana dedupe --by first:fold,last:fold --keep newest:updated contacts.csv", "one per name, the one changed last"),
    ],
    memoryClass: .keyed, memoryNote: "B with any --keep but first")

  public func bind(_ schema: inout RecordSchema, _ context: StageContext) throws -> [StageStep] {
    var binding = KeyBinding()
    let parts = try binding.parts(of: keys, &schema)
    let fingerprints = FingerprintMaker(parts, seed: context.settings.fingerprintSeed, blanks: .equalNothing)
    let ranking: Ranking
    let rule: KeepRule
    switch keep {
    case .first: (ranking, rule) = (.none, .first)
    case .last: (ranking, rule) = (.none, .last)
    case .none: (ranking, rule) = (.none, .none)
    case .newest(let field), .oldest(let field):
      let slot = try binding.slot(of: .field(field), &schema)
      ranking = .value(slot: slot, lowestFirst: keep == .oldest(field))
      rule = .best
    case .mostComplete: (ranking, rule) = (.completeness(try RecordContent(&schema)), .best)
    }
    let duplicates = try self.duplicates.map { try DuplicatesOutput($0, &schema, context) }
    if rule == .first { return binding.steps + [.row(fingerprints), .ordered(FirstKeeper(context, duplicates: duplicates))] }
    return binding.steps + [
      .row(RankedItemMaker(fingerprints, ranking, carrying: context.payload, duplicates)),
      .ordered(BestKeeper(context, rule, duplicates: duplicates)),
    ]
  }
}
