internal import OhanaCore

/// Key of a record on its way to the comparison: fingerprint, then place in the stream.
///
/// ```
/// fingerprint (16) │ u32 source │ u64 ordinal
/// ```
/// Big-endian, so that `memcmp` brings the records of a key together in stream order.
enum DiffKey {
  static let size = 28

  static func append(_ fingerprint: Fingerprint, _ origin: RecordOrigin, to out: ByteBuffer) {
    out.reserve(size)
    let target = UnsafeMutableRawPointer(out.base + out.count)
    target.storeBytes(of: fingerprint.high.bigEndian, as: UInt64.self)
    target.storeBytes(of: fingerprint.low.bigEndian, toByteOffset: 8, as: UInt64.self)
    target.storeBytes(of: origin.source.bigEndian, toByteOffset: 16, as: UInt32.self)
    target.storeBytes(of: origin.ordinal.bigEndian, toByteOffset: 20, as: UInt64.self)
    out.count += size
  }

  static func fingerprint(_ key: UnsafeRawPointer) -> Fingerprint {
    Fingerprint(
      high: UInt64(bigEndian: key.loadUnaligned(as: UInt64.self)),
      low: UInt64(bigEndian: key.loadUnaligned(fromByteOffset: 8, as: UInt64.self)))
  }

  static func origin(_ key: UnsafeRawPointer) -> RecordOrigin {
    RecordOrigin(
      source: UInt32(bigEndian: key.loadUnaligned(fromByteOffset: 16, as: UInt32.self)),
      ordinal: UInt64(bigEndian: key.loadUnaligned(fromByteOffset: 20, as: UInt64.self)))
  }
}

/// The row-local half of a diff: leaves the batch's records, packed and in order of their keys' fingerprints, in `keyBytes`.
final class DiffRunMaker: RowStage {
  private let fingerprints: FingerprintMaker
  private let payload: RecordPayload
  private let pool = ScratchPool { Scratch() }

  private final class Scratch: @unchecked Sendable {  // because it is lent to one piece of work at a time
    let keys = ByteBuffer()
    var sorter = KeySorter()
  }

  init(_ fingerprints: FingerprintMaker, _ payload: RecordPayload) {
    self.fingerprints = fingerprints
    self.payload = payload
  }

  func process(_ batch: RecordBatch) throws -> StageTally {
    let tally = try fingerprints.process(batch)
    let scratch = pool.take()
    defer { pool.give(scratch) }
    let keys = scratch.keys
    keys.recycle(limit: 1 << 20)
    let count = batch.selectedCount
    scratch.sorter.removeAll()
    scratch.sorter.reserve(count)
    for index in 0..<count {
      let record = Int(batch.selection[index])
      let origin = batch.origin(of: record)
      let start = keys.count
      DiffKey.append(batch.fingerprints[index], origin, to: keys)
      scratch.sorter.append(keys: keys.base, offset: start, length: DiffKey.size, place: index, record: record)
    }
    scratch.sorter.sort(keys: keys.base, laterFirst: false)

    let packer = RecordPacker(payload)
    let out = batch.keyBytes
    out.removeAll()
    let entries = scratch.sorter.base
    for index in 0..<count {
      let entry = entries[index]
      SortItem.append(
        key: keys.base + Int(entry.offset), count: DiffKey.size, record: Int(entry.record), of: batch, packer: packer, to: out)
    }
    return tally
  }
}
