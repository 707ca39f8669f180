public import OhanaCore
internal import Synchronization

/// Writes the selected records of a batch as CSV rows, without header: the parallel half of the CSV writer.
///
/// - CSV records that no stage reshaped pass with their own bytes where these are what would be written; others are read again.
/// - An explicit layout writes its slots, a column each.
/// - NDJSON records are spread over columns, objects under names like `address.city`: see ``CSVColumnCollector``.
///
/// null and missing are empty cells (`""` in a one-column file, where a blank line would be no record), an empty string is `""`. Numbers
/// keep their spelling. An array of scalars is its items joined with `;`, any other array its JSON text, `[]` an empty cell.
public final class CSVRenderer: RecordRenderer {
  /// Which columns a row has.
  public enum Columns: Sendable {
    /// Those of the layout's entries, or, where it follows a CSV source, of the source.
    case layout
    /// Just these; what has no column is not written.
    case fixed([[UInt8]])
    /// Those met up to the batch, or, behind a breaker, in all of the input that counts. Rows may be written wider than the output will be
    /// where a stage stops reading meanwhile.
    case collected(CSVColumnTable)
    /// Those met when a batch happens to be written, at least the batch's own: every row has to go through ``CSVPadder``, behind which
    /// nothing depends on that moment.
    case growing(CSVColumnTable)
  }

  private enum Work {
    case slots([Int])
    case ownBytes(CSVDialect, width: Int)
    case fixed(CSVColumns)
    case collected(CSVColumnTable)
    case growing(CSVColumnTable)
  }

  private let layout: RecordLayout
  private let work: Work
  private let cells: CSVCellWriter
  private let pool = Mutex<[CSVRendererScratch]>([])
  private let rows = Mutex<[CSVRowScratch]>([])

  /// - Parameters:
  ///   - fields: what the reader was asked for.
  ///   - source: dialect and number of columns of a CSV source whose records may pass; nil for other sources.
  /// - Precondition: a layout that follows a CSV source is the source's as it is, and `options` let its bytes pass.
  public init(
    layout: RecordLayout, fields: [RecordSchema.SourceField], columns: Columns, options: CSVWriterOptions = CSVWriterOptions(),
    source: (dialect: CSVDialect, width: Int)? = nil
  ) {
    self.layout = layout
    cells = CSVCellWriter(options)
    switch columns {
    case .layout:
      if let source, layout.followsSource {
        precondition(layout.isSourceAsIs, "a CSV record whose shape changes needs an explicit layout")
        precondition(options.passesOwnBytes, "own bytes are comma-separated, with minimal quotes and LF")
        work = .ownBytes(source.dialect, width: source.width)
      } else {
        work = .slots(layout.entries.map(\.slot))
      }
    case .fixed(let names): work = .fixed(CSVColumns(names))
    case .collected(let table): work = .collected(table)
    case .growing(let table): work = .growing(table)
    }
  }

  /// - Throws: ``OhanaError`` (`badInput`, `column-conflict`) for two values of a record under one column, or one under none.
  public func process(_ batch: RecordBatch) throws -> StageTally {
    batch.output.removeAll()
    batch.outputCount = 0
    switch work {
    case .slots(let slots): withScratch { writeColumns(batch, slots, $0) }
    case .ownBytes(let dialect, let width): withScratch { writeOwnBytes(batch, dialect, width, $0) }
    case .fixed(let columns): try writeRows(batch, columns, isFixed: true, isComplete: true)
    case .collected(let table):
      // In front of a breaker more columns may come, or a stop take some back: a null in the only column is a blank line then, which the
      // padder mends.
      let provisional = batch.writerState as? CSVColumns
      let isComplete = provisional == nil && !table.endsWhileWriting
      try writeRows(batch, table, table.columns(for: provisional), isComplete: isComplete)
    case .growing(let table): try writeRows(batch, table, table.columns, isComplete: false)
    }
    batch.outputCount = batch.selectedCount
    return StageTally()
  }

  /// Columns of NDJSON records that so far have been given a value, or could have been by a record's keys. To be asked when nothing is being
  /// written any more.
  package var writtenColumns: Set<[UInt8]> { rows.withLock { $0.reduce(into: []) { $0.formUnion($1.metColumns) } } }

  private func withScratch(_ body: (CSVRendererScratch) -> Void) {
    let scratch = pool.withLock { $0.popLast() } ?? CSVRendererScratch()
    body(scratch)
    pool.withLock { $0.append(scratch) }
  }

  private func writeRows(_ batch: RecordBatch, _ table: CSVColumnTable, _ columns: CSVColumns, isComplete: Bool) throws {
    batch.outputWidth = columns.count
    do { try writeRows(batch, columns, isFixed: false, isComplete: isComplete) } catch {
      // Records that are written count, so the first fault there is does too: it is the one that is named, whoever comes upon it.
      throw table.fault ?? error
    }
  }

  private func writeRows(_ batch: RecordBatch, _ columns: CSVColumns, isFixed: Bool, isComplete: Bool) throws {
    let scratch = rows.withLock { $0.popLast() } ?? CSVRowScratch(layout)
    defer { rows.withLock { $0.append(scratch) } }
    scratch.begin(batch, columns)
    var row = CSVRow(
      scratch, columns: columns, isFixed: isFixed, cells: cells, isOnly: isComplete && columns.count == 1, output: batch.output)
    row.out.reserve(batch.arena.count)
    try row.write(batch, layout)
    row.out.finish()
  }

  private func writeColumns(_ batch: RecordBatch, _ slots: [Int], _ scratch: CSVRendererScratch) {
    let base = UnsafePointer(batch.arena.base)
    let fields = batch.fields
    let selection = batch.selection
    let slotCount = batch.slotCount
    let cells = cells
    let text = scratch.text
    var out = OutputCursor(batch.output)
    out.reserve(batch.arena.count)
    slots.withUnsafeBufferPointer { slots in
      let isOnly = slots.count == 1
      for index in 0..<batch.selectedCount {
        let row = fields + Int(selection[index]) &* slotCount
        for column in 0..<slots.count {
          if column > 0 { cells.appendDelimiter(to: &out) }
          cells.append(row[slots[column]], base, isOnly: isOnly, text, to: &out)
        }
        cells.endRow(&out)
      }
    }
    out.finish()
  }

  private func writeOwnBytes(_ batch: RecordBatch, _ dialect: CSVDialect, _ columnCount: Int, _ scratch: CSVRendererScratch) {
    let base = UnsafePointer(batch.arena.base)
    let records = batch.records
    let selection = batch.selection
    let count = batch.selectedCount
    var out = OutputCursor(batch.output)
    out.reserve(batch.arena.count)
    var run = RecordRun(base)
    for index in 0..<count {
      let span = records[Int(selection[index])]
      if span.flags.contains(.verbatim) {
        run.add(span, to: &out)
      } else {
        run.end(&out)
        let offset = Int(span.offset)
        rewrite(base, offset, offset &+ Int(span.length), dialect, columnCount, scratch, to: &out)
      }
    }
    run.end(&out)
    out.finish()
  }

  /// Reads a record's own bytes again and writes its cells.
  private func rewrite(
    _ base: UnsafePointer<UInt8>, _ start: Int, _ end: Int, _ dialect: CSVDialect, _ columnCount: Int, _ scratch: CSVRendererScratch,
    to out: inout OutputCursor
  ) {
    let (scanner, spans) = scratch.reader(dialect)
    let list = scratch.cells
    _ = scanner.scan(base, from: start, to: end, isEnd: true, isContent: true, cells: list)
    for column in 0..<columnCount {
      if column > 0 { cells.appendDelimiter(to: &out) }
      if column >= list.count {
        if columnCount == 1 { cells.appendQuoted(base, 0, to: &out) }
        continue
      }
      let cell = list.base[column]
      let isQuoted = cell.flags & CSVCell.quoted != 0
      if !isQuoted && cell.start == cell.end || spans.hasNulls && isNull(cell, base, scanner, spans, scratch) {
        if columnCount == 1 { cells.appendQuoted(base, 0, to: &out) }
        continue
      }
      if cell.flags & (CSVCell.doubled | CSVCell.escaped) == 0 {
        cells.append(text: base + Int(cell.start), Int(cell.end - cell.start), to: &out)
      } else {
        scratch.text.removeAll()
        CSVCellDecoding.append(cell, of: base, quote: scanner.quote, escape: scanner.escape, to: scratch.text)
        cells.append(text: scratch.text.base, scratch.text.count, to: &out)
      }
    }
    cells.endRow(&out)
  }

  private func isNull(
    _ cell: CSVCell, _ base: UnsafePointer<UInt8>, _ scanner: CSVRecordScanner, _ spans: CSVSpanMaker, _ scratch: CSVRendererScratch
  ) -> Bool {
    if cell.flags & CSVCell.doubled == 0, spans.isNull(base + Int(cell.start), Int(cell.end - cell.start)) { return true }
    guard cell.flags & (CSVCell.doubled | CSVCell.escaped) != 0 else { return false }
    scratch.text.removeAll()
    CSVCellDecoding.append(cell, of: base, quote: scanner.quote, escape: scanner.escape, to: scratch.text)
    return spans.isNull(scratch.text.base, scratch.text.count)
  }
}

/// Memory of one piece of rendering at a time.
final class CSVRendererScratch: @unchecked Sendable {  // because the pool hands it to one piece of work at a time
  let text = ByteBuffer()
  let cells = CSVCellList()
  private var cached: (dialect: CSVDialect, scanner: CSVRecordScanner, spans: CSVSpanMaker)?

  func reader(_ dialect: CSVDialect) -> (CSVRecordScanner, CSVSpanMaker) {
    if let cached { return (cached.scanner, cached.spans) }
    let made = (dialect: dialect, scanner: CSVRecordScanner(dialect), spans: CSVSpanMaker(dialect))
    cached = made
    return (made.scanner, made.spans)
  }
}
