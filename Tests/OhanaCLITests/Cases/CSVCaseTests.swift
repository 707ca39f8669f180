import Foundation
import OhanaTestSupport
import Testing

/// Faults that users met in other readers of CSV, as the tool shows them to have been avoided.
@Suite("CSV cases") struct CSVCaseTests {
  static let mark: [UInt8] = [0xef, 0xbb, 0xbf]
  static let cases: [ToolCase] = [
    ToolCase(
      "csv-001: a byte order mark is no part of the first name",
      bytes: ["p.csv": mark + Array("email,name\r\nk@x.org,Kim\r\nl@x.org,Lee\r\n".utf8)],
      ["keep", "email", "p.csv", "--to", "ndjson"], out: "{\"email\":\"k@x.org\"}\n{\"email\":\"l@x.org\"}\n"),
    ToolCase(
      "csv-002: a mark before a quoted header",
      bytes: ["p.csv": mark + Array("\"email\",\"full name\"\n\"k@x.org\",\"Alder, Kim\"\n".utf8)],
      ["convert", "p.csv", "--to", "ndjson"], out: "{\"email\":\"k@x.org\",\"full name\":\"Alder, Kim\"}\n"),
    ToolCase(
      "csv-004: rows behind blank lines are read, the lines are counted", ["g.csv": "name,n\nKim,1\n\nLee,2\n\n\nMax,3\n"],
      ["convert", "g.csv", "--to", "ndjson"],
      out: "{\"name\":\"Kim\",\"n\":\"1\"}\n{\"name\":\"Lee\",\"n\":\"2\"}\n{\"name\":\"Max\",\"n\":\"3\"}\n",
      says: ["read 3 records", "3 blank lines skipped"]),
    ToolCase(
      "csv-005: a quote inside a bare cell is text", ["i.csv": "name,note\nKim,size 5\" boot\nLee,ok\nMax,also 6\" boot\n"],
      ["convert", "i.csv", "--to", "ndjson"],
      out:
        "{\"name\":\"Kim\",\"note\":\"size 5\\\" boot\"}\n{\"name\":\"Lee\",\"note\":\"ok\"}\n{\"name\":\"Max\",\"note\":\"also 6\\\" boot\"}\n"
    ),
    ToolCase(
      "csv-007: a dump with backslashes and \\N", ["d.csv": "1,\"Kim\",\"\\\"The Alder, Ltd.\\\"\",\\N\n2,\"Lee\",\"a\\\\b\",\"x\"\n"],
      ["convert", "d.csv", "--no-header", "--escape", "\\", "--null", "\\N", "--to", "ndjson"],
      out:
        "{\"_1\":\"1\",\"_2\":\"Kim\",\"_3\":\"\\\"The Alder, Ltd.\\\"\",\"_4\":null}\n{\"_1\":\"2\",\"_2\":\"Lee\",\"_3\":\"a\\\\b\",\"_4\":\"x\"}\n"
    ),
    ToolCase(
      "csv-007: without --escape the row is refused with its place", ["d.csv": "1,\"Kim\",\"\\\"The Alder, Ltd.\\\"\",\\N\n"],
      ["convert", "d.csv", "--no-header", "--to", "ndjson"], status: 3, error: "d.csv:1:12: text follows a closing quote" + overBudget),
    ToolCase(
      "csv-008: the header stays the header where all rows are shorter", ["s.csv": "id,name,email,phone\n1,Kim,k@x.org\n2,Lee,l@x.org\n"],
      ["convert", "s.csv", "--to", "ndjson"],
      out: "{\"id\":\"1\",\"name\":\"Kim\",\"email\":\"k@x.org\"}\n{\"id\":\"2\",\"name\":\"Lee\",\"email\":\"l@x.org\"}\n",
      says: ["2 short-row"]),
    ToolCase(
      "csv-011: a delimiter at each row's end adds no row", ["t.csv": "name,phone\nKim,1,\nLee,2,\n"],
      ["convert", "t.csv", "--to", "ndjson"],
      out: "{\"name\":\"Kim\",\"phone\":\"1\"}\n{\"name\":\"Lee\",\"phone\":\"2\"}\n"),
    ToolCase(
      "csv-013: columns of one name keep all their cells", ["t.csv": "name,phone,phone,phone\nKim,10,11,12\n"],
      ["convert", "t.csv", "--to", "ndjson"],
      out: "{\"name\":\"Kim\",\"phone\":\"10\",\"phone_2\":\"11\",\"phone_3\":\"12\"}\n"),
    ToolCase(
      "csv-014: a short row under such columns", ["t.csv": "name,phone,phone\nKim,10,11\nLee,12\n"],
      ["convert", "t.csv", "--to", "ndjson"],
      out: "{\"name\":\"Kim\",\"phone\":\"10\",\"phone_2\":\"11\"}\n{\"name\":\"Lee\",\"phone\":\"12\"}\n"),
    ToolCase(
      "csv-016: digits keep their spelling and are different keys",
      ["l.csv": "ref,e\n09005550101,k\n9005550101,l\n18446744073709551617,m\n1e5,a\n100000,b\n"], ["dedupe", "--by", "ref", "l.csv"],
      out: "ref,e\n09005550101,k\n9005550101,l\n18446744073709551617,m\n1e5,a\n100000,b\n"),
    ToolCase(
      "csv-017: null and the empty string differ in CSV",
      ["n.ndjson": "{\"id\":\"1\",\"k\":\"\"}\n{\"id\":\"2\",\"k\":null}\n{\"id\":\"3\"}\n{\"id\":\"4\",\"k\":\"null\"}\n"],
      ["convert", "n.ndjson", "--to", "csv"], out: "id,k\n1,\"\"\n2,\n3,\n4,null\n"),
    ToolCase(
      "csv-017: and back", ["n.csv": "id,k\n1,\"\"\n2,\n4,null\n"], ["convert", "n.csv", "--to", "ndjson"],
      out: "{\"id\":\"1\",\"k\":\"\"}\n{\"id\":\"2\",\"k\":null}\n{\"id\":\"4\",\"k\":\"null\"}\n"),
    ToolCase(
      "csv-019: line breaks inside cells are kept as they are",
      ["b.csv": "name,addr\r\nKim,\"1 Elm St\r\nFloor 2\"\r\nLee,\"2 Oak St\nRear\"\r\n"],
      ["convert", "b.csv", "--to", "csv"], out: "name,addr\nKim,\"1 Elm St\r\nFloor 2\"\nLee,\"2 Oak St\nRear\"\n", says: ["read 2 records"]
    ),
    ToolCase(
      "csv-020: commas in cells do not make a comma file",
      ["l.csv": "name;city;tags\nKim;Town;'red','blue'\nLee;Port;'green'\nMax;Town;'red','grey'\n"],
      ["head", "-n", "1", "l.csv", "--to", "ndjson"], out: "{\"name\":\"Kim\",\"city\":\"Town\",\"tags\":\"'red','blue'\"}\n"),
    ToolCase(
      "csv-022: one column has no delimiter", ["o.csv": "email\nkim@example.com\nlee@example.com\nmaxine@example.com\n"],
      ["convert", "o.csv", "--to", "ndjson"],
      out: "{\"email\":\"kim@example.com\"}\n{\"email\":\"lee@example.com\"}\n{\"email\":\"maxine@example.com\"}\n"),
    ToolCase(
      "csv-023: a first column in letters of any script, CRLF", ["d.csv": "Schlüssel;Name;Ort\r\nk1;José Weiß;Köln\r\nk2;Ana;\r\n"],
      ["keep", "Schlüssel,Ort", "d.csv", "--to", "ndjson"],
      out: "{\"Schlüssel\":\"k1\",\"Ort\":\"Köln\"}\n{\"Schlüssel\":\"k2\",\"Ort\":null}\n"),
    ToolCase(
      "csv-023: the same with LF", ["d.csv": "Schlüssel;Name;Ort\nk1;José Weiß;Köln\nk2;Ana;\n"], ["keep", "Schlüssel", "d.csv"],
      out: "Schlüssel\nk1\nk2\n"),
    ToolCase(
      "csv-025: chunks of other columns are put together by name",
      ["a.csv": "name,phone\nKim,1\nLee,2\n", "b.csv": "phone,city\n3,Town\n4,Port\n"],
      ["convert", "a.csv", "b.csv", "--to", "csv"], out: "name,phone,city\nKim,1,\nLee,2,\n,3,Town\n,4,Port\n"),
    ToolCase(
      "csv-026: dedupe over chunks whose columns are in other order",
      ["a.csv": "email,name\nk@x,Kim\n", "b.csv": "name,email\nLee,l@x\nKim,k@x\n"],
      ["dedupe", "--by", "email", "a.csv", "b.csv"], out: "email,name\nk@x,Kim\nl@x,Lee\n"),
    ToolCase(
      "csv-028: NUL is data", ["n.csv": "name,city\nKi\0m,Town\nLee,Port\n"], ["convert", "n.csv", "--to", "csv"],
      out: "name,city\nKi\0m,Town\nLee,Port\n"),
    ToolCase(
      "csv-031: what is not UTF-8 is refused with its place",
      bytes: ["w.csv": Array("name,city\nJos".utf8) + [0xe9] + Array(",M".utf8) + [0xfc] + Array("nchen\n".utf8)],
      ["convert", "w.csv", "--to", "ndjson"], status: 3, out: "", error: "w.csv:2:4: not UTF-8" + overBudget,
      environment: ["LANG": "de_DE.ISO-8859-1"]),
    ToolCase(
      "csv-031: or read as what --encoding says",
      bytes: [
        "w.csv": Array("name,city\nJos".utf8) + [0xe9] + Array(",M".utf8) + [0xfc] + Array("nchen\nK".utf8) + [0x92] + Array("ay,".utf8) + [
          0x80
        ] + Array(" Street\n".utf8)
      ],
      ["convert", "w.csv", "--to", "ndjson", "--encoding", "windows-1252"],
      out: "{\"name\":\"José\",\"city\":\"München\"}\n{\"name\":\"K’ay\",\"city\":\"€ Street\"}\n"),
    ToolCase(
      "csv-032: a bare LF ends a record; the short pieces are counted", ["b.csv": "id;name;note\r\n1;Kim;first\nsecond\r\n2;Lee;ok\r\n"],
      ["convert", "b.csv", "--to", "ndjson"],
      out: "{\"id\":\"1\",\"name\":\"Kim\",\"note\":\"first\"}\n{\"id\":\"second\"}\n{\"id\":\"2\",\"name\":\"Lee\",\"note\":\"ok\"}\n",
      says: ["1 short-row"]),
    ToolCase(
      "csv-034: a header alone is no record", ["h.csv": "name,phone\n"], ["convert", "h.csv", "--to", "csv"], out: "name,phone\n",
      says: ["note: h.csv: ", "read 0 records"]),
    ToolCase(
      "csv-034: nothing at all", ["z.csv": ""], ["convert", "z.csv", "--to", "ndjson"], out: "", says: ["note: z.csv: the file is empty"]),
    ToolCase("csv-034: a line end alone", ["l.csv": "\n"], ["convert", "l.csv", "--to", "csv"], out: "", says: ["note: l.csv: "]),
    ToolCase(
      "csv-034: empty chunks beside a full one", ["a.csv": "name,phone\n", "b.csv": "", "c": "", "d.csv": "name,phone\nKim,1\n"],
      ["convert", "a.csv", "b.csv", "c", "d.csv", "--to", "ndjson"], out: "{\"name\":\"Kim\",\"phone\":\"1\"}\n"),
    ToolCase(
      "csv-035: no apostrophe guards against formulas",
      ["f.ndjson": "{\"a\":\"=1+1\",\"b\":\"+1 555\",\"c\":\"-5\"}\n{\"a\":\"@kim\",\"b\":\"5\",\"c\":\"\\tx\"}\n"],
      ["convert", "f.ndjson", "--to", "csv"], out: "a,b,c\n=1+1,+1 555,-5\n@kim,5,\tx\n"),
    ToolCase(
      "csv-037: each chunk may have a mark",
      bytes: ["1.csv": mark + Array("name,p\nKim,1\n".utf8), "2.csv": mark + Array("name,p\nLee,2\n".utf8)],
      ["convert", "1.csv", "2.csv", "--to", "ndjson"], out: "{\"name\":\"Kim\",\"p\":\"1\"}\n{\"name\":\"Lee\",\"p\":\"2\"}\n"),
    ToolCase(
      "csv-037: a mark inside a file is data",
      bytes: ["j.csv": mark + Array("name,p\nKim,1\n".utf8) + mark + Array("name,p\nLee,2\n".utf8)],
      ["convert", "j.csv", "--to", "ndjson"],
      out: "{\"name\":\"Kim\",\"p\":\"1\"}\n{\"name\":\"\u{feff}name\",\"p\":\"p\"}\n{\"name\":\"Lee\",\"p\":\"2\"}\n"),
    ToolCase(
      "csv-038: more cells than the first row are refused", ["n.csv": "Kim,Town,home\nLee,Port,work,5\n"],
      ["convert", "n.csv", "--no-header", "--to", "ndjson"],
      status: 3, error: "n.csv:2:15: the record has 4 cells, the header 3" + overBudget),
    ToolCase(
      "csv-038: or go into a column of their own", ["n.csv": "Kim,Town,home\nLee,Port,work,5\n"],
      ["convert", "n.csv", "--no-header", "--ragged", "pad", "--to", "ndjson"],
      out: "{\"_1\":\"Kim\",\"_2\":\"Town\",\"_3\":\"home\"}\n{\"_1\":\"Lee\",\"_2\":\"Port\",\"_3\":\"work\",\"column_4\":\"5\"}\n"),
    ToolCase(
      "csv-038: with a header too, in CSV", ["n.csv": "a,b\n1,2\n3,4,5,,\n6\n7,8,,9\n"],
      ["convert", "n.csv", "--ragged", "pad", "--to", "csv"],
      out: "a,b,column_3,column_4\n1,2,,\n3,4,5,\n6,,,\n7,8,,9\n"),
  ]

  @Test("give what is written", arguments: cases) func given(_ c: ToolCase) throws { try c.check() }

  @Test(
    "csv-010: the rows behind over-long ones are whole, wherever batches end", arguments: [("1", "16M"), ("8", "256M")],
    [[131_071], Array(stride(from: 6, to: 200_000, by: 997))])
  func behindLong(_ limits: (threads: String, memory: String), long: [Int]) throws {
    let folder = try Workdir()
    var rows = (0..<200_000).map { "\($0)|user\($0)|u\($0)@x.org|note \($0)" }
    let good = rows.enumerated().filter { [long = Set(long)] in !long.contains($0.offset) }.map { index, _ in
      "{\"id\":\"\(index)\",\"name\":\"user\(index)\",\"email\":\"u\(index)@x.org\",\"note\":\"note \(index)\"}\n"
    }
    for index in long { rows[index] += "|EXTRA" }
    try folder.write("a.psv", "id|name|email|note\n" + rows.joined(separator: "\n") + "\n")
    let result = try folder.run([
      "convert", "a.psv", "--to", "ndjson", "--max-rejects", "999", "--threads", limits.threads, "--memory", limits.memory,
    ])
    #expect(result.status == 0, "\(result.err)")
    #expect(result.text == good.joined())
    #expect(result.err.contains("(\(long.count) too-many-cells)"))
  }

  @Test("csv-029: a cell of 5 MB, in any memory", arguments: ["16M", "256M"]) func long(memory: String) throws {
    let folder = try Workdir()
    let long = String(repeating: "x", count: 5_000_000)
    try folder.write("l.csv", "email,note,mark\nk@x,\"\(long)\",end\n" + String(repeating: "l@x,short,end\n", count: 50))
    let result = try folder.run(["convert", "l.csv", "--to", "ndjson", "--memory", memory])
    #expect(result.status == 0, "\(result.err)")
    let expected =
      "{\"email\":\"k@x\",\"note\":\"\(long)\",\"mark\":\"end\"}\n"
      + String(repeating: "{\"email\":\"l@x\",\"note\":\"short\",\"mark\":\"end\"}\n", count: 50)
    #expect(result.out == Data(expected.utf8), "\(result.out.count) bytes instead of \(expected.utf8.count)")
  }
}
