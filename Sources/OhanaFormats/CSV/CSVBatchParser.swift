internal import CSimdJSON
internal import CStructural
internal import OhanaCore

/// One batch being parsed.
struct CSVBatchParser {
  private let batch: RecordBatch
  private let state: CSVBatchState
  private let map: CSVColumnMap
  private let scratch: CSVParserScratch
  private let kernel: ohana_kernel
  private let marksVerbatim: Bool
  private let dialect: CSVDialect
  private let scanner: CSVRecordScanner
  private let spans: CSVSpanMaker
  private let columnCount: Int
  private let declaredCount: Int
  /// Some byte of the batch is not UTF-8: each record has to be looked at.
  private var checksUTF8 = false
  /// Line ends before the record in hand.
  private var line = 0

  init(
    batch: RecordBatch, state: CSVBatchState, map: CSVColumnMap, scratch: CSVParserScratch, kernel: ohana_kernel, marksVerbatim: Bool
  ) {
    self.batch = batch
    self.state = state
    self.map = map
    self.scratch = scratch
    self.kernel = kernel
    dialect = state.header.dialect
    self.marksVerbatim = marksVerbatim && dialect.isDefault && state.header.declaredCount == state.header.columns.count
    scanner = CSVRecordScanner(dialect)
    spans = CSVSpanMaker(dialect)
    columnCount = state.header.columns.count
    declaredCount = state.header.declaredCount
  }

  mutating func parse() {
    let end = batch.arena.count
    let start = state.dataStart
    checksUTF8 = !ohana_validate_utf8(batch.arena.base + start, end - start)
    batch.blankLines += state.blankLines
    line = scanner.countLines(batch.arena.base, from: 0, to: start)
    var at = start
    for record in state.irregular {
      parseStretch(from: at, to: record.start)
      parseIrregular(record)
      at = record.next
    }
    parseStretch(from: at, to: end)
    batch.lineCount += line
  }

  // MARK: What the kernels can read

  private mutating func parseStretch(from start: Int, to end: Int) {
    if start >= end { return }
    if state.isTolerant { return parseTolerantly(from: start, to: end) }
    let bytes = dialect.kernelBytes
    var index = ohana_csv_index()
    var at = start
    while at < end {
      ohana_csv_make_index(
        kernel, batch.arena.base + at, end - at, bytes, scratch.cells, scratch.cellCapacity, scratch.records, scratch.recordCapacity, &index)
      if index.record_count == 0 {
        scratch.growCells()
        continue
      }
      takeRecords(at, index)
      at += index.consumed
    }
  }

  /// Adds the records of an index; offsets in it count from `shift`.
  private mutating func takeRecords(_ shift: Int, _ index: ohana_csv_index) {
    let count = index.record_count
    batch.reserveRecords(batch.recordCount + count)
    var base = UnsafePointer(batch.arena.base)
    let cells = scratch.cells
    let indexed = scratch.records
    let slotCount = batch.slotCount
    let lineBefore = line
    let columnCount = columnCount
    var start = shift
    var firstCell = 0
    map.entries.withUnsafeBufferPointer { wanted in
      for at in 0..<count {
        let entry = indexed[at]
        let cellsEnd = Int(entry.cells_end)
        let terminator = shift &+ Int(cells[cellsEnd &- 1])
        let width = cellsEnd &- firstCell
        var contentEnd = terminator
        if contentEnd > start, base[contentEnd &- 1] == 0x0d { contentEnd &-= 1 }
        let recordStart = start
        let cell0 = firstCell
        start = terminator &+ 1
        firstCell = cellsEnd
        let recordLine = line
        line = lineBefore &+ Int(entry.lines)

        var flags: RecordSpan.Flags = []
        if width == columnCount && entry.special == 0 && !checksUTF8 {
          if contentEnd == recordStart {
            batch.blankLines += 1
            continue
          }
          if marksVerbatim { flags = .verbatim }
        } else {
          if width == 1 && contentEnd == recordStart {
            batch.blankLines += 1
            continue
          }
          guard accept(recordStart, contentEnd, width: width, line: recordLine, firstSurplus: { surplus(cells, shift, cell0, contentEnd, $0) })
          else { continue }
          if marksVerbatim, width == columnCount { flags = isVerbatim(cells, shift, cell0, width, recordStart, contentEnd) ? .verbatim : [] }
        }
        if flags == .verbatim, spans.hasNulls, holdsNull(cells, shift, cell0, width, recordStart, contentEnd) { flags = [] }

        let record = batch.recordCount
        batch.records[record] = RecordSpan(
          offset: UInt32(truncatingIfNeeded: recordStart), length: UInt32(truncatingIfNeeded: contentEnd &- recordStart), flags: flags,
          line: UInt32(truncatingIfNeeded: recordLine))
        batch.recordCount = record &+ 1
        let row = batch.fields + record &* slotCount
        row.initialize(repeating: .missing, count: slotCount)
        for entry in wanted {
          let column = entry.column
          if column >= width { break }
          let cellStart = column == 0 ? recordStart : shift &+ Int(cells[cell0 &+ column &- 1]) &+ 1
          let cellEnd = column == width &- 1 ? contentEnd : shift &+ Int(cells[cell0 &+ column])
          row[entry.slot] = spans.span(base, cellStart, cellEnd, mayHoldPairs: index.has_doubled_quotes, batch.arena)
          if spans.decodes { base = UnsafePointer(batch.arena.base) }
        }
      }
    }
  }

  /// Offset of the first non-empty cell from column `from` on; nil if all are empty.
  private func surplus(_ cells: UnsafeMutablePointer<UInt32>, _ shift: Int, _ cell0: Int, _ contentEnd: Int, _ from: Int) -> Int? {
    let base = batch.arena.base
    var start = shift + Int(cells[cell0 + from - 1]) + 1
    var at = cell0 + from
    while true {
      let end = min(contentEnd, shift + Int(cells[at]))
      let isEmpty = end <= start || end == start + 2 && UInt16(base[start]) == scanner.quote && UInt16(base[start + 1]) == scanner.quote
      if !isEmpty { return start }
      if end >= contentEnd { return nil }
      start = end + 1
      at += 1
    }
  }

  /// Whether each quoted cell needs its quotes or is `""`, and no bare cell holds a CR.
  private func isVerbatim(_ cells: UnsafeMutablePointer<UInt32>, _ shift: Int, _ cell0: Int, _ width: Int, _ start: Int, _ contentEnd: Int) -> Bool {
    let base = UnsafePointer(batch.arena.base)
    var cellStart = start
    for column in 0..<width {
      let cellEnd = column == width - 1 ? contentEnd : shift + Int(cells[cell0 + column])
      if cellEnd > cellStart {
        if base[cellStart] == 0x22 {
          if cellEnd > cellStart + 2, !ohana_csv_needs_quotes(base + cellStart + 1, cellEnd - cellStart - 2, 0x2c, 0x22) { return false }
        } else if ohana_csv_needs_quotes(base + cellStart, cellEnd - cellStart, 0x2c, 0x22) {
          return false
        }
      }
      cellStart = cellEnd + 1
    }
    return true
  }

  private func holdsNull(_ cells: UnsafeMutablePointer<UInt32>, _ shift: Int, _ cell0: Int, _ width: Int, _ start: Int, _ contentEnd: Int) -> Bool {
    let base = UnsafePointer(batch.arena.base)
    var cellStart = start
    for column in 0..<width {
      let cellEnd = column == width - 1 ? contentEnd : shift + Int(cells[cell0 + column])
      // An empty cell is written as one.
      if cellEnd > cellStart, spans.span(base, cellStart, cellEnd, mayHoldPairs: true, batch.arena).kind == .null { return true }
      cellStart = cellEnd + 1
    }
    return false
  }

  // MARK: What they cannot

  private mutating func parseTolerantly(from start: Int, to end: Int) {
    var at = start
    while at < end {
      let outcome = scanner.scan(batch.arena.base, from: at, to: end, isEnd: true, cells: scratch.list)
      precondition(outcome.kind == .record, "the framer lists all faults")
      takeTolerant(at, outcome)
      at = outcome.next
    }
  }

  private mutating func parseIrregular(_ record: CSVBatchState.Irregular) {
    switch record.kind {
    case .record:
      let outcome = scanner.scan(batch.arena.base, from: record.start, to: record.next, isEnd: true, cells: scratch.list)
      takeTolerant(record.start, outcome)
    case .textAfterQuote: reject(.textAfterQuote, CSVRejects.textAfterQuote, record)
    default: reject(.unclosedQuote, CSVRejects.unclosedQuote, record)
    }
  }

  private mutating func reject(_ reason: Reject.Reason, _ detail: String, _ record: CSVBatchState.Irregular) {
    var contentEnd = record.contentEnd
    if !scanner.endsWithCR, contentEnd > record.start, batch.arena.base[contentEnd - 1] == 0x0d { contentEnd -= 1 }
    batch.rejects.append(
      CSVRejects.make(reason, detail, batch, scanner, start: record.start, contentEnd: contentEnd, fault: record.fault, line: line))
    line += scanner.countLines(batch.arena.base, from: record.start, to: record.next)
  }

  /// Adds the record whose cells are in the scratch list.
  private mutating func takeTolerant(_ start: Int, _ outcome: CSVRecordScanner.Outcome) {
    let recordLine = line
    let base = UnsafePointer(batch.arena.base)
    line += scanner.countLines(base, from: start, to: outcome.next)
    let list = scratch.list
    if list.count == 1, outcome.contentEnd == start {
      batch.blankLines += 1
      return
    }
    let accepted = accept(start, outcome.contentEnd, width: list.count, line: recordLine) { from in
      (from..<list.count).first { list.base[$0].end > list.base[$0].start }.map { Int(list.base[$0].start) - Int(list.base[$0].flags & CSVCell.quoted) }
    }
    guard accepted else { return }
    let record = batch.appendRecord(
      RecordSpan(offset: UInt32(start), length: UInt32(outcome.contentEnd - start), line: UInt32(truncatingIfNeeded: recordLine)))
    for entry in map.entries where entry.column < list.count {
      batch.fields[record * batch.slotCount + entry.slot] = spans.span(list.base[entry.column], batch.arena)
    }
  }

  // MARK: Widths and encoding

  /// Whether the record may be taken; notes a reject or a warning.
  private func accept(_ start: Int, _ contentEnd: Int, width: Int, line: Int, firstSurplus: (_ from: Int) -> Int?) -> Bool {
    let base = UnsafePointer(batch.arena.base)
    if checksUTF8, !ohana_validate_utf8(base + start, contentEnd - start) {
      let fault = UTF8Validation.firstInvalid(base, from: start, to: contentEnd)
      let isTranscoded = dialect.isTranscoded
      batch.rejects.append(
        CSVRejects.make(
          isTranscoded ? .invalidEncoding : .invalidUTF8, isTranscoded ? "a sequence is not valid in the input's encoding" : "not UTF-8", batch,
          scanner, start: start, contentEnd: contentEnd, fault: fault, line: line))
      return false
    }
    if width < declaredCount {
      batch.warnings.append(Warning(code: "short-row", line: line))
    } else if width > columnCount, let fault = firstSurplus(columnCount) {
      batch.rejects.append(
        CSVRejects.make(
          .tooManyCells, "the record has \(width) cells, the header \(columnCount)", batch, scanner, start: start, contentEnd: contentEnd,
          fault: fault, line: line))
      return false
    }
    return true
  }
}
