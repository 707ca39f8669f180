internal import OhanaCore

/// Streams the records of a log that nobody dropped, in order, and hands the dropped ones to the duplicates' output.
final class SurvivorSource: BatchSource, @unchecked Sendable {  // because one piece of work at a time uses it
  private let reader: RecordLog.Reader
  private let drops: DropList
  private var drop: (position: UInt64, survivor: RecordOrigin?)?
  private var position: UInt64 = 0
  private let packer: RecordPacker
  private let batchSize: Int
  private let duplicates: DuplicatesOutput?
  private var isStarted = false
  private var isAtEnd = false

  init(_ log: RecordLog, _ drops: DropList, _ duplicates: DuplicatesOutput?, _ context: StageContext) throws {
    reader = try log.makeReader()
    self.drops = drops
    self.duplicates = duplicates
    packer = DuplicatesOutput.packer(context.payload, duplicates)
    batchSize = outputBatchSize(context)
  }

  func next(into batch: RecordBatch) throws -> Bool {
    if isAtEnd { return false }
    if !isStarted {
      isStarted = true
      drop = try drops.next()
    }
    while batch.recordCount == 0 || batch.arena.count < batchSize {
      guard let item = try reader.read() else {
        isAtEnd = true
        break
      }
      defer { position += 1 }
      guard let drop, drop.position == position else {
        packer.unpack(SortItem.payload(item), into: batch)
        continue
      }
      if let duplicates {
        packer.unpack(SortItem.payload(item), into: batch)
        batch.selectedCount -= 1
        duplicates.add(batch.recordCount - 1, survivor: drop.survivor)
      }
      self.drop = try drops.next()
    }
    if let duplicates {
      try duplicates.write(batch)
      if isAtEnd { try duplicates.finish() }
    }
    return batch.recordCount > 0
  }
}
