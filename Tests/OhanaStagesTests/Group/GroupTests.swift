import OhanaCore
import OhanaTestSupport
import Testing

@testable import OhanaStages

@Suite("all, any, odd") struct GroupTests {
  /// A record in the slow model: where it stood, and what made it.
  struct Model: Hashable {
    var id: Int
    /// Of the split row that it is; empty for a record that came in.
    var row: [Int] = []
  }
  enum Work: CaseIterable { case third, even, reverse, limit, skip, split, tag, nested }

  static func stage(_ work: Work) -> any PlannedStage {
    switch work {
    case .third: FilterStage(try! Expression("id % 3 <> 0", functions: .standard))
    case .even: FilterStage(try! Expression("id % 2 = 0", functions: .standard))
    case .reverse: ReverseStage()
    case .limit: LimitStage(count: 17)
    case .skip: SkipStage(count: 5)
    case .split: SplitStage(on: .phone)
    case .tag: TagStage("x")
    case .nested: GroupStage(.odd, [[FilterStage(try! Expression("id % 5 = 0", functions: .standard))], [ReverseStage()]])
    }
  }

  /// What the work makes of records; `number` is the stage's own.
  static func model(_ work: Work, _ records: [Model], number: Int) -> [Model] {
    switch work {
    case .third: records.filter { $0.id % 3 != 0 }
    case .even: records.filter { $0.id % 2 == 0 }
    case .reverse: records.reversed()
    case .limit: Array(records.prefix(17))
    case .skip: Array(records.dropFirst(5))
    case .split:
      records.flatMap { record in
        // Rows of rows have one phone each.
        (0..<(record.row.isEmpty ? record.id % 4 : 1)).map { Model(id: record.id, row: record.row + [number, $0]) }
      }
    case .tag: records
    case .nested: records.reversed().filter { $0.id % 5 != 0 }
    }
  }

  @Test("give what a slow model gives, spilling or not, in any nesting and batches", arguments: 0..<80 as Range<UInt64>)
  func model(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let count = Int.random(in: 0...120, using: &generator)
    let input = (0..<count).map { Model(id: $0) }
    let rows: [[TestValue]] = input.map { record in
      let phones = (0..<(record.id % 4)).map { "{\"type\":\"phone\",\"value\":\"\($0)\"}" }
      return [.number(String(record.id)), .json("[\(phones.joined(separator: ","))]"), .missing]
    }
    let kind = GroupStage.Kind.allCases.randomElement(using: &generator)!
    let order = kind == .all ? GroupStage.Order.branch : GroupStage.Order.allCases.randomElement(using: &generator)!
    var chains: [[any PlannedStage]] = []
    var outputs: [[Model]] = []
    for branch in 0..<Int.random(in: 1...4, using: &generator) {
      let works = (0..<Int.random(in: 1...3, using: &generator)).map { _ in Work.allCases.randomElement(using: &generator)! }
      chains.append(works.map(Self.stage))
      outputs.append(works.enumerated().reduce(input) { Self.model($1.element, $0, number: branch * 10 + $1.offset) })
    }
    let expected = Self.joined(kind, order, outputs, input)

    let spill = MemorySpillStore()
    let run = StageRun(
      names: ["id", "fields", "tags"], batchSizes: Int.random(in: 1...40, using: &generator), memory: seed % 2 == 0 ? 1 << 15 : 32 << 20,
      spill: spill, seed: seed)
    let found = try run.rows([GroupStage(kind, chains, order: order)], rows)
    let ids = expected.map { TestValue.number(String($0.id)) }
    #expect(found.map { $0[0] } == ids, "\(chains.map { $0.map(\.text) }) \(kind) \(order)")
    // Which of its record's phones a row has.
    for (row, record) in zip(found, expected) where !record.row.isEmpty {
      #expect(row[1] == .json("[{\"type\":\"phone\",\"value\":\"\(record.row[1])\"}]"))
    }
    #expect(spill.filesInUse == 0)
  }

  private static func joined(_ kind: GroupStage.Kind, _ order: GroupStage.Order, _ outputs: [[Model]], _ input: [Model]) -> [Model] {
    var result: [Model] = []
    switch kind {
    case .all: result = outputs[0].filter { record in outputs.allSatisfy { $0.contains(record) } }
    case .any: for output in outputs { result += output.filter { !result.contains($0) } }
    case .odd:
      for output in outputs {
        let old = Set(result)
        result = result.filter { !output.contains($0) } + output.filter { !old.contains($0) }
      }
    }
    if order == .branch { return result }
    return result.sorted { a, b in
      if a.id != b.id { return a.id < b.id }
      return a.row.lexicographicallyPrecedes(b.row)
    }
  }

  @Test("spill what memory cannot hold") func spills() throws {
    let rows: [[TestValue]] = (0..<3000).map { [.number(String($0)), .text(String(repeating: "x", count: 50))] }
    let spill = MemorySpillStore()
    let run = StageRun(names: ["id", "pad"], batchSizes: 100, memory: 1 << 16, spill: spill)
    let group = GroupStage(.any, [[ReverseStage()], [SkipStage(count: 10)]], order: .branch)
    #expect(try run.ids([group], rows) == (0..<3000).reversed().map { .number(String($0)) })
    #expect(spill.bytesSpilled > 200_000 && spill.filesInUse == 0)
  }

  @Test("stream where the branches only let records through") func streams() throws {
    let predicates = try GroupStage.parse(.any, arguments: ["{", "require", "a", "}", "{", "all", "{", "filter", "b = 1", "}", "}"])
    #expect(predicates.memoryClass == .streaming && predicates.isPredicate)
    #expect(try GroupStage.parse(.odd, arguments: ["{", "require", "a", "}"]).memoryClass == .breaker)
    #expect(try GroupStage.parse(.odd, arguments: ["{", "require", "a", "}", "--order", "input"]).memoryClass == .streaming)
    #expect(try GroupStage.parse(.all, arguments: ["{", "require", "a", "then", "limit", "3", "}"]).memoryClass == .breaker)
  }

  @Test("what they write is what a file can be read from again") func text() throws {
    let words = ["{", "split", "--on", "phone", "then", "tag", "x", "}", "{", "any", "{", "require", "a", "}", "}", "--order", "branch"]
    let group = try GroupStage.parse(.any, arguments: words)
    #expect(group.text == "any " + words.joined(separator: " "))
  }

  @Test(
    "mistakes are usage errors",
    arguments: [
      [], ["{"], ["{", "}"], ["}"], ["require", "a"], ["{", "require", "a"], ["{", "nothing", "}"], ["{", "require", "a", "}", "x"],
      ["{", "require", "a", "then", "}"], ["{", "require", "a", "}", "--order", "x"],
    ])
  func mistakes(words: [String]) {
    #expect(throws: OhanaError.self) { try GroupStage.parse(.any, arguments: words) }
  }

  @Test("groups stand in one another only so deep") func depth() throws {
    func nested(_ depth: Int) -> [String] { depth == 0 ? ["{", "require", "a", "}"] : ["{", "any"] + nested(depth - 1) + ["}"] }
    _ = try GroupStage.parse(.any, arguments: nested(15))
    #expect(throws: OhanaError.self) { try GroupStage.parse(.any, arguments: nested(16)) }
  }
}
