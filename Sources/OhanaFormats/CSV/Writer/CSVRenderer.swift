public import OhanaCore
internal import Synchronization

/// Writes the selected records of a batch as CSV rows, without header: the parallel half of the CSV writer.
///
/// - CSV records that no stage reshaped pass with their own bytes where these are what would be written; others are read again.
/// - An explicit layout writes its slots, a column each.
/// - NDJSON records are spread over columns: see ``CSVColumnCollector``.
public final class CSVRenderer: RecordRenderer {
  /// Which columns a row has.
  public enum Columns: Sendable {
    /// Those of the layout's entries, or, where it follows a CSV source, of the source.
    case layout
    /// Just these; what has no column is not written.
    case fixed([[UInt8]])
    /// Those met up to the batch, or, behind a breaker, in the whole input.
    case collected(CSVColumnTable)
  }

  private let layout: RecordLayout
  private let options: CSVWriterOptions
  private let columns: Columns
  private let shape: CSVShape
  private let sourceDialect: CSVDialect?
  private let sourceWidth: Int
  private let pool = Mutex<[Scratch]>([])

  private final class Scratch: @unchecked Sendable {  // because one piece of work has it at a time
    let lists = CSVCellText()
    let spreader: CSVSpreader
    let cells = CSVCellList()
    let text = ByteBuffer(capacity: 256)
    init(_ shape: CSVShape) { spreader = CSVSpreader(shape) }
  }

  /// - Parameters:
  ///   - fields: what the reader was asked for.
  ///   - source: dialect and number of columns of a CSV source whose records may pass; nil for other sources.
  public init(
    layout: RecordLayout, fields: [RecordSchema.SourceField], columns: Columns, options: CSVWriterOptions = CSVWriterOptions(),
    source: (dialect: CSVDialect, width: Int)? = nil
  ) {
    precondition(source == nil || !layout.followsSource || layout.isSourceAsIs, "a CSV record whose shape changes needs an explicit layout")
    self.layout = layout
    self.options = options
    self.columns = columns
    sourceDialect = source?.dialect
    sourceWidth = source?.width ?? 0
    shape = CSVShape(layout: layout, fields: fields)
  }

  /// - Throws: ``OhanaError`` (`badInput`, `column-conflict`) for two values of a record under one column.
  public func process(_ batch: RecordBatch) throws -> StageTally {
    batch.output.removeAll()
    batch.outputCount = 0
    let scratch = pool.withLock { $0.popLast() } ?? Scratch(shape)
    defer { pool.withLock { $0.append(scratch) } }
    if let sourceDialect, layout.isSourceAsIs {
      writeAsIs(batch, sourceDialect, scratch)
    } else {
      switch columns {
      case .layout: writeEntries(batch, scratch)
      case .fixed(let names): try writeSpread(batch, CSVColumns(names), scratch, isFixed: true)
      case .collected(let table):
        // In front of a breaker more columns may come: rows are provisional then, see ``CSVPadder``.
        let provisional = batch.writerState as? CSVColumns
        let known = provisional ?? table.columns
        batch.outputWidth = known.names.count
        try writeSpread(batch, known, scratch, isFixed: false, isProvisional: provisional != nil)
      }
    }
    batch.outputCount = batch.selectedCount
    return StageTally()
  }

  // MARK: Own bytes

  private func writeAsIs(_ batch: RecordBatch, _ dialect: CSVDialect, _ scratch: Scratch) {
    let base = UnsafePointer(batch.arena.base)
    let records = batch.records
    let selection = batch.selection
    var writer = CSVCellWriter(options, columnCount: sourceWidth, cursor: OutputCursor(batch.output))
    let scanner = CSVRecordScanner(dialect)
    var index = 0
    let count = batch.selectedCount
    while index < count {
      let record = records[Int(selection[index])]
      if record.flags.contains(.verbatim) {
        // Records that lie one behind the other, with one LF between them, are copied at once.
        let start = Int(record.offset)
        var end = start + Int(record.length)
        index += 1
        while index < count {
          let next = records[Int(selection[index])]
          guard next.flags.contains(.verbatim), Int(next.offset) == end + 1, base[end] == 0x0a else { break }
          end = Int(next.offset) + Int(next.length)
          index += 1
        }
        writer.cursor.append(base + start, end - start)
        writer.cursor.append(0x0a)
      } else {
        rewrite(base, Int(record.offset), Int(record.length), scanner, dialect, &writer, scratch)
        index += 1
      }
    }
    writer.cursor.finish()
  }

  /// A record that is legal in itself but not spelled as we would.
  private func rewrite(
    _ base: UnsafePointer<UInt8>, _ start: Int, _ length: Int, _ scanner: CSVRecordScanner, _ dialect: CSVDialect, _ writer: inout CSVCellWriter,
    _ scratch: Scratch
  ) {
    let cells = scratch.cells
    _ = scanner.scan(base, from: start, to: start + length, isEnd: true, cells: cells)
    for column in 0..<sourceWidth {
      writer.beginCell(column)
      guard column < cells.count else {
        writer.null()
        continue
      }
      let cell = cells.base[column]
      if cell.flags & CSVCell.quoted == 0, cell.start == cell.end {
        writer.null()
      } else {
        scratch.text.removeAll()
        CSVCellDecoding.append(cell, of: base, quote: dialect.quoteCode, escape: dialect.escapeCode, to: scratch.text)
        writer.text(scratch.text.base, scratch.text.count)
      }
    }
    writer.endRecord()
  }

  // MARK: Slots

  private func writeEntries(_ batch: RecordBatch, _ scratch: Scratch) {
    let base = UnsafePointer(batch.arena.base)
    let slots = layout.entries.map(\.slot)
    let fields = batch.fields
    let slotCount = batch.slotCount
    let selection = batch.selection
    var writer = CSVCellWriter(options, columnCount: slots.count, cursor: OutputCursor(batch.output))
    slots.withUnsafeBufferPointer { slots in
      for index in 0..<batch.selectedCount {
        let row = fields + Int(selection[index]) * slotCount
        for column in 0..<slots.count {
          writer.beginCell(column)
          writer.value(row[slots[column]], base, scratch.lists)
        }
        writer.endRecord()
      }
    }
    writer.cursor.finish()
  }

  // MARK: Members

  private func writeSpread(_ batch: RecordBatch, _ columns: CSVColumns, _ scratch: Scratch, isFixed: Bool, isProvisional: Bool = false) throws {
    let base = UnsafePointer(batch.arena.base)
    let width = columns.names.count
    let spreader = scratch.spreader
    spreader.begin(batch, columns, isFixed: isFixed)
    let selection = batch.selection
    var writer = CSVCellWriter(options, columnCount: isProvisional ? max(2, width) : width, cursor: OutputCursor(batch.output))
    for index in 0..<batch.selectedCount {
      try spreader.spread(Int(selection[index]), of: batch)
      let row = spreader.row
      for column in 0..<width {
        writer.beginCell(column)
        writer.value(row[column], base, scratch.lists)
      }
      writer.endRecord()
    }
    writer.cursor.finish()
  }
}
