import OhanaCore
import OhanaTestSupport
import Testing

@testable import OhanaStages

@Suite("count-by") struct CountByTests {
  @Test("one record per key, in order of first appearance, with the first one's own value") func basics() throws {
    let rows: [[TestValue]] = [["a", 1], ["B", "1"], [nil], ["b", 1], [""], [], ["A", 1], ["é\"", 2], ["a", nil]]
    let run = StageRun(names: ["k", "n"])
    #expect(
      try run.rows([CountByStage.parse(arguments: ["k:fold"])], rows) == [["a", 3], ["B", 2], [nil, 2], ["", 1], ["é\"", 1]])
    #expect(
      try run.rows([CountByStage.parse(arguments: ["k", "n"])], rows)
        == [
          ["a", 1, 1], ["B", "1", 1], [nil, .missing, 2], ["b", 1, 1], ["", .missing, 1], ["A", 1, 1], ["é\"", 2, 1], ["a", nil, 1],
        ])
  }

  @Test("an expression names its column") func expressions() throws {
    let stage = try CountByStage.parse(arguments: ["lower(k)"])
    #expect(try StageRun(names: ["k"]).rows([stage], [["A"], ["a"], ["b"]]) == [["a", 2], ["b", 1]])
    var schema = RecordSchema(columns: nil)
    _ = try stage.bind(&schema, .forTests())
    #expect(schema.layout.entries.map { String(decoding: $0.name, as: UTF8.self) } == ["lower(k)", "count"])
  }

  @Test("equals a slow count for any memory", arguments: 0..<12) func property(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let rows: [[TestValue]] = (0..<Int.random(in: 0...900, using: &generator)).map { _ in
      [SortTests.someText(&generator, ["a", "b", "c", "d"], seed % 2 == 0 ? 2 : 7)]
    }
    var order: [TestValue] = []
    var counts: [TestValue: Int] = [:]
    var shown: [TestValue: TestValue] = [:]
    for row in rows {
      let key: TestValue = row[0] == .missing ? .null : row[0]
      if counts[key] == nil {
        order.append(key)
        shown[key] = row[0]
      }
      counts[key, default: 0] += 1
    }
    let expected = order.map { [shown[$0]!, .number("\(counts[$0]!)")] }
    for memory in [1 << 20, 20_000, 2000] {
      let run = StageRun(names: ["k"], batchSizes: 50, memory: memory, seed: seed)
      #expect(try run.rows([CountByStage.parse(arguments: ["k"])], rows) == expected, "\(memory)")
      #expect(run.spill.filesInUse == 0)
      #expect(memory > 2000 || order.count < 40 || run.spill.bytesSpilled > 0, "nothing was spilled, so this proves little")
    }
  }

  @Test("refuses a key that is called count") func refuses() throws {
    #expect(throws: OhanaError.self) { try StageRun(names: ["count"]).rows([CountByStage.parse(arguments: ["count"])], []) }
  }
}
