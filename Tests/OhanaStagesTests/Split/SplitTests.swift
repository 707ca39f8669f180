import OhanaCore
import OhanaTestSupport
import Testing

@testable import OhanaStages

@Suite("split") struct SplitTests {
  @Test("gives what a slow model gives, for random records and batches", arguments: 0..<40 as Range<UInt64>) func model(seed: UInt64) throws
  {
    var generator = SeededGenerator(seed: seed)
    let types = ["phone", "email", "url", "fax"]
    let keepsOthers = Bool.random(using: &generator)
    var rows: [[TestValue]] = []
    var expected: [[TestValue]] = []
    for id in 0..<Int.random(in: 0...60, using: &generator) {
      let entries = (0..<Int.random(in: 0...4, using: &generator)).map { number -> (type: String, text: String) in
        let type = types.randomElement(using: &generator)!
        return (type, "{\"value\":\"\(id).\(number)\", \"type\":\"\(type)\"}")
      }
      let columns: [TestValue] = (0..<3).map { _ in [.missing, nil, "", "7"].randomElement(using: &generator)! }
      let hasList = Bool.random(using: &generator)
      let number = TestValue.number(String(id))
      rows.append([
        number, columns[0], columns[1], columns[2], hasList ? .json("[" + entries.map(\.text).joined(separator: " , ") + "]") : .missing,
      ])
      func list(_ kept: Int?) -> TestValue {
        if !hasList { return .missing }
        let rest = entries.indices.filter { $0 == kept || keepsOthers && entries[$0].type != "phone" }
        return .json("[" + rest.map { entries[$0].text }.joined(separator: ",") + "]")
      }
      for column in [columns[0], columns[1]] where column != .missing && column != nil { expected.append([number, column, list(nil)]) }
      for (index, entry) in entries.enumerated() where hasList && entry.type == "phone" {
        expected.append([number, .missing, list(index)])
      }
    }
    let run = StageRun(
      names: ["id", "phone", "phone_2", "email", "fields"], batchSizes: Int.random(in: 1...9, using: &generator), seed: seed)
    let found = try run.rows([SplitStage(on: .phone, keepsOthers: keepsOthers)], rows)
    #expect(found.map { [$0[0], $0[1], $0[4]] } == expected)
  }

  @Test("rows of rows keep their parents, and the origin of the record they were made of") func generations() {
    let batch = RecordBatch.make([[1], [2], [3]], slotCount: 1, firstOrdinal: 10)
    batch.beginRows()
    let (a, b) = (batch.appendRow(of: 2), batch.appendRow(of: 2))
    batch.beginRows()
    let c = batch.appendRow(of: b)
    #expect([a, b, c] == [3, 4, 5] && batch.readCount == 3)
    #expect(batch.parent(of: c) == b && batch.parent(of: b) == 2 && batch.parent(of: 2) == nil)
    #expect(batch.origin(of: c).ordinal == 12 && batch.value(0, of: c) == 3)
    batch.recycle(limit: 100)
    #expect(!batch.hasRows && batch.parent(of: 3) == nil)
  }
}
