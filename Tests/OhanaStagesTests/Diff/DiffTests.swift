import OhanaCore
import OhanaTestSupport
import Testing

@testable import OhanaStages

/// A record of a test: its members in order, with the JSON text of each value and what the value is equal to.
struct DiffRecord: Sendable {
  struct Field: Sendable {
    var name: String
    var json: String
    /// Values of the same meaning have the same; nil for null.
    var meaning: String?
  }
  var fields: [Field]

  var line: String { "{" + fields.map { "\"\($0.name)\":\($0.json)" }.joined(separator: ",") + "}" }

  func meaning(_ name: String) -> String? { fields.last { $0.name == name }?.meaning }
  /// Text of the key field; nil where it is blank.
  func key(_ name: String) -> String? {
    guard let meaning = meaning(name), meaning.count > 1 else { return nil }
    return String(meaning.dropFirst())
  }
}

/// A difference as a slow model sees it.
struct Difference: Equatable, Sendable {
  var op: String
  var key: TestValue
  var old: TestValue
  var new: TestValue
  var fields: TestValue
}

enum DiffModel {
  /// - Returns: the differences, or the place of the first record that repeats a key: side and index.
  static func diff(_ old: [DiffRecord], _ new: [DiffRecord], keys: [String]) -> (found: [Difference], repeated: (isOld: Bool, index: Int)?)
  {
    func key(_ record: DiffRecord) -> [String]? {
      let parts = keys.map { record.key($0) }
      return parts.contains(nil) ? nil : parts.map { $0! }
    }
    func shown(_ record: DiffRecord) -> TestValue {
      let parts = keys.map { record.key($0) }
      if parts.count == 1 { return parts[0].map { .text($0) } ?? .null }
      return .json("[" + parts.map { $0.map { "\"\($0)\"" } ?? "null" }.joined(separator: ",") + "]")
    }
    for (isOld, records) in [(true, old), (false, new)] {
      var seen: Set<[String]> = []
      for (index, record) in records.enumerated() {
        if let key = key(record), !seen.insert(key).inserted { return ([], (isOld, index)) }
      }
    }
    var found: [Difference] = []
    for record in new {
      guard let own = key(record), let partner = old.first(where: { key($0) == own }) else {
        found.append(.init(op: "added", key: shown(record), old: .null, new: .json(record.line), fields: .missing))
        continue
      }
      var names: [String] = []
      for field in record.fields + partner.fields where !names.contains(field.name) { names.append(field.name) }
      let differing = names.filter { record.meaning($0) != partner.meaning($0) }
      if differing.isEmpty { continue }
      found.append(
        .init(
          op: "changed", key: shown(record), old: .json(partner.line), new: .json(record.line),
          fields: .json("[" + differing.map { "\"\($0)\"" }.joined(separator: ",") + "]")))
    }
    let newKeys = Set(new.compactMap(key))
    for record in old where key(record).map({ !newKeys.contains($0) }) ?? true {
      found.append(.init(op: "removed", key: shown(record), old: .json(record.line), new: .null, fields: .missing))
    }
    return (found, nil)
  }
}

@Suite("diff") struct DiffTests {
  struct Outcome {
    var found: [Difference]
    var report: DiffReport
    var spill: MemorySpillStore
  }

  /// Runs the stage over lines of JSON, cut into batches at random.
  ///
  /// - Parameters:
  ///   - old: one list a source.
  ///   - columns: names of the columns if the records are rows of CSV.
  static func run(
    old: [[DiffRecord]], new: [[DiffRecord]], by: String, columns: [String]? = nil, batchSizes: Int = 5, memory: Int = 32 << 20,
    seed: UInt64 = 1
  ) throws -> Outcome {
    let stage = try DiffStage.parse(arguments: ["--by", by], oldSources: 0..<old.count)
    var schema = RecordSchema(columns: columns?.map { Array($0.utf8) })
    schema.beginStage("diff")
    let spill = MemorySpillStore()
    var settings = StageSettings()
    settings.fingerprintSeed = seed
    settings.sources = (0..<(old.count + new.count)).map { FilePath("input\($0)") }
    let steps = try stage.bind(&schema, .forTests(spill: spill, memory: memory, settings: settings))
    var generator = SeededGenerator(seed: seed)
    var batches: [RecordBatch] = []
    for (source, records) in (old + new).enumerated() {
      var start = 0
      while start < records.count {
        let end = min(records.count, start + Int.random(in: 1...batchSizes, using: &generator))
        let batch = RecordBatch.lines(records[start..<end].map(\.line), schema, columns: columns != nil)
        batch.source = source
        batch.firstOrdinal = start
        batch.sequence = batches.count
        batches.append(batch)
        start = end
      }
    }
    let layout = schema.layout
    let slot = Dictionary(uniqueKeysWithValues: layout.entries.map { (String(decoding: $0.name, as: UTF8.self), $0.slot) })
    #expect(layout.entries.map { String(decoding: $0.name, as: UTF8.self) } == ["op", "key", "old", "new", "fields"])
    var found: [Difference] = []
    try drive(steps, batches, slotCount: schema.slotCount) { batch in
      for index in 0..<batch.selectedCount {
        func value(_ name: String) -> TestValue { batch.value(slot[name]!, of: Int(batch.selection[index])) }
        guard case .text(let op) = value("op") else { fatalError("op is no text") }
        found.append(.init(op: op, key: value("key"), old: value("old"), new: value("new"), fields: value("fields")))
      }
    }
    return Outcome(found: found, report: stage.report, spill: spill)
  }

  // MARK: Against the model

  /// Spellings and their meanings, with a letter for the kind.
  static let values: [(json: String, meaning: String?)] = [
    ("null", nil), ("\"\"", "s"), ("\"a\"", "sa"), ("\"\\u0061\"", "sa"), ("\"é\"", "sé"), ("\"\\u00e9\"", "sé"), ("7", "n7"),
    ("\"7\"", "s7"),
    ("7.0", "n7.0"), ("true", "true"), ("\"true\"", "strue"), ("false", "false"), ("[1,2]", "[1,2]"), ("[ 1, 2 ]", "[1,2]"),
    ("[2,1]", "[2,1]"),
    ("[]", "[]"), ("[null]", "[null]"), ("[[]]", "[[]]"), ("{}", "{}"), ("{\"a\":null}", "{}"),
    ("{\"a\":1,\"b\":[{\"c\":2,\"d\":3}]}", "{1}"),
    ("{\"b\" : [ {\"d\":3,\"c\":2} ], \"a\":1}", "{1}"), ("{\"a\":1,\"b\":[{\"c\":2,\"d\":4}]}", "{2}"),
    ("{\"a\":9,\"b\":[{\"c\":2,\"d\":4}],\"a\":1}", "{2}"),
    ("{\"a\":{\"b\":1}}", "{3}"), ("{\"b\":{\"a\":1}}", "{4}"), ("[\"\\u00e9\"]", "[é]"), ("[\"é\"]", "[é]"),
    ("{\"\\u0061\":\"x\"}", "{5}"), ("{\"a\":\"x\"}", "{5}"),
  ]

  static func record(_ key: String?, _ generator: inout SeededGenerator, values: [(json: String, meaning: String?)]) -> DiffRecord {
    var fields: [DiffRecord.Field] = []
    if let key {
      fields.append(.init(name: "id", json: "\"\(key)\"", meaning: "s" + key))
    } else if Bool.random(using: &generator) {
      fields.append(Bool.random(using: &generator) ? .init(name: "id", json: "null") : .init(name: "id", json: "\"\"", meaning: "s"))
    }
    for name in ["a", "b", "c", "d e"] where Int.random(in: 0..<5, using: &generator) > 0 {
      let value = values.randomElement(using: &generator)!
      fields.append(.init(name: name, json: value.json, meaning: value.meaning))
    }
    return DiffRecord(fields: fields)
  }

  static func change(_ record: DiffRecord, _ generator: inout SeededGenerator, values: [(json: String, meaning: String?)]) -> DiffRecord {
    var record = record
    switch Int.random(in: 0..<4, using: &generator) {
    case 0: break
    case 1: record.fields.shuffle(using: &generator)
    default:
      for index in record.fields.indices where record.fields[index].name != "id" && Int.random(in: 0..<3, using: &generator) == 0 {
        // Another spelling of the same, or another value.
        let same = values.filter { $0.meaning == record.fields[index].meaning }
        let value = (Bool.random(using: &generator) ? same : values).randomElement(using: &generator)!
        record.fields[index].json = value.json
        record.fields[index].meaning = value.meaning
      }
      if Int.random(in: 0..<4, using: &generator) == 0 { record.fields.removeAll { $0.name == "b" } }
    }
    return record
  }

  /// Two sets of records that share many keys.
  static func sides(
    _ generator: inout SeededGenerator, count: Int, repeats: Bool, values: [(json: String, meaning: String?)]
  ) -> (old: [DiffRecord], new: [DiffRecord]) {
    var old: [DiffRecord] = []
    var new: [DiffRecord] = []
    for key in 0..<count {
      let isBlank = Int.random(in: 0..<12, using: &generator) == 0
      let record = record(isBlank ? nil : "k\(key)", &generator, values: values)
      let place = Int.random(in: 0..<10, using: &generator)
      if place != 0 { old.append(record) }
      if place != 1 { new.append(change(record, &generator, values: values)) }
    }
    if Bool.random(using: &generator) { new.shuffle(using: &generator) }
    if repeats {
      for _ in 0..<Int.random(in: 1...2, using: &generator) {
        if Bool.random(using: &generator), let again = old.randomElement(using: &generator) {
          old.insert(again, at: Int.random(in: 0...old.count, using: &generator))
        } else if let again = new.randomElement(using: &generator) {
          new.insert(again, at: Int.random(in: 0...new.count, using: &generator))
        }
      }
    }
    return (old, new)
  }

  /// Cuts records into a few sources.
  static func cut(_ records: [DiffRecord], _ generator: inout SeededGenerator) -> [[DiffRecord]] {
    let middle = Int.random(in: 0...records.count, using: &generator)
    return Bool.random(using: &generator) ? [records] : [Array(records[..<middle]), Array(records[middle...])]
  }

  @Test("agrees with a slow model, whatever the batches and the memory", arguments: 0..<120) func agreesWithModel(seed: Int) throws {
    var generator = SeededGenerator(seed: UInt64(seed))
    let (old, new) = Self.sides(&generator, count: [0, 1, 6, 60][seed % 4], repeats: false, values: Self.values)
    let expected = DiffModel.diff(old, new, keys: ["id"])
    #expect(expected.repeated == nil)
    for (memory, batchSize) in [(32 << 20, 7), (4_000, 3), (4_000, 50)] {
      let outcome = try Self.run(
        old: Self.cut(old, &generator), new: Self.cut(new, &generator), by: "id", batchSizes: batchSize, memory: memory, seed: UInt64(seed))
      #expect(outcome.found == expected.found)
      #expect(outcome.report.added == expected.found.count { $0.op == "added" })
      #expect(outcome.report.removed == expected.found.count { $0.op == "removed" })
      #expect(outcome.report.changed == expected.found.count { $0.op == "changed" })
      #expect(outcome.report.isEmpty == expected.found.isEmpty)
      #expect(outcome.spill.filesInUse == 0)
      if memory < 10_000, old.count > 40 { #expect(outcome.spill.bytesSpilled > 0) }
    }
  }

  @Test("agrees with a slow model on columns", arguments: 0..<60) func columns(seed: Int) throws {
    var generator = SeededGenerator(seed: UInt64(seed))
    let texts = Self.values.filter { $0.meaning == nil || $0.meaning!.hasPrefix("s") && !$0.json.contains("\\") }
    var (old, new) = Self.sides(&generator, count: [1, 6, 40][seed % 3], repeats: false, values: texts)
    // A row's columns are in the order of the header.
    let columns = ["c", "id", "a", "new", "b", "d e"]
    for index in old.indices { old[index].fields.sort { columns.firstIndex(of: $0.name)! < columns.firstIndex(of: $1.name)! } }
    for index in new.indices { new[index].fields.sort { columns.firstIndex(of: $0.name)! < columns.firstIndex(of: $1.name)! } }
    let expected = DiffModel.diff(old, new, keys: ["id"])
    for memory in [32 << 20, 4_000] {
      let outcome = try Self.run(old: [old], new: [new], by: "id", columns: columns, memory: memory, seed: UInt64(seed))
      // Fields only in OLD follow NEW's: in columns both have the order of the header among themselves.
      #expect(outcome.found == expected.found)
    }
  }

  @Test("names the first record that repeats a key of its side", arguments: 0..<60) func repeatedKeys(seed: Int) throws {
    var generator = SeededGenerator(seed: UInt64(seed))
    let (old, new) = Self.sides(&generator, count: 20, repeats: true, values: Self.values)
    let expected = DiffModel.diff(old, new, keys: ["id"])
    for memory in [32 << 20, 4_000] {
      func result() throws -> Outcome { try Self.run(old: [old], new: [new], by: "id", memory: memory, seed: UInt64(seed)) }
      guard let place = expected.repeated else {
        #expect(try result().found == expected.found)  // the record put in twice had a blank key
        continue
      }
      let error = #expect(throws: OhanaError.self) { try result() }
      #expect(error?.category == .badInput)
      #expect(error?.code == "repeated-key")
      #expect(error?.location?.source == (place.isOld ? "input0" : "input1"))
      #expect(error?.problem.hasPrefix("record \(place.index + 1) has the same key as record ") == true)
      #expect(error.map { !"\($0)".contains("k1") } == true)
    }
  }

  // MARK: Rules

  @Test("several keys are shown as an array, and made by their kinds") func severalKeys() throws {
    let old = [
      DiffRecord(fields: [.init(name: "f", json: "\"Zoë\""), .init(name: "l", json: "7"), .init(name: "x", json: "1")]),
      DiffRecord(fields: [.init(name: "f", json: "\"Bo\""), .init(name: "l", json: "\"\"")]),
    ]
    let new = [
      DiffRecord(fields: [.init(name: "f", json: "\"ZOE\""), .init(name: "l", json: "\"7\""), .init(name: "x", json: "1")]),
      DiffRecord(fields: [.init(name: "f", json: "\"Bo\""), .init(name: "l", json: "\"\"")]),
    ]
    let found = try Self.run(old: [old], new: [new], by: "f:fold,l").found
    #expect(found.map(\.op) == ["changed", "added", "removed"])
    #expect(found[0].key == .json(#"["zoe","7"]"#))
    #expect(found[0].fields == .json(#"["f","l"]"#))
    #expect(found[1].key == .json(#"["bo",null]"#))
  }

  @Test("of a record that repeats a key the last value counts, and it is written once") func repeatedMembers() throws {
    func record(_ fields: (String, String)...) -> DiffRecord { DiffRecord(fields: fields.map { .init(name: $0, json: $1) }) }
    let old = [record(("id", "1"), ("a", "1"), ("a", "2")), record(("id", "2"), ("a", "1"), ("a", "2"))]
    let new = [record(("id", "1"), ("a", "2")), record(("id", "2"), ("a", "1"))]
    let found = try Self.run(old: [old], new: [new], by: "id").found
    #expect(
      found == [
        Difference(op: "changed", key: "2", old: .json(#"{"id":2,"a":2}"#), new: .json(#"{"id":2,"a":1}"#), fields: .json(#"["a"]"#))
      ])
  }

  @Test("a record spread over lines comes out on one") func oneLine() throws {
    let record = DiffRecord(fields: [.init(name: "id", json: "\n 1 "), .init(name: "a", json: "\r\n[ 1,\n 2 ]")])
    let found = try Self.run(old: [[]], new: [[record]], by: "id").found
    #expect(found.map(\.new) == [.json(#"{"id":1,"a":[1,2]}"#)])
  }

  @Test("nesting as deep as a reader lets through does no harm") func deep() throws {
    func record(_ inner: String) -> DiffRecord {
      let json = String(repeating: "[{\"a\":", count: 500) + inner + String(repeating: "}]", count: 500)
      return DiffRecord(fields: [.init(name: "id", json: "1"), .init(name: "v", json: json)])
    }
    #expect(try Self.run(old: [[record("1")]], new: [[record(" 1")]], by: "id").found.isEmpty)
    #expect(try Self.run(old: [[record("1")]], new: [[record("2")]], by: "id").found.map(\.op) == ["changed"])
  }

  @Test("an object of more members than are held back is compared without regard to order") func manyMembers() throws {
    func record(_ order: some Sequence<Int>) -> DiffRecord {
      DiffRecord(fields: [
        .init(name: "id", json: "1"), .init(name: "v", json: "{\"x\":{" + order.map { "\"\($0)\":[]" }.joined(separator: ",") + "}}"),
      ])
    }
    let count = 70_000
    #expect(try Self.run(old: [[record(0..<count)]], new: [[record((0..<count).reversed())]], by: "id").found.isEmpty)
    #expect(try Self.run(old: [[record(0..<count)]], new: [[record((1...count).reversed())]], by: "id").found.count == 1)
  }

  @Test("a record that the share of memory cannot hold is an error, not another result") func tooLong() throws {
    let record = DiffRecord(fields: [
      .init(name: "id", json: "1"), .init(name: "v", json: "\"" + String(repeating: "x", count: 9_000) + "\""),
    ])
    let error = #expect(throws: OhanaError.self) { try Self.run(old: [[record]], new: [[record]], by: "id", memory: 8_000) }
    #expect(error?.category == .memory)
  }

  @Test("--by is needed") func usage() {
    #expect(throws: OhanaError.self) { try DiffStage.parse(arguments: [], oldSources: 0..<1) }
    #expect(throws: OhanaError.self) { try DiffStage.parse(arguments: ["--by", "id", "more"], oldSources: 0..<1) }
  }
}

extension RecordBatch {
  /// Records of JSON text as a reader makes them: the schema's slots, and the mark of repeated keys.
  ///
  /// - Parameter columns: as a reader of CSV makes them: cells without bytes of the record.
  static func lines(_ lines: [String], _ schema: RecordSchema, columns: Bool) -> RecordBatch {
    let batch = RecordBatch()
    batch.slotCount = schema.slotCount
    let scratch = ByteBuffer()
    for line in lines {
      let start = batch.arena.count
      batch.arena.append(string: line)
      let record = batch.appendRecord(RecordSpan(offset: UInt32(start), length: UInt32(batch.arena.count - start)))
      batch.arena.append(0x0a)
      var seen: Set<[UInt8]> = []
      var walk = JSONMembers(in: batch.arena.base, at: start)
      while let member = walk.next() {
        let name = Array(member.key(in: batch.arena.base, scratch: scratch))
        if !seen.insert(name).inserted { batch.records[record].flags = [.changed, .repeatsKey] }
        for field in schema.sourceFields where field.name.whole == name {
          var span = member.value
          span.flags = .inSource
          if columns { span.key = 0 }
          batch.fields[record * batch.slotCount + field.slot] = span
        }
      }
    }
    batch.selectAll()
    return batch
  }
}
