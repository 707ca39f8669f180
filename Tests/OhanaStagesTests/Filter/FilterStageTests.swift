import OhanaCore
import OhanaTestSupport
import Testing

@testable import OhanaStages

@Suite("filter") struct FilterStageTests {
  @Test("null is not true; order stays; any cut into batches", arguments: 1..<40) func keeps(seed: Int) throws {
    var random = SeededGenerator(seed: UInt64(seed))
    let rows: [[TestValue]] = (0..<700).map { number in
      [TestValue(integerLiteral: number), [TestValue.missing, .null, "", "x", "xy", 3].randomElement(using: &random)!]
    }
    let run = StageRun(names: ["id", "v"], batchSizes: seed * 20, seed: UInt64(seed))
    #expect(
      try run.ids([try FilterStage.parse(arguments: ["v LIKE 'x%'"])], rows) == rows.filter { $0[1] == "x" || $0[1] == "xy" }.map { $0[0] })
    #expect(
      try run.ids([try FilterStage.parse(arguments: ["NOT (v LIKE 'x%')"])], rows)
        == rows.filter { $0[1] == "" || $0[1] == 3 }.map { $0[0] })
    let chain = [try FilterStage.parse(arguments: ["v IS NOT NULL"]), try FilterStage.parse(arguments: ["id % 2 = 0"])]
    #expect(
      try run.ids(chain, rows)
        == rows.enumerated().filter { $0.offset % 2 == 0 && $0.element[1] != .missing && $0.element[1] != .null }.map { $0.element[0] })
  }

  @Test("json-004: ids of 64 bits equal their text twins") func largeNumbers() throws {
    let rows: [[TestValue]] = [
      [.number("18446744073709551615"), "18446744073709551615"], [.number("13835058055282163713"), "13835058055282163713"],
      [.number("13835058055282163713"), "13835058055282163712"],
    ]
    let run = StageRun(names: ["id", "id_str"])
    for text in ["id = id_str", "CAST(id AS TEXT) = id_str", "id || '' = id_str"] {
      #expect(try run.rows([try FilterStage.parse(arguments: [text])], rows) == Array(rows.prefix(2)), "\(text)")
    }
  }

  @Test("keys may be expressions, and leave records as they were read") func expressionKeys() throws {
    let stage = try DedupeStage.parse(arguments: ["--by", "lower(trim(e))"])
    var schema = RecordSchema(columns: nil)
    let steps = try stage.bind(&schema, .forTests())
    #expect(schema.layout.isSourceAsIs)
    let batch = RecordBatch.make([["A"], [" a "], ["b"], [nil], [nil]], slotCount: schema.slotCount)
    var kept: [UInt32] = []
    try drive(steps, [batch], slotCount: schema.slotCount) { for index in 0..<$0.selectedCount { kept.append($0.selection[index]) } }
    #expect(kept == [0, 2, 3, 4])
    #expect((0..<5).allSatisfy { !batch.records[$0].flags.contains(.changed) })
  }
}
