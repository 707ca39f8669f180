internal import OhanaCore

/// What decides between records of one key.
enum Ranking: Sendable {
  /// Their order alone.
  case none
  /// Rank of a slot's value: null, text by bytes, numbers, instants.
  case value(slot: Int, lowestFirst: Bool)
  /// Members that are neither null, blank nor empty.
  case completeness(RecordContent)
}

/// Row-local half of a dedupe that has to see all records of a key: fingerprints, and in `keyBytes` an item for each record with its rank
/// as the key, in order.
final class RankedItemMaker: RowStage {
  private let fingerprints: FingerprintMaker
  private let ranking: Ranking
  private let payload: RecordPayload
  private let duplicates: DuplicatesOutput?
  private let pool = ScratchPool { RankScratch() }

  private final class RankScratch: @unchecked Sendable {  // because it is lent to one piece of work at a time
    let rank = ByteBuffer()
    let text = TextScratch()
    let nested = ByteBuffer()
  }

  init(_ fingerprints: FingerprintMaker, _ ranking: Ranking, carrying payload: RecordPayload, _ duplicates: DuplicatesOutput?) {
    self.fingerprints = fingerprints
    self.ranking = ranking
    self.payload = payload
    self.duplicates = duplicates
  }

  func process(_ batch: RecordBatch) throws -> StageTally {
    let tally = try fingerprints.process(batch)
    let scratch = pool.take()
    defer { pool.give(scratch) }
    let packer = DuplicatesOutput.packer(payload, duplicates)
    let rank = scratch.rank
    batch.keyBytes.removeAll()
    for index in 0..<batch.selectedCount {
      let record = Int(batch.selection[index])
      rank.removeAll()
      switch ranking {
      case .none: break
      case .value(let slot, let lowestFirst):
        append(batch.field(slot, of: record), in: batch, scratch)
        if lowestFirst { invert(rank, from: 0) }
      case .completeness(let content):
        var count: UInt32 = 0
        let arena = UnsafePointer(batch.arena.base)
        content.forEachMember(record, of: batch, scratch: scratch.nested) { _, value in
          if !value.isEmptyValue(in: arena) { count &+= 1 }
        }
        for shift in [24, 16, 8, 0] as [UInt32] { rank.append(UInt8(truncatingIfNeeded: count >> shift)) }
      }
      SortItem.append(key: rank.base, count: rank.count, record: record, of: batch, packer: packer, to: batch.keyBytes)
    }
    return tally
  }

  private func append(_ field: FieldSpan, in batch: RecordBatch, _ scratch: RankScratch) {
    let rank = scratch.rank
    scratch.nested.removeAll()
    guard appendKeyText(.exact, of: field, in: batch, to: scratch.nested, scratch: scratch.text) else { return rank.append(0x01) }
    let text = scratch.nested.bytes
    rank.append(0x04)
    if InstantKey.append(text, to: rank) { return }
    rank.base[rank.count - 1] = 0x03
    if NumberKey.append(text, to: rank) { return }
    rank.base[rank.count - 1] = 0x02
    appendEscaped(text, to: rank)
  }
}
