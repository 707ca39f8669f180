/// All top-level members of a batch's records, for plans that need more than a few named fields (NDJSON to CSV, `stats`).
///
/// Record `r` owns the members `starts[r] ..< starts[r + 1]`. Keys are numbered per batch in the order of their first appearance among
/// the records that were accepted.
public final class MemberTable: @unchecked Sendable {  // because it is part of its batch
  @exclusivity(unchecked) @usableFromInline final var startStorage = Storage<UInt32>()
  @exclusivity(unchecked) @usableFromInline final var memberStorage = Storage<Member>()
  /// Records entered; 0 where the reader was not asked for members.
  @exclusivity(unchecked) public final var recordCount = 0
  /// Members of all records.
  @exclusivity(unchecked) public final var count = 0
  /// Decoded key texts by number.
  @exclusivity(unchecked) public final var keys: [[UInt8]] = []
  /// Keys under which an object or array was met: their values may need flattening.
  @exclusivity(unchecked) public final var keyHoldsNested: [Bool] = []

  /// A member of a record: which key, and its value.
  @frozen public struct Member: Sendable, BitwiseCopyable {
    /// Number of the key in ``MemberTable/keys``.
    public var key: UInt32
    /// The value, as a ``FieldSpan`` of the batch's arena; `span.key` is the offset of the key's opening quote.
    public var span: FieldSpan
    /// - Parameter key: index in ``MemberTable/keys``.
    @inlinable public init(key: UInt32, span: FieldSpan) { (self.key, self.span) = (key, span) }
  }

  init() {}

  /// First member of each record, and behind the last record's: `recordCount + 1` entries.
  @inlinable public final var starts: UnsafeMutablePointer<UInt32> { startStorage.base }
  /// `count` entries, record by record, in the order of the text.
  @inlinable public final var members: UnsafeMutablePointer<Member> { memberStorage.base }

  /// Empties the table and keeps its memory.
  public final func removeAll() {
    recordCount = 0
    count = 0
    keys.removeAll(keepingCapacity: true)
    keyHoldsNested.removeAll(keepingCapacity: true)
  }

  @inlinable @inline(__always)
  public final func append(_ member: Member) {
    memberStorage.reserve(count &+ 1, used: count)
    memberStorage.base[count] = member
    count &+= 1
  }

  /// Room for `records` and `members` in all, for readers that write ``starts`` and ``members`` through pointers held across many records
  /// and set `recordCount` and `count` themselves. Both pointers are to be fetched anew behind this call.
  public final func reserve(records: Int, members: Int) {
    startStorage.reserve(records &+ 1, used: recordCount == 0 ? 0 : recordCount &+ 1)
    if recordCount == 0 { startStorage.base[0] = 0 }
    memberStorage.reserve(members, used: count)
  }

  /// Ends the record begun last: its members are those appended since the previous call.
  @inlinable @inline(__always)
  public final func endRecord() {
    if recordCount == 0 {
      startStorage.reserve(2, used: 0)
      startStorage.base[0] = 0
    }
    startStorage.reserve(recordCount &+ 2, used: recordCount &+ 1)
    recordCount &+= 1
    startStorage.base[recordCount] = UInt32(truncatingIfNeeded: count)
  }
}
