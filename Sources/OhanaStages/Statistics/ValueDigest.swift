internal import CXXHash
internal import OhanaCore

/// What the row-local half of `stats` leaves in ``RecordBatch/keyBytes`` for the ordered half.
///
/// ```
/// FieldDigest × field numbers │ ValueDigest × values other than null
/// ```
/// Fields are numbered as in ``MemberTable/keys``, or by their place in the list of slots.
struct BatchDigest {
  let fields: UnsafeMutablePointer<FieldDigest>
  let values: UnsafeMutablePointer<ValueDigest>

  init(_ bytes: ByteBuffer, fieldCount: Int) {
    let base = UnsafeMutableRawPointer(bytes.base)
    fields = base.assumingMemoryBound(to: FieldDigest.self)
    values = (base + Self.valuesOffset(fieldCount)).assumingMemoryBound(to: ValueDigest.self)
  }

  static func valuesOffset(_ fieldCount: Int) -> Int { (fieldCount * MemoryLayout<FieldDigest>.stride + 15) & ~15 }
  static func valueCount(_ bytes: ByteBuffer, fieldCount: Int) -> Int {
    (bytes.count - valuesOffset(fieldCount)) / MemoryLayout<ValueDigest>.stride
  }
}

/// Counts of one field in one batch.
struct FieldDigest: BitwiseCopyable {
  var present: UInt32 = 0
  var null: UInt32 = 0
  var empty: UInt32 = 0
  var minLength = UInt32.max
  /// Meaningless while `minLength` is above it.
  var maxLength: UInt32 = 0
  /// Place in the order of first appearance in the batch.
  var rank: UInt32 = 0
}

/// One value: its hash, and where it is.
struct ValueDigest: BitwiseCopyable {
  /// Of kind and text; never 0.
  var hash: UInt64
  /// Number of the field.
  var field: UInt32
  /// Index in ``MemberTable/members``, or in ``RecordBatch/fields``.
  var place: UInt32
}

/// Row-local: counts, measures and hashes the values of the selected records.
final class ValueDigester: RowStage {
  private let fields: StatisticsFields
  private let pool = ScratchPool { TextScratch() }
  private let texts = ScratchPool { ByteBuffer() }

  init(_ fields: StatisticsFields) { self.fields = fields }

  func process(_ batch: RecordBatch) throws -> StageTally {
    let scratch = pool.take()
    let text = texts.take()
    defer {
      pool.give(scratch)
      text.recycle(limit: 1 << 20)
      texts.give(text)
    }
    switch fields {
    case .members: digestMembers(batch, scratch, text)
    case .slots(let entries): digestSlots(batch, entries, scratch, text)
    }
    return StageTally()
  }

  private func digestMembers(_ batch: RecordBatch, _ scratch: TextScratch, _ text: ByteBuffer) {
    let table = batch.members
    let starts = table.starts
    let members = table.members
    let selection = batch.selection
    var valueRoom = 0
    for index in 0..<batch.selectedCount {
      let record = Int(selection[index])
      valueRoom &+= Int(starts[record &+ 1] &- starts[record])
    }
    let digest = Self.prepare(batch, fieldCount: table.keys.count, valueRoom: valueRoom)
    var ranks: UInt32 = 0
    var count = 0
    for index in 0..<batch.selectedCount {
      let record = Int(selection[index])
      for place in Int(starts[record])..<Int(starts[record &+ 1]) {
        let member = members[place]
        Self.add(member.span, field: Int(member.key), place: place, batch, digest, &count, &ranks, scratch, text)
      }
    }
    Self.finish(batch, fieldCount: table.keys.count, valueCount: count)
  }

  private func digestSlots(_ batch: RecordBatch, _ entries: [RecordLayout.Entry], _ scratch: TextScratch, _ text: ByteBuffer) {
    let digest = Self.prepare(batch, fieldCount: entries.count, valueRoom: batch.selectedCount * entries.count)
    let selection = batch.selection
    var ranks: UInt32 = 0
    var count = 0
    for (field, entry) in entries.enumerated() {
      for index in 0..<batch.selectedCount {
        let place = Int(selection[index]) &* batch.slotCount &+ entry.slot
        let span = batch.fields[place]
        if span.kind != .missing { Self.add(span, field: field, place: place, batch, digest, &count, &ranks, scratch, text) }
      }
    }
    Self.finish(batch, fieldCount: entries.count, valueCount: count)
  }

  private static func prepare(_ batch: RecordBatch, fieldCount: Int, valueRoom: Int) -> BatchDigest {
    batch.keyBytes.removeAll()
    batch.keyBytes.reserve(BatchDigest.valuesOffset(fieldCount) + valueRoom * MemoryLayout<ValueDigest>.stride)
    let digest = BatchDigest(batch.keyBytes, fieldCount: fieldCount)
    for field in 0..<fieldCount { digest.fields[field] = FieldDigest() }
    return digest
  }

  private static func finish(_ batch: RecordBatch, fieldCount: Int, valueCount: Int) {
    batch.keyBytes.count = BatchDigest.valuesOffset(fieldCount) + valueCount * MemoryLayout<ValueDigest>.stride
  }

  @inline(__always)
  private static func add(
    _ span: FieldSpan, field: Int, place: Int, _ batch: RecordBatch, _ digest: BatchDigest, _ count: inout Int, _ ranks: inout UInt32,
    _ scratch: TextScratch, _ text: ByteBuffer
  ) {
    let counts = digest.fields + field
    if counts.pointee.present == 0 {
      counts.pointee.rank = ranks
      ranks &+= 1
    }
    counts.pointee.present &+= 1
    if span.kind == .null {
      counts.pointee.null &+= 1
      return
    }
    let bytes = ValueText.text(of: span, in: batch, scratch, text)
    if span.kind == .string || span.kind == .number {
      let length = ValueText.codePoints(bytes)
      if length == 0 { counts.pointee.empty &+= 1 }
      counts.pointee.minLength = min(counts.pointee.minLength, length)
      counts.pointee.maxLength = max(counts.pointee.maxLength, length)
    }
    // Seeded by nothing but the kind, for the same input has to give the same estimate in every run.
    let hash = XXH3_64bits_withSeed(bytes.baseAddress, bytes.count, UInt64(ValueText.kindClass(span.kind)))
    digest.values[count] = ValueDigest(
      hash: hash == 0 ? 1 : hash, field: UInt32(truncatingIfNeeded: field), place: UInt32(truncatingIfNeeded: place))
    count &+= 1
  }
}

/// Text by which values are told apart and shown.
enum ValueText {
  /// The decoded text; of arrays and objects the JSON text without white space and with minimal escapes. Valid until the next call.
  @inline(__always)
  static func text(of span: FieldSpan, in batch: RecordBatch, _ scratch: TextScratch, _ text: ByteBuffer) -> UnsafeBufferPointer<UInt8> {
    if span.kind.rawValue < ValueKind.array.rawValue { return batch.text(of: span, scratch: scratch.decoded) }
    return nested(span, in: batch, scratch, text)
  }

  @inline(never)
  private static func nested(_ span: FieldSpan, in batch: RecordBatch, _ scratch: TextScratch, _ text: ByteBuffer) -> UnsafeBufferPointer<
    UInt8
  > {
    text.removeAll()
    if !appendKeyText(.exact, of: span, in: batch, to: text, scratch: scratch) { text.append(span.kind == .array ? "[]" : "{}") }
    return text.bytes
  }

  /// Both booleans are of one kind; their texts differ.
  @inline(__always)
  static func kindClass(_ kind: ValueKind) -> UInt8 { kind == .false ? ValueKind.true.rawValue : kind.rawValue }

  /// Code points of UTF-8 text: its bytes that continue none.
  @inline(__always)
  static func codePoints(_ text: UnsafeBufferPointer<UInt8>) -> UInt32 {
    guard let base = text.baseAddress else { return 0 }
    var continuing = 0
    var index = 0
    while index &+ 8 <= text.count {
      let word = UnsafeRawPointer(base + index).loadUnaligned(as: UInt64.self)
      // A continuation byte has bit 7 set and bit 6 clear.
      continuing &+= (word & ~(word << 1) & 0x8080_8080_8080_8080).nonzeroBitCount
      index &+= 8
    }
    while index < text.count {
      if base[index] & 0xc0 == 0x80 { continuing &+= 1 }
      index &+= 1
    }
    return UInt32(truncatingIfNeeded: text.count &- continuing)
  }
}
