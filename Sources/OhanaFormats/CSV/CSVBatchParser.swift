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
        kernel, batch.arena.base + at, end - at, bytes, scratch.cells, scratch.cellCapacity, scratch.records, scratch.recordCapacity, &index
      )
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
    // All that the loop touches is in locals: a class's property costs a retain or an access check each time.
    var base = UnsafePointer(batch.arena.base)
    let cells = UnsafePointer(scratch.cells)
    let indexed = UnsafePointer(scratch.records)
    let records = batch.records
    let fields = batch.fields
    let slotCount = batch.slotCount
    let lineBefore = line
    let columnCount = columnCount
    let marksVerbatim = marksVerbatim
    let isExamined = checksUTF8 || spans.hasNulls && marksVerbatim
    let isPlain = spans.isPlain
    let quote = scanner.quote
    let mayHoldPairs = index.has_doubled_quotes
    let map = map
    let wanted = UnsafePointer(map.entries)
    let wantedCount = map.count
    let coversSlots = wantedCount == slotCount
    var line = line
    var start = shift
    var firstCell = 0
    var made = batch.recordCount
    var blankLines = 0
    for at in 0..<count {
      let entry = indexed[at]
      let cellsEnd = Int(entry.cells_end)
      let terminator = shift &+ Int(cells[cellsEnd &- 1])
      let width = cellsEnd &- firstCell
      var contentEnd = terminator
      if contentEnd > start, base[contentEnd &- 1] == 0x0d { contentEnd &-= 1 }
      let recordStart = start
      let recordCells = cells + firstCell
      start = terminator &+ 1
      firstCell = cellsEnd
      let recordLine = line
      line = lineBefore &+ Int(entry.lines)
      if contentEnd == recordStart {
        blankLines &+= 1
        continue
      }

      var flags: RecordSpan.Flags = marksVerbatim ? .verbatim : []
      if width != columnCount || isExamined || marksVerbatim && entry.special != 0 {
        batch.recordCount = made
        let record = Indexed(
          cells: recordCells, shift: shift, width: width, start: recordStart, contentEnd: contentEnd, line: recordLine,
          isSpecial: entry.special != 0)
        guard let examined = examine(record) else { continue }
        flags = examined
      }
      records[made] = RecordSpan(
        offset: UInt32(truncatingIfNeeded: recordStart), length: UInt32(truncatingIfNeeded: contentEnd &- recordStart), flags: flags,
        line: UInt32(truncatingIfNeeded: recordLine))
      let row = fields + made &* slotCount
      made &+= 1
      if !coversSlots || width < columnCount { row.initialize(repeating: .missing, count: slotCount) }
      for place in 0..<wantedCount {
        let (column, slot) = wanted[place]
        if column >= width { break }
        let cellStart = column == 0 ? recordStart : shift &+ Int(recordCells[column &- 1]) &+ 1
        let cellEnd = column == width &- 1 ? contentEnd : shift &+ Int(recordCells[column])
        if cellStart == cellEnd {
          row[slot] = FieldSpan(kind: .null, flags: .inSource)
        } else if !isPlain {
          row[slot] = spans.slowSpan(cellStart, cellEnd, mayHoldPairs: mayHoldPairs, batch.arena)
          base = UnsafePointer(batch.arena.base)  // which may have moved
        } else if UInt16(base[cellStart]) == quote {
          let isPaired = mayHoldPairs && memchr(base + (cellStart &+ 1), Int32(quote), cellEnd &- cellStart &- 2) != nil
          row[slot] = FieldSpan(
            offset: UInt32(truncatingIfNeeded: cellStart &+ 1), length: UInt32(truncatingIfNeeded: cellEnd &- cellStart &- 2),
            kind: .string,
            encoding: isPaired ? .csv : .plain, flags: .inSource)
        } else {
          row[slot] = FieldSpan(
            offset: UInt32(truncatingIfNeeded: cellStart), length: UInt32(truncatingIfNeeded: cellEnd &- cellStart), kind: .string,
            flags: .inSource)
        }
      }
    }
    batch.recordCount = made
    batch.blankLines += blankLines
    self.line = line
  }
  /// A record as the index has it.
  private struct Indexed {
    /// Where its cells end, from `shift` on.
    var cells: UnsafePointer<UInt32>
    var shift: Int
    var width: Int
    var start: Int
    var contentEnd: Int
    var line: Int
    var isSpecial: Bool

    /// Bytes of a cell, its quotes included.
    func cell(_ column: Int) -> (start: Int, end: Int) {
      (
        column == 0 ? start : shift + Int(cells[column - 1]) + 1, column == width - 1 ? contentEnd : shift + Int(cells[column])
      )
    }
  }

  /// Looks at a record of which something is out of the ordinary. Returns its flags, or nil where it is rejected.
  @inline(never)
  private func examine(_ record: Indexed) -> RecordSpan.Flags? {
    let base = UnsafePointer(batch.arena.base)
    if checksUTF8, !ohana_validate_utf8(base + record.start, record.contentEnd - record.start) {
      rejectEncoding(record.start, record.contentEnd, line: record.line)
      return nil
    }
    if record.width < declaredCount {
      warnShort(record.line)
    } else if record.width > columnCount {
      for column in columnCount..<record.width {
        let (start, end) = record.cell(column)
        let isEmpty = start == end || end == start + 2 && UInt16(base[start]) == scanner.quote && UInt16(base[start + 1]) == scanner.quote
        if !isEmpty {
          rejectWidth(record.start, record.contentEnd, width: record.width, fault: start, line: record.line)
          return nil
        }
      }
    }
    guard marksVerbatim, record.width == columnCount else { return [] }
    return (!record.isSpecial || isVerbatim(record, base)) && !(spans.hasNulls && holdsNull(record, base)) ? .verbatim : []
  }

  /// Whether each quoted cell needs its quotes or is `""`, and no bare cell holds a CR.
  private func isVerbatim(_ record: Indexed, _ base: UnsafePointer<UInt8>) -> Bool {
    var start = record.start
    for column in 0..<record.width {
      let end = column == record.width - 1 ? record.contentEnd : record.shift + Int(record.cells[column])
      if end > start {
        if base[start] == 0x22 {
          if end > start + 2, !ohana_csv_needs_quotes(base + start + 1, end - start - 2, 0x2c, 0x22) { return false }
        } else if ohana_csv_needs_quotes(base + start, end - start, 0x2c, 0x22) {
          return false
        }
      }
      start = end + 1
    }
    return true
  }

  private func holdsNull(_ record: Indexed, _ base: UnsafePointer<UInt8>) -> Bool {
    for column in 0..<record.width {
      let (start, end) = record.cell(column)
      // An empty cell is written as one.
      if end > start, spans.slowSpan(start, end, mayHoldPairs: true, batch.arena).kind == .null { return true }
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
    if checksUTF8, !ohana_validate_utf8(base + start, outcome.contentEnd - start) {
      return rejectEncoding(start, outcome.contentEnd, line: recordLine)
    }
    if list.count < declaredCount { warnShort(recordLine) }
    for column in columnCount..<max(columnCount, list.count) where list.base[column].end > list.base[column].start {
      let fault = Int(list.base[column].start) - Int(list.base[column].flags & CSVCell.quoted)
      return rejectWidth(start, outcome.contentEnd, width: list.count, fault: fault, line: recordLine)
    }
    let record = batch.appendRecord(
      RecordSpan(offset: UInt32(start), length: UInt32(outcome.contentEnd - start), line: UInt32(truncatingIfNeeded: recordLine)))
    for place in 0..<map.count where map.entries[place].column < list.count {
      let (column, slot) = map.entries[place]
      batch.fields[record * batch.slotCount + slot] = spans.span(list.base[column], batch.arena)
    }
  }

  // MARK: Rejects and warnings

  private func rejectEncoding(_ start: Int, _ contentEnd: Int, line: Int) {
    let isTranscoded = dialect.isTranscoded
    batch.rejects.append(
      CSVRejects.make(
        isTranscoded ? .invalidEncoding : .invalidUTF8, isTranscoded ? "a sequence is not valid in the input's encoding" : "not UTF-8",
        batch,
        scanner, start: start, contentEnd: contentEnd, fault: UTF8Validation.firstInvalid(batch.arena.base, from: start, to: contentEnd),
        line: line))
  }

  private func rejectWidth(_ start: Int, _ contentEnd: Int, width: Int, fault: Int, line: Int) {
    batch.rejects.append(
      CSVRejects.make(
        .tooManyCells, "the record has \(width) cells, the header \(columnCount)", batch, scanner, start: start, contentEnd: contentEnd,
        fault: fault, line: line))
  }

  private func warnShort(_ line: Int) { batch.warnings.append(Warning(code: "short-row", line: line)) }
}
