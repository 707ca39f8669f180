import OhanaCore
import OhanaFormats
import Testing

@Suite("Telling an input's format") struct FormatSnifferTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let rule: String, name: String, text: String, format: RecordFormat
    init(_ rule: String, _ name: String, _ text: String, _ format: RecordFormat) {
      (self.rule, self.name, self.text, self.format) = (rule, name, text, format)
    }
    var testDescription: String { rule }
  }
  static let cases = [
    Case("an object is NDJSON whatever the name", "x.csv", "{\"a\":1}\n", .ndjson),
    Case("an array of objects too", "x.tsv.gz", " [\n {\"a\":1}]", .ndjson),
    Case("a table under NDJSON's name is CSV", "x.ndjson", "name,phone\nKim,1\n", .csv),
    Case("with semicolons", "x.jsonl.gz", "name;phone\nKim;1\n", .csv),
    Case("with quotes, line ends in cells, a mark, CRLF", "x.json", "\u{feff}\"a\",\"b\"\r\n\"1\r\n2\",\"{\"\r\n\r\n3,\r\n", .csv),
    Case("one column is no table: the name counts", "x.ndjson", "name\nKim\n", .ndjson),
    Case("nor is one line", "x.ndjson", "name,phone\n", .ndjson),
    Case("nor rows of different widths", "x.ndjson", "name,phone\nKim,1\nLee\n", .ndjson),
    Case("nor a header with a nameless column", "x.ndjson", "1,\n2,3\n", .ndjson),
    Case("a broken first record leaves NDJSON what it is", "x.ndjson", "im\",\"b\":1}\n{\"a\":\"x\",\"b\":1}\n", .ndjson),
    Case("and so do two", "x.ndjson", "{a:1,b:1}\n{a:2,b:2}\n", .ndjson),
    Case("arrays are no table", "x.ndjson", "[1,2]\n[3,4]\n", .ndjson),
    Case("text without a name that speaks is CSV", "x", "name\nKim\n", .csv),
    Case("a brace in a CSV header is no object", "x.csv", "{a},b\n1,2\n", .csv),
    Case("blank text goes by the name", "x.ndjson", "\n \n", .ndjson),
  ]
  @Test("by content first, by name second", arguments: cases) func format(_ c: Case) {
    Array(c.text.utf8).withUnsafeBufferPointer { head in
      #expect(FormatSniffer.verdict(head: head, name: FilePath(c.name)) == .format(c.format))
    }
  }
}
