import OhanaStages
import Testing

@testable import OhanaRun

@Suite("the table of stats") struct StatisticsTextTests {
  static func field(_ name: String, _ change: (inout FieldStatistics) -> Void = { _ in }) -> FieldStatistics {
    var field = FieldStatistics(name: name)
    change(&field)
    return field
  }

  static func table(_ fields: [FieldStatistics], records: Int, width: Int = 120) -> String {
    StatisticsText.table(fields, records: records, width: width).map { $0 + "\n" }.joined()
  }

  @Test("is aligned, and says where numbers are estimates") func table() {
    let fields = [
      Self.field("id") {
        $0.present = 12_345
        $0.distinct = 12_290
        $0.isDistinctEstimate = true
        ($0.minLength, $0.maxLength) = (1, 5)
        $0.top = [.init(json: "1", count: 1), .init(json: "2", count: 1)]
        $0.isTopEstimate = true
      },
      Self.field("名前") {
        $0.present = 12_000
        ($0.missing, $0.null, $0.empty, $0.distinct) = (345, 7, 2, 3)
        ($0.minLength, $0.maxLength) = (3, 3)
        $0.top = [.init(json: "\"Ann\"", count: 9_000), .init(json: "\"\"", count: 2), .init(json: "7", count: 1)]
      },
      Self.field("none") { $0.missing = 12_345 },
    ]
    #expect(
      Self.table(fields, records: 12_345) == """
        12,345 records

        field  present  missing  null  empty  distinct  length  most frequent
        id      12,345        0     0      0   ~12,290     1–5  1 ≥ 1, 2 ≥ 1
        名前    12,000      345     7      2         3       3  Ann × 9,000, "" × 2, 7 × 1
        none         0   12,345     0      0         0       –

        ~ estimated, standard error 1.6 %

        ≥ at least so often; another value may be more frequent

        """)
  }

  @Test("of nothing is one line") func empty() {
    #expect(Self.table([], records: 0) == "0 records\n")
    #expect(Self.table([], records: 1) == "1 record\n")
  }

  @Test("leaves out what goes beyond the terminal, but shows one value") func narrow() {
    let values = (0..<5).map { FieldStatistics.Frequent(json: "\"value \($0)\"", count: 10 - $0) }
    let fields = [Self.field("f") { $0.top = values }]
    let wide = Self.table(fields, records: 1, width: 200)
    #expect(wide.contains("value 0 × 10, value 1 × 9, value 2 × 8, value 3 × 7, value 4 × 6\n"))
    #expect(Self.table(fields, records: 1, width: 80).contains("value 0 × 10, …\n"))
    #expect(Self.table(fields, records: 1, width: 1).contains("value 0 × 10, …\n"))
  }

  static let values: [(json: String, shown: String)] = [
    ("\"Ann\"", "Ann"), ("\"\"", "\"\""), ("7", "7"), ("\"7\"", "\"7\""), ("\"-\"", "\"-\""), ("true", "true"), ("\"true\"", "\"true\""),
    ("\"a, b\"", "\"a, b\""), ("\" a\"", "\" a\""), ("\"[]\"", "\"[]\""), ("[1]", "[1]"), ("\"a\\nb\"", "\"a\\nb\""),
    ("\"a\u{9b}31mb\"", "a\\u{9b}31mb"), ("\"a\u{202e}b\"", "a\\u{202e}b"), ("\"123456789 123456789 1234\"", "\"123456789 123456789 12…"),
    ("\"x23456789 123456789 1234\"", "x23456789 123456789 1234"), ("\"x23456789 123456789 12345\"", "x23456789 123456789 123…"),
    ("\"名名名名名名名名名名名名\"", "名名名名名名名名名名名名"), ("\"名名名名名名名名名名名名名\"", "名名名名名名名名名名名…"),
  ]

  @Test("shows values without doubt and without harm to the terminal", arguments: values) func shows(_ c: (json: String, shown: String)) {
    let fields = [Self.field("f") { $0.top = [.init(json: c.json, count: 1), .init(json: "0", count: 1)] }]
    #expect(Self.table(fields, records: 1).contains("  \(c.shown) × 1, 0 × 1\n"))
  }

  @Test("among strings only, digits need no quotes") func strings() {
    let values = ["\"0161 496\"", "\"true\"", "\"\"", "\"a, b\""].map { FieldStatistics.Frequent(json: $0, count: 1) }
    let text = Self.table([Self.field("f") { $0.top = values }], records: 1)
    #expect(text.contains("  0161 496 × 1, true × 1, \"\" × 1, \"a, b\" × 1\n"))
  }
}
