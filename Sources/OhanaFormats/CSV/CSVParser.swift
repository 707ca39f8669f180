internal import CSimdJSON
internal import CStructural
public import OhanaCore
internal import Synchronization

/// Reads the records and the wanted cells of the batches that ``CSVFramer`` cuts: the parallel half of the reader.
///
/// Sets records, fields, `lineCount`, `blankLines`, rejects and warnings, and selects all records. Cells keep their bytes: a field is a
/// span of the arena. Where a cell needs decoding that ``TextEncoding/csv`` does not say (an escape byte, a quote other than `"`), its
/// text is appended to the arena.
public final class CSVParser: RowStage {
  private let fields: [RecordSchema.SourceField]
  private let slotCount: Int
  private let marksVerbatim: Bool
  private let kernel = ohana_kernel_best()
  private let pool = Mutex<[CSVParserScratch]>([])
  private let maps = Mutex<[(header: CSVHeader, map: CSVColumnMap)]>([])

  /// - Parameters:
  ///   - fields: the fields to find. A name is looked up whole, never as a path: columns may be called `address.city`.
  ///   - slotCount: slots per record.
  ///   - marksVerbatim: records whose bytes are what our default writer would write get ``RecordSpan/Flags/verbatim``; of use only where
  ///     the writer follows the source.
  public init(fields: [RecordSchema.SourceField], slotCount: Int, marksVerbatim: Bool = true) {
    self.fields = fields
    self.slotCount = slotCount
    self.marksVerbatim = marksVerbatim
  }

  public func process(_ batch: RecordBatch) throws -> StageTally {
    // Without a state there is nothing to read: the framer passed over a record that is too long.
    guard let state = batch.readerState as? CSVBatchState else { return StageTally() }
    let scratch = pool.withLock { $0.popLast() } ?? CSVParserScratch()
    defer { pool.withLock { $0.append(scratch) } }
    batch.slotCount = slotCount
    var run = CSVBatchParser(
      batch: batch, state: state, map: map(for: state.header), scratch: scratch, kernel: kernel, marksVerbatim: marksVerbatim)
    run.parse()
    batch.selectAll()
    return StageTally()
  }

  private func map(for header: CSVHeader) -> CSVColumnMap {
    maps.withLock { maps in
      // A few inputs are open at a time, and most have the same header.
      if let known = maps.last, known.header.columns == header.columns, known.header.dialect == header.dialect { return known.map }
      let map = CSVColumnMap(header: header, fields: fields)
      if let index = maps.firstIndex(where: { $0.header == header }) { maps.remove(at: index) }
      maps.append((header, map))
      if maps.count > 4 { maps.removeFirst() }
      return map
    }
  }
}

/// Which cell goes to which slot, for one input: ascending by column.
final class CSVColumnMap: @unchecked Sendable {  // because it is never changed once it is made
  let entries: UnsafeMutablePointer<(column: Int, slot: Int)>
  let count: Int

  init(header: CSVHeader, fields: [RecordSchema.SourceField]) {
    var columns: [[UInt8]: Int] = [:]
    for (index, name) in header.columns.enumerated() { columns[name] = index }
    let found = fields.compactMap { field in columns[field.name.whole].map { (column: $0, slot: field.slot) } }.sorted {
      $0.column < $1.column
    }
    count = found.count
    entries = .allocate(capacity: count)
    for (index, entry) in found.enumerated() { (entries + index).initialize(to: entry) }
  }

  deinit { entries.deallocate() }
}

/// Memory of one parse at a time: the index of a stretch of text.
final class CSVParserScratch: @unchecked Sendable {  // because the pool hands it to one piece of work at a time
  private(set) var cells: UnsafeMutablePointer<UInt32>
  private(set) var cellCapacity = 8 << 10
  let records: UnsafeMutablePointer<ohana_csv_record>
  let recordCapacity = 2 << 10
  let list = CSVCellList()

  init() {
    cells = .allocate(capacity: cellCapacity + Int(OHANA_CSV_INDEX_SLACK))
    records = .allocate(capacity: recordCapacity + Int(OHANA_CSV_INDEX_SLACK))
  }
  deinit {
    cells.deallocate()
    records.deallocate()
  }

  /// For a record of more cells than there is room for.
  func growCells() {
    cells.deallocate()
    cellCapacity *= 2
    cells = .allocate(capacity: cellCapacity + Int(OHANA_CSV_INDEX_SLACK))
  }
}
