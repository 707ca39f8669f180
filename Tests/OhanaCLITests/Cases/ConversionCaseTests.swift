import Foundation
import OhanaTestSupport
import Testing

/// Conversions between NDJSON and CSV (DESIGN 4), and faults that users met in other converters.
@Suite("Conversion cases") struct ConversionCaseTests {
  static let late = "{\"name\":\"Kim\",\"id\":1}\n{\"id\":2,\"name\":null}\n{\"id\":3,\"name\":\"Lee\",\"city\":\"Town\"}\n"
  static let lateCSV = "name,id,city\nKim,1,\n,2,\nLee,3,Town\n"

  static let cases: [ToolCase] = [
    ToolCase(
      "conv-001: a late key is a late column, on standard output", ["a.ndjson": late], ["convert", "a.ndjson", "--to", "csv"], out: lateCSV),
    ToolCase("conv-001: in a file", ["a.ndjson": late], ["convert", "a.ndjson", "-o", "o.csv"], leaves: ["o.csv": lateCSV]),
    ToolCase(
      "conv-001: in each chunk", ["a.ndjson": late], ["convert", "a.ndjson", "-o", "o{n}.csv", "--chunk-records", "2"],
      leaves: ["o1.csv": "name,id,city\nKim,1,\n,2,\n", "o2.csv": "name,id,city\nLee,3,Town\n"]),
    ToolCase(
      "conv-001: a stage's side output has late keys too", ["a.ndjson": late],
      ["run", "a.ndjson", "-o", "o.csv", "then", "tee", "t.csv", "then", "filter", "id = 3"],
      leaves: ["o.csv": "name,id,city\nLee,3,Town\n", "t.csv": "name,id,city\nKim,1,\n,2,\nLee,3,Town\n"]),
    ToolCase(
      "conv-001: with the columns chosen before", ["a.ndjson": late],
      ["run", "a.ndjson", "-o", "o.csv", "then", "keep", "id,city", "then", "tee", "t.csv", "then", "filter", "id = 3"],
      leaves: ["o.csv": "id,city\n3,Town\n", "t.csv": "id,city\n1,\n2,\n3,Town\n"]),
    ToolCase(
      "conv-001: columns are the union whatever the stages drop", ["a.ndjson": late], ["filter", "id < 3", "a.ndjson", "--to", "csv"],
      out: "name,id,city\nKim,1,\n,2,\n"),
    ToolCase(
      "conv-001: whatever they move", ["a.ndjson": late], ["sort", "id:number:desc", "a.ndjson", "--to", "csv"],
      out: "name,id,city\nLee,3,Town\n,2,\nKim,1,\n"),
    ToolCase(
      "conv-001: --columns names them", ["a.ndjson": late], ["convert", "a.ndjson", "--to", "csv", "--columns", "city,id"],
      out: "city,id\n,1\n,2\nTown,3\n"),
    ToolCase(
      "conv-002: keys of all chunks", ["1.ndjson": "{\"name\":\"Kim\"}\n", "2.ndjson": "{\"phone\":\"5\",\"name\":\"Lee\"}\n"],
      ["convert", "1.ndjson", "2.ndjson", "--to", "csv"], out: "name,phone\nKim,\nLee,5\n"),
    ToolCase(
      "conv-010: an array of scalars is one cell, an empty one none",
      [
        "a.ndjson":
          "{\"name\":\"Kim\",\"p\":[\"p0\",\"p1\",2,true]}\n{\"name\":\"Lee\",\"p\":[]}\n{\"name\":\"Max\",\"p\":[\"a;b\"]}\n{\"name\":\"Ann\",\"p\":[null,1]}\n{\"name\":\"Eve\",\"p\":[{\"x\":1}]}\n"
      ],
      ["convert", "a.ndjson", "--to", "csv"],
      out: "name,p\nKim,p0;p1;2;true\nLee,\nMax,\"[\"\"a;b\"\"]\"\nAnn,\"[null,1]\"\nEve,\"[{\"\"x\"\":1}]\"\n"),
    ToolCase(
      "conv-010: and back", ["a.csv": "name,p\nKim,p0;p1;2\nLee,\n"], ["convert", "a.csv", "--to", "ndjson", "--lists", "p"],
      out: "{\"name\":\"Kim\",\"p\":[\"p0\",\"p1\",\"2\"]}\n{\"name\":\"Lee\",\"p\":[]}\n"),
    ToolCase(
      "--columns: a name in no header", ["a.csv": "name,city\nKim,Oslo\n"], ["convert", "a.csv", "-o", "b.csv", "--columns", "nme"],
      status: 2, says: ["nme: --columns: no input has a field of this name; did you mean name?"], leavesNot: ["b.csv"]),
    ToolCase(
      "--columns: a name in no record", ["a.ndjson": "{\"name\":\"Kim\"}\n"], ["convert", "a.ndjson", "-o", "b.csv", "--columns", "nme"],
      status: 2, says: ["nme: no record of the input has this field; did you mean name?"], leavesNot: ["b.csv"]),
    ToolCase(
      "--columns: a name of records that a stage drops", ["a.ndjson": "{\"n\":1,\"a\":{\"b\":2}}\n{\"n\":2}\n"],
      ["run", "a.ndjson", "--to", "csv", "--columns", "a.b,n", "then", "filter", "n = 2"], out: "a.b,n\n,2\n"),
    ToolCase(
      "--columns: a key that holds a dot", ["a.ndjson": "{\"a\":{\"b.c\":1}}\n"],
      ["convert", "a.ndjson", "--to", "csv", "--columns", "a.b.c"],
      out: "a.b.c\n1\n"),
    ToolCase(
      "--columns: a name that a stage makes", ["a.ndjson": "{\"n\":\"x\"}\n"],
      ["run", "a.ndjson", "--to", "csv", "--columns", "m,n", "then", "set", "m = upper(n)"], out: "m,n\nX,x\n"),
    ToolCase(
      "--columns and --optional", ["a.csv": "n\nx\n"], ["convert", "a.csv", "--to", "csv", "--columns", "m,n", "--optional", "m"],
      out: "m,n\n,x\n"),
    ToolCase(
      "--columns is for CSV", ["a.csv": "n\nx\n"], ["convert", "a.csv", "--to", "ndjson", "--columns", "n"], status: 2, says: ["'keep'"]),
    ToolCase(
      "an empty file has no wrong names", ["a.csv": ""], ["require", "n", "a.csv"], out: "", says: ["a.csv: the file is empty"]),
    ToolCase(
      "diff is no table", ["a.csv": "n\nx\n"], ["diff", "a.csv", "a.csv", "--by", "n", "-o", "d.csv"], status: 2, says: ["NDJSON"],
      leavesNot: ["d.csv"]),
    ToolCase(
      "objects flatten to dotted columns",
      ["a.ndjson": "{\"id\":1,\"address\":{\"city\":\"Oslo\",\"geo\":{\"lat\":59.910}}}\n{\"id\":2}\n"],
      ["convert", "a.ndjson", "--to", "csv"], out: "id,address.city,address.geo.lat\n1,Oslo,59.910\n2,,\n"),
    ToolCase(
      "and are put together again", ["a.csv": "id,address.city,address.geo.lat\n1,Oslo,59.910\n"],
      ["convert", "a.csv", "--to", "ndjson", "--unflatten"],
      out: "{\"id\":\"1\",\"address\":{\"city\":\"Oslo\",\"geo\":{\"lat\":\"59.910\"}}}\n"),
    ToolCase(
      "a flat and a nested value under one column is refused, both named", ["a.ndjson": "{\"a.b\":1}\n{\"a\":{\"b\":2}}\n"],
      ["convert", "a.ndjson", "-o", "o.csv"], status: 3,
      says: ["a.b"], leavesNot: ["o.csv"]),
    ToolCase(
      "digits keep their spelling both ways", ["a.csv": "z,p,i,d\n007,+49 30,1234567890123456789,1.10\n"],
      ["convert", "a.csv", "--to", "ndjson"],
      out: "{\"z\":\"007\",\"p\":\"+49 30\",\"i\":\"1234567890123456789\",\"d\":\"1.10\"}\n"),
    ToolCase(
      "with --infer too", ["a.csv": "z,p,i,d,t,q\n007,+49 30,1234567890123456789,1.10,true,\"1\"\n"],
      ["convert", "a.csv", "--to", "ndjson", "--infer"],
      out: "{\"z\":\"007\",\"p\":\"+49 30\",\"i\":1234567890123456789,\"d\":1.10,\"t\":true,\"q\":\"1\"}\n"),
    ToolCase(
      "one column of null and empty", ["a.ndjson": "{\"n\":\"a\"}\n{\"n\":null}\n{\"n\":\"\"}\n"], ["convert", "a.ndjson", "--to", "csv"],
      out: "n\na\n\"\"\n\"\"\n"),
    ToolCase(
      "TSV, quotes, CRLF, mark, no header", ["a.csv": "a,b\n1,\n\"x\"\"y\",\"\"\n"],
      ["convert", "a.csv", "--to", "tsv", "--quote-all", "--crlf", "--bom", "--no-out-header"],
      out: "\u{feff}\"1\"\t\r\n\"x\"\"y\"\t\"\"\r\n"),
    ToolCase(
      "another delimiter", ["a.csv": "a,b\n1;2,3\n"], ["convert", "a.csv", "--to", "csv", "--out-delimiter", ";"], out: "a;b\n\"1;2\";3\n"),
    ToolCase(
      "quotes that nobody needs go", ["a.csv": "\"a\",\"b\"\n\"1\",\"x,y\"\n\"2\",\"\"\n"], ["convert", "a.csv", "--to", "csv"],
      out: "a,b\n1,\"x,y\"\n2,\"\"\n"),
    ToolCase(
      "--null '' for exports that quote everything", ["a.csv": "a,b\n\"1\",\"\"\n"], ["convert", "a.csv", "--to", "ndjson", "--null", ""],
      out: "{\"a\":\"1\",\"b\":null}\n"),
    ToolCase(
      "a record that nobody changed keeps its bytes", ["a.ndjson": "{ \"b\" : 1.0 , \"a\":\"\\u0041\\/\" }\n"],
      ["filter", "b = 1", "a.ndjson"], out: "{ \"b\" : 1.0 , \"a\":\"\\u0041\\/\" }\n"),
    ToolCase(
      "a changed one keeps the spelling of the rest", ["a.ndjson": "{ \"b\" : 1.0 , \"a\":\"\\u0041\\/\" }\n"],
      ["set", "b = b || 'x'", "a.ndjson"],
      out: "{ \"b\" : \"1.0x\" , \"a\":\"\\u0041\\/\" }\n"),
    ToolCase(
      "header names: repeated and empty ones", ["a.csv": "a,,a,a_2,\n1,2,3,4,5\n"], ["convert", "a.csv", "--to", "ndjson"],
      out: "{\"a\":\"1\",\"column_2\":\"2\",\"a_3\":\"3\",\"a_2\":\"4\",\"column_5\":\"5\"}\n"),
    ToolCase(
      "no input format fits", ["x.vcf": "dn: cn=Kim,dc=example\ncn: Kim\n"], ["convert", "x.vcf", "--to", "ndjson"], status: 3, out: "",
      says: ["x.vcf", "LDIF"]),
    ToolCase(
      "formats that do not mix", ["a.csv": "n\n1\n", "b.ndjson": "{\"n\":1}\n"], ["convert", "a.csv", "b.ndjson", "--to", "csv"], status: 2,
      out: "",
      says: ["b.ndjson", "a.csv"]),
    ToolCase("convert without an output format", ["a.csv": "n\n1\n"], ["convert", "a.csv"], status: 2, out: "", says: ["-o", "--to"]),
  ]

  @Test("give what is written", arguments: cases) func given(_ c: ToolCase) throws { try c.check() }

  @Test("over 4,096 columns are refused, naming --columns") func tooManyColumns() throws {
    let folder = try Workdir()
    func records(_ count: Int) -> String { (0..<count).map { "{\"k\($0)\":\($0)}\n" }.joined() }
    try folder.write("a.ndjson", records(4096))
    try folder.write("b.ndjson", records(4097))
    #expect(try folder.run(["convert", "a.ndjson", "-o", "a.csv"]).status == 0)
    let header = try folder.text("a.csv").prefix { $0 != "\n" }
    #expect(header.split(separator: ",").count == 4096)
    let result = try folder.run(["convert", "b.ndjson", "-o", "b.csv"])
    #expect(result.status == 3)
    #expect(result.err.contains("--columns"), "\(result.err)")
    #expect(!folder.exists("b.csv"))
  }
}
