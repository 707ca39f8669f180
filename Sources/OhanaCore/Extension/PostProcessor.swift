/// Works on the stream between providers and sinks: an extension point.
///
/// A post-processor is a planned stage with sensible answers to what only some stages have to say. It works in every place where the stages
/// of the package do, and costs one call per batch. What it does to records stands in a ``RowStage`` (any thread, any order, nothing
/// remembered) or an ``OrderedStage`` (in stream order):
///
/// ```swift
/// struct AreaCode: PostProcessor {
///   let code: String
///   var makesRows: Bool { false }
///
///   func bind(_ schema: inout RecordSchema, _ context: StageContext) throws -> [StageStep] {
///     [.row(Step(slot: try schema.slot(reading: "phone"), code: Array(code.utf8)))]
///   }
///   struct Step: RowStage {
///     let slot: Int, code: [UInt8]
///     func process(_ batch: RecordBatch) throws -> StageTally {
///       StageTally(dropped: batch.filterSelection { batch.bytes(of: batch.field(slot, of: $0)).starts(with: code) })
///     }
///   }
/// }
/// ```
public protocol PostProcessor: PlannedStage {
  /// It may give several records for one, one behind the other; true unless said otherwise. Ids of contacts then tell the rows of a record
  /// apart by what is in them, and are others than without it: say false where records only pass, change, or go.
  var makesRows: Bool { get }
}

extension PostProcessor {
  /// The type's name.
  public var text: String { "\(Self.self)" }
  /// One record at a time, unless said otherwise.
  public var memoryClass: MemoryClass { .streaming }
  /// For the books.
  public var dropReason: String? { "dropped by \(Self.self)" }
  public var makesRows: Bool { true }
}

extension FieldName: ExpressibleByStringLiteral {
  /// As ``init(_:)``.
  public init(stringLiteral value: String) { self.init(value) }
}
