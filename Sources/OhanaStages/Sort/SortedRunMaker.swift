internal import OhanaCore

/// The row-local half of a sort: leaves the batch's records, packed and in order, in `keyBytes`. The selection stays as it is.
final class SortedRunMaker: RowStage {
  private let payload: RecordPayload
  private let reversed: Bool
  private let limit: Int?
  private let pool: ScratchPool<Scratch>

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
    let entries = scratch.sorter.base
    for index in 0..<min(count, limit ?? count) {
      let entry = entries[index]
      SortItem.append(
        key: keys.base + Int(entry.offset), count: Int(entry.length), record: Int(entry.record), of: batch, packer: packer, to: out)
    }
    return StageTally()
  }
}
