internal import CSimdJSON
public import OhanaCore

/// What must be known of a CSV input before its records are read: its dialect and its columns.
public struct CSVHeader: Sendable, Equatable {
  /// With nothing left to be told: delimiter and line end are set.
  public var dialect: CSVDialect
  /// Column names in input order, all different; see DESIGN 4 for how repeated and empty ones are named.
  public private(set) var columns: [[UInt8]]
  /// Columns that the header has itself; ``widen(by:)`` adds others behind them.
  public private(set) var declaredCount: Int
  /// Offset in the input of the first data record.
  public var dataOffset: Int
  /// Blank lines before the header.
  public var blankLines: Int

  /// Columns that an input can have. A file that wide is a mistake as a rule, and each column costs memory in every part of a run.
  public static let maxColumns = 1 << 16

  /// Bytes on which delimiter and line end are judged.
  static let sampleBytes = 64 << 10

  /// Reads the start of an input: byte order mark, blank lines, header, and what is needed to tell the dialect.
  ///
  /// - Parameters:
  ///   - stream: the input's decompressed UTF-8 from its first byte on.
  ///   - dialect: what is known of it.
  ///   - source: for messages.
  ///   - memoryLimit: bytes of header that may be held.
  /// - Returns: the header, and all bytes read: give them to ``CSVFramer/init(stream:header:head:batchBytes:memoryLimit:)`` with the rest
  ///   of the stream, or drop them and open the input again.
  /// - Throws: `usage` for bytes that cannot be a dialect, `badInput` for a header that is no record of it, not UTF-8, or of more than
  ///   ``maxColumns``, `memory` for one that is longer than may be held, and what the stream throws. An empty input has no columns and is no error.
  public static func scan(
    _ stream: any ByteStream, dialect: CSVDialect, source: FilePath, memoryLimit: Int = .max
  ) throws -> (header: CSVHeader, head: ByteBuffer) {
    if let problem = dialect.problem { throw OhanaError(.usage, "bad-dialect", problem, fix: "choose other bytes") }
    let head = ByteBuffer(capacity: sampleBytes)
    var isEnd = try fill(head, to: sampleBytes, from: stream)
    var dialect = dialect
    var start = 0
    if head.count >= 3, head.base[0] == 0xef, head.base[1] == 0xbb, head.base[2] == 0xbf { start = 3 }
    // Spreadsheets name the delimiter in a line of its own.
    if dialect.delimiter == nil, dialect.header == .firstRecord, let named = Self.separatorLine(head, start) {
      (dialect.delimiter, start) = (named.delimiter, named.end)
    }
    if dialect.lineEnd == nil { dialect.lineEnd = lineEnd(of: head, from: start, dialect) }
    if dialect.delimiter == nil {
      dialect.delimiter = CSVSniffer.delimiter(of: head.base, from: start, to: head.count, isEnd: isEnd, dialect: dialect)
      if let problem = dialect.problem { throw OhanaError(.usage, "bad-dialect", problem, fix: "name the --delimiter, or other bytes") }
    }
    let scanner = CSVRecordScanner(dialect)
    let cells = CSVCellList()
    var header = CSVHeader(dialect: dialect, columns: [], declaredCount: 0, dataOffset: start, blankLines: 0)
    if case .given(let names) = dialect.header {
      header.setColumns(CSVColumnNames.unique(names))
      return (header, head)
    }
    while start < head.count {
      let outcome = scanner.scan(head.base, from: start, to: head.count, isEnd: isEnd, cells: cells)
      switch outcome.kind {
      case .incomplete:
        if let fault = stream.fault { throw fault }
        guard head.count <= memoryLimit else {
          throw OhanaError(
            .memory, "record-too-long", at: header.location(start, head, scanner, source),
            "a header of more than \(memoryLimit) bytes does not fit into the memory limit",
            fix: "check --delimiter and --quote, or raise --memory")
        }
        isEnd = try fill(head, to: head.count * 2, from: stream)
        continue
      case .record:
        if cells.count == 1, outcome.contentEnd == start {
          header.blankLines += 1
          start = outcome.next
          continue
        }
        guard cells.count <= maxColumns else {
          throw OhanaError(
            .badInput, "too-many-columns", at: header.location(start, head, scanner, source),
            "the first record has more than \(maxColumns) columns", fix: "check --delimiter and --quote")
        }
        if dialect.header == .none {
          header.setColumns(CSVColumnNames.positional(cells.count))
          // Blank lines before the first record are counted with the records.
          header.blankLines = 0
        } else {
          header.setColumns(CSVColumnNames.unique(try header.names(cells, head, scanner, source: source)))
          header.dataOffset = outcome.next
        }
        return (header, head)
      case .textAfterQuote, .unclosedQuote, .tooLong:
        if dialect.header == .none {  // a reject like any other; columns come from the first record that can be read
          if outcome.kind != .tooLong, outcome.next > start {
            start = outcome.next
            continue
          }
          return (header, head)
        }
        throw header.unreadable(outcome, head, from: start, scanner, source: source)
      }
    }
    if dialect.header == .none { header.blankLines = 0 } else { header.dataOffset = start }
    return (header, head)
  }

  /// The header of an input without a byte in it.
  public static func empty(_ dialect: CSVDialect) -> CSVHeader {
    var dialect = dialect
    dialect.delimiter = dialect.delimiter ?? CSVDialect.sniffedDelimiters[0]
    dialect.lineEnd = dialect.lineEnd ?? .lineFeed
    return CSVHeader(dialect: dialect, columns: [], declaredCount: 0, dataOffset: 0, blankLines: 0)
  }

  /// Takes the names of `other` where they are the same: thousands of chunks need only one list.
  public mutating func share(with other: CSVHeader) {
    if columns == other.columns { columns = other.columns }
  }

  /// Columns for the cells that records have beyond the header, up to `width` cells: `column_N` (`--ragged pad`).
  public mutating func widen(by width: Int) {
    guard width > columns.count else { return }
    let extra = [[UInt8]](repeating: [], count: width - columns.count)
    columns = CSVColumnNames.unique(columns + extra)
  }

  /// Same, to the widest record of the rest of `stream`, whose first bytes are `head`. Reads it all.
  ///
  /// - Throws: `badInput` for a record of more than ``maxColumns`` cells, and what the stream throws.
  public mutating func widen(byReading stream: any ByteStream, head: ByteBuffer?) throws {
    let framer = CSVFramer(stream: stream, header: self, head: head)
    let batch = RecordBatch(capacity: 1 << 20)
    let scanner = CSVRecordScanner(dialect)
    let cells = CSVCellList()
    var width = columns.count
    while try framer.next(into: batch) {
      var at = (batch.readerState as? CSVBatchState)?.dataStart ?? 0
      while at < batch.arena.count {
        let outcome = scanner.scan(batch.arena.base, from: at, to: batch.arena.count, isEnd: true, cells: cells)
        if outcome.kind == .record {
          // Empty cells behind the last are dropped, not padded.
          var used = cells.count
          while used > width, cells.base[used - 1].end == cells.base[used - 1].start { used -= 1 }
          width = max(width, used)
          guard width <= Self.maxColumns else {
            throw OhanaError(
              .badInput, "too-many-columns", "a record has more than \(Self.maxColumns) cells, which --ragged pad would all make columns",
              fix: "check --delimiter and --quote, or use --ragged strict")
          }
        }
        guard outcome.next > at else { break }
        at = outcome.next
      }
      batch.recycle(limit: 1 << 20)
    }
    widen(by: width)
  }

  /// A first line of `sep=C` and nothing else: its delimiter, and where the line behind it begins.
  private static func separatorLine(_ head: ByteBuffer, _ start: Int) -> (delimiter: UInt8, end: Int)? {
    guard head.count >= start + 6, head.bytes[start..<start + 4].elementsEqual("sep=".utf8) else { return nil }
    let delimiter = head.base[start + 4]
    var end = start + 5
    if head.base[end] == UInt8(ascii: "\r") { end += 1 }
    if end < head.count, head.base[end] == UInt8(ascii: "\n") { end += 1 } else if end == start + 5 { return nil }
    return (delimiter, end)
  }

  private mutating func setColumns(_ names: [[UInt8]]) {
    columns = names
    declaredCount = names.count
  }

  private func names(_ cells: CSVCellList, _ head: ByteBuffer, _ scanner: CSVRecordScanner, source: FilePath) throws(OhanaError)
    -> [[UInt8]]
  {
    var names: [[UInt8]] = []
    for index in 0..<cells.count {
      let cell = cells.base[index]
      let length = Int(cell.end - cell.start)
      guard ohana_validate_utf8(head.base + Int(cell.start), length) else {
        let at = UTF8Validation.firstInvalid(head.base, from: Int(cell.start), to: Int(cell.end))
        throw OhanaError(
          .badInput, "invalid-utf8", at: location(at, head, scanner, source), "the header is not UTF-8",
          fix: "name the encoding, for example --encoding windows-1252")
      }
      names.append(CSVCellDecoding.text(cell, of: head.base, quote: scanner.quote, escape: scanner.escape))
    }
    return names
  }

  private func unreadable(
    _ outcome: CSVRecordScanner.Outcome, _ head: ByteBuffer, from start: Int, _ scanner: CSVRecordScanner, source: FilePath
  ) -> OhanaError {
    switch outcome.kind {
    case .tooLong:
      OhanaError(
        .badInput, "record-too-long", at: location(start, head, scanner, source),
        "the header is longer than \(dialect.maxRecordBytes) bytes", fix: "raise --max-record, or check --delimiter and --quote")
    case .textAfterQuote:
      OhanaError(
        .badInput, "text-after-quote", at: location(outcome.fault, head, scanner, source),
        "text follows a closing quote in the header", fix: "check --delimiter, --quote and --escape")
    default:
      OhanaError(
        .badInput, "unclosed-quote", at: location(outcome.fault, head, scanner, source), "a quote in the header is never closed",
        fix: "check --quote and --escape")
    }
  }

  private func location(_ at: Int, _ head: ByteBuffer, _ scanner: CSVRecordScanner, _ source: FilePath) -> OhanaError.Location {
    var lineStart = at
    while lineStart > 0, head.base[lineStart - 1] != 0x0a, head.base[lineStart - 1] != 0x0d || !scanner.endsWithCR { lineStart -= 1 }
    return .init(source, line: scanner.countLines(head.base, from: 0, to: at) + 1, byte: at - lineStart + 1)
  }

  /// CR if the sample has lone CRs and no LF outside quotes.
  private static func lineEnd(of head: ByteBuffer, from start: Int, _ dialect: CSVDialect) -> CSVDialect.LineEnd {
    var inQuotes = false, hasCR = false
    for at in start..<head.count {
      let byte = head.base[at]
      if UInt16(byte) == dialect.quoteCode {
        inQuotes.toggle()
      } else if !inQuotes, byte == 0x0a {
        return .lineFeed
      } else if !inQuotes, byte == 0x0d, at + 1 < head.count || head.count < sampleBytes {  // else an LF may be what follows
        hasCR = true
      }
    }
    return hasCR ? .carriageReturn : .lineFeed
  }

  /// Reads until `buffer` holds `count` bytes; returns whether the input ended.
  private static func fill(_ buffer: ByteBuffer, to count: Int, from stream: any ByteStream) throws -> Bool {
    buffer.reserve(count - buffer.count)
    while buffer.count < count {
      let got = try stream.read(into: UnsafeMutableRawBufferPointer(start: buffer.base + buffer.count, count: count - buffer.count))
      if got == 0 { return stream.fault == nil }
      buffer.count += got
    }
    return false
  }
}
