import OhanaCore
import OhanaTestSupport
import Testing

@testable import OhanaStages

@Suite("sort") struct SortTests {
  static let seeds: [[TestValue]] = [
    [1, "Zoe", "adams"], [2, "Al", "Adams"], [3, "Bo", nil], [4, nil, "Young"], [5, nil, nil], [6, "", "Adams"], [7, "Ann", ""],
    [8, "Al", "Adams"], [9, "Éva", "Zhu"], [10, "Eva", "Zhu"],
  ]

  static let cases: [(name: String, keys: String, expected: [TestValue])] = [
    ("SORT: last name, ties by first", "last:ohana,first:ohana", [2, 8, 6, 4, 10, 9, 1, 7, 3, 5]),
    ("SORT: first name, ties by last", "first:ohana,last:ohana", [2, 8, 7, 3, 10, 9, 1, 6, 4, 5]),
    ("CLDR root puts adams beside Adams, lower case first", "last,first", [1, 2, 8, 6, 4, 10, 9, 7, 3, 5]),
    ("blanks stay last under desc, ties in input order", "last:ohana:desc,first:ohana", [1, 10, 9, 4, 2, 8, 6, 7, 3, 5]),
    ("blanks go first where asked", "last:ohana:nulls-first", [3, 5, 7, 2, 6, 8, 4, 9, 10, 1]),
    ("blanks go first under desc too", "last:ohana:nulls-first:desc", [3, 5, 7, 1, 9, 10, 4, 2, 6, 8]),
  ]

  @Test("orders by", arguments: cases) func orders(_ c: (name: String, keys: String, expected: [TestValue])) throws {
    for memory in [32 << 20, 3000] {
      let stage = try SortStage.parse(arguments: [c.keys])
      #expect(try ids(of: [stage], Self.seeds, names: ["id", "first", "last"], memory: memory) == c.expected)
    }
  }

  @Test("SORT: full names") func fullNames() throws {
    let rows: [[TestValue]] = [[1, "Bo"], [2, nil], [3, "Al"], [4, ""], [5, "Bo"]]
    #expect(try ids(of: [SortStage.parse(arguments: ["name:ohana"])], rows, names: ["id", "name"]) == [3, 1, 5, 2, 4])
    let names = "Abel Ann Eric Éric O'Neil ONeil Zoe Zoë ann ábel eric zoe".split(separator: " ").map { TestValue.text(String($0)) }
    for seed in 0..<20 {
      var generator = SeededGenerator(seed: UInt64(seed))
      let shuffled = names.shuffled(using: &generator).map { [$0] }
      #expect(try ids(of: [SortStage.parse(arguments: ["name:ohana"])], shuffled, names: ["name"]) == names)
    }
  }

  @Test("REV: reverse turns ties and blanks round, however it is done") func reverse() throws {
    let names = ["id", "first", "last"]
    let expected: [TestValue] = [5, 3, 7, 1, 9, 10, 4, 6, 8, 2]
    var sort = try SortStage.parse(arguments: ["last:ohana,first:ohana"])
    for memory in [32 << 20, 3000] {
      #expect(try ids(of: [sort, ReverseStage()], Self.seeds, names: names, memory: memory) == expected)
      let twice = try ids(of: [sort, ReverseStage(), ReverseStage()], Self.seeds, names: names, memory: memory)
      #expect(twice == expected.reversed())
    }
    sort.reversed = true
    for memory in [32 << 20, 3000] { #expect(try ids(of: [sort], Self.seeds, names: names, memory: memory) == expected) }
  }

  static let thirdParty: [(id: String, keys: String, rows: [[TestValue]], expected: [TestValue])] = [
    (
      "sort-001", "name:locale/fr", ["Zimmer", "Édouard", "Ellis", "Éclair", "Eden"].map { [$0] },
      ["Éclair", "Eden", "Édouard", "Ellis", "Zimmer"]
    ),
    (
      "sort-002", "name:locale/en", ["Zoe", "anna", "Hugo", "Anna", "Émile", "Wren"].map { [$0] },
      ["anna", "Anna", "Émile", "Hugo", "Wren", "Zoe"]
    ),
    (
      "sort-002 by bytes", "name:binary", ["Zoe", "anna", "Hugo", "Anna", "Émile", "Wren"].map { [$0] },
      ["Anna", "Hugo", "Wren", "Zoe", "anna", "Émile"]
    ),
    (
      "sort-004", "name", ["Degroot", "Dean", "de Groot", "De Groot", "O'Brien", "OBrien", "O Brien"].map { [$0] },
      ["de Groot", "De Groot", "Dean", "Degroot", "O Brien", "O'Brien", "OBrien"]
    ),
    ("sort-007", "city,name", [["Max", nil], ["Ann", nil], ["Kim", nil]], ["Ann", "Kim", "Max"]),
    (
      "sort-008", "city,age:number:desc",
      [["Kim", "Town", "9"], ["Lee", "Ark", "30"], ["Max", "Town", "30"], ["Ann", "Ark", "4"], ["Joe", "Town", "100"]],
      ["Lee", "Ann", "Joe", "Max", "Kim"]
    ),
    ("sort-010", "name:natural", ["Unit 10", "Unit 9", "unit 1", "Unit 010"].map { [$0] }, ["unit 1", "Unit 9", "Unit 10", "Unit 010"]),
  ]

  @Test("gets right what others got wrong", arguments: thirdParty)
  func others(_ c: (id: String, keys: String, rows: [[TestValue]], expected: [TestValue])) throws {
    #expect(try ids(of: [SortStage.parse(arguments: [c.keys])], c.rows, names: ["name", "city", "age"]) == c.expected)
  }

  @Test("sort-005: blanks together, last, in input order", arguments: ["name", "name:desc"]) func blanks(keys: String) throws {
    let rows: [[TestValue]] = [[1, "Max"], [2, ""], [3, "Ann"], [4, nil], [5, "Kim"], [6]]
    let expected: [TestValue] = keys == "name" ? [3, 5, 1, 2, 4, 6] : [1, 5, 3, 2, 4, 6]
    #expect(try ids(of: [SortStage.parse(arguments: [keys])], rows, names: ["id", "name"]) == expected)
  }

  @Test("under number, other text follows the numbers and blanks follow both") func numbers() throws {
    let rows: [[TestValue]] = [
      [1, "10"], [2, "9.5"], [3, "x"], [4, nil], [5, 9], [6, "1e1"], [7, "-3"], [8, "abc"], [9, "9007199254740993"],
      [10, .number("9007199254740992")], [11, ""], [12, "1e400"], [13, "-0.0"], [14, "0"],
    ]
    let ascending = try ids(of: [SortStage.parse(arguments: ["v:number"])], rows, names: ["id", "v"])
    #expect(ascending == [7, 13, 14, 5, 2, 1, 6, 10, 9, 12, 8, 3, 4, 11])
    let descending = try ids(of: [SortStage.parse(arguments: ["v:number:desc"])], rows, names: ["id", "v"])
    #expect(descending == [12, 9, 10, 1, 6, 2, 5, 13, 14, 7, 3, 8, 4, 11])
  }

  // MARK: Against a slow model

  struct Field {
    var kind: String
    var value: @Sendable (inout SeededGenerator) -> TestValue
    /// Order of two values that are not blank.
    var compare: @Sendable (TestValue, TestValue) -> Int
  }

  static func text(_ value: TestValue) -> String? {
    switch value {
    case .missing, .null, .text(""): nil
    case .text(let text), .number(let text): text
    default: nil
    }
  }

  static func bytes(_ a: TestValue, _ b: TestValue) -> Int {
    let (a, b) = (Array(text(a)!.utf8), Array(text(b)!.utf8))
    return a == b ? 0 : a.lexicographicallyPrecedes(b) ? -1 : 1
  }

  static func someText(_ generator: inout SeededGenerator, _ alphabet: [Character], _ longest: Int) -> TestValue {
    switch Int.random(in: 0..<12, using: &generator) {
    case 0: .null
    case 1: .missing
    case 2: ""
    default: .text(String((0..<Int.random(in: 1...longest, using: &generator)).map { _ in alphabet.randomElement(using: &generator)! }))
    }
  }

  static let fields: [Field] = [
    Field(kind: ":binary") {
      someText(&$0, ["a", "b", "\u{0}", "\u{1}", "\u{2}", "é", "😀"], 4)
    } compare: {
      bytes($0, $1)
    },
    Field(kind: ":binary:desc") {
      someText(&$0, ["a", "b"], 20)
    } compare: {
      -bytes($0, $1)
    },
    Field(kind: "") {
      someText(&$0, ["a", "A", "á", "b", " ", "-", "ß", "\u{301}", "z", "中"], 6)
    } compare: {
      try! Collation(tag: nil, isNumeric: false).compare(text($0)!, text($1)!)
    },
    Field(kind: ":locale/sv:desc") {
      someText(&$0, ["a", "Å", "ä", "o", "ö", "z"], 30)
    } compare: {
      -(try! Collation(tag: "sv", isNumeric: false).compare(text($0)!, text($1)!))
    },
    Field(kind: ":number") {
      .number(String(Int.random(in: -20...20, using: &$0)))
    } compare: {
      Int(text($0)!)! - Int(text($1)!)!
    },
  ]

  @Test("equals a slow sort for any keys, batches, memory and passes", arguments: 0..<60) func model(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let chosen = (0..<Int.random(in: 1...3, using: &generator)).map { _ in Self.fields.randomElement(using: &generator)! }
    let blanksFirst = chosen.map { _ in Bool.random(using: &generator) }
    let count = Int.random(in: 0...400, using: &generator)
    let presorted = Int.random(in: 0..<5, using: &generator) == 0
    var rows = (0..<count).map { id in [TestValue.number(String(id))] + chosen.map { $0.value(&generator) } }
    func precedes(_ a: [TestValue], _ b: [TestValue]) -> Bool {
      for (index, field) in chosen.enumerated() {
        let (x, y) = (a[index + 1], b[index + 1])
        switch (Self.text(x) == nil, Self.text(y) == nil) {
        case (true, true): continue
        case (true, false): return blanksFirst[index]
        case (false, true): return !blanksFirst[index]
        case (false, false):
          let order = field.compare(x, y)
          if order != 0 { return order < 0 }
        }
      }
      return Int(Self.text(a[0])!)! < Int(Self.text(b[0])!)!
    }
    let sorted = rows.sorted(by: precedes)
    if presorted { rows = sorted }
    let expected = presorted ? rows.map { $0[0] } : sorted.map { $0[0] }
    let names = ["id"] + chosen.indices.map { "k\($0)" }
    let keys = chosen.enumerated().map { "k\($0)\($1.kind)" + (blanksFirst[$0] ? ":nulls-first" : "") }.joined(separator: ",")
    var stage = try SortStage.parse(arguments: [keys])
    for memory in [4 << 20, 20_000, 8_000, 3_000] {
      let spill = MemorySpillStore()
      let batchSizes = Int.random(in: 1...90, using: &generator)
      #expect(try ids(of: [stage], rows, names: names, batchSizes: batchSizes, memory: memory, spill: spill, seed: seed) == expected)
      #expect(spill.filesInUse == 0)
      #expect(memory > 3_000 || count < 40 || spill.bytesSpilled > 0, "nothing was spilled, so this proves little")
      stage.reversed = true
      #expect(try ids(of: [stage], rows, names: names, batchSizes: batchSizes, memory: memory, seed: seed) == expected.reversed())
      for limit in [0, 1, 7, count / 2, count + 3] {
        stage.topLimit = limit
        stage.reversed = limit % 2 == 0
        let part = (limit % 2 == 0 ? expected.reversed() : expected).prefix(limit)
        #expect(try ids(of: [stage], rows, names: names, batchSizes: batchSizes, memory: memory, seed: seed) == Array(part))
      }
      stage.topLimit = nil
      stage.reversed = false
    }
  }

  @Test("a record that the share cannot hold ends the run, whatever the batches", arguments: [1, 5]) func tooLong(batchSizes: Int) throws {
    let rows: [[TestValue]] = (0..<20).map { [.text(String(repeating: "x", count: $0 == 11 ? 9000 : 5))] }
    let error = try #require(throws: OhanaError.self) {
      try ids(of: [SortStage.parse(arguments: ["name"])], rows, names: ["name"], batchSizes: batchSizes, memory: 8000)
    }
    #expect(error.category == .memory)
  }

  @Test("long records and long keys survive spilling and merging") func longRecords() throws {
    var generator = SeededGenerator(seed: 9)
    let rows: [[TestValue]] = (0..<60).map { id in
      [.number(String(id)), .text(String(repeating: "k", count: Int.random(in: 0...3000, using: &generator)) + "\(id % 7)")]
    }
    let expected = rows.enumerated().sorted { a, b in
      let order = Self.bytes(a.element[1], b.element[1])
      return order != 0 ? order < 0 : a.offset < b.offset
    }.map { $0.element[0] }
    for memory in [9_000, 20_000, 100_000] {
      #expect(try ids(of: [SortStage.parse(arguments: ["k:binary"])], rows, names: ["id", "k"], memory: memory) == expected)
    }
  }

  @Test("presorted input makes one run and is not merged") func presorted() throws {
    let sorter = ExternalSorter(spill: MemorySpillStore(), budget: 20_000)
    let packer = RecordPacker(RecordPayload())
    for start in stride(from: 0, to: 600, by: 6) {
      let out = ByteBuffer()
      let batch = RecordBatch.make((start..<start + 6).map { [TestValue.number("\($0)")] }, slotCount: 1)
      for record in 0..<6 {
        let key = ByteBuffer()
        key.append(UInt8((start + record) >> 8))
        key.append(UInt8((start + record) & 255))
        SortItem.append(key: key.base, count: 2, record: record, of: batch, packer: packer, to: out)
      }
      try sorter.add(out.base, byteCount: out.count, count: 6)
    }
    #expect(sorter.spilledRunCount == 1)
    let merger = try sorter.finish()
    var count = 0
    while try merger.next() != nil { count += 1 }
    #expect(count == 600)
    #expect(sorter.passes == 0)
  }

  @Test("with a large share only about as much is spilled as does not fit", arguments: [false, true]) func partialSpills(laterFirst: Bool)
    throws
  {
    var generator = SeededGenerator(seed: 5)
    let spill = MemorySpillStore()
    let budget = 8 << 20
    let sorter = ExternalSorter(spill: spill, budget: budget, laterFirst: laterFirst)
    var keys: [(key: UInt16, size: Int)] = []
    var total = 0
    for _ in 0..<300 {
      let count = Int.random(in: 1...60, using: &generator)
      var run = (0..<count).map { _ in
        let size = Int.random(in: 0..<400, using: &generator) == 0 ? 700_000 : Int.random(in: 40...1500, using: &generator)
        return (key: UInt16.random(in: 0..<500, using: &generator), size: size, place: 0)
      }
      for index in run.indices {
        run[index].place = keys.count
        keys.append((run[index].key, run[index].size))
      }
      run.sort { $0.key != $1.key ? $0.key < $1.key : laterFirst ? $0.place > $1.place : $0.place < $1.place }
      let bytes = ByteBuffer()
      for item in run {
        appendItem(key: item.key, place: item.place, size: item.size, to: bytes)
      }
      total += bytes.count
      try sorter.add(bytes.base, byteCount: bytes.count, count: run.count)
    }
    let expected = keys.indices.sorted { a, b in
      keys[a].key != keys[b].key ? keys[a].key < keys[b].key : laterFirst ? a > b : a < b
    }
    let merger = try sorter.finish()
    var found: [Int] = []
    while let item = try merger.next() {
      found.append(Int(item.loadUnaligned(fromByteOffset: 24, as: UInt32.self)))
      if SortItem.size(item) != keys[found[found.count - 1]].size { Issue.record("an item of another size") }
    }
    #expect(found == expected)
    #expect(spill.bytesSpilled > 0)
    #expect(spill.bytesSpilled < total - budget / 3)
    #expect(sorter.passes == 0)
  }

  @Test(
    "refuses what it does not understand",
    arguments: [
      ("name:foo", "unknown-kind"), ("name:locale:binary", "unknown-kind"), ("name:locale/xx", "unknown-locale"),
      ("name:locale/de-u-co-nonsense", "unknown-locale"), ("name,,first", "bad-list"), ("name:locale/", "unknown-kind"),
    ])
  func refuses(_ keys: String, _ code: String) throws {
    let error = try #require(throws: OhanaError.self) {
      _ = try ids(of: [SortStage.parse(arguments: [keys])], [["x"]], names: ["name"])
    }
    #expect(error.category == .usage)
    #expect(error.code == code)
  }

  @Test(
    "accepts languages with and without rules of their own",
    arguments: ["en", "de-AT", "sv", "ast", "gsw", "de-u-co-phonebk", "und", "sv_SE"])
  func languages(_ tag: String) throws {
    #expect(try ids(of: [SortStage.parse(arguments: ["name:locale/\(tag)"])], [["b"], ["a"]], names: ["name"]) == ["a", "b"])
  }

  @Test("--locale is the default of locale and natural keys") func localeSetting() throws {
    var settings = StageSettings()
    settings.locale = "sv"
    let rows: [[TestValue]] = ["ö", "z", "a"].map { [$0] }
    for keys in ["name", "name:natural"] {
      #expect(try ids(of: [SortStage.parse(arguments: [keys])], rows, names: ["name"], settings: settings) == ["a", "z", "ö"])
      #expect(try ids(of: [SortStage.parse(arguments: [keys])], rows, names: ["name"]) == ["a", "ö", "z"])
    }
  }
}

@Suite("stages that are done together") struct StageFusionTests {
  static let chains: [[any PlannedStage]] = {
    func sort(_ keys: String) -> any PlannedStage { try! SortStage.parse(arguments: [keys]) }
    return [
      [sort("k"), ReverseStage()], [sort("k"), ReverseStage(), ReverseStage()], [sort("k:desc"), ReverseStage(), LimitStage(count: 7)],
      [sort("k"), SkipStage(count: 3), SkipStage(count: 2), LimitStage(count: 4)], [sort("k"), LimitStage(count: 0)],
      [ReverseStage(), sort("k"), LimitStage(count: 1000)], [sort("k"), SkipStage(count: .max), LimitStage(count: 3)],
      [sort("k"), ReverseStage(), sort("id:number"), LimitStage(count: 5), ReverseStage()],
    ]
  }()

  @Test("give what they give alone", arguments: chains.indices) func same(chain: Int) throws {
    var generator = SeededGenerator(seed: UInt64(chain))
    let stages = Self.chains[chain]
    let rows: [[TestValue]] = (0..<150).map { [.number("\($0)"), SortTests.someText(&generator, ["a", "b", "c"], 2)] }
    for memory in [1 << 20, 3000] {
      let run = StageRun(names: ["id", "k"], batchSizes: 20, memory: memory)
      let fused = StageFusion.fused(stages)
      #expect(fused.count == stages.count)
      #expect(try run.ids(fused, rows) == run.ids(stages, rows))
    }
  }

  @Test("a reverse behind a sort costs nothing, a limit behind it bounds it") func bounds() throws {
    let fused = StageFusion.fused([try SortStage.parse(arguments: ["k"]), ReverseStage(), SkipStage(count: 2), LimitStage(count: 3)])
    let sort = try #require(fused[0] as? SortStage)
    #expect(sort.reversed && sort.topLimit == 5)
    var schema = RecordSchema(columns: nil)
    #expect(try fused[1].bind(&schema, .forTests()).isEmpty)
  }
}
