import OhanaCore
import OhanaFormats
import OhanaTestSupport
import Testing

/// NDJSON written as CSV through the real reader, the collector and the padder.
struct Flattening {
  var layout = RecordLayout(followsSource: true)
  var sourceFields: [RecordSchema.SourceField] = []
  var slotCount = 0
  var columns: [String]?
  var options = CSVWriterOptions()
  /// Called between collector and renderer, as stages are.
  var stages: (RecordBatch) throws -> Void = { _ in }
  /// Records are packed, reversed and unpacked before they are written, as a breaker does.
  var reverses = false

  func callAsFunction(_ text: String, batchBytes: Int = 1 << 20) throws -> String {
    let framer = NDJSONFramer(PiecesStream(Array(text.utf8)), batchBytes: batchBytes)
    let parser = NDJSONParser(fields: sourceFields, wantsMembers: layout.followsSource)
    let collector = CSVColumnCollector(layout: layout)
    let steps = collector.steps
    let fixed = columns.map { $0.map { Array($0.utf8) } }
    let renderer = CSVRenderer(
      layout: layout, fields: sourceFields, columns: fixed.map { .fixed($0) } ?? .collected(collector.table), options: options)
    var rows: [UInt8] = []
    var stretches: [CSVPadder.Stretch] = []
    func write(_ batch: RecordBatch) throws {
      _ = try renderer.process(batch)
      rows += batch.output.bytes
      stretches.append(.init(records: batch.outputCount, width: batch.outputWidth))
    }
    let payload = RecordPayload()
    payload.slots = Array(0..<slotCount)
    let packer = RecordPacker(payload)
    var packed: [[UInt8]] = []
    while true {
      let batch = RecordBatch()
      batch.slotCount = slotCount
      guard try framer.next(into: batch) else { break }
      _ = try parser.process(batch)
      #expect(batch.rejects.isEmpty)
      for step in steps {
        switch step {
        case .row(let stage): _ = try stage.process(batch)
        case .ordered(let stage): _ = try stage.process(batch)
        }
      }
      try stages(batch)
      if reverses {
        for index in 0..<batch.selectedCount {
          let out = ByteBuffer()
          packer.pack(Int(batch.selection[index]), of: batch, to: out)
          packed.append(Array(out.bytes))
        }
      } else {
        try write(batch)
      }
    }
    for case .ordered(let stage) in steps { #expect(try (stage.finish() as AnyObject?) == nil) }
    if reverses {
      let batch = RecordBatch()
      batch.slotCount = slotCount
      for record in packed.reversed() { _ = record.withUnsafeBytes { packer.unpack($0.baseAddress!, into: batch) } }
      try write(batch)
    }
    if let fixed { return String(decoding: options.fileHead(fixed) + rows, as: UTF8.self) }
    let columns = collector.table.columns.names
    let out = ByteBuffer()
    options.fileHead(columns).withUnsafeBufferPointer { out.append($0) }
    if CSVPadder.isNeeded(stretches, fullWidth: columns.count) {
      var padder = CSVPadder(stretches, fullWidth: columns.count, options: options)
      for start in stride(from: 0, to: rows.count, by: 3) {
        Array(rows[start..<min(start + 3, rows.count)]).withUnsafeBufferPointer { padder.pad($0, to: out) }
      }
    } else {
      rows.withUnsafeBufferPointer { out.append($0) }
    }
    return String(decoding: out.bytes, as: UTF8.self)
  }
}

@Suite("NDJSON written as CSV") struct CSVFlatteningTests {
  static let cases: [(String, String, String)] = [
    ("flat records", "{\"a\":\"x\",\"b\":1.10}\n{\"a\":\"y, z\",\"b\":true}\n", "a,b\nx,1.10\n\"y, z\",true\n"),
    (
      "late keys become last columns",
      "{\"name\":\"Kim\",\"id\":1}\n{\"id\":2,\"name\":null}\n{\"id\":3,\"name\":\"Lee\",\"city\":\"Town\"}\n",
      "name,id,city\nKim,1,\n,2,\nLee,3,Town\n"
    ),
    (
      "null, empty, missing",
      "{\"id\":\"1\",\"nick\":\"\"}\n{\"id\":\"2\",\"nick\":null}\n{\"id\":\"3\"}\n{\"id\":\"4\",\"nick\":\"null\"}\n",
      "id,nick\n1,\"\"\n2,\n3,\n4,null\n"
    ),
    ("keys in another order", "{\"a\":1,\"b\":2}\n{\"b\":3,\"a\":4}\n", "a,b\n1,2\n4,3\n"),
    (
      "objects flatten",
      "{\"n\":\"x\",\"address\":{\"city\":\"A\",\"zip\":{\"a\":1}},\"z\":0}\n{\"address\":{\"zip\":{\"a\":2},\"city\":\"B\"}}\n",
      "n,address.city,address.zip.a,z\nx,A,1,0\n,B,2,\n"
    ),
    (
      "arrays of scalars join", "{\"a\":[\"x\",1,true],\"b\":[]}\n{\"a\":[\"x\"],\"b\":[\"y\",\"z, w\"]}\n",
      "a,b\nx;1;true,\nx,\"y;z, w\"\n"
    ),
    (
      "other arrays are JSON", "{\"a\":[1, null],\"b\":[\"x;y\"],\"c\":[{\"d\": 1}, [2]]}\n",
      "a,b,c\n\"[1,null]\",\"[\"\"x;y\"\"]\",\"[{\"\"d\"\":1},[2]]\"\n"
    ),
    ("escapes are undone", "{\"a\\u0062\":\"x\\n\\\"y\\\"\",\"c\":\"\\u00e9\"}\n", "ab,c\n\"x\n\"\"y\"\"\",é\n"),
    ("one column: null is quoted", "{\"a\":null}\n{\"a\":\"x\"}\n{}\n", "a\n\"\"\nx\n\"\"\n"),
    ("one column at first, then more: null stays null", "{\"a\":null}\n{\"a\":\"\"}\n{\"b\":1}\n", "a,b\n,\n\"\",\n,1\n"),
    ("a repeated key has its last value in its first place", "{\"a\":1,\"b\":2,\"a\":3}\n", "a,b\n3,2\n"),
    ("an object and a text of one name stand side by side", "{\"a\":\"x\"}\n{\"a\":{\"b\":1}}\n", "a,a.b\nx,\n,1\n"),
    ("empty objects say nothing", "{\"a\":{},\"b\":1}\n", "b\n1\n"),
    ("a flat dotted key", "{\"a.b\":1}\n", "a.b\n1\n"),
    (
      "a cell of a late column with quotes before it", "{\"a\":\"x\\ny, \\\"z\\\"\"}\n{\"a\":\"\",\"b\":2}\n",
      "a,b\n\"x\ny, \"\"z\"\"\",\n\"\",2\n"
    ),
  ]

  @Test("flattens", arguments: cases) func flattens(_ rule: String, _ text: String, _ expected: String) throws {
    for batchBytes in [1 << 20, 60, 1] {
      #expect(try Flattening()(text, batchBytes: batchBytes) == expected, "\(rule), batch \(batchBytes)")
    }
  }

  @Test("CRLF rows are padded in front of their line end") func crlf() throws {
    var options = CSVWriterOptions()
    options.endsWithCRLF = true
    let text = "{\"a\":\"x\\r\\ny\"}\n{\"a\":null}\n{\"b\":1}\n"
    for batchBytes in [1 << 20, 1] {
      #expect(try Flattening(options: options)(text, batchBytes: batchBytes) == "a,b\r\n\"x\r\ny\",\r\n,\r\n,1\r\n")
    }
  }

  @Test("without a record an explicit layout is the header") func noRecords() throws {
    #expect(try Self.planned { try $0.keep([FieldName("a"), FieldName("b")]) }("") == "a,b\n")
  }

  @Test("two values for one column are an error that names both") func conflicts() throws {
    for text in ["{\"a.b\":1}\n{\"a\":{\"b\":2}}\n", "{\"a\":{\"b\":2},\"a.b\":1}\n", "{\"a\":{\"b.c\":2}}\n{\"a\":{\"b\":{\"c\":1}}}\n"] {
      for batchBytes in [1 << 20, 1] {
        let error = #expect(throws: OhanaError.self) { try Flattening()(text, batchBytes: batchBytes) }
        #expect(error?.category == .badInput)
        #expect(error?.code == "column-conflict")
      }
    }
    let error = #expect(throws: OhanaError.self) { try Flattening()("{\"a.b\":1}\n{\"a\":{\"b\":2}}\n") }
    #expect(error?.problem.contains("'a.b'") == true && error?.problem.contains("'b' in 'a'") == true)
  }

  @Test("more than 4,096 columns are an error that names --columns") func tooMany() throws {
    let fits = "{" + (0..<4096).map { "\"k\($0)\":1" }.joined(separator: ",") + "}\n"
    #expect(try Flattening()(fits).hasPrefix("k0,k1,"))
    let error = #expect(throws: OhanaError.self) { try Flattening()(fits + "{\"more\":1}\n") }
    #expect(error?.category == .badInput && error?.fix.contains("--columns") == true)
  }

  @Test("columns the user names are written and no others") func fixedColumns() throws {
    let text = "{\"a\":1,\"b\":{\"c\":2,\"d\":[1]},\"e\":3}\n{\"e\":null}\n"
    #expect(try Flattening(columns: ["e", "b.c", "x"])(text) == "e,b.c,x\n3,2,\n,,\n")
    #expect(try Flattening(columns: ["b"])(text) == "b\n\"{\"\"c\"\":2,\"\"d\"\":[1]}\"\n\"\"\n")
  }

  @Test("dropped records have columns too, and moved ones change no order") func allRecordsCount() throws {
    let text = "{\"a\":1}\n{\"b\":2}\n{\"c\":3}\n"
    var flattening = Flattening()
    flattening.stages = { batch in _ = batch.filterSelection { batch.bytes(ofRecord: $0)[2] == UInt8(ascii: "c") } }
    for batchBytes in [1 << 20, 1] { #expect(try flattening(text, batchBytes: batchBytes) == "a,b,c\n,,3\n") }
    flattening = Flattening(reverses: true)
    for batchBytes in [1 << 20, 1] { #expect(try flattening(text, batchBytes: batchBytes) == "a,b,c\n,,3\n,2,\n1,,\n") }
  }

  /// A layout as the planner binds it.
  static func planned(_ bind: (inout RecordSchema) throws -> Void) throws -> Flattening {
    var schema = RecordSchema(columns: nil)
    schema.beginStage("test")
    try bind(&schema)
    return Flattening(layout: schema.layout, sourceFields: schema.sourceFields, slotCount: schema.slotCount)
  }

  @Test("edits: removed, renamed and new members") func edits() throws {
    let text = "{\"a\":1,\"n\":{\"x\":2,\"y\":3},\"b\":\"q\"}\n{\"b\":\"r\",\"c\":4}\n"
    for reverses in [false, true] {
      var drop = try Self.planned { try $0.drop([FieldName("a"), FieldName("n.x")]) }
      drop.reverses = reverses
      for batchBytes in [1 << 20, 1] {
        let rows = ["3,q,", ",r,4"]
        #expect(try drop(text, batchBytes: batchBytes) == "n.y,b,c\n" + (reverses ? rows.reversed() : rows).joined(separator: "\n") + "\n")
      }
      var rename = try Self.planned { try $0.rename([(FieldName("b"), FieldName("B")), (FieldName("n.y"), FieldName("why"))]) }
      rename.reverses = reverses
      for batchBytes in [1 << 20, 1] {
        let rows = ["1,2,q,3,", ",,r,,4"]
        #expect(
          try rename(text, batchBytes: batchBytes) == "a,n.x,B,why,c\n" + (reverses ? rows.reversed() : rows).joined(separator: "\n") + "\n"
        )
      }
      var slot = 0
      var set = try Self.planned { slot = try $0.slot(writing: FieldName("z")) }
      set.reverses = reverses
      set.stages = { batch in
        for index in 0..<batch.selectedCount {
          let offset = batch.arena.count
          batch.arena.append("new; \"value\"")
          batch.overlay(slot, of: Int(batch.selection[index]), offset: offset, length: 12, kind: .string, inPlace: false)
        }
      }
      for batchBytes in [1 << 20, 1] {
        let rows = ["1,2,3,q,\"new; \"\"value\"\"\",", ",,,r,\"new; \"\"value\"\"\",4"]
        #expect(
          try set(text, batchBytes: batchBytes) == "a,n.x,n.y,b,z,c\n" + (reverses ? rows.reversed() : rows).joined(separator: "\n") + "\n")
      }
    }
  }

  @Test("an explicit layout has its order, objects in their place") func explicitLayout() throws {
    let text = "{\"b\":\"x\",\"n\":{\"p\":1,\"q\":2}}\n{\"a\":1,\"b\":\"y\",\"n\":{\"r\":3}}\n{\"n\":null}\n"
    let keep = try Self.planned { try $0.keep([FieldName("a"), FieldName("n"), FieldName("b")]) }
    for batchBytes in [1 << 20, 1] {
      #expect(try keep(text, batchBytes: batchBytes) == "a,n.p,n.q,b,n.r,n\n,1,2,x,,\n1,,,y,3,\n,,,,,\n")
    }
  }

  /// Random records, flat and nested, in JSON.
  static func records(_ random: inout SeededGenerator) -> String {
    let keys = ["a", "b", "c", "d.e", "k\\n", "é"]
    func object(_ depth: Int) -> String {
      let members = keys.shuffled(using: &random).prefix(Int.random(in: 0...4, using: &random)).map { key in
        var value = ["null", "1", "-2.50e3", "true", "\"\"", "\"x\"", "\"a, \\\"b\\\"\"", "[]", "[1,2]", "[\"x;y\"]", "\"\\n\""]
          .randomElement(using: &random)!
        if depth < 2, key != "d.e", Int.random(in: 0..<4, using: &random) == 0 { value = object(depth + 1) }
        return "\"\(key)\":\(Bool.random(using: &random) ? " " : "")\(value)"
      }
      return "{" + members.joined(separator: ",") + "}"
    }
    return (0..<Int.random(in: 1...30, using: &random)).map { _ in object(0) + "\n" }.joined()
  }

  @Test("batches change nothing, and records from a breaker give the same rows", arguments: 0..<300) func properties(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let text = Self.records(&random)
    let whole = try Flattening()(text)
    for batchBytes in [1, 30, 200] { #expect(try Flattening()(text, batchBytes: batchBytes) == whole) }
    // Twice reversed by hand: the text is reversed, then the breaker reverses it back.
    let lines = text.split(separator: "\n").map(String.init)
    let reversed = try Flattening(reverses: true)(lines.reversed().map { $0 + "\n" }.joined())
    let a = try readCSV(Array(whole.utf8)), b = try readCSV(Array(reversed.utf8))
    #expect(Set(a.columns) == Set(b.columns))
    #expect(
      a.rows.map { zip(a.columns, $0).map { "\($0) \($1)" }.sorted() } == b.rows.map { zip(b.columns, $0).map { "\($0) \($1)" }.sorted() })
  }
}
