import Foundation
import OhanaTestSupport
import Testing

/// Faults that users met in other ways to deduplicate, as the tool shows them to have been avoided. Phone numbers and merging have suites of
/// their own.
@Suite("Dedupe cases") struct DedupeCaseTests {
  /// Which rows of an input with a first column `id` survive, exactly as they stood there.
  static func rows(
    _ name: String, _ header: String, _ rows: [String], by key: String, _ options: [String] = [], survive: [Int],
    environment: [String: String] = [:]
  ) -> ToolCase {
    let input = ([header] + rows).joined(separator: "\n") + "\n"
    let output = ([header] + survive.map { rows[$0 - 1] }).joined(separator: "\n") + "\n"
    return ToolCase(name, ["a.csv": input], ["dedupe", "--by", key] + options + ["a.csv"], out: output, environment: environment)
  }
  static let gmail = [
    "1,zz.made.up.case.0100@gmail.com", "2,ZZmadeupcase0100@gmail.com", "3,zzmadeupcase0100+news@gmail.com",
    "4,zzmadeupcase0100@googlemail.com",
    "5,zzmadeupcase0100@example.com", "6,zzmadeup.case0100@example.com", "7,z.z@mail.gmail.com.example.com",
  ]
  static let dots = [
    "1,zz.madeupcase0100@outlook.com", "2,zzmadeupcase0100@outlook.com", "3,zz.madeupcase0100@hotmail.com",
    "4,zzmadeupcase0100@hotmail.com",
    "5,zzother0100+a@outlook.com",
  ]
  static let forms = [
    "1,Jos\u{e9} N\u{fa}\u{f1}ez", "2,Jose\u{301} Nu\u{301}n\u{303}ez", "3,\u{ff2b}\u{ff49}\u{ff4d}", "4,Kim", "5,\u{212b}sa", "6,\u{c5}sa",
    "7,\u{fb01}n", "8,fin",
  ]
  static let turkish = ["1,KIMI@EXAMPLE.COM", "2,kimi@example.com", "3,k\u{131}m\u{131}@example.com", "4,K\u{130}M\u{130}@example.com"]
  static let keep = (1...5).map { "{\"id\":\($0),\"k\":\"\(["a", "b", "a", "c", "b"][$0 - 1])\"}\n" }
  static func kept(_ ids: [Int]) -> String { ids.map { keep[$0 - 1] }.joined() }

  static let cases: [ToolCase] = [
    rows(
      "dedupe-001: empty keys equal nothing", "id,email", ["1,kim@x.org", "2,", "3,\"\"", "4,KIM@x.org ", "5,", "6, "], by: "email:email",
      survive: [1, 2, 3, 5, 6]),
    rows("dedupe-001: nor does text without @", "id,email", ["1,none", "2,none", "3,n/a"], by: "email:email", survive: [1, 2, 3]),
    ToolCase(
      "dedupe-002: a key with a blank part equals nothing",
      [
        "a.ndjson":
          "{\"id\":1,\"n\":\"Kim\",\"b\":\"1\"}\n{\"id\":2,\"n\":\"Kim\"}\n{\"id\":3,\"n\":\"Kim\",\"b\":null}\n{\"id\":4,\"n\":\"Kim\",\"b\":\"1\"}\n{\"id\":5,\"n\":\"\",\"b\":\"1\"}\n{\"id\":6,\"n\":\"\",\"b\":\"1\"}\n"
      ],
      ["dedupe", "--by", "n,b", "a.ndjson"],
      out:
        "{\"id\":1,\"n\":\"Kim\",\"b\":\"1\"}\n{\"id\":2,\"n\":\"Kim\"}\n{\"id\":3,\"n\":\"Kim\",\"b\":null}\n{\"id\":5,\"n\":\"\",\"b\":\"1\"}\n{\"id\":6,\"n\":\"\",\"b\":\"1\"}\n"
    ),
    rows(
      "dedupe-004: parts of a key do not run together", "id,first,last",
      ["1,ab,c", "2,a,bc", "3,a|b,c", "4,a,b|c", "5,\"a,b\",c", "6,a,\"b,c\""],
      by: "first,last", survive: [1, 2, 3, 4, 5, 6]),
    rows("dedupe-010: gmail's dots and tags, on request", "id,email", gmail, by: "email:email/provider", survive: [1, 5, 6, 7]),
    rows("dedupe-010: not else", "id,email", gmail, by: "email:email", survive: [1, 2, 3, 4, 5, 6, 7]),
    rows("dedupe-011: nowhere but at gmail", "id,email", dots, by: "email:email/provider", survive: [1, 2, 3, 4, 5]),
    rows("dedupe-013: composed and decomposed are one", "id,name", forms, by: "nfc(name)", survive: [1, 3, 4, 5, 7, 8]),
    rows("dedupe-013: compatible forms too", "id,name", forms, by: "nfkc(name)", survive: [1, 3, 5, 7]),
    rows("dedupe-013: exact is exact", "id,name", forms, by: "name", survive: [1, 2, 3, 4, 5, 6, 7, 8]),
    rows(
      "dedupe-014: letters of e-mail addresses have no locale", "id,email", turkish, by: "email:email", survive: [1, 3, 4],
      environment: ["LC_ALL": "C.UTF-8"]),
    rows(
      "dedupe-014: not in Turkey either", "id,email", turkish, by: "email:email", survive: [1, 3, 4],
      environment: ["LC_ALL": "tr_TR.UTF-8", "LANG": "tr_TR"]),
    ToolCase(
      "dedupe-016: keep first", ["a.ndjson": kept([1, 2, 3, 4, 5])], ["dedupe", "--by", "k", "a.ndjson", "--duplicates", "d.ndjson"],
      out: kept([1, 2, 4]),
      leaves: ["d.ndjson": "{\"id\":3,\"k\":\"a\",\"_survivor\":\"a.ndjson:1\"}\n{\"id\":5,\"k\":\"b\",\"_survivor\":\"a.ndjson:2\"}\n"]),
    ToolCase(
      "dedupe-016: keep last", ["a.ndjson": kept([1, 2, 3, 4, 5])],
      ["dedupe", "--by", "k", "--keep", "last", "a.ndjson", "--duplicates", "d.ndjson"], out: kept([3, 4, 5]),
      leaves: ["d.ndjson": "{\"id\":1,\"k\":\"a\",\"_survivor\":\"a.ndjson:3\"}\n{\"id\":2,\"k\":\"b\",\"_survivor\":\"a.ndjson:5\"}\n"]),
    ToolCase(
      "dedupe-016: keep none", ["a.ndjson": kept([1, 2, 3, 4, 5])],
      ["dedupe", "--by", "k", "--keep", "none", "a.ndjson", "--duplicates", "d.ndjson"], out: kept([4]),
      leaves: ["d.ndjson": [1, 2, 3, 5].map { keep[$0 - 1].dropLast(2) + ",\"_survivor\":null}\n" }.joined()]),
    ToolCase(
      "number 7 equals text 7, 1.10 differs from 1.1", ["a.ndjson": "{\"k\":7}\n{\"k\":\"7\"}\n{\"k\":1.10}\n{\"k\":1.1}\n"],
      ["dedupe", "--by", "k", "a.ndjson"], out: "{\"k\":7}\n{\"k\":1.10}\n{\"k\":1.1}\n"),
    ToolCase(
      "distinct: key order and null against missing do not count",
      ["a.ndjson": "{\"a\":1,\"b\":null}\n{\"a\":1}\n{\"b\":2,\"a\":1}\n{\"a\":1,\"b\":2}\n"], ["distinct", "a.ndjson"],
      out: "{\"a\":1,\"b\":null}\n{\"b\":2,\"a\":1}\n"),
    ToolCase(
      "newest, ties to the earliest",
      ["a.csv": "id,k,t\n1,a,2020-01-01\n2,a,2021-01-01T00:00:00+02:00\n3,a,2020-12-31T22:00:00Z\n4,b,\n5,b,1999-01-01\n"],
      ["dedupe", "--by", "k", "--keep", "newest:t", "a.csv"], out: "id,k,t\n2,a,2021-01-01T00:00:00+02:00\n5,b,1999-01-01\n"),
    ToolCase(
      "count-by counts", ["a.ndjson": kept([1, 2, 3, 4, 5])], ["count-by", "k", "a.ndjson"],
      out: "{\"k\":\"a\",\"count\":2}\n{\"k\":\"b\",\"count\":2}\n{\"k\":\"c\",\"count\":1}\n"),
  ]

  @Test("give what is written", arguments: cases) func given(_ c: ToolCase) throws { try c.check() }

  @Test("dedupe-017: the same bytes in 30 runs, for any threads and memory, over 50 chunks") func order() throws {
    let folder = try Workdir()
    // Keys come back soon and late, and new ones appear to the end.
    let keys = (0..<60_000).map { $0 % 3 == 0 ? $0 : $0 &* 7_919 % ($0 + 1) }
    func line(_ id: Int) -> String { "{\"id\":\(id),\"k\":\(keys[id])}\n" }
    for chunk in 0..<50 { try folder.write("in/\(100 + chunk).ndjson", (chunk * 1_200..<(chunk + 1) * 1_200).map(line).joined()) }
    var seen = Set<Int>()
    let survivors = keys.indices.filter { seen.insert(keys[$0]).inserted }
    #expect(survivors.last! > 59_900 && (25_000...55_000).contains(survivors.count))
    let expected = Data(survivors.map(line).joined().utf8)
    for run in 0..<30 {
      let (threads, memory) = (["1", "2", "3", "5", "8"][run % 5], ["16M", "20M", "256M"][run % 3])
      let result = try folder.run(["dedupe", "--by", "k", "in", "--threads", threads, "--memory", memory])
      #expect(result.status == 0, "\(result.err)")
      #expect(result.out == expected, "threads \(threads), memory \(memory)")
    }
  }
}
