public import OhanaCore

/// Writes the selected records of a batch as NDJSON, one line feed behind each: the parallel half of the NDJSON writer.
///
/// - A layout that follows the source passes a record's own bytes wherever nothing of it changed, and otherwise splices the edits in: all
///   that did not change keeps its spelling and spacing. A removed member takes its comma with it; a new one is appended, compact.
///   A record that repeats a key the plan uses is written anew with each key once, in its first place and with its last value.
/// - An explicit layout writes `{"name":value,…}` without white space, fields that are missing left out.
///
/// Strings are escaped as little as RFC 8259 allows; numbers, arrays and objects keep their spelling.
public final class NDJSONRenderer: RecordRenderer {
  /// Where the records come from.
  public enum Source: Sendable {
    /// Their bytes are JSON objects, and the fields of their members say where these stand.
    case ndjson
    /// Their bytes are cells; only explicit layouts.
    case columns
  }

  /// How columns become JSON; explicit layouts only.
  public struct Options: Sendable, Equatable {
    /// Dotted names become members of objects: `address.city` a `city` in `address` (`--unflatten`).
    public var unflattens = false
    /// Names of fields whose text is cut at `;` into an array of strings (`--lists`). Text that is a JSON array is written as that.
    public var lists: Set<[UInt8]> = []
    /// Columns as they are, unless told otherwise.
    public init(unflattens: Bool = false, lists: Set<[UInt8]> = []) { (self.unflattens, self.lists) = (unflattens, lists) }
  }

  private let layout: RecordLayout
  private let source: Source
  private let members: NDJSONMemberWriter?
  private let pool = Locked<[NDJSONSplicer]>([])

  /// - Throws: ``OhanaError`` (`usage`, `name-conflict`) where `unflattens` would make one name a value and an object.
  /// - Precondition: columns come with an explicit layout, options too.
  public init(layout: RecordLayout, source: Source, options: Options = Options()) throws {
    precondition(source == .ndjson || !layout.followsSource, "records of columns have to be written from an explicit layout")
    precondition(!layout.followsSource || options == Options(), "only an explicit layout can be unflattened or hold lists")
    self.layout = layout
    self.source = source
    members = layout.followsSource ? nil : try NDJSONMemberWriter(layout.entries, source: source, options: options)
  }

  /// - Throws: ``OhanaError`` (`badInput`, `key-collision`) for a record that has a member of the name another one is renamed to.
  public func process(_ batch: RecordBatch) throws -> StageTally {
    batch.output.removeAll()
    batch.outputCount = 0
    if let members {
      members.write(batch)
    } else {
      let splicer = pool.withLock { $0.popLast() } ?? NDJSONSplicer(layout)
      defer { pool.withLock { $0.append(splicer) } }
      try writeFollowingSource(batch, splicer)
    }
    batch.outputCount = batch.selectedCount
    return StageTally()
  }

  private func writeFollowingSource(_ batch: RecordBatch, _ splicer: NDJSONSplicer) throws {
    let records = batch.records
    let selection = batch.selection
    let base = UnsafePointer(batch.arena.base)
    let isAsIs = layout.isSourceAsIs
    let count = batch.selectedCount
    var total = 0
    for index in 0..<count { total &+= Int(records[Int(selection[index])].length) &+ 1 }
    var out = OutputCursor(batch.output)
    // Rows made of one record share its bytes, and take fewer themselves.
    out.reserve(batch.hasRows ? min(total, batch.arena.count) : total)
    var run = RecordRun(base)
    for index in 0..<count {
      let record = Int(selection[index])
      let span = records[record]
      if span.flags.contains(.repeatsKey) || !isAsIs && splicer.hasEdits(record, of: batch, span) {
        run.end(&out)
        try splicer.write(record, of: batch, to: &out)
        out.append(0x0a)
      } else {
        run.add(span, to: &out)
      }
    }
    run.end(&out)
    out.finish()
  }
}
