internal import OhanaCore

/// Branches that only let records through: each sees the batch's records, and the counts decide.
struct PredicateGroup: RowStage {
  let kind: GroupStage.Kind
  let branches: [[any RowStage]]

  func process(_ batch: RecordBatch) throws -> StageTally {
    let records = Array(UnsafeBufferPointer(start: batch.selection, count: batch.selectedCount))
    var counts = [UInt32](repeating: 0, count: records.count)
    for branch in branches {
      for (index, record) in records.enumerated() { batch.selection[index] = record }
      batch.selectedCount = records.count
      for stage in branch { _ = try stage.process(batch) }
      var position = 0
      for index in 0..<batch.selectedCount {
        while records[position] != batch.selection[index] { position += 1 }
        counts[position] += 1
      }
    }
    var kept = 0
    for (index, record) in records.enumerated() where isKept(Int(counts[index])) {
      batch.selection[kept] = record
      kept += 1
    }
    batch.selectedCount = kept
    return StageTally(dropped: records.count - kept)
  }

  private func isKept(_ count: Int) -> Bool {
    switch kind {
    case .all: count == branches.count
    case .any: count > 0
    case .odd: count % 2 == 1
    }
  }
}
