/// The unit of work between two stages: many records over one arena of bytes.
///
/// ```
/// arena    │ record 0 ⏎ record 1 ⏎ …            │ overlay values … │   (input bytes first, stages append)
/// records  │ offset,length │ offset,length │ …                          one per record read
/// fields   │ slot 0 … slot s-1 │ slot 0 … slot s-1 │ …                  row-major, `slotCount` per record
/// selection│ 0 │ 3 │ 4 │ …                                              ascending indices of records still alive
/// ```
///
/// A filter shortens `selection` and moves no bytes; a map appends a value to the arena and points the slot at it. Offsets are 32-bit.
/// A batch belongs to one queue at a time; the engine hands it on and recycles it, so nothing may keep a reference to it.
public final class RecordBatch: @unchecked Sendable {  // because it is owned by one piece of work at a time; the engine hands it over
  // MARK: Bytes

  /// Input bytes, then values that stages made.
  public final let arena: ByteBuffer
  /// What the sink's renderer made of the batch: whole records in output form.
  public final let output = ByteBuffer()
  /// Records in `output`.
  @exclusivity(unchecked) public final var outputCount = 0

  // MARK: Records

  /// Records in the batch, selected or not.
  @exclusivity(unchecked) public final var recordCount = 0
  @exclusivity(unchecked) @usableFromInline final var recordStorage = Storage<RecordSpan>()
  @exclusivity(unchecked) @usableFromInline final var fieldStorage = Storage<FieldSpan>()
  @exclusivity(unchecked) @usableFromInline final var selectionStorage = Storage<UInt32>()
  /// Slots per record; fixed by the plan.
  @exclusivity(unchecked) public final var slotCount = 0
  /// Records still alive: the first `selectedCount` of ``selection``.
  @exclusivity(unchecked) public final var selectedCount = 0

  // MARK: Keys (written by a stage's row part, read by its ordered part)

  /// Byte strings made by row-local code for the ordered stage that follows: sort keys.
  public final let keyBytes = ByteBuffer()
  @exclusivity(unchecked) @usableFromInline final var keyStorage = Storage<KeySpan>()
  /// 128-bit fingerprints, parallel to the selection at the time of writing; see ``fingerprints``.
  @exclusivity(unchecked) @usableFromInline final var fingerprintStorage = Storage<Fingerprint>()

  // MARK: All members (only where the plan asks for them)

  /// Every member of every record, where the plan needs them; otherwise empty.
  public final let members = MemberTable()

  // MARK: Where it comes from

  /// Place in the stream: 0, 1, 2 … without gaps. Set by the engine.
  public final var sequence = 0
  /// Index of the input the records come from. A batch never spans two inputs.
  @exclusivity(unchecked) public final var source = 0
  /// 0-based line of the batch's first byte in its input; -1 until the ordered step behind the reader has set it.
  public final var firstLine = 0
  /// Line ends in the batch's input bytes.
  public final var lineCount = 0
  /// Decompressed offset in the input of the batch's first byte.
  public final var firstByte = 0
  /// Number of the batch's first record among the records read from its input, counted from 0. Set by the ordered step behind the reader.
  @exclusivity(unchecked) public final var firstOrdinal = 0
  /// Empty lines passed over.
  public final var blankLines = 0
  /// Records that could not be read, in input order.
  public final var rejects: [Reject] = []
  /// Faults that left the record's other fields whole, in input order.
  public final var warnings: [Warning] = []
  /// Something the writer's parts hand on from the row-local to the ordered ones, for example the columns known at this point.
  public final var writerState: (any Sendable)?
  /// CSV output whose columns grow: cells per row of ``output``; 0 where they are fixed.
  public final var outputWidth = 0
  /// The input broke behind the records of this batch (a damaged chunk). Raised in stream order, by the ordered step that keeps the books.
  public final var fault: OhanaError?
  /// Compressed bytes of the inputs read when this batch was filled, for progress.
  public final var inputBytesRead = 0
  /// Something the reader wants to hand from its serial part to its row-local part, for example the header in force.
  public final var readerState: (any Sendable)?
  /// What each step of the pipeline did to this batch; kept by the engine.
  package final var stepCounts: [StageCounts] = []
  /// Selected records by input, of the selection counted last, and how many that were (-1: none); kept by the engine.
  package final var originCounts: [Int] = []
  package final var originCountsAre = -1
  /// What passed each step, by input, in a batch that mixes inputs; kept by the engine.
  package final var mixedPassages: [(source: Int, step: Int, input: Int, output: Int)] = []
  /// Selections behind each step, in order; kept by the engine where something may stop reading early.
  package final var trail: [(step: Int, selection: [UInt32], noted: [UInt32])] = []
  /// Records that the row stage at work notes something about (``StageTally/noted``), one for each thing noted.
  package final var notedRecords: [UInt32] = []
  /// Records of the batch that count, where a stage stopped reading within it; nil: all.
  public package(set) final var truncatedAt: Int?
  /// Per record that was restored from a spill or a sort: where it came from. Empty for batches straight from a reader.
  @exclusivity(unchecked) @usableFromInline final var originStorage = Storage<RecordOrigin>()
  /// Records were restored from a spill or a sort, and each has an origin of its own.
  @exclusivity(unchecked) public final var hasOrigins = false
  /// A stage made records of others: see ``beginRows()``.
  @exclusivity(unchecked) public internal(set) final var hasRows = false
  final var rowGenerations: [Int] = []
  @exclusivity(unchecked) final var parentStorage = Storage<UInt32>()

  /// - Parameter capacity: arena bytes that fit without growing.
  public init(capacity: Int = 0) { arena = ByteBuffer(capacity: capacity) }

  /// Empties the batch for the next use and keeps its memory, up to about `limit` bytes of arena.
  public final func recycle(limit: Int) {
    arena.recycle(limit: limit)
    output.recycle(limit: limit * 2)
    keyBytes.recycle(limit: limit * 2)
    outputCount = 0
    recordCount = 0
    selectedCount = 0
    members.removeAll()
    source = 0
    firstLine = 0
    lineCount = 0
    firstByte = 0
    firstOrdinal = 0
    blankLines = 0
    rejects.removeAll()
    warnings.removeAll()
    readerState = nil
    writerState = nil
    outputWidth = 0
    fault = nil
    inputBytesRead = 0
    hasOrigins = false
    hasRows = false
  }
}

extension RecordBatch {
  /// The records, valid for `recordCount` elements until the next `appendRecord`.
  @inlinable public final var records: UnsafeMutablePointer<RecordSpan> { @inline(__always) get { recordStorage.base } }
  /// Field table, row-major: slot `s` of record `r` is at `r * slotCount + s`.
  @inlinable public final var fields: UnsafeMutablePointer<FieldSpan> { @inline(__always) get { fieldStorage.base } }
  /// Ascending indices of the selected records, `selectedCount` of them.
  @inlinable public final var selection: UnsafeMutablePointer<UInt32> { @inline(__always) get { selectionStorage.base } }
  /// Fingerprint of the key of `selection[i]`, for `i < selectedCount`; valid directly behind the row stage that wrote them.
  @inlinable public final var fingerprints: UnsafeMutablePointer<Fingerprint> { @inline(__always) get { fingerprintStorage.base } }
  /// Key of `selection[i]`, as a span of `keyBytes`; valid like ``fingerprints``.
  @inlinable public final var keys: UnsafeMutablePointer<KeySpan> { @inline(__always) get { keyStorage.base } }
  /// Origin of record `r`; only where `hasOrigins`.
  @inlinable public final var origins: UnsafeMutablePointer<RecordOrigin> { @inline(__always) get { originStorage.base } }

  /// Adds a record with all its slots missing, and returns its index. Does not select it.
  @inlinable @inline(__always)
  public final func appendRecord(_ span: RecordSpan) -> Int {
    let index = recordCount
    recordStorage.reserve(index &+ 1, used: index)
    recordStorage.base[index] = span
    let first = index &* slotCount
    fieldStorage.reserve(first &+ slotCount, used: first)
    (fieldStorage.base + first).initialize(repeating: .missing, count: slotCount)
    recordCount = index &+ 1
    return index
  }

  /// Room for `count` records and their slots without growing, for readers that write ``records`` and ``fields`` through pointers held
  /// across many records and set `recordCount` themselves. Both are to be fetched anew behind this call.
  public final func reserveRecords(_ count: Int) {
    recordStorage.reserve(count, used: recordCount)
    fieldStorage.reserve(count &* slotCount, used: recordCount &* slotCount)
  }

  /// Takes the record added last back (it turned out to be no record).
  @inlinable public final func removeLastRecord() { recordCount &-= 1 }

  /// Selects every record.
  @inlinable public final func selectAll() {
    selectionStorage.reserve(recordCount, used: 0)
    let selection = selectionStorage.base
    for index in 0..<recordCount { selection[index] = UInt32(truncatingIfNeeded: index) }
    selectedCount = recordCount
  }

  /// Adds one record, which must come behind those selected already, to the selection.
  @inlinable @inline(__always) public final func select(_ record: Int) {
    selectionStorage.reserve(selectedCount &+ 1, used: selectedCount)
    selectionStorage.base[selectedCount] = UInt32(truncatingIfNeeded: record)
    selectedCount &+= 1
  }

  /// Room for one fingerprint per selected record.
  public final func reserveFingerprints() { fingerprintStorage.reserve(selectedCount, used: 0) }
  /// Room for one key per selected record.
  public final func reserveKeys() { keyStorage.reserve(selectedCount, used: 0) }
  /// Room for one selection entry per record, for stages that write ``selection`` themselves.
  public final func reserveSelection() { selectionStorage.reserve(recordCount, used: selectedCount) }
  /// Room for one origin per record, `used` of them kept.
  public final func reserveOrigins(_ count: Int, used: Int) { originStorage.reserve(count, used: used) }

  /// The field in `slot` of record `record`.
  @inlinable @inline(__always)
  public final func field(_ slot: Int, of record: Int) -> FieldSpan { fieldStorage.base[record &* slotCount &+ slot] }

  /// The bytes a span names, still encoded as ``FieldSpan/encoding`` says; valid until the next append to the arena.
  @inlinable @inline(__always)
  public final func bytes(of span: FieldSpan) -> UnsafeBufferPointer<UInt8> {
    UnsafeBufferPointer(start: arena.base + Int(span.offset), count: Int(span.length))
  }

  /// The record's own bytes, valid until the next append to the arena.
  @inlinable @inline(__always)
  public final func bytes(ofRecord record: Int) -> UnsafeBufferPointer<UInt8> {
    let span = recordStorage.base[record]
    return UnsafeBufferPointer(start: arena.base + Int(span.offset), count: Int(span.length))
  }

  /// Points a slot at a value that lies in the arena already, and marks field and record as changed.
  ///
  /// - Parameter inPlace: the value replaces the one the record holds, nested or not (`normalize`). Otherwise (`set`) a nested value is
  ///   left alone and the new one becomes a member of that whole name.
  @inlinable @inline(__always)
  public final func overlay(
    _ slot: Int, of record: Int, offset: Int, length: Int, kind: ValueKind, encoding: TextEncoding = .plain, inPlace: Bool
  ) {
    let index = record &* slotCount &+ slot
    var span = fieldStorage.base[index]
    span.offset = UInt32(truncatingIfNeeded: offset)
    span.length = UInt32(truncatingIfNeeded: length)
    span.kind = kind
    span.encoding = encoding
    if !inPlace && span.flags.contains(.nested) { span.flags.subtract([.nested, .inSource]) }
    span.flags.insert(.overlay)
    fieldStorage.base[index] = span
    recordStorage.base[record].flags.insert(.changed)
  }

  /// Keeps those selected records for which `isKept` says so, in order. Returns how many were dropped.
  @inlinable @inline(__always)
  public final func filterSelection(_ isKept: (_ record: Int) -> Bool) -> Int {
    let selection = selectionStorage.base
    var kept = 0
    let count = selectedCount
    for index in 0..<count {
      let record = selection[index]
      selection[kept] = record
      kept &+= isKept(Int(record)) ? 1 : 0
    }
    selectedCount = kept
    return count &- kept
  }
}

/// A key's place in ``RecordBatch/keyBytes``.
@frozen public struct KeySpan: Sendable, BitwiseCopyable {
  /// First byte in ``RecordBatch/keyBytes``.
  public var offset: UInt32
  /// In bytes.
  public var length: UInt32
  /// - Parameters offset, length: in bytes of ``RecordBatch/keyBytes``.
  @inlinable public init(offset: UInt32, length: UInt32) { (self.offset, self.length) = (offset, length) }
}

/// Where a record was read: input and place among the records of that input, counted from 0.
@frozen public struct RecordOrigin: Sendable, BitwiseCopyable {
  /// Index of the input, from 0.
  public var source: UInt32
  /// Place among the records of that input, from 0.
  public var ordinal: UInt64
  /// - Parameter ordinal: from 0.
  @inlinable public init(source: UInt32, ordinal: UInt64) { (self.source, self.ordinal) = (source, ordinal) }
}

/// Stands for a key: 128 bits of XXH3. ``none`` stands for a key with a blank part, which equals nothing.
@frozen public struct Fingerprint: Hashable, Sendable, BitwiseCopyable {
  /// Upper 64 bits.
  public var high: UInt64
  /// Lower 64 bits.
  public var low: UInt64
  /// - Parameters high, low: both 0 are ``none``.
  @inlinable public init(high: UInt64, low: UInt64) { (self.high, self.low) = (high, low) }
  /// Of a key with a blank part: equals nothing.
  @inlinable public static var none: Fingerprint { Fingerprint(high: 0, low: 0) }
  /// Whether it is ``none``.
  @inlinable public var isNone: Bool { high | low == 0 }
}

/// A record that could not be read.
public struct Reject: Sendable, Equatable {
  /// Why a record cannot be read; the raw value is what rejects and reports call it.
  public enum Reason: String, Sendable, Codable, CaseIterable {
    /// The text breaks the grammar of RFC 8259.
    case invalidJSON = "invalid-json"
    /// Valid JSON, but no object.
    case notAnObject = "not-an-object"
    /// Bytes that are not UTF-8 (RFC 3629).
    case invalidUTF8 = "invalid-utf8"
    /// `\uD800` to `\uDFFF` without its other half: no Unicode text.
    case loneSurrogate = "lone-surrogate"
    /// More than 1,024 levels of arrays and objects.
    case tooDeep = "nesting-too-deep"
    /// Longer than `--max-record`.
    case tooLong = "record-too-long"
    /// Text between a cell's closing quote and the next delimiter.
    case textAfterQuote = "text-after-quote"
    /// A cell's quote is open at the end of the input, or past `--max-record`.
    case unclosedQuote = "unclosed-quote"
    /// More cells than columns, the surplus not empty.
    case tooManyCells = "too-many-cells"
    /// Two members of the record would be written under one name.
    case keyCollision = "key-collision"
    /// Bytes that the input's encoding has no character for.
    case invalidEncoding = "invalid-encoding"
  }
  /// The first fault that was found.
  public var reason: Reason
  /// What is wrong, without any of the record's values.
  public var detail: String
  /// 0-based line, counted from the batch's first line.
  public var line: Int
  /// 1-based byte column in that line of the byte at fault.
  public var column: Int
  /// Decompressed offset of the record's first byte, counted from the batch's first byte.
  public var offset: Int
  /// Bytes of the record; more than `raw` holds where it was not kept.
  public var length: Int
  /// The record's bytes; nil for an over-long record, which is not held.
  public var raw: [UInt8]?
  /// Index the record would have had among the batch's records: those before it have lower indices.
  public var before: Int

  /// - Parameter line: 0-based, counted from the batch's first line, while `column` is 1-based.
  public init(reason: Reason, detail: String, line: Int, column: Int, offset: Int, length: Int, raw: [UInt8]?, before: Int) {
    self.reason = reason
    self.detail = detail
    self.line = line
    self.column = column
    self.offset = offset
    self.length = length
    self.raw = raw
    self.before = before
  }
}

/// A fault that cost nothing but is worth counting: a short CSV row.
public struct Warning: Sendable, Equatable {
  /// Short name of the kind, which counts are kept under.
  public var code: String
  /// 0-based line, counted from the batch's first line.
  public var line: Int
  /// - Parameter line: 0-based, counted from the batch's first line.
  public init(code: String, line: Int) { (self.code, self.line) = (code, line) }
}

/// Raw growable memory for plain values; never shrinks, never initialises.
///
/// Frozen and with an inlinable end, since the optimizer of Swift 6.3 gives up on inlinable setters of a type that is not.
@usableFromInline @frozen
struct Storage<Element: BitwiseCopyable>: ~Copyable {
  @usableFromInline var base: UnsafeMutablePointer<Element>
  @usableFromInline var capacity: Int

  @usableFromInline init() {
    capacity = 0
    base = .allocate(capacity: 0)
  }
  @inlinable deinit { base.deallocate() }

  /// Makes room for `count` elements, of which the first `used` are kept.
  @inlinable @inline(__always)
  mutating func reserve(_ count: Int, used: Int) {
    if count > capacity { grow(count, used: used) }
  }

  @usableFromInline @inline(never)
  mutating func grow(_ count: Int, used: Int) {
    let target = max(count, capacity * 2, 64)
    let new = UnsafeMutablePointer<Element>.allocate(capacity: target)
    new.update(from: base, count: used)
    base.deallocate()
    base = new
    capacity = target
  }
}
