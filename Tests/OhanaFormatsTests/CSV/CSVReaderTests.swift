import OhanaCore
import OhanaFormats
import OhanaTestSupport
import Testing

@Suite("CSV reader") struct CSVReaderTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let rule: String
    let text: String
    let rows: [[TestValue]]
    var rejects: [String] = []
    var change: @Sendable (inout CSVDialect) -> Void = { _ in }
    var testDescription: String { rule }
  }

  static let cases = [
    Case(rule: "plain cells", text: "a,b\n1,2\n3,4\n", rows: [["1", "2"], ["3", "4"]]),
    Case(rule: "the last line needs no line end (RFC 4180 2.2)", text: "a,b\n1,2\n3,4", rows: [["1", "2"], ["3", "4"]]),
    Case(rule: "CRLF", text: "a,b\r\n1,2\r\n3,\r\n", rows: [["1", "2"], ["3", nil]]),
    Case(rule: "CR alone", text: "a,b\r1,2\r\"x\ry\",4", rows: [["1", "2"], ["x\ry", "4"]]),
    Case(rule: "CR alone, then CRLF", text: "a,b\r1,2\r3,4\r\r5,6\r", rows: [["1", "2"], ["3", "4"], ["5", "6"]]),
    Case(rule: "a CR within an LF file is text", text: "a,b\n1\rx,2\n", rows: [["1\rx", "2"]]),
    Case(rule: "a file cut between CR and LF", text: "a,b\r\n1,2\r\n3,4\r", rows: [["1", "2"], ["3", "4"]]),
    Case(rule: "an unquoted empty cell is null, a quoted one is empty", text: "a,b\n,\"\"\n", rows: [[nil, ""]]),
    Case(rule: "doubled quotes (RFC 4180 2.7)", text: "a,b\n\"x\"\"y\",\"\"\"\"\n", rows: [["x\"y", "\""]]),
    Case(rule: "line ends in quotes are kept", text: "a,b\r\n\"1\r\n2\",\"3\n4\"\r\n", rows: [["1\r\n2", "3\n4"]]),
    Case(rule: "delimiters in quotes", text: "a,b\n\"1,2\",\",\"\n", rows: [["1,2", ","]]),
    Case(rule: "a quote inside a bare cell is text", text: "a,b\nx,5\" boot\ny,6\" b,\n", rows: [["x", "5\" boot"], ["y", "6\" b"]]),
    Case(rule: "blanks are text, also before a quote", text: "a,b\n 1 , \"2\"\n", rows: [[" 1 ", " \"2\""]]),
    Case(rule: "blank lines are skipped", text: "\n\na,b\n\n1,2\n\n\n3,4\n\n", rows: [["1", "2"], ["3", "4"]]),
    Case(rule: "blank CRLF lines are skipped", text: "a\r\n\r\n1\r\n\r\n", rows: [["1"]]),
    Case(rule: "a quoted empty cell is a record, not a blank line", text: "a\n\"\"\n1\n", rows: [[""], ["1"]]),
    Case(rule: "a byte order mark goes", text: "\u{feff}\"a\",b\n1,2\n", rows: [["1", "2"]]),
    Case(rule: "short rows miss the rest", text: "a,b,c\n1\n2,3\n", rows: [["1", .missing, .missing], ["2", "3", .missing]]),
    Case(rule: "empty surplus goes", text: "a,b\n1,2,\n3,4,,\"\"\n", rows: [["1", "2"], ["3", "4"]]),
    Case(
      rule: "surplus is a reject", text: "a,b\n1,2,,x\n3,4\n", rows: [["3", "4"]], rejects: ["too-many-cells 2:6 1,2,,x"]),
    Case(
      rule: "text behind a closing quote rejects the line", text: "a,b\n\"1\"x,2\n3,4\n", rows: [["3", "4"]],
      rejects: ["text-after-quote 2:4 \"1\"x,2"]),
    Case(
      rule: "text behind a closing quote on a later line: reading goes on behind that line", text: "a,b\n\"1\n2\"x,2\n3,4\n",
      rows: [["3", "4"]], rejects: ["text-after-quote 3:3 \"1\n2\"x,2"]),
    Case(
      rule: "an open quote rejects its line alone", text: "a,b\n1,\"2\n3,4\n5,6\n", rows: [["3", "4"], ["5", "6"]],
      rejects: ["unclosed-quote 2:3 1,\"2"]),
    Case(
      rule: "an open quote on the last line", text: "a,b\n1,2\n3,\"4", rows: [["1", "2"]], rejects: ["unclosed-quote 3:3 3,\"4"]),
    Case(
      rule: "a CR behind a closing quote needs an LF", text: "a,b\n\"1\"\rx,2\n3,4\n", rows: [["3", "4"]],
      rejects: ["text-after-quote 2:4 \"1\"\rx,2"]),
    Case(rule: "NUL is text", text: "a,b\nx\0y,\0\n", rows: [["x\0y", "\0"]]),
    Case(rule: "other delimiters", text: "a;b\n1,0;2\n", rows: [["1,0", "2"]]),
    Case(rule: "tab", text: "a\tb\n1\t\"2\t3\"\n", rows: [["1", "2\t3"]]),
    Case(
      rule: "null names, quoted or not", text: "a,b,c\nNULL,\"NULL\",\n\"\",null,\"N\"\"\"\n",
      rows: [[nil, nil, nil], ["", "null", "N\""]],
      change: { $0.nulls = [Array("NULL".utf8)] }),
    Case(
      rule: "an empty null name makes quoted empty cells null", text: "a,b\n\"\",x\n", rows: [[nil, "x"]], change: { $0.nulls = [[]] }),
    Case(
      rule: "escapes", text: "1,\"Kim\",\"\\\"The Alder, Ltd.\\\"\",\\N\n2,\"Lee\",\"a\\\\b\",\"x\"\n3,a\\,b,\"q\"\"r\",\\\nz\n",
      rows: [["1", "Kim", "\"The Alder, Ltd.\"", nil], ["2", "Lee", "a\\b", "x"], ["3", "a,b", "q\"r", "\nz"]],
      change: {
        $0.header = .none
        $0.escape = UInt8(ascii: "\\")
        $0.nulls = [Array("\\N".utf8)]
      }),
    Case(
      rule: "another quote", text: "a,b\n'1,''2',\"3\"\n", rows: [["1,'2", "\"3\""]], change: { $0.quote = UInt8(ascii: "'") }),
    Case(rule: "no quote at all", text: "a,b\n\"1,2\"\n", rows: [["\"1", "2\""]], change: { $0.quote = nil }),
    Case(rule: "no header", text: "1,2\n3\n", rows: [["1", "2"], ["3", .missing]], change: { $0.header = .none }),
    Case(
      rule: "given header", text: "1,2\n", rows: [["1", "2"]], change: { $0.header = .given([Array("x".utf8), Array("y".utf8)]) }),
    Case(
      rule: "kinds on demand: JSON's numbers, true, false, unquoted only",
      text: "a,b,c\n1.10,007,+49\n-0,1e5,1.\ntrue,True,\"1\"\nfalse,.5,18446744073709551617\n",
      rows: [
        [.number("1.10"), "007", "+49"], [.number("-0"), .number("1e5"), "1."], [.bool(true), "True", "1"],
        [.bool(false), ".5", .number("18446744073709551617")],
      ], change: { $0.infersKinds = true }),
    Case(
      rule: "a record that is too long is rejected, the next one read", text: "a,b\n1,2\n123456,78901\n3,4\n",
      rows: [["1", "2"], ["3", "4"]],
      rejects: ["record-too-long 3:1 -"], change: { $0.maxRecordBytes = 10 }),
    Case(
      rule: "a record of just the greatest length is read", text: "a,b\r\n123456,789\r\n3,4\n", rows: [["123456", "789"], ["3", "4"]],
      change: { $0.maxRecordBytes = 10 }),
    Case(
      rule: "a quote not closed within the greatest length rejects its line", text: "a,b\n1,\"2\n3,4\n5,6\n7,\"\n",
      rows: [["3", "4"], ["5", "6"]],
      rejects: ["unclosed-quote 2:3 1,\"2", "unclosed-quote 5:3 7,\""], change: { $0.maxRecordBytes = 10 }),
    Case(rule: "empty file", text: "", rows: []),
    Case(rule: "a line end alone", text: "\n", rows: []),
    Case(rule: "header alone", text: "a,b\n", rows: []),
    Case(rule: "header alone without line end", text: "a,b", rows: []),
  ]

  @Test("reads", arguments: cases) func reads(_ c: Case) throws {
    var dialect = CSVDialect()
    c.change(&dialect)
    for (pieces, batchBytes) in [([Int.max], 1 << 20), ([1], 1 << 20), ([1], 1), ([3, 1, 2], 7), ([5], 16)] {
      for reopens in [false, true] {
        let reading = try readCSV(Array(c.text.utf8), dialect, pieces: pieces, batchBytes: batchBytes, reopens: reopens)
        #expect(reading.rows == c.rows, "pieces \(pieces) batch \(batchBytes)")
        let rejects = reading.rejects.map { "\($0.reason.rawValue) \($0.line):\($0.column) \($0.raw ?? "-")" }
        #expect(rejects == c.rejects, "pieces \(pieces) batch \(batchBytes)")
      }
    }
  }

  @Test("names repeated and empty columns, overwriting none") func columnNames() throws {
    #expect(try readCSV("name,phone,phone,phone\n").columns == ["name", "phone", "phone_2", "phone_3"])
    #expect(try readCSV("phone,phone,phone_2,,column_4,\n").columns == ["phone", "phone_3", "phone_2", "column_5", "column_4", "column_6"])
    #expect(try readCSV("1,2,3\n") { $0.header = .none }.columns == ["_1", "_2", "_3"])
    #expect(try readCSV("\n\n \"a\" ,\"b\"\"c\"\n").columns == [" \"a\" ", "b\"c"])
  }

  @Test("counts blank lines, short rows and lines") func counts() throws {
    let reading = try readCSV("\n\na,b\n1\n\n\"2\n\n3\",4\n\n5\n")
    #expect(reading.blankLines == 4)
    #expect(reading.warnings == [4, 10])
    #expect(reading.lines == [3, 5, 9])
    #expect(reading.lineCount == 10)
  }

  @Test("marks only records that the default writer would write so") func verbatim() throws {
    let text = "a,b\n1,2\n\"1\",2\n\"1,\",2\n,\"\"\n1\n1,2,\n1\rx,2\n\"a\nb\",\"\"\"\"\nx,y\"z\n\"\",\"\"\n"
    #expect(try readCSV(text).verbatim == [true, false, true, true, false, false, false, true, false, true])
    #expect(
      try readCSV(text) { $0.nulls = [Array("1".utf8)] }.verbatim == [false, false, true, true, false, false, false, true, false, true])
    #expect(try readCSV("a;b\n1;2\n").verbatim == [false])
    #expect(try readCSV("a,b\r\n1,2\r\n").verbatim == [true])
    #expect(try readCSV("a\n\"\"\nx\n").verbatim == [true, true])
  }

  @Test("rejects records that are not UTF-8 with line and byte") func invalidUTF8() throws {
    let bytes = Array("a,b\n1,\"x\n".utf8) + [0xe9] + Array("\"\nü,4\n".utf8) + [0x35, 0xc3, 0x0a] + Array("6,7\n".utf8)
    for batchBytes in [1, 9, 1000] {
      let reading = try readCSV(bytes, batchBytes: batchBytes)
      #expect(reading.rows == [["ü", "4"], ["6", "7"]])
      #expect(reading.rejects.map(\.reason) == [.invalidUTF8, .invalidUTF8])
      #expect(reading.rejects.map { [$0.line, $0.column, $0.offset, $0.before] } == [[3, 1, 4, 0], [5, 2, 17, 1]])
    }
    let error = #expect(throws: OhanaError.self) { try readCSV(Array("a,".utf8) + [0xe9, 0x0a]) }
    #expect(error?.code == "invalid-utf8")
    #expect(error?.location == .init("test.csv", line: 1, byte: 3))
  }

  @Test("a header that cannot be read is an error with its place") func badHeader() throws {
    for (text, code, line, byte) in [("a,\"b\"c\n1,2\n", "text-after-quote", 1, 6), ("\na,\"b\n1,2\n", "unclosed-quote", 2, 3)] {
      let error = #expect(throws: OhanaError.self) { try readCSV(text) }
      #expect(error?.code == code)
      #expect(error?.location == .init("test.csv", line: line, byte: byte))
    }
  }

  @Test("more columns than an input can have are an error, and the most it can have are read") func columnLimit() throws {
    let widest = CSVHeader.maxColumns
    let commas = String(repeating: ",", count: widest - 1)
    #expect(try readCSV(Array("\(commas)\n\(commas)x\n".utf8)).rows.first?.last == "x")
    for header in [CSVDialect.HeaderMode.firstRecord, .none] {
      let error = #expect(throws: OhanaError.self) { try readCSV(commas + ",\n1\n") { $0.header = header } }
      #expect(error?.code == "too-many-columns" && error?.location?.line == 1)
    }
  }

  @Test(
    "a record of far too many cells is rejected, unless what it has too much is empty",
    arguments: [("", true), ("x", false), ("\"\"", true)])
  func cellLimit(_ surplus: String, _ isKept: Bool) throws {
    let commas = String(repeating: ",", count: 2 * CSVHeader.maxColumns + 9)
    let reading = try readCSV("a,b\n1,2\n3,4\(commas)\(surplus),,,\n5,6\n")
    #expect(reading.rows == [["1", "2"]] + (isKept ? [["3", "4"]] : []) + [["5", "6"]])
    #expect(reading.rejects.map(\.reason) == (isKept ? [] : [.tooManyCells]))
  }

  @Test("a header that memory cannot hold is an error") func headerMemory() throws {
    for text in [String(repeating: "a", count: 1 << 20), String(repeating: "a,", count: 1 << 19)] {
      let stream = PiecesStream(Array(text.utf8))
      let error = #expect(throws: OhanaError.self) {
        try CSVHeader.scan(stream, dialect: CSVDialect(), source: "x", memoryLimit: 1 << 18)
      }
      #expect(error?.code == "record-too-long" && error?.category == .memory)
    }
  }

  @Test("widens the columns to the longest record") func padding() throws {
    let bytes = Array("a,column_4\n1,2\n3,4,5\n6,7,8,9\n".utf8)
    var dialect = CSVDialect()
    dialect.ragged = .pad
    let stream = PiecesStream(bytes)
    var (header, head) = try CSVHeader.scan(stream, dialect: dialect, source: "x")
    try header.widen(byReading: stream, head: head)
    #expect(header.columns.map { String(decoding: $0, as: UTF8.self) } == ["a", "column_4", "column_3", "column_5"])
    let framer = CSVFramer(stream: PiecesStream(bytes), header: header)
    let parser = try CSVParser(fields: fields(header.columns), slotCount: 4)
    let batch = RecordBatch()
    batch.slotCount = 4
    #expect(try framer.next(into: batch))
    _ = try parser.process(batch)
    #expect(batch.warnings.isEmpty && batch.rejects.isEmpty)
    #expect((0..<4).map { batch.value($0, of: 2) } == ["6", "7", "8", "9"])
    #expect((0..<4).map { batch.value($0, of: 0) } == ["1", "2", .missing, .missing])
  }

  @Test("a field that is no column is missing, and names are whole") func columnsByName() throws {
    let other = try CSVHeader.scan(PiecesStream(Array("x,address.city,a\n".utf8)), dialect: CSVDialect(), source: "o").header
    let reading = try readCSV(Array("a,b,address.city\n1,2,3\n".utf8), columnsOf: other)
    #expect(reading.rows == [[.missing, "3", "1"]])
  }

  @Test(
    "sniffs only comma, semicolon, tab and bar",
    arguments: [
      ("name;city;tags\nKim;Town;'red','blue'\nLee;Port;'green'\n", UInt8(ascii: ";")), ("email\nkim@example.com\n", UInt8(ascii: ",")),
      ("a\tb\n1,2\t3\n", 9), ("a|b,c|d\n1|2|3\n", UInt8(ascii: "|")), ("\"a;b\",c\n\"1;2\",3\n", UInt8(ascii: ",")),
      ("", UInt8(ascii: ",")),
      ("a:b:c\n1:2:3\n", UInt8(ascii: ",")), ("Last, First;Phone\nAlder, Kim;1\n", UInt8(ascii: ";")),
      ("a,b;c,d\n1,2\n3,4;x,5\n", UInt8(ascii: ",")),
    ]) func sniffs(_ text: String, _ delimiter: UInt8) throws
  {
    let header = try CSVHeader.scan(PiecesStream(Array(text.utf8)), dialect: CSVDialect(), source: "x").header
    #expect(header.dialect.delimiter == delimiter)
  }

  @Test("bytes that cannot be a dialect are refused") func badDialect() {
    for change: (inout CSVDialect) -> Void in [{ $0.delimiter = 10 }, { $0.delimiter = 0x22 }, { $0.escape = 13 }, { $0.delimiter = 0xa7 }]
    {
      var dialect = CSVDialect()
      change(&dialect)
      #expect(throws: OhanaError.self) { try readCSV([], dialect) }
    }
  }
}
