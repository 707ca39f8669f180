public import OhanaCore

/// Finds contacts as people look for them: by some of the letters, in order.
public struct MatchStage: PlannedStage {
  public static let help = StageHelp(
    name: "match", usage: "QUERY [--in F,…] [--score NAME] [--top N]", summary: "find contacts by some of their letters, in order",
    text: """
      Keeps the records in which some value has the characters of QUERY in this order, in any case and with anything but a line break between them: \
      'jsm' finds John Smith. Each character stands for itself: there are no patterns. Looked at are full_name and all fields by type (phone, email, url, and the list 'fields'), or what --in names, where the \
      word 'fields' stands for the latter. Without more, records stay in order. --score NAME writes how well the best value matches, in the best way it does, into that \
      field (letters in a row and at beginnings of words count for it, letters passed over against) and puts the best first; equal ones stay in order. \
      --top N keeps the N best.
      """,
    options: [
      .init("--in", "F,…", "where to look; full_name,fields if not given"),
      .init("--score", "NAME", "write the score into this field, best records first"),
      .init("--top", "N", "only the N best"),
    ],
    examples: [
      .init("ohana match mrsimp --in first,last contacts.ndjson", "whoever has these letters in a name"),
      .init("ohana match 5550123 --in phone --score score --top 10 contacts.csv", "by the digits of a number"),
    ], memoryClass: .streaming, memoryNote: "B with --score or --top")

  /// How well a candidate matches; called for candidates that match only.
  public typealias Scorer = @Sendable (_ query: String, _ candidate: String) -> Int

  /// Each character stands for itself; never empty.
  public let query: String
  /// nil: the full name and all fields.
  public let names: [FieldName]?
  /// Gets the score, and has the best records first; nil: records stay in order.
  public let score: FieldName?
  /// How many of the best are kept; nil: all.
  public let top: Int?
  private let scorer: Scorer?

  /// - Parameters:
  ///   - names: where to look; `fields` stands for all fields by type.
  ///   - score: field that gets the score.
  ///   - scorer: nil is the measure that `ohana help match` describes.
  /// - Precondition: the query is not empty.
  public init(_ query: String, in names: [FieldName]? = nil, score: FieldName? = nil, top: Int? = nil, scorer: Scorer? = nil) {
    precondition(!query.isEmpty, "an empty query finds nothing")
    self.query = query
    self.names = names
    self.score = score
    self.top = top
    self.scorer = scorer
  }

  /// - Parameter arguments: the words after `match`.
  public static func parse(arguments: [String]) throws(OhanaError) -> MatchStage {
    let arguments = try StageArguments(arguments, for: help)
    let query = try arguments.single("QUERY")
    if query.isEmpty { throw arguments.problem("bad-value", "the query is empty", fix: "write at least one character to look for") }
    var names: [FieldName]?
    if let list = arguments.value("--in") { names = try ArgumentList.fields([list], what: "match --in") }
    var score: FieldName?
    if let name = arguments.value("--score") { score = try ArgumentList.field(name, what: "match --score") }
    return MatchStage(query, in: names, score: score, top: try arguments.number("--top"))
  }

  public var text: String {
    "match \(query)" + (names.map { " --in " + $0.map(\.description).joined(separator: ",") } ?? "")
      + (score.map { " --score \($0)" } ?? "")
      + (top.map { " --top \($0)" } ?? "")
  }
  private var isScored: Bool { score != nil || top != nil || scorer != nil }
  public var memoryClass: MemoryClass { isScored ? .breaker : .streaming }
  public var dropReason: String? { "no match" }
  public var isPredicate: Bool { !isScored }

  public func bind(_ schema: inout RecordSchema, _ context: StageContext) throws -> [StageStep] {
    var slots: [Int] = []
    var places: ContactFieldPlaces?
    if let names {
      for name in names {
        if name == ContactFieldPlaces.listName {
          places = ContactFieldPlaces(of: ContactFieldType.listed, &schema)
        } else {
          slots.append(try schema.slot(reading: name))
        }
      }
    } else {
      if let slot = schema.slot(readingIfPresent: FieldName(whole: Array("full_name".utf8))) { slots.append(slot) }
      places = ContactFieldPlaces(of: ContactFieldType.listed, &schema)
    }
    if slots.isEmpty, places?.list == nil, places?.columns.isEmpty ?? true {
      throw OhanaError(.usage, "nothing-to-match", "match: there is neither full_name nor a field by type", fix: "name fields with --in")
    }
    if names == nil { try places?.require(ContactFieldType.listed, or: slots, in: &schema) }
    var target: MatchStep.Target?
    if isScored {
      target = MatchStep.Target(slot: try score.map { try schema.slot(writing: $0) } ?? schema.newSlot(), isField: score != nil)
    }
    let step = MatchStep(query: FuzzyQuery(query), text: query, slots: slots, places: places, target: target, scorer: scorer)
    let steps = (places?.steps ?? []) + [.row(step)]
    guard let target else { return steps }
    let key = OrderKey(.field(score ?? FieldName(whole: [])), kind: .number, isDescending: true)
    let part = try BoundOrderKey(key, slot: target.slot, locale: nil)
    return steps + SortStage.steps([part], reversed: false, limit: top, context)
  }
}
