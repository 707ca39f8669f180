internal import OhanaCore

/// Keeps the records that match, and writes their scores; see ``MatchStage``.
struct MatchStep: RowStage {
  struct Target: Sendable {
    var slot: Int
    /// False: only the sort behind it looks at the score.
    var isField: Bool
  }
  let query: FuzzyQuery
  /// The query as it was written.
  let text: String
  let slots: [Int]
  let places: ContactFieldPlaces?
  let target: Target?
  let scorer: MatchStage.Scorer?
  let pool = ScratchPool { Scratch() }

  final class Scratch: @unchecked Sendable {  // because the pool lends it to one piece of work at a time
    let fuzzy = FuzzyQuery.Scratch()
    let decoded = ByteBuffer()
    let keys = ByteBuffer()
    var best: Int?
  }

  func process(_ batch: RecordBatch) throws -> StageTally {
    let scratch = pool.take()
    defer { pool.give(scratch) }
    let total = batch.selectedCount
    var kept = 0
    for index in 0..<total {
      let record = Int(batch.selection[index])
      scratch.best = nil
      look(at: record, batch, scratch)
      guard let best = scratch.best else { continue }
      if let target { try write(best, to: target, of: record, batch, scratch) }
      batch.selection[kept] = UInt32(truncatingIfNeeded: record)
      kept += 1
    }
    batch.selectedCount = kept
    return StageTally(dropped: total - kept)
  }

  private func look(at record: Int, _ batch: RecordBatch, _ scratch: Scratch) {
    for slot in slots {
      let field = batch.field(slot, of: record)
      if field.kind == .array {
        var elements = JSONElements(of: field, in: UnsafePointer(batch.arena.base))
        while let element = elements.next() { consider(element, batch, scratch) }
      } else {
        consider(field, batch, scratch)
      }
      if isDone(scratch) { return }
    }
    guard let places else { return }
    for column in places.columns {
      consider(batch.field(column.slot, of: record), batch, scratch)
      if isDone(scratch) { return }
    }
    if let unbound = places.unbound {
      for column in unbound.columns(record, of: batch, scratch.keys) {
        consider(column.value, batch, scratch)
        if isDone(scratch) { return }
      }
    }
    var entries = ListedFields(places.list, of: record, in: batch)
    while let entry = entries.next(scratch.keys) {
      consider(entry.value, batch, scratch)
      if isDone(scratch) { return }
    }
  }

  /// One match is enough where nobody asks how good it is.
  private func isDone(_ scratch: Scratch) -> Bool { target == nil && scratch.best != nil }

  private func consider(_ value: FieldSpan, _ batch: RecordBatch, _ scratch: Scratch) {
    guard !value.isBlank, value.kind.rawValue < ValueKind.array.rawValue else { return }
    let candidate = batch.text(of: value, scratch: scratch.decoded)
    guard let score = query.score(candidate, scratch.fuzzy) else { return }
    let own = scorer.map { $0(text, String(decoding: candidate, as: UTF8.self)) } ?? score
    scratch.best = max(scratch.best ?? own, own)
  }

  private func write(_ score: Int, to target: Target, of record: Int, _ batch: RecordBatch, _ scratch: Scratch) throws {
    scratch.decoded.removeAll()
    scratch.decoded.append(string: String(score))
    if target.isField { return try batch.write(scratch.decoded.bytes, .number, to: target.slot, of: record) }
    let offset = batch.arena.count
    batch.arena.append(scratch.decoded.bytes)
    batch.fields[record &* batch.slotCount &+ target.slot] = FieldSpan(
      offset: UInt32(truncatingIfNeeded: offset), length: UInt32(truncatingIfNeeded: scratch.decoded.count), kind: .number)
  }
}
