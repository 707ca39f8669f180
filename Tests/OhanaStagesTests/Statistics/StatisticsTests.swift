import OhanaCore
import OhanaTestSupport
import Testing

@testable import OhanaStages

@Suite("stats") struct StatisticsTests {
  /// Runs the stage over rows cut into batches at random.
  ///
  /// - Parameters:
  ///   - asColumns: the fields come in slots, as from CSV, and the batches have no members.
  ///   - skipping: leaves out records, by index, as a filter before it would.
  static func statistics(
    _ rows: [[TestValue]], names: [String], asColumns: Bool = false, batchSizes: Int = 7, seed: UInt64 = 1, memory: Int = 32 << 20,
    skipping: (Int) -> Bool = { _ in false }
  ) throws -> (fields: [FieldStatistics], records: Int, output: [[String: TestValue]]) {
    var schema = RecordSchema(columns: asColumns ? names.map { Array($0.utf8) } : nil)
    schema.beginStage("stats")
    let stage = StatisticsStage()
    let steps = try stage.bind(&schema, .forTests(memory: memory))
    #expect(schema.needsMembers == !asColumns)
    var generator = SeededGenerator(seed: seed)
    var batches: [RecordBatch] = []
    var start = 0
    while start < rows.count {
      let end = min(rows.count, start + Int.random(in: 1...batchSizes, using: &generator))
      let batch = RecordBatch.make(
        rows[start..<end], slotCount: schema.slotCount, names: names, firstOrdinal: start, sequence: batches.count)
      if !asColumns { batch.fillMembers() }
      let first = start
      _ = batch.filterSelection { !skipping(first + $0) }
      batches.append(batch)
      start = end
    }
    var output: [[String: TestValue]] = []
    let layout = schema.layout
    try drive(steps, batches, slotCount: schema.slotCount) { batch in
      for index in 0..<batch.selectedCount {
        var row: [String: TestValue] = [:]
        for entry in layout.entries {
          row[String(decoding: entry.name, as: UTF8.self)] = batch.value(entry.slot, of: Int(batch.selection[index]))
        }
        output.append(row)
      }
    }
    return (stage.report.fields, stage.report.records, output)
  }

  // MARK: A slow model

  /// What the statistics of a field are, by definition; `top` without a limit.
  static func model(_ rows: [[TestValue]], names: [String], columnsAlways: Bool) -> [FieldStatistics] {
    var order: [Int] = columnsAlways ? Array(names.indices) : []
    for row in rows { for (index, value) in row.enumerated() where value != .missing && !order.contains(index) { order.append(index) } }
    return order.map { index in
      var field = FieldStatistics(name: names[index])
      var counts: [TestValue: Int] = [:]
      var seen: [TestValue] = []
      for row in rows {
        let value = index < row.count ? row[index] : .missing
        if value == .missing {
          field.missing += 1
          continue
        }
        field.present += 1
        if value == .null {
          field.null += 1
          continue
        }
        if counts[value] == nil { seen.append(value) }
        counts[value, default: 0] += 1
        switch value {
        case .text(let text), .number(let text):
          if text.isEmpty { field.empty += 1 }
          field.minLength = min(field.minLength ?? .max, text.unicodeScalars.count)
          field.maxLength = max(field.maxLength ?? 0, text.unicodeScalars.count)
        default: break
        }
      }
      field.distinct = seen.count
      let places = Dictionary(uniqueKeysWithValues: seen.enumerated().map { ($1, $0) })
      field.top = seen.sorted { counts[$0]! != counts[$1]! ? counts[$0]! > counts[$1]! : places[$0]! < places[$1]! }
        .map { .init(json: json($0), count: counts[$0]!) }
      return field
    }
  }

  static func json(_ value: TestValue) -> String {
    switch value {
    case .missing, .null: return "null"
    case .number(let text), .json(let text): return text
    case .bool(let flag): return flag ? "true" : "false"
    case .text(let text):
      let out = ByteBuffer()
      var text = text
      text.withUTF8 { JSONEscaping.appendQuoted($0, to: out) }
      return String(decoding: out.bytes, as: UTF8.self)
    }
  }

  static func randomValue(_ generator: inout SeededGenerator, _ pool: Int) -> TestValue {
    switch Int.random(in: 0..<12, using: &generator) {
    case 0: .missing
    case 1: .null
    case 2: .text("")
    case 3: .number(String(Int.random(in: 0..<pool, using: &generator)))
    case 4: .bool(Bool.random(using: &generator))
    case 5: .json(["[]", "{}", "[1,2]", #"{"a":"ü"}"#].randomElement(using: &generator)!)
    case 6: .text(["\"", "a\\b", "line\nend", "ü", "日本語テキスト", "👩‍👩‍👧", "\u{1}"].randomElement(using: &generator)!)
    default: .text(String(Int.random(in: 0..<pool, using: &generator)))
    }
  }

  @Test("agrees with a slow model, whatever the batches", arguments: 0..<40) func agreesWithModel(seed: Int) throws {
    var generator = SeededGenerator(seed: UInt64(seed))
    let names = ["id", "naïve name", "c", "d e", "e.f"]
    let count = Int.random(in: 0...80, using: &generator)
    let pool = [2, 10, 400].randomElement(using: &generator)!
    let rows = (0..<count).map { _ in names.indices.map { _ in Self.randomValue(&generator, pool) } }
    for asColumns in [false, true] {
      var expected = Self.model(rows, names: names, columnsAlways: asColumns)
      for index in expected.indices { expected[index].top = Array(expected[index].top.prefix(5)) }
      for batchSize in [1, 9, 100] {
        let found = try Self.statistics(rows, names: names, asColumns: asColumns, batchSizes: batchSize, seed: UInt64(seed))
        #expect(found.fields == expected)
        #expect(found.records == count)
      }
    }
  }

  @Test("looks at the records only that a filter left") func filtered() throws {
    let rows: [[TestValue]] = [["x"], [.missing, 1], ["y", 2], [.missing, 3], ["y"]]
    let found = try Self.statistics(rows, names: ["a", "b"], skipping: { $0 == 0 || $0 == 3 })
    let expected = Self.model([rows[1], rows[2], rows[4]], names: ["a", "b"], columnsAlways: false)
    #expect(found.fields == expected)
    #expect(found.fields.map(\.name) == ["b", "a"])
    #expect(found.records == 3)
  }

  @Test("numbers, strings and booleans of one text are different values") func kinds() throws {
    let found = try Self.statistics([[7], ["7"], [7], ["true"], [.bool(true)], [.number("7.0")]], names: ["v"])
    #expect(found.fields[0].distinct == 5)
    #expect(found.fields[0].top.map(\.json) == ["7", "\"7\"", "\"true\"", "true", "7.0"])
    #expect(found.fields[0].top.map(\.count) == [2, 1, 1, 1, 1])
  }

  @Test("spellings of one JSON text are one value") func spellings() throws {
    let rows: [[TestValue]] = [
      [.json(#"{"a": [ 1 ]}"#)], [.json(#"{"a":[1]}"#)], [.json("[ ]")], [.json("[]")], [.json(#"["\u00e9"]"#)], [.json(#"["é"]"#)],
    ]
    let found = try Self.statistics(rows, names: ["v"])
    #expect(
      found.fields[0].top == [
        .init(json: #"{"a":[1]}"#, count: 2), .init(json: "[]", count: 2), .init(json: #"["é"]"#, count: 2),
      ])
  }

  @Test("writes one record per field") func output() throws {
    let found = try Self.statistics([["Ann", 1], ["", nil], ["Ann"]], names: ["na-me", "n"])
    #expect(found.output.count == 2)
    #expect(
      found.output[0] == [
        "field": "na-me", "present": 3, "missing": 0, "null": 0, "empty": 1, "distinct": 2, "distinct_is_estimate": .missing,
        "min_length": 0,
        "max_length": 3, "top": .json(#"[{"value":"Ann","count":2},{"value":"","count":1}]"#), "top_is_estimate": .missing,
      ])
    #expect(found.output[1]["missing"] == 1)
    #expect(found.output[1]["top"] == .json(#"[{"value":1,"count":1}]"#))
    let none = try Self.statistics([[nil]], names: ["n"])
    #expect(none.output[0]["min_length"] == .null)
    #expect(none.output[0]["top"] == .json("[]"))
    #expect(try Self.statistics([], names: ["a", "b"], asColumns: true).output.map { $0["field"] } == ["a", "b"])
  }

  @Test("shows the beginning of a long value, never half a character") func longValues() throws {
    let long = String(repeating: "x", count: 255) + "üüü"
    let array = "[" + Array(repeating: "1", count: 200).joined(separator: ",") + "]"
    let found = try Self.statistics([[.text(long)], [.text(long + "y")], [.json(array)]], names: ["v"])
    let top = found.fields[0].top
    #expect(top.count == 3)  // told apart by all of their text
    #expect(top[0] == .init(json: "\"" + String(repeating: "x", count: 255) + "\"", count: 1, isCut: true))
    #expect(top[2] == .init(json: "\"" + array.prefix(256) + "\"", count: 1, isCut: true))
    #expect(found.output[0]["top"].map { "\($0)".contains("value_is_cut") } == true)
  }

  // MARK: More values than counters

  @Test("counts distinct values within five standard errors", arguments: [4_096, 4_097, 10_000, 60_000]) func distinct(count: Int) throws {
    var generator = SeededGenerator(seed: UInt64(count))
    var rows = (0..<count).map { [TestValue.number(String($0 &* 7_919))] }
    rows += (0..<min(count, 5_000)).map { _ in rows[Int.random(in: 0..<count, using: &generator)] }
    rows.shuffle(using: &generator)
    let field = try Self.statistics(rows, names: ["v"], batchSizes: 4_000).fields[0]
    #expect(field.isDistinctEstimate == (count > StatisticsStage.exactLimit))
    let error = abs(Double(field.distinct - count)) / Double(count)
    #expect(field.isDistinctEstimate ? error < 5 * StatisticsStage.distinctStandardError : error == 0)
  }

  @Test("frequent values among many rare ones: never too high a count, proven exact where not marked", arguments: 0..<8)
  func frequent(seed: Int) throws {
    var generator = SeededGenerator(seed: UInt64(seed))
    let skew = [0.3, 0.6, 1, 2][seed % 4]
    let rows = (0..<20_000).map { _ -> [TestValue] in
      // A few values take a share each, the rest is spread widely.
      let draw = Double.random(in: 0..<1, using: &generator)
      if draw < 0.1 * skew { return [.text("hot\(Int(draw * 100 / skew) )")] }
      return [.text("v\(Int.random(in: 0..<15_000, using: &generator))")]
    }
    var counts: [TestValue: Int] = [:]
    for row in rows { counts[row[0], default: 0] += 1 }
    let byJSON = Dictionary(uniqueKeysWithValues: counts.map { (Self.json($0.key), $0.value) })
    let first = try Self.statistics(rows, names: ["v"], batchSizes: 2_000).fields[0]
    for value in first.top { #expect(value.count <= byJSON[value.json]!) }
    #expect(first.top.count == 5)
    let best = byJSON.values.sorted(by: >).prefix(5)
    if first.isTopEstimate {
      #expect(skew < 1)
    } else {
      #expect(first.top.map(\.count) == Array(best))
    }
    // Values that take more than the bound of Space-Saving are found for certain.
    let heavy = Set(byJSON.filter { $0.value > rows.count / (StatisticsStage.exactLimit / 2) * 3 }.map(\.key))
    #expect(heavy.isEmpty || heavy.count > 5 || heavy.isSubset(of: first.top.map(\.json)))
    for (batchSize, columns) in [(1, false), (12_000, true), (113, false)] {
      let again = try Self.statistics(rows, names: ["v"], asColumns: columns, batchSizes: batchSize, seed: UInt64(seed)).fields[0]
      #expect(again == first)
    }
  }

  // MARK: Limits

  @Test("more fields than the limit are refused, as many are not") func fieldLimit() throws {
    // One wide record is the cheap way to many fields.
    let names = (0...StatisticsStage.maxFields).map { "f\($0)" }
    let wide = names.map { _ in TestValue.number("1") }
    #expect(try Self.statistics([Array(wide.dropLast())], names: names).fields.count == StatisticsStage.maxFields)
    let error = #expect(throws: OhanaError.self) { try Self.statistics([wide], names: names) }
    #expect(error?.category == .badInput)
    #expect(error?.code == "too-many-fields")
  }

  @Test("a share of memory that is too small is an error, not another result") func memoryLimit() throws {
    let rows = (0..<3_000).map { [TestValue.text("value \($0)")] }
    let whole = try Self.statistics(rows, names: ["v"], batchSizes: 500).fields
    #expect(try Self.statistics(rows, names: ["v"], batchSizes: 500, memory: 1 << 20).fields == whole)
    let error = #expect(throws: OhanaError.self) { try Self.statistics(rows, names: ["v"], memory: 20_000) }
    #expect(error?.category == .memory)
  }

  @Test("is refused behind a stage that changes single fields") func behindChanges() throws {
    var schema = RecordSchema(columns: nil)
    try schema.drop([FieldName("a")])
    #expect(throws: OhanaError.self) { try StatisticsStage().bind(&schema, .forTests()) }
  }
}
