import OhanaCore
import OhanaFormats
import OhanaStages
import OhanaTestSupport
import Testing

@testable import OhanaRun

/// `stats` and `diff` between the real readers and the real writer.
@Suite("stats and diff on files' text") struct ToolStagesTests {
  final class TextStream: ByteStream, @unchecked Sendable {  // because one test uses it
    private let bytes: [UInt8]
    private(set) var inputBytesRead = 0

    init(_ text: String) { bytes = Array(text.utf8) }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
      let count = min(buffer.count, bytes.count - inputBytesRead)
      bytes.withUnsafeBytes { buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[inputBytesRead..<(inputBytesRead + count)])) }
      inputBytesRead += count
      return count
    }
  }

  /// Output lines of `stage` over inputs of NDJSON or, where there are headers, of CSV.
  static func run(_ stage: any PlannedStage, _ inputs: [String], csv: Bool = false, batchBytes: Int, memory: Int = 32 << 20) throws
    -> [String]
  {
    var headers: [CSVHeader] = []
    if csv { headers = try inputs.map { try CSVHeader.scan(TextStream($0), dialect: CSVDialect(), source: "input").header } }
    var columns: [[UInt8]] = []
    for column in headers.flatMap(\.columns) where !columns.contains(column) { columns.append(column) }
    var schema = RecordSchema(columns: csv ? columns : nil)
    schema.beginStage(stage.text)
    var settings = StageSettings()
    settings.sources = inputs.indices.map { FilePath("input\($0)") }
    let steps = try stage.bind(&schema, .forTests(memory: memory, settings: settings))
    let parser: any RowStage =
      csv
      ? CSVParser(fields: schema.sourceFields, slotCount: schema.slotCount, marksVerbatim: false)
      : NDJSONParser(fields: schema.sourceFields, wantsMembers: schema.needsMembers)
    var batches: [RecordBatch] = []
    for (source, input) in inputs.enumerated() {
      let framer: any RecordFramer =
        csv
        ? CSVFramer(stream: TextStream(input), header: headers[source], batchBytes: batchBytes)
        : NDJSONFramer(TextStream(input), batchBytes: batchBytes)
      var ordinal = 0
      while true {
        let batch = RecordBatch()
        batch.slotCount = schema.slotCount
        guard try framer.next(into: batch) else { break }
        _ = try parser.process(batch)
        batch.source = source
        batch.firstOrdinal = ordinal
        batch.sequence = batches.count
        ordinal += batch.recordCount
        batches.append(batch)
      }
    }
    let renderer = try NDJSONRenderer(layout: schema.layout, source: csv ? .columns : .ndjson)
    var text = ""
    var failure: (any Error)?
    try drive(steps, batches, slotCount: schema.slotCount) { batch in
      do { _ = try renderer.process(batch) } catch { failure = error }
      text += String(decoding: batch.output.bytes, as: UTF8.self)
    }
    if let failure { throw failure }
    return text.split(separator: "\n").map(String.init)
  }

  @Test("stats of NDJSON, around a record that is none", arguments: [40, 60, 1 << 20]) func statisticsOfNDJSON(batchBytes: Int) throws {
    let text = """
      {"id":1,"name":"Z\\u006fë","a":{"b": 1}}
      {"bad":[1,}
      {"id":2,"name":null,"id":3}

      {"name":"Zoë", "a":{ "b":1 }, "ok":true}
      {"late":"","id":"1"}
      """
    let lines = try Self.run(StatisticsStage(), [text], batchBytes: batchBytes)
    #expect(
      lines == [
        #"{"field":"id","present":3,"missing":1,"null":0,"empty":0,"distinct":3,"min_length":1,"max_length":1,"top":[{"value":1,"count":1},{"value":3,"count":1},{"value":"1","count":1}]}"#,
        #"{"field":"name","present":3,"missing":1,"null":1,"empty":0,"distinct":1,"min_length":3,"max_length":3,"top":[{"value":"Zoë","count":2}]}"#,
        #"{"field":"a","present":2,"missing":2,"null":0,"empty":0,"distinct":1,"min_length":null,"max_length":null,"top":[{"value":{"b":1},"count":2}]}"#,
        #"{"field":"ok","present":1,"missing":3,"null":0,"empty":0,"distinct":1,"min_length":null,"max_length":null,"top":[{"value":true,"count":1}]}"#,
        #"{"field":"late","present":1,"missing":3,"null":0,"empty":1,"distinct":1,"min_length":0,"max_length":0,"top":[{"value":"","count":1}]}"#,
      ])
  }

  @Test("stats of CSV with different headers", arguments: [20, 1 << 20]) func statisticsOfCSV(batchBytes: Int) throws {
    let lines = try Self.run(
      StatisticsStage(), ["id,na me\n1,\"a \"\"b\"\"\"\n2,\n", "x,id\n\"\",1\n"], csv: true, batchBytes: batchBytes)
    #expect(
      lines == [
        #"{"field":"id","present":3,"missing":0,"null":0,"empty":0,"distinct":2,"min_length":1,"max_length":1,"top":[{"value":"1","count":2},{"value":"2","count":1}]}"#,
        #"{"field":"na me","present":2,"missing":1,"null":1,"empty":0,"distinct":1,"min_length":5,"max_length":5,"top":[{"value":"a \"b\"","count":1}]}"#,
        #"{"field":"x","present":1,"missing":2,"null":0,"empty":1,"distinct":1,"min_length":0,"max_length":0,"top":[{"value":"","count":1}]}"#,
      ])
  }

  @Test("diff of NDJSON", arguments: [50, 1 << 20]) func diffOfNDJSON(batchBytes: Int) throws {
    let old = """
      {"id": 1, "name":"Ann", "tags":["a"], "x":null}
      {"id":2,"name":"Bo"}
      {"name":"nobody"}
      {"id":4,"a":1,"a":2,"n":1.0}
      """
    let new = """
      {"name":"\\u0041nn","tags":[ "a" ],"id":1}
      {"id":9,"q":"\\n"}
      {"id":4,"n":1.00,"b":{"c":[]},"a":2}
      """
    for memory in [32 << 20, 4_000] {
      let stage = try DiffStage.parse(arguments: ["--by", "id"], oldSources: 0..<1)
      #expect(
        try Self.run(stage, [old, new], batchBytes: batchBytes, memory: memory) == [
          #"{"op":"added","key":"9","old":null,"new":{"id":9,"q":"\n"}}"#,
          #"{"op":"changed","key":"4","old":{"id":4,"a":2,"n":1.0},"new":{"id":4,"n":1.00,"b":{"c":[]},"a":2},"fields":["n","b"]}"#,
          #"{"op":"removed","key":"2","old":{"id":2,"name":"Bo"},"new":null}"#,
          #"{"op":"removed","key":null,"old":{"name":"nobody"},"new":null}"#,
        ])
      #expect((stage.report.added, stage.report.removed, stage.report.changed) == (1, 2, 1))
    }
  }

  @Test("diff of CSV aligns columns by name and tells an empty cell from empty text", arguments: [20, 1 << 20])
  func diffOfCSV(batchBytes: Int) throws {
    let old = "id,name,city\n1,Ann,Rome\n2,\"B\"\"o\",\n3,,\n"
    let new = "city,phone,id,name\nRome,,1,Ann\n\"\",,2,\"B\"\"o\"\n,,3,\"\"\n,555,04,\"a\nb\"\n"
    let stage = try DiffStage.parse(arguments: ["--by", "id"], oldSources: 0..<1)
    #expect(
      try Self.run(stage, [old, new], csv: true, batchBytes: batchBytes) == [
        #"{"op":"changed","key":"2","old":{"id":"2","name":"B\"o","city":null},"new":{"id":"2","name":"B\"o","city":"","phone":null},"fields":["city"]}"#,
        #"{"op":"changed","key":"3","old":{"id":"3","name":null,"city":null},"new":{"id":"3","name":"","city":null,"phone":null},"fields":["name"]}"#,
        #"{"op":"added","key":"04","old":null,"new":{"id":"04","name":"a\nb","city":null,"phone":"555"}}"#,
      ])
  }
}
