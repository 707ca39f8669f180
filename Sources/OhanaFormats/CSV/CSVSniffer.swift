internal import OhanaCore

/// Tells the delimiter from the first records of an input.
enum CSVSniffer {
  /// The delimiter among `, ; TAB |` that explains most: records read with it agree with the first one's width, and there are many cells.
  /// Comma if none gives the first record more than one cell.
  ///
  /// Judged on at most 200 parsed records, so that delimiters in quotes count nothing. A cell with a leading blank speaks against its
  /// delimiter a little: prose has blanks behind commas.
  static func delimiter(of base: UnsafePointer<UInt8>, from start: Int, to end: Int, isEnd: Bool, dialect: CSVDialect) -> UInt8 {
    var best = (delimiter: UInt8(ascii: ","), score: 0.0)
    let cells = CSVCellList()
    for candidate in CSVDialect.sniffedDelimiters where candidate != dialect.quote && candidate != dialect.escape {
      var dialect = dialect
      dialect.delimiter = candidate
      let score = score(CSVRecordScanner(dialect), base, start, end, isEnd, cells)
      if score > best.score { best = (candidate, score) }
    }
    return best.delimiter
  }

  /// Whether text can only be meant as a table: two or more records, all read without fault and equally wide with one delimiter, at least
  /// two cells each, none of the header's empty, and no line that begins as a JSON object does.
  ///
  /// - Parameter head: the first bytes of an input, from where its text begins; what is cut off at the end is not judged.
  static func isTable(_ head: UnsafeBufferPointer<UInt8>) -> Bool {
    guard let base = head.baseAddress else { return false }
    let cells = CSVCellList()
    return CSVDialect.sniffedDelimiters.contains { delimiter in
      var dialect = CSVDialect()
      dialect.delimiter = delimiter
      let scanner = CSVRecordScanner(dialect)
      var at = 0, records = 0, width = 0
      while at < head.count, records < 200 {
        let outcome = scanner.scan(base, from: at, to: head.count, isEnd: false, cells: cells)
        if outcome.kind == .incomplete { break }
        guard outcome.kind == .record, base[at] != UInt8(ascii: "{") else { return false }
        if outcome.contentEnd > at {
          if records == 0 {
            width = cells.count
            for cell in 0..<width where cells.base[cell].start == cells.base[cell].end { return false }
          }
          guard width > 1, cells.count == width else { return false }
          records += 1
        }
        at = outcome.next
      }
      return records > 1
    }
  }

  private static func score(
    _ scanner: CSVRecordScanner, _ base: UnsafePointer<UInt8>, _ start: Int, _ end: Int, _ isEnd: Bool, _ cells: CSVCellList
  ) -> Double {
    var at = start
    var width = 0
    var records = 0, agreeing = 0.0, seen = 0, blankLed = 0
    while at < end, records < 200 {
      let outcome = scanner.scan(base, from: at, to: end, isEnd: isEnd, cells: cells)
      guard outcome.kind != .incomplete, outcome.kind != .tooLong, outcome.next > at else { break }
      if outcome.kind == .record, outcome.contentEnd > at {
        records += 1
        if width == 0 { width = cells.count }
        if width < 2 { return 0 }
        // Short and long records are common, but count less.
        agreeing += cells.count == width ? 1 : cells.count > 1 ? 0.5 : 0
        seen += cells.count
        for index in 0..<cells.count where cells.base[index].start < cells.base[index].end && base[Int(cells.base[index].start)] == 0x20 {
          blankLed += 1
        }
      } else if outcome.kind != .record {
        records += 1
      }
      at = outcome.next
    }
    guard width >= 2 else { return 0 }
    return agreeing / Double(records) * Double(width - 1) * (1 - 0.5 * Double(blankLed) / Double(max(seen, 1)))
  }
}
