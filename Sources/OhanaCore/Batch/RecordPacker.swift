internal import CXXHash

/// Records outside a batch: in a sort buffer or a spill file.
///
/// ```
/// u32 size of all that follows │ u32 flags │ u32 source │ u64 ordinal │ u32 record length │ payload slots × FieldSpan │ bytes
/// ```
/// Little-endian, unaligned. The bytes are the record's own (where the payload needs them), then the values that lie outside them.
/// Offsets of spans count from the first of these bytes. Never outlives the process, so there is no version.
public struct RecordPacker: Sendable {
  private let slots: [Int]
  private let needsBytes: Bool

  /// Bytes of a packed record in front of its spans.
  public static let headerSize = 24

  /// - Parameter payload: what of each record is packed; looked at now, so the planner has to have filled it in.
  public init(_ payload: RecordPayload) {
    slots = payload.slots
    needsBytes = payload.needsBytes
  }

  /// Bytes that the selected records take in packed form, or somewhat more. O(selected records × slots).
  public func room(forSelectedOf batch: RecordBatch) -> Int {
    let count = batch.selectedCount
    var room = count * (Self.headerSize + slots.count * MemoryLayout<FieldSpan>.size)
    if needsBytes { return room + batch.arena.count }
    for slot in slots {
      for index in 0..<count { room &+= Int(batch.field(slot, of: Int(batch.selection[index])).length) }
    }
    return room
  }

  /// Asks for the cache lines that say where the values of a record lie.
  @inline(__always)
  public func prefetchSpans(_ record: Int, of batch: RecordBatch) {
    ohana_prefetch(batch.fields + record * batch.slotCount)
    ohana_prefetch(batch.records + record)
  }

  /// Asks for the cache lines of a record's values. What ``prefetchSpans(_:of:)`` asked for has to have come.
  @inline(__always)
  public func prefetchValues(_ record: Int, of batch: RecordBatch) {
    let arena = batch.arena.base
    if needsBytes {
      let start = arena + Int(batch.records[record].offset)
      ohana_prefetch(start)
      ohana_prefetch(start + 64)
    } else {
      for slot in slots { ohana_prefetch(arena + Int(batch.field(slot, of: record).offset)) }
    }
  }

  /// Appends record `record` of `batch` to `out`. Returns the bytes appended. O(bytes carried).
  @discardableResult
  public func pack(_ record: Int, of batch: RecordBatch, to out: ByteBuffer) -> Int {
    let start = out.count
    let span = batch.records[record]
    let bodyStart = start + Self.headerSize + slots.count * MemoryLayout<FieldSpan>.size
    out.reserve(bodyStart - start + Int(span.length))
    out.count = bodyStart
    let arena = batch.arena.base
    if needsBytes { out.append(arena + Int(span.offset), count: Int(span.length)) }
    let recordStart = span.offset
    let recordEnd = span.offset + span.length
    let row = batch.fields + record * batch.slotCount
    for (index, slot) in slots.enumerated() {
      var field = row[slot]
      let isOwn = needsBytes && field.offset >= recordStart && field.offset + field.length <= recordEnd
      if isOwn {
        field.offset -= recordStart
      } else if field.length > 0 {
        let offset = UInt32(out.count - bodyStart)
        out.appendPadded(arena + Int(field.offset), count: Int(field.length))
        field.offset = offset
      } else {
        field.offset = 0
      }
      if needsBytes, field.flags.contains(.inSource) { field.key &-= recordStart } else { field.key = 0 }
      UnsafeMutableRawPointer(out.base + start + Self.headerSize + index * MemoryLayout<FieldSpan>.size)
        .storeBytes(of: field, as: FieldSpan.self)
    }
    let origin = batch.origin(of: record)
    let header = UnsafeMutableRawPointer(out.base + start)
    header.storeBytes(of: UInt32(out.count - start - 4), as: UInt32.self)
    header.storeBytes(of: span.flags.rawValue, toByteOffset: 4, as: UInt32.self)
    header.storeBytes(of: origin.source, toByteOffset: 8, as: UInt32.self)
    header.storeBytes(of: origin.ordinal, toByteOffset: 12, as: UInt64.self)
    header.storeBytes(of: needsBytes ? span.length : 0, toByteOffset: 20, as: UInt32.self)
    return out.count - start
  }

  /// Adds the packed record at `packed` to `batch`, selected. Returns its size in packed form, the leading size field included.
  @discardableResult
  public func unpack(_ packed: UnsafeRawPointer, into batch: RecordBatch) -> Int {
    let size = Int(packed.loadUnaligned(as: UInt32.self)) + 4
    let flags = packed.loadUnaligned(fromByteOffset: 4, as: UInt32.self)
    let source = packed.loadUnaligned(fromByteOffset: 8, as: UInt32.self)
    let ordinal = packed.loadUnaligned(fromByteOffset: 12, as: UInt64.self)
    let length = packed.loadUnaligned(fromByteOffset: 20, as: UInt32.self)
    let spansSize = slots.count * MemoryLayout<FieldSpan>.size
    let bodyOffset = UInt32(batch.arena.count)
    batch.arena.append(
      packed.advanced(by: Self.headerSize + spansSize).assumingMemoryBound(to: UInt8.self), count: size - Self.headerSize - spansSize)
    let record = batch.appendRecord(RecordSpan(offset: bodyOffset, length: length, flags: .init(rawValue: flags)))
    let row = batch.fields + record * batch.slotCount
    for (index, slot) in slots.enumerated() {
      var field = packed.loadUnaligned(fromByteOffset: Self.headerSize + index * MemoryLayout<FieldSpan>.size, as: FieldSpan.self)
      field.offset += bodyOffset
      field.key &+= bodyOffset
      row[slot] = field
    }
    batch.select(record)
    batch.reserveOrigins(record + 1, used: record)
    batch.origins[record] = RecordOrigin(source: source, ordinal: ordinal)
    batch.hasOrigins = true
    return size
  }

  /// Size of the packed record at `packed`, the leading size field included.
  public static func size(of packed: UnsafeRawPointer) -> Int { Int(packed.loadUnaligned(as: UInt32.self)) + 4 }
}
