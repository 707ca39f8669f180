import Foundation
import OhanaCore
import OhanaTestSupport
import Testing

@testable import OhanaStages

@Suite("dedupe") struct DedupeTests {
  struct Case: Sendable, CustomTestStringConvertible {
    var id: String
    var arguments: [String]
    var names: [String]
    var rows: [[TestValue]]
    var expected: [TestValue]
    var testDescription: String { "\(id): \(arguments.joined(separator: " "))" }
  }

  static let two: [[TestValue]] = [
    [1, "Kim", "1980-01-01"], [2, "Kim"], [3, "Kim", nil], [4, "Kim", "1980-01-01"], [5, "", "1980-01-01"], [6, "", "1980-01-01"],
  ]
  static let joined: [[TestValue]] = [
    [1, "ab", "c"], [2, "a", "bc"], [3, "a|b", "c"], [4, "a", "b|c"], [5, "a,b", "c"], [6, "a", "b,c"],
  ]
  static let five: [[TestValue]] = [[1, "a"], [2, "b"], [3, "a"], [4, "c"], [5, "b"]]
  static let gmail: [[TestValue]] = [
    [1, "zz.made.up.case.0100@gmail.com"], [2, "ZZmadeupcase0100@gmail.com"], [3, "zzmadeupcase0100+news@gmail.com"],
    [4, "zzmadeupcase0100@googlemail.com"], [5, "zzmadeupcase0100@example.com"], [6, "zzmadeup.case0100@example.com"],
    [7, "z.z@mail.gmail.com.example.com"],
  ]
  static let turkish: [[TestValue]] = [
    [1, "KIMI@EXAMPLE.COM"], [2, "kimi@example.com"], [3, "kımı@example.com"], [4, "KİMİ@example.com"],
  ]

  static let cases: [Case] = [
    Case(
      id: "dedupe-001", arguments: ["--by", "email:email"], names: ["name", "email"],
      rows: [["Kim", "kim@example.com"], ["Lee", nil], ["Max", nil], ["Kim A.", "KIM@example.com "], ["Ann", ""]],
      expected: ["Kim", "Lee", "Max", "Ann"]),
    Case(id: "dedupe-002", arguments: ["--by", "name,bday"], names: ["id", "name", "bday"], rows: two, expected: [1, 2, 3, 5, 6]),
    Case(
      id: "dedupe-004", arguments: ["--by", "first,last"], names: ["id", "first", "last"], rows: joined, expected: [1, 2, 3, 4, 5, 6]),
    Case(id: "dedupe-010", arguments: ["--by", "email:email/provider"], names: ["id", "email"], rows: gmail, expected: [1, 5, 6, 7]),
    Case(id: "dedupe-010", arguments: ["--by", "email:email"], names: ["id", "email"], rows: gmail, expected: [1, 2, 3, 4, 5, 6, 7]),
    Case(id: "dedupe-014", arguments: ["--by", "email:email"], names: ["id", "email"], rows: turkish, expected: [1, 3, 4]),
    Case(id: "dedupe-016", arguments: ["--by", "k"], names: ["id", "k"], rows: five, expected: [1, 2, 4]),
    Case(id: "dedupe-016", arguments: ["--by", "k", "--keep", "last"], names: ["id", "k"], rows: five, expected: [3, 4, 5]),
    Case(id: "dedupe-016", arguments: ["--by", "k", "--keep", "none"], names: ["id", "k"], rows: five, expected: [4]),
    Case(
      id: "exact compares decoded text", arguments: ["--by", "k"], names: ["id", "k"],
      rows: [
        [1, 7], [2, "7"], [3, .number("1.10")], [4, "1.1"], [5, .json("[]")], [6, .json("[ ]")], [7, .json("{}")], [8, .json("[1, 2]")],
        [9, .json("[1,2]")], [10, .bool(true)], [11, "true"], [12, "a\"b"], [13, "a\"b"], [14, "A\"b"],
      ], expected: [1, 3, 4, 5, 6, 7, 8, 10, 12, 14]),
    Case(
      id: "newest by rank", arguments: ["--by", "k", "--keep", "newest:t"], names: ["id", "k", "t"],
      rows: [
        [1, "a", "2024-01-01"], [2, "a", "2024-01-01T00:00:00Z"], [3, "a", 99_999_999], [4, "a", "zz"], [5, "b", nil], [6, "b", "x"],
        [7, "c", "2024-05-01T12:00:00+02:00"], [8, "c", "2024-05-01T11:00:00Z"], [9, "d", "9"], [10, "d", "10"],
      ], expected: [1, 6, 8, 10]),
    Case(
      id: "oldest by rank", arguments: ["--by", "k", "--keep", "oldest:t"], names: ["id", "k", "t"],
      rows: [
        [1, "a", "2024-01-01"], [2, "a", "2023-12-31T23:59:59.9"], [3, "b", "2024-01-01"], [4, "b", 5], [5, "c", "b"], [6, "c", "a"],
        [7, "d", "a"], [8, "d", nil], [9, "d"],
      ], expected: [2, 4, 6, 8]),
    Case(
      id: "most complete", arguments: ["--by", "k", "--keep", "most-complete"], names: ["id", "k", "x", "y"],
      rows: [
        [1, "a", "", nil], [2, "a", .json("[]"), "1"], [3, "a", "1", .json("[ ]")], [4, "b", "1", "2"], [5, "b", "3", "4"],
        [6, nil, "3", "4"],
      ], expected: [2, 4, 6]),
  ]

  @Test("keeps the right ones", arguments: cases) func keeps(_ c: Case) throws {
    for memory in [32 << 20, 2000] {
      let run = StageRun(names: c.names, memory: memory)
      #expect(try run.ids([DedupeStage.parse(arguments: c.arguments)], c.rows) == c.expected)
    }
  }

  @Test("dedupe-013: composed, decomposed and full-width forms") func unicode() throws {
    let text = String(
      decoding: Data(
        base64Encoded:
          "aWQsbmFtZQoxLEpvc8OpIE7DusOxZXoKMixKb3NlzIEgTnXMgW7Mg2V6CjMs77yr772J772NCjQsS2ltCjUs4oSrc2EKNizDhXNhCjcs76yBbgo4LGZpbgo=")!,
      as: UTF8.self)
    let rows = text.split(separator: "\n").dropFirst().map { line in line.split(separator: ",").map { TestValue.text(String($0)) } }
    let folded = try StageRun(names: ["id", "name"]).ids([DedupeStage.parse(arguments: ["--by", "name:fold"])], rows)
    #expect(folded == ["1", "3", "5", "7"])
  }

  // MARK: Against a slow model

  /// Survivors and duplicates as ids, by the rules read off the page.
  static func model(
    _ rows: [[TestValue]], keys: Int, keep: String, rank: (TestValue) -> (Int, Double)
  ) -> (kept: [TestValue], others: [[TestValue]]) {
    var groups: [[String]: [Int]] = [:]
    var survivor = [Int?](repeating: nil, count: rows.count)
    for (index, row) in rows.enumerated() {
      let parts = (1...keys).map { SortTests.text(row[$0]) }
      if parts.contains(nil) { survivor[index] = index } else { groups[parts.map { $0! }, default: []].append(index) }
    }
    for members in groups.values {
      let best: Int?
      switch keep {
      case "first": best = members.first
      case "last": best = members.last
      case "none": best = members.count == 1 ? members[0] : nil
      case "newest:t": best = members.reduce(members[0]) { rank(rows[$1][keys + 1]) > rank(rows[$0][keys + 1]) ? $1 : $0 }
      case "oldest:t": best = members.reduce(members[0]) { rank(rows[$1][keys + 1]) < rank(rows[$0][keys + 1]) ? $1 : $0 }
      default:
        let count = { (index: Int) in rows[index].filter { SortTests.text($0) != nil }.count }
        best = members.reduce(members[0]) { count($1) > count($0) ? $1 : $0 }
      }
      for member in members { survivor[member] = best }
    }
    var kept: [TestValue] = []
    var others: [[TestValue]] = []
    for (index, row) in rows.enumerated() {
      if survivor[index] == index {
        kept.append(row[0])
      } else {
        others.append([row[0], survivor[index].map { .text("in.ndjson:\($0 + 1)") } ?? .null])
      }
    }
    return (kept, others)
  }

  @Test(
    "equals a slow dedupe for any keys, batches and memory",
    arguments: ["first", "last", "none", "newest:t", "oldest:t", "most-complete"], 0..<16)
  func property(keep: String, seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let keys = Int.random(in: 1...2, using: &generator)
    let alphabet: [Character] = seed % 3 == 0 ? ["a", "b"] : ["a", "b", "c", "d", "é"]
    let rows: [[TestValue]] = (0..<Int.random(in: 0...500, using: &generator)).map { id in
      [.number(String(id))]
        + (0..<keys).map { _ in SortTests.someText(&generator, alphabet, seed % 2 == 0 ? 2 : 6) }
        + [.number(String(Int.random(in: -9...9, using: &generator)))]
    }
    let rank = { (value: TestValue) in (1, Double(SortTests.text(value)!)!) }
    let expected = Self.model(rows, keys: keys, keep: keep, rank: rank)
    let names = ["id"] + (0..<keys).map { "k\($0)" } + ["t"]
    let by = (0..<keys).map { "k\($0)" }.joined(separator: ",")
    var settings = StageSettings()
    settings.sources = ["in.ndjson"]
    for memory in [8 << 20, 40_000, 3_000, 400] {
      for hasOutput in [false, true] {
        settings.fingerprintSeed = generator.next()
        let spill = MemorySpillStore()
        let run = StageRun(
          names: names, batchSizes: Int.random(in: 1...70, using: &generator), memory: memory, spill: spill, settings: settings, seed: seed)
        let stage = try DedupeStage.parse(
          arguments: ["--by", by, "--keep", keep] + (hasOutput ? ["--duplicates", "dups.ndjson"] : []))
        #expect(try run.ids([stage], rows) == expected.kept, "\(memory)")
        if hasOutput {
          #expect(run.side.records.withLock { $0 } == expected.others, "\(memory)")
          #expect(run.side.isFinished.withLock { $0 })
        }
        #expect(spill.filesInUse == 0)
        #expect(
          memory > 400 || expected.kept.count < 150 || seed % 2 == 0 || spill.bytesSpilled > 0, "nothing was spilled, so this proves little"
        )
      }
    }
  }

  @Test("dedupe-017: the smallest id of each key, ascending") func many() throws {
    let rows: [[TestValue]] = (0..<5000).map { [.number("\($0)"), .number("\($0 * 7919 % 1003)")] }
    for memory in [8 << 20, 20_000] {
      let run = StageRun(names: ["id", "k"], batchSizes: 100, memory: memory)
      #expect(try run.ids([DedupeStage.parse(arguments: ["--by", "k"])], rows) == (0..<1003).map { .number("\($0)") })
    }
  }

  @Test("parts with too many keys are cut again", arguments: ["first", "last", "none"]) func recursion(keep: String) throws {
    let rows: [[TestValue]] = (0..<6000).map { [.number("\($0)"), .number("\($0 % 5000)")] }
    let expected = keep == "first" ? Array(0..<5000) : Array(keep == "last" ? 1000..<6000 : 1000..<5000)
    let run = StageRun(names: ["id", "k"], batchSizes: 300, memory: 400)
    #expect(try run.ids([DedupeStage.parse(arguments: ["--by", "k", "--keep", keep])], rows) == expected.map { .number("\($0)") })
    #expect(run.spill.filesInUse == 0)
  }

  @Test(
    "refuses what it does not understand",
    arguments: [
      ([], "missing-argument"), (["--by", "k", "--keep", "frist"], "bad-value"), (["--by", "k", "--keep", "newest"], "bad-value"),
      (["--by", "k:emial"], "unknown-kind"), (["--by", "k:fold:email"], "bad-key"), (["x", "--by", "k"], "surplus-argument"),
    ] as [([String], String)])
  func refuses(_ arguments: [String], _ code: String) throws {
    let error = try #require(throws: OhanaError.self) { try DedupeStage.parse(arguments: arguments) }
    #expect(error.category == .usage)
    #expect(error.code == code)
  }

  @Test(
    "instants",
    arguments: [
      ("2024-05-01", "2024-05-01T00:00:00Z"), ("2024-05-01 10:11", "2024-05-01T10:11:00Z"), ("20240501T101112Z", "2024-05-01T10:11:12Z"),
      ("2024-05-01T10:11:12+02:00", "2024-05-01T08:11:12Z"), ("2024-05-01T10:11:12-0530", "2024-05-01T15:41:12Z"),
      ("2024-05-01T10+02", "2024-05-01T08:00:00Z"), ("2024-12-31T24:00:00", "2025-01-01T00:00:00Z"),
      ("1969-12-31T23:59:59", "1969-12-31T23:59:59Z"),
      ("1583-01-01", "1583-01-01T00:00:00Z"), ("2000-02-29", "2000-02-29T00:00:00Z"), ("2024-05-01T10:11:12.250Z", "2024-05-01T10:11:12Z"),
    ])
  func instants(_ text: String, _ utc: String) throws {
    let formatter = ISO8601DateFormatter()
    let expected = try #require(formatter.date(from: utc))
    let found = Array(text.utf8).withUnsafeBufferPointer { InstantKey.parse($0) }
    #expect(try #require(found).seconds == Int64(expected.timeIntervalSince1970))
  }

  @Test(
    "no instants",
    arguments: [
      "20240501", "2024", "2024-13-01", "2023-02-29", "2024-05-01T25:00", "2024-05-01T10:61", "2024-05-01T", "2024-05-01x", "hello",
      "2024-05-01T10:11:12+25:00", "2024-05-01T10:11:", "", "2024-05-01T10:11:12.", "1999-02-30",
    ])
  func noInstants(_ text: String) { #expect(Array(text.utf8).withUnsafeBufferPointer { InstantKey.parse($0) } == nil) }
}
