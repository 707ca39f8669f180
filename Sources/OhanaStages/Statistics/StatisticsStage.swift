public import OhanaCore

/// `stats`: replaces the stream by one record per top-level field that says what the field's values are like.
///
/// Row-local: hashes and measures every value. In order: counts them. The result depends on the records and their order alone, never on
/// threads, batches or memory. Needs about 250 KiB for a field with many different values, at most some 1.2 MiB where these are long; a run
/// whose share of memory cannot hold that fails with `memory`.
public struct StatisticsStage: PlannedStage {
  /// More different fields than this are refused.
  public static let maxFields = 4_096
  /// Up to so many different values of a field are counted exactly.
  public static let exactLimit = ValueCounters.capacity
  /// Of ``FieldStatistics/distinct`` beyond ``exactLimit``, as a fraction: 1.04 / √4,096.
  public static let distinctStandardError = 1.04 / 64
  /// Of a frequent value that is longer, only the beginning is kept.
  public static let maxShownBytes = ValueCounters.maxTextBytes

  /// Filled when the run is over.
  public let report = StatisticsReport()

  /// Takes no arguments; what it finds is in its report when the run is over.
  public init() {}

  public var text: String { "stats" }
  public var memoryClass: MemoryClass { .keyed }
  public var dropReason: String? { nil }

  public static func parse(arguments words: [String]) throws -> StatisticsStage {
    try StageArguments(words, for: help).noPositionals()
    return StatisticsStage()
  }

  public static let help = StageHelp(
    name: "stats", usage: "", summary: "Describes every field.",
    text: """
      One record per top-level field, in order of first appearance: present (records that hold it), missing (the rest), null, empty ("" \
      strings), distinct (different values other than null; exact up to \(exactLimit), beyond that an estimate with a standard error of 1.6 % \
      and distinct_is_estimate), min_length and max_length (code points of strings and numbers), top (up to five most frequent values with \
      their counts; top_is_estimate where another value may be more frequent, the counts are lower bounds then). At most \(maxFields) fields.
      """,
    examples: [
      .init("ohana stats exports/", "A table of all fields."),
      .init("ohana stats --to ndjson contacts.csv", "The same for programs."),
    ],
    memoryClass: .keyed, memoryNote: "per field, not per record")

  /// - Throws: `usage` behind a stage that changes single fields of NDJSON records.
  public func bind(_ schema: inout RecordSchema, _ context: StageContext) throws -> [StageStep] {
    let fields: StatisticsFields
    if let columns = schema.columns, schema.layout.followsSource {
      fields = .slots(try columns.map { .init(name: $0, slot: try schema.slot(reading: FieldName(whole: $0))) })
    } else if !schema.layout.followsSource {
      fields = .slots(schema.layout.entries)
      schema.slotsRead.formUnion(schema.layout.entries.map(\.slot))
    } else if schema.layout.isSourceAsIs {
      fields = .members
      schema.needsMembers = true
    } else {
      throw OhanaError(
        .usage, "stats-behind-changes", "stats describes records as they are read; a stage before it changes their fields",
        fix: "write the changed records to a file and describe that")
    }
    let slots = StatisticsSlots(&schema)
    return [.row(ValueDigester(fields)), .ordered(StatisticsCollector(fields, slots: slots, report: report, context))]
  }
}

/// Where a record's fields are found.
enum StatisticsFields: Sendable {
  /// In ``RecordBatch/members``.
  case members
  /// In slots, columns as a rule.
  case slots([RecordLayout.Entry])
}

/// Slots of the records that come out.
struct StatisticsSlots: Sendable {
  let field, present, missing, null, empty, distinct, distinctIsEstimate, minLength, maxLength, top, topIsEstimate: Int

  init(_ schema: inout RecordSchema) {
    var entries: [RecordLayout.Entry] = []
    func add(_ name: String) -> Int {
      entries.append(.init(name: Array(name.utf8), slot: schema.newSlot()))
      return entries[entries.count - 1].slot
    }
    field = add("field")
    present = add("present")
    missing = add("missing")
    null = add("null")
    empty = add("empty")
    distinct = add("distinct")
    distinctIsEstimate = add("distinct_is_estimate")
    minLength = add("min_length")
    maxLength = add("max_length")
    top = add("top")
    topIsEstimate = add("top_is_estimate")
    schema.replaceLayout(entries)
  }
}
