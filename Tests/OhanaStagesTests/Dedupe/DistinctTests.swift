import OhanaCore
import OhanaTestSupport
import Testing

@testable import OhanaStages

@Suite("distinct") struct DistinctTests {
  struct Pair: Sendable, CustomTestStringConvertible {
    var a: String
    var b: String
    var equal: Bool
    var ignore = ""
    var testDescription: String { "\(a) \(equal ? "=" : "≠") \(b)" + (ignore.isEmpty ? "" : " but for \(ignore)") }
  }

  /// Case EQ, and what follows from its relation.
  static let pairs: [Pair] = [
    Pair(a: #"{"full_name":null}"#, b: "{}", equal: true),
    Pair(a: #"{"fields":[]}"#, b: "{}", equal: true),
    Pair(a: #"{"fields":[ ]}"#, b: #"{"fields":null}"#, equal: true),
    Pair(a: #"{"tags":["x","y"]}"#, b: #"{"tags":["y","x"]}"#, equal: true),
    Pair(a: #"{"tags":["x","x","y"]}"#, b: #"{"tags":["y","y","x"]}"#, equal: false),
    Pair(a: #"{"first":null}"#, b: #"{"first":""}"#, equal: false),
    Pair(
      a: #"{"fields":[{"type":"phone","value":"1"},{"type":"email","value":"e"}]}"#,
      b: #"{"fields":[{"type":"email","value":"e"},{"type":"phone","value":"1"}]}"#, equal: false),
    Pair(a: #"{"fields":[{"value":"1","source":"a"}]}"#, b: #"{"fields":[{"value":"1","source":"b"}]}"#, equal: false),
    Pair(
      a: #"{"fields":[{"value":"1","source":"a"}]}"#, b: #"{"fields":[{"value":"1","source":"b"}]}"#, equal: true, ignore: "source,tags"),
    Pair(a: #"{"addresses":[{"label":"home","city":"X"}]}"#, b: #"{"addresses":[{"label":"work","city":"X"}]}"#, equal: false),
    Pair(a: #"{"props":{"a":1,"b":2}}"#, b: #"{"props":{"b":2,"a":1}}"#, equal: true),
    Pair(a: #"{"props":{"a":1}}"#, b: #"{"props":{"a":2}}"#, equal: false),
    Pair(a: #"{"props":{"a":1,"c":null}}"#, b: #"{"props":{"a":1}}"#, equal: true),
    Pair(a: #"{"image":"abc"}"#, b: #"{"image":"abd"}"#, equal: false),
    Pair(a: #"{"a":1,"b":2}"#, b: #"{ "b" : 2 , "a" : 1 }"#, equal: true),
    Pair(a: #"{"a":1,"b":2}"#, b: #"{"a":2,"b":1}"#, equal: false),
    Pair(a: #"{"a":1.10}"#, b: #"{"a":1.1}"#, equal: false),
    Pair(a: #"{"a":"1"}"#, b: #"{"a":1}"#, equal: false),
    Pair(a: #"{"a":"\u00e9\n"}"#, b: "{\"a\":\"é\\n\"}", equal: true),
    Pair(a: #"{"\u0061":1}"#, b: #"{"a":1}"#, equal: true),
    Pair(a: #"{"a":true}"#, b: #"{"a":"true"}"#, equal: false),
    Pair(a: #"{"a":[1,[2,3]]}"#, b: #"{"a":[1,2,3]}"#, equal: false),
    Pair(a: #"{"a":[null]}"#, b: #"{"a":[]}"#, equal: false),
    Pair(a: #"{"a":["x","y"]}"#, b: #"{"a":["y","x"]}"#, equal: false),
    Pair(a: #"{"a":"x","b":"y"}"#, b: #"{"a":"y","b":"x"}"#, equal: false),
    Pair(a: #"{"source":"a","x":1}"#, b: #"{"source":"b","x":1}"#, equal: true, ignore: "source"),
  ]

  @Test("by record is equality of contents, either way round", arguments: pairs) func byRecord(_ pair: Pair) throws {
    for (a, b) in [(pair.a, pair.b), (pair.b, pair.a)] {
      let batch = RecordBatch()
      for text in [a, b] {
        let start = batch.arena.count
        batch.arena.append(string: text)
        _ = batch.appendRecord(RecordSpan(offset: UInt32(start), length: UInt32(batch.arena.count - start)))
      }
      batch.selectAll()
      var schema = RecordSchema(columns: nil)
      let stage = try DistinctStage.parse(arguments: pair.ignore.isEmpty ? [] : ["--by", "record", "--ignore", pair.ignore])
      let steps = try stage.bind(&schema, .forTests())
      #expect(schema.needsMembers)
      var count = 0
      try drive(steps, [batch], slotCount: 0) { count += $0.selectedCount }
      #expect(count == (pair.equal ? 1 : 2))
    }
  }

  @Test("by record sees what stages before it wrote, renamed and dropped") func edited() throws {
    let rows: [[TestValue]] = [["1", "a", "x"], ["2", "a", "x"], ["3", "b", "x"], ["4", "b"], ["5", "b", nil]]
    let run = StageRun(names: ["id", "k", "v"])
    let distinct = try DistinctStage.parse(arguments: [])
    func kept(_ stages: [any PlannedStage]) throws -> Int { try run.rows(stages + [distinct], rows).count }
    #expect(try kept([]) == 5)
    #expect(try kept([DropStage.parse(arguments: ["id"])]) == 3)
    #expect(try kept([SetStage.parse(arguments: ["id = 'same'"])]) == 3)
    #expect(try kept([SetStage.parse(arguments: ["id = 'same'", "k = 'same'"])]) == 2)
    #expect(try kept([KeepStage.parse(arguments: ["v"])]) == 2)
    #expect(try kept([RenameStage.parse(arguments: ["k=kk"]), DropStage.parse(arguments: ["id"])]) == 3)
  }

  @Test("by keys null is a value, missing equals it, and an empty text is another") func byKeys() throws {
    let rows: [[TestValue]] = [[1, "a"], [2, nil], [3], [4, ""], [5, ""], [6, "a"], [7, .json("[]")], [8, 7], [9, "7"]]
    #expect(try StageRun(names: ["id", "k"]).ids([DistinctStage.parse(arguments: ["--by", "k"])], rows) == [1, 2, 4, 8])
    let two: [[TestValue]] = [[1, "a", nil], [2, "a"], [3, nil, "a"], [4, "", "a"], [5, nil, "a"]]
    #expect(try StageRun(names: ["id", "k", "l"]).ids([DistinctStage.parse(arguments: ["--by", "k,l"])], two) == [1, 3, 4])
  }

  @Test("a table of columns is compared column by column") func columns() throws {
    let rows: [[TestValue]] = [["a", "b"], ["a", "b"], ["b", "a"], ["a", nil], ["a", ""], ["a", nil]]
    let run = StageRun(names: ["x", "y"], columns: ["x", "y"])
    #expect(try run.rows([DistinctStage.parse(arguments: [])], rows) == [["a", "b"], ["b", "a"], ["a", nil], ["a", ""]])
  }

  @Test("equals a slow model for any memory", arguments: 0..<12) func property(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let rows: [[TestValue]] = (0..<400).map { _ in
      (0..<2).map { _ in SortTests.someText(&generator, ["a", "b", "c", "d"], seed % 2 == 0 ? 1 : 5) }
    }
    var seen = Set<[TestValue]>()
    let expected = rows.filter { row in seen.insert(row.map { $0 == .missing ? .null : $0 }).inserted }
    for memory in [1 << 20, 3000, 400] {
      let run = StageRun(names: ["x", "y"], batchSizes: 40, memory: memory, seed: seed)
      for arguments in [["--by", "x,y"], ["--by", "record"]] {
        #expect(try run.rows([DistinctStage.parse(arguments: arguments)], rows) == expected)
      }
      #expect(run.spill.filesInUse == 0)
    }
  }

  @Test("refuses --ignore with keys") func refuses() {
    #expect(throws: OhanaError.self) { try DistinctStage.parse(arguments: ["--by", "a", "--ignore", "b"]) }
  }
}
