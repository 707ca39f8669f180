import OhanaCore
import OhanaFormats
import OhanaTestSupport
import Testing

/// What the writer makes of CSV text: as it is, or cell by cell.
func writeCSV(
  _ text: [UInt8], _ dialect: CSVDialect = CSVDialect(), _ options: CSVWriterOptions = CSVWriterOptions(), explicit: Bool,
  pieces: [Int] = [Int.max], batchBytes: Int = 1 << 20
) throws -> String {
  let stream = PiecesStream(text, pieceSizes: pieces)
  let (header, head) = try CSVHeader.scan(stream, dialect: dialect, source: "test.csv")
  let framer = CSVFramer(stream: stream, header: header, head: head, batchBytes: batchBytes)
  let slots = explicit ? try fields(header.columns) : []
  let parser = CSVParser(fields: slots, slotCount: slots.count)
  let renderer =
    explicit
    ? CSVRenderer(layout: explicitLayout(header.columns), fields: slots, columns: .layout, options: options)
    : CSVRenderer(
      layout: RecordLayout(followsSource: true), fields: [], columns: .layout, options: options,
      source: (header.dialect, header.columns.count))
  var out = options.fileHead(header.columns)
  let batch = RecordBatch()
  while true {
    batch.recycle(limit: 1 << 20)
    batch.slotCount = slots.count
    guard try framer.next(into: batch) else { break }
    _ = try parser.process(batch)
    _ = try renderer.process(batch)
    out += batch.output.bytes
  }
  return String(decoding: out, as: UTF8.self)
}

private func explicitLayout(_ columns: [[UInt8]]) -> RecordLayout {
  var layout = RecordLayout(followsSource: false)
  layout.entries = columns.enumerated().map { .init(name: $0.element, slot: $0.offset) }
  return layout
}

@Suite("CSV writer") struct CSVWriterTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let rule: String
    let text: String
    let written: String
    var dialect: @Sendable (inout CSVDialect) -> Void = { _ in }
    var options: @Sendable (inout CSVWriterOptions) -> Void = { _ in }
    var testDescription: String { rule }
  }

  static let cases = [
    Case(rule: "plain cells", text: "a,b\n1,2\n", written: "a,b\n1,2\n"),
    Case(
      rule: "quotes where they are needed and nowhere else", text: "\"a\",b\n\"1\",\"2,\"\n\"x\"\"y\",z\"\n",
      written: "a,b\n1,\"2,\"\n\"x\"\"y\",\"z\"\"\"\n"),
    Case(
      rule: "line ends in cells are kept, those of records become LF", text: "a,b\r\n\"1\r\n2\",\"3\n4\"\r\n5,6",
      written: "a,b\n\"1\r\n2\",\"3\n4\"\n5,6\n"),
    Case(rule: "a lone CR is quoted", text: "a,b\n1\r2,3\n", written: "a,b\n\"1\r2\",3\n"),
    Case(rule: "null is empty, the empty string is quoted", text: "a,b\n,\"\"\n", written: "a,b\n,\"\"\n"),
    Case(
      rule: "in one column null is quoted, for a blank line is no record", text: "a\nNULL\nx\n", written: "a\n\"\"\nx\n",
      dialect: { $0.nulls = [Array("NULL".utf8)] }),
    Case(rule: "nulls by name", text: "a,b\nNULL,\"NULL\"\nx,\n", written: "a,b\n,\nx,\n", dialect: { $0.nulls = [Array("NULL".utf8)] }),
    Case(rule: "short rows get their cells", text: "a,b,c\n1\n", written: "a,b,c\n1,,\n"),
    Case(rule: "empty surplus goes", text: "a,b\n1,2,,\n", written: "a,b\n1,2\n"),
    Case(rule: "blanks and signs are left alone", text: "a,b\n =1+1,+49 1\n@x,'y\n", written: "a,b\n =1+1,+49 1\n@x,'y\n"),
    Case(rule: "column names are quoted like cells", text: "\"a,b\",\"c\"\"d\"\n1,2\n", written: "\"a,b\",\"c\"\"d\"\n1,2\n"),
    Case(
      rule: "a longer cell than any vector", text: "a,b\n\(String(repeating: "x", count: 100)),\"\(String(repeating: "y", count: 50)),\"\n",
      written: "a,b\n\(String(repeating: "x", count: 100)),\"\(String(repeating: "y", count: 50)),\"\n"),
  ]

  @Test("writes, as it is and cell by cell", arguments: cases) func writes(_ c: Case) throws {
    var dialect = CSVDialect()
    c.dialect(&dialect)
    #expect(try writeCSV(Array(c.text.utf8), dialect, explicit: true) == c.written)
    #expect(try writeCSV(Array(c.text.utf8), dialect, explicit: false) == c.written)
    #expect(try writeCSV(Array(c.text.utf8), dialect, explicit: false, pieces: [3], batchBytes: 5) == c.written)
  }

  static let dialects = [
    Case(rule: "tab", text: "a,b\n\"1\t2\",\"3,4\"\n", written: "a\tb\n\"1\t2\"\t3,4\n", options: { $0.delimiter = 9 }),
    Case(
      rule: "all quoted but null", text: "a,b\n1,\n\"\",x\n", written: "\"a\",\"b\"\n\"1\",\n\"\",\"x\"\n", options: { $0.quotesAll = true }
    ),
    Case(rule: "CRLF", text: "a,b\n1,2\n", written: "a,b\r\n1,2\r\n", options: { $0.endsWithCRLF = true }),
    Case(rule: "byte order mark", text: "a\n1\n", written: "\u{feff}a\n1\n", options: { $0.hasByteOrderMark = true }),
    Case(rule: "no header", text: "a\n1\n", written: "1\n", options: { $0.hasHeader = false }),
    Case(rule: "semicolon in, comma out", text: "a;b\n1,5;2\n", written: "a,b\n\"1,5\",2\n"),
    Case(rule: "escapes in", text: "a,b\n\"x\\\"y\",\\,\n", written: "a,b\n\"x\"\"y\",\",\"\n", dialect: { $0.escape = 92 }),
    Case(rule: "another quote in", text: "a,b\n'1,''2',\"3\"\n", written: "a,b\n\"1,'2\",\"\"\"3\"\"\"\n", dialect: { $0.quote = 39 }),
    Case(
      rule: "a number is quoted if it holds the delimiter", text: "a,b\n1.5,true\n", written: "a.b\n\"1.5\".true\n",
      dialect: { $0.infersKinds = true }, options: { $0.delimiter = UInt8(ascii: ".") }),
  ]

  @Test("writes other dialects", arguments: dialects) func otherDialects(_ c: Case) throws {
    var dialect = CSVDialect()
    c.dialect(&dialect)
    var options = CSVWriterOptions()
    c.options(&options)
    #expect(try writeCSV(Array(c.text.utf8), dialect, options, explicit: true) == c.written)
  }

  @Test("own bytes and cells give the same text, and reading it back the same values", arguments: 0..<400) func roundTrips(seed: UInt64)
    throws
  {
    var random = SeededGenerator(seed: seed)
    let text = seed % 2 == 0 ? CSVPropertyTests.legal(&random).text : CSVPropertyTests.anything(&random)
    let dialect = CSVPropertyTests.dialect { $0.header = .given((0..<4).map { Array("c\($0)".utf8) }) }
    let cells = try writeCSV(text, dialect, explicit: true)
    let own = try writeCSV(
      text, dialect, explicit: false, pieces: [Int.random(in: 1...50, using: &random)], batchBytes: Int.random(in: 1...200, using: &random))
    #expect(own == cells)
    let before = try readCSV(text, dialect)
    let after = try readCSV(Array(cells.utf8), CSVDialect())
    #expect(after.rejects.isEmpty)
    #expect(after.rows == before.rows.map { $0.map { $0 == .missing ? .null : $0 } })
  }

  @Test("every option reads back what it wrote", arguments: 0..<200) func optionsRoundTrip(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let (text, _) = CSVPropertyTests.legal(&random)
    let dialect = CSVPropertyTests.dialect { $0.header = .given((0..<6).map { Array("c\($0)".utf8) }) }
    var options = CSVWriterOptions()
    options.delimiter = [44, 59, 9, 124].randomElement(using: &random)!
    options.quotesAll = Bool.random(using: &random)
    options.endsWithCRLF = Bool.random(using: &random)
    options.hasByteOrderMark = Bool.random(using: &random)
    let written = try writeCSV(text, dialect, options, explicit: true)
    var back = CSVDialect()
    back.delimiter = options.delimiter
    #expect(try readCSV(Array(written.utf8), back).rows == readCSV(text, dialect).rows.map { $0.map { $0 == .missing ? .null : $0 } })
  }
}
