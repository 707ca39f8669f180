internal import CXXHash
internal import OhanaCore

/// The row-local half of a sort: leaves the batch's records, packed and in order, in `keyBytes`. The selection stays as it is.
final class SortedRunMaker: RowStage {
  private let payload: RecordPayload
  private let reversed: Bool
  private let limit: Int?
  private let pool: ScratchPool<Scratch>
  /// Records between asking for a cache line and using it.
  private static let ahead = 8

  private final class Scratch: @unchecked Sendable {  // because it is lent to one piece of work at a time
    let writer: OrderKeyWriter
    let keys = ByteBuffer()
    var sorter = KeySorter()
    init(_ writer: OrderKeyWriter) { self.writer = writer }
  }

  init(payload: RecordPayload, reversed: Bool, limit: Int?, writer: @escaping @Sendable () -> OrderKeyWriter) {
    self.payload = payload
    self.reversed = reversed
    self.limit = limit
    pool = ScratchPool { Scratch(writer()) }
  }

  func process(_ batch: RecordBatch) throws -> StageTally {
    let scratch = pool.take()
    defer { pool.give(scratch) }
    let keys = scratch.keys
    let writer = scratch.writer
    keys.recycle(limit: 1 << 20)
    scratch.sorter.removeAll()
    scratch.sorter.reserve(batch.selectedCount)
    let count = batch.selectedCount
    for index in 0..<count {
      let record = Int(batch.selection[index])
      let start = keys.count
      writer.append(record, of: batch, to: keys)
      if reversed { invert(keys, from: start) }
      scratch.sorter.append(keys: keys.base, offset: start, length: keys.count &- start, place: index, record: record)
    }
    scratch.sorter.sort(keys: keys.base, laterFirst: reversed)

    let packer = RecordPacker(payload)
    let out = batch.keyBytes
    out.removeAll()
    out.reserve(count * (SortItem.headerSize + SortItem.prefixSize) + keys.count + packer.room(forSelectedOf: batch))
    let entries = scratch.sorter.base
    let wanted = min(count, limit ?? count)
    for index in 0..<wanted {
      // In order of their keys, records and keys lie anywhere: their cache lines are asked for ahead.
      if index &+ 2 &* Self.ahead < wanted {
        let entry = entries[index &+ 2 &* Self.ahead]
        ohana_prefetch(keys.base + Int(entry.offset))
        packer.prefetchSpans(Int(entry.record), of: batch)
      }
      if index &+ Self.ahead < wanted { packer.prefetchValues(Int(entries[index &+ Self.ahead].record), of: batch) }
      let entry = entries[index]
      SortItem.append(
        key: keys.base + Int(entry.offset), count: Int(entry.length), record: Int(entry.record), of: batch, packer: packer, to: out)
    }
    return StageTally()
  }
}
