/// Records that a stage makes of others in place (`split`): copies behind the records there were, of which only the copies stay selected.
///
/// ```
/// records │ 0 1 2 … read or restored │ rows of the first split │ rows of a second one │ …
///                                     └ generationStarts[0]     └ generationStarts[1]
/// ```
/// The record a row was made of is its ``parent(of:)``, which lies in the generation before.
extension RecordBatch {
  /// Begins a generation of rows: from here on ``appendRow(of:)`` adds to it. The caller selects the rows it adds, and no others.
  public final func beginRows() {
    if !hasRows { rowGenerations.removeAll(keepingCapacity: true) }
    hasRows = true
    rowGenerations.append(recordCount)
  }

  /// Adds a copy of record `parent`, sharing its bytes, and returns its index. Does not select it.
  ///
  /// - Precondition: a generation was begun behind `parent`.
  public final func appendRow(of parent: Int) -> Int {
    let index = appendRecord(recordStorage.base[parent])
    let slots = slotCount
    (fieldStorage.base + index &* slots).update(from: fieldStorage.base + parent &* slots, count: slots)
    let first = rowGenerations[0]
    parentStorage.reserve(index &- first &+ 1, used: index &- first)
    parentStorage.base[index &- first] = UInt32(truncatingIfNeeded: parent)
    if hasOrigins {
      originStorage.reserve(index &+ 1, used: index)
      originStorage.base[index] = originStorage.base[parent]
    }
    return index
  }

  /// The record that row `record` was made of; nil for a record that is no row.
  public final func parent(of record: Int) -> Int? {
    guard hasRows, record >= rowGenerations[0] else { return nil }
    return Int(parentStorage.base[record &- rowGenerations[0]])
  }

  /// The record that was read or restored and that `record` is, or was made of.
  public final func readRecord(of record: Int) -> Int {
    var record = record
    while let parent = parent(of: record) { record = parent }
    return record
  }

  /// Where `record`, or the one it was made of, was read.
  @inlinable @inline(__always)
  public final func origin(of record: Int) -> RecordOrigin {
    if hasOrigins { return origins[record] }
    let read = hasRows ? readRecord(of: record) : record
    return RecordOrigin(source: UInt32(truncatingIfNeeded: source), ordinal: UInt64(truncatingIfNeeded: firstOrdinal &+ read))
  }

  /// Records of the batch that were read or restored: all but the rows made of them.
  public final var readCount: Int { hasRows ? rowGenerations[0] : recordCount }

  /// Number of the generation that `record` belongs to: 0 for those read, 1 for the rows of the first stage that made some.
  package final func generation(of record: Int) -> Int {
    guard hasRows else { return 0 }
    return rowGenerations.lastIndex { record >= $0 }.map { $0 + 1 } ?? 0
  }
}
