public import OhanaCore

/// Finds records and the plan's fields in batches that an ``NDJSONFramer`` filled: the parallel half of the NDJSON reader.
///
/// One line is one record, and a record is a JSON object (RFC 8259), checked in full whether or not a field of it is wanted. Refused are
/// lone surrogates and nesting over 1,024; white-space lines are counted in `blankLines`. Numbers keep their spelling. Of repeated keys
/// the last value counts; where the plan uses such a key the record is marked ``RecordSpan/Flags/repeatsKey`` and `changed`, so that it
/// is written anew with each key once.
///
/// A field name is looked up whole first, then as a path; values found by path are marked ``FieldSpan/Flags/nested``. Their
/// ``FieldSpan/key`` is the offset of the innermost key's opening quote; where the path ends in an index it is that of the element.
///
/// Rejects say the first byte at which no valid record could go on. Every record accepted is selected. Safe to call from any number of
/// threads.
public final class NDJSONParser: RowStage, Checkpointable {
  private struct Shared {
    var walkers: [NDJSONWalker] = []
    var foundFields: [Bool]
    var keyNames: Set<[UInt8]> = []
  }

  private let plan: NDJSONPlan
  private let shared: Locked<Shared>
  private static let maxKeyNames = RecordSchema.maxNotedNames
  private static let maxKeyNameLength = 256

  /// - Parameters:
  ///   - fields: what to find, each in its own slot.
  ///   - wantsMembers: fill ``RecordBatch/members`` too.
  ///   - maxRecordBytes: longer records are rejected, line end not counted; the same as the framer's.
  public init(fields: [RecordSchema.SourceField], wantsMembers: Bool = false, maxRecordBytes: Int = 64 << 20) {
    plan = NDJSONPlan(fields: fields, wantsMembers: wantsMembers, maxRecordBytes: maxRecordBytes)
    shared = Locked(Shared(foundFields: Array(repeating: false, count: fields.count)))
  }

  public func process(_ batch: RecordBatch) throws -> StageTally {
    let walker = shared.withLock { $0.walkers.popLast() } ?? NDJSONWalker(plan: plan)
    walker.parse(batch)
    (batch.readerState as? NDJSONLineMap)?.apply(to: batch)
    let names = walker.hasNews ? walker.takeFreshKeys() : []
    let found = walker.foundFields
    shared.withLock { shared in
      shared.walkers.append(walker)
      for index in found.indices where found[index] { shared.foundFields[index] = true }
      for name in names where shared.keyNames.count < Self.maxKeyNames && name.count <= Self.maxKeyNameLength {
        shared.keyNames.insert(name)
      }
    }
    return StageTally()
  }

  /// By index among the fields given: some record accepted so far held it, whole or by path.
  public var foundFields: [Bool] { shared.withLock { $0.foundFields } }

  /// Top-level keys of the records accepted so far, in byte order: the first 4,096 met, none longer than 256 bytes. For suggestions.
  public var keyNames: [[UInt8]] { shared.withLock { $0.keyNames.sorted { $0.lexicographicallyPrecedes($1) } } }

  public func save(to writer: CheckpointWriter) throws {
    let (found, names) = shared.withLock { ($0.foundFields, $0.keyNames) }
    try writer.put(found.count)
    for isFound in found { try writer.put(isFound) }
    try writer.put(names.count)
    for name in names { try writer.put(name) }
  }

  public func restore(from reader: CheckpointReader) throws {
    var found: [Bool] = []
    for _ in 0..<(try reader.count(1 << 20)) { found.append(try reader.bool()) }
    var names: Set<[UInt8]> = []
    for _ in 0..<(try reader.count(Self.maxKeyNames)) { names.insert(try reader.bytes()) }
    try shared.withLock { shared in
      guard found.count == shared.foundFields.count else { throw CheckpointReader.damaged }
      shared.foundFields = found
      shared.keyNames = names
    }
  }

  /// What a record over the limit is reported as, whoever meets it.
  static func tooLong(line: Int, offset: Int, length: Int, limit: Int, before: Int) -> Reject {
    Reject(
      reason: .tooLong, detail: "longer than \(limit) bytes (--max-record)", line: line, column: limit + 1, offset: offset, length: length,
      raw: nil, before: before)
  }
}
