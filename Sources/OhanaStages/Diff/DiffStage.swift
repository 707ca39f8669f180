public import OhanaCore
internal import Synchronization

/// `diff OLD NEW --by KEY,…`: what it takes to get from one set of records to another.
///
/// The stream holds the records of OLD, then those of NEW. Both are sorted by the fingerprint of their key, which spills beyond the share
/// of memory, and merged; what differs is sorted back into order: NEW's for added and changed records, then the removed ones in OLD's.
/// Row-local: fingerprints, packing and sorting of each batch. O(n log n), memory as the share says.
public struct DiffStage: PlannedStage {
  /// What tells records apart: no two of a side may agree in all of them.
  public var keys: [EqualityKey]
  /// Indices of the inputs that are OLD; all others are NEW. OLD comes first.
  public var oldSources: Range<Int>
  public let text: String
  /// Filled when the run is over.
  public let report = DiffReport()

  /// - Parameter text: the keys as the user wrote them.
  /// - Precondition: `oldSources` begins at 0.
  public init(keys: [EqualityKey], oldSources: Range<Int>, text: String) {
    precondition(oldSources.lowerBound == 0, "OLD comes before NEW")
    self.keys = keys
    self.oldSources = oldSources
    self.text = "diff --by \(text)"
  }

  public var memoryClass: MemoryClass { .breaker }
  public var dropReason: String? { nil }

  /// Understands the words behind the verb, inputs taken out.
  public static func parse(arguments words: [String], oldSources: Range<Int>) throws -> DiffStage {
    let arguments = try StageArguments(words, for: help)
    try arguments.noPositionals()
    guard let by = arguments.value("--by") else {
      throw arguments.problem("missing-argument", "--by KEY,… is missing", fix: "say what makes two records the same: diff OLD NEW --by id")
    }
    return DiffStage(keys: try EqualityKey.parse(list: by, what: "diff --by"), oldSources: oldSources, text: by)
  }

  public static let help = StageHelp(
    name: "diff", usage: "OLD NEW --by KEY,…", summary: "Shows which records were added, removed and changed.",
    text: """
      One record {op,key,old,new,fields} for each difference: op is added, removed or changed; key the key's text, an array of texts with \
      several keys; old and new the whole records, null where there is none; fields the names of the fields that differ, for changed ones. \
      First what is added or changed, in NEW's order, then what is removed, in OLD's. Fields are equal if their decoded texts are and they are \
      of one kind: the order of fields does not count, that of list items does, the spelling of numbers does, null equals missing, and "" is \
      neither. A key that is repeated within OLD or within NEW is an error. Records with a blank in their key match nothing: they are removed \
      or added. Exit status 1 if there is any difference.
      """,
    options: [.init("--by", "KEY,…", "What makes two records the same: FIELD[:KIND] or an expression, as for dedupe.")],
    examples: [
      .init("ohana diff monday.ndjson.gz tuesday.ndjson.gz --by id", "What changed since yesterday."),
      .init("ohana diff old.csv new.csv --by email:email --to ndjson -o changes.ndjson", "Records are the same if their e-mail is."),
    ],
    memoryClass: .breaker)

  public func bind(_ schema: inout RecordSchema, _ context: StageContext) throws -> [StageStep] {
    var binding = KeyBinding()
    let parts = try binding.parts(of: keys, &schema)
    let content = try RecordContent(&schema)
    // What is carried to the comparison, not what later stages want of the result.
    let payload = RecordPayload()
    payload.slots = Set(content.slots + parts.map(\.slot)).sorted()
    payload.needsBytes = content.needsBytes
    let slots = DiffSlots(&schema)
    let fingerprints = FingerprintMaker(parts, seed: context.settings.fingerprintSeed, blanks: .equalNothing)
    let join = DiffJoin(parts, content, payload, oldSources: oldSources, settings: context.settings)
    return binding.steps + [
      .row(DiffRunMaker(fingerprints, payload)), .ordered(DiffCollector(join, slots: slots, report: report, context)),
    ]
  }
}

/// How many differences a `diff` found; complete when its run is over.
public final class DiffReport: Sendable {
  private let counts = Mutex<(added: Int, removed: Int, changed: Int)>((0, 0, 0))

  init() {}

  /// Records of the new side only, so far.
  public var added: Int { counts.withLock { $0.added } }
  /// Records of the old side only, so far.
  public var removed: Int { counts.withLock { $0.removed } }
  /// Records of both sides that differ, so far.
  public var changed: Int { counts.withLock { $0.changed } }
  /// There is none.
  public var isEmpty: Bool { counts.withLock { $0 == (0, 0, 0) } }

  func count(_ operation: DiffOperation) {
    counts.withLock {
      switch operation {
      case .added: $0.added += 1
      case .removed: $0.removed += 1
      case .changed: $0.changed += 1
      }
    }
  }
}

enum DiffOperation: UInt8, Sendable {
  case added, removed, changed

  var word: StaticString {
    switch self {
    case .added: "added"
    case .removed: "removed"
    case .changed: "changed"
    }
  }
}

/// Slots of the records that come out.
struct DiffSlots: Sendable {
  let op, key, old, new, fields: Int

  init(_ schema: inout RecordSchema) {
    var entries: [RecordLayout.Entry] = []
    func add(_ name: String) -> Int {
      entries.append(.init(name: Array(name.utf8), slot: schema.newSlot()))
      return entries[entries.count - 1].slot
    }
    op = add("op")
    key = add("key")
    old = add("old")
    new = add("new")
    fields = add("fields")
    schema.replaceLayout(entries)
  }
}
