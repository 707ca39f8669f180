import Foundation
import OhanaCore
import OhanaFormats
import OhanaTestSupport
import Testing

private let dataFolder = ProcessInfo.processInfo.environment["OHANA_TEST_DATA"]

@Suite("NDJSON reader") struct NDJSONReaderTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let rule: String
    let text: String
    var records: [String] = []
    /// reason, 1-based line, byte column
    var rejects: [(Reject.Reason, Int, Int)] = []
    var blank = 0
    var testDescription: String { rule }
  }
  static let cases = [
    Case(rule: "each line is a record", text: "{\"a\":1}\n{\"a\":2}\n", records: [#"{"a":1}"#, #"{"a":2}"#]),
    Case(rule: "a last line without a line end counts", text: "{\"a\":1}\n{\"a\":2}", records: [#"{"a":1}"#, #"{"a":2}"#]),
    Case(rule: "CR before LF belongs to the line end", text: "{\"a\":1}\r\n{\"a\":2}\r\n", records: [#"{"a":1}"#, #"{"a":2}"#]),
    Case(rule: "white space around a record is not part of it", text: " \t{\"a\":1} \n", records: [#"{"a":1}"#]),
    Case(rule: "white-space lines are counted", text: "\n{\"a\":1}\n \t\r\n\n\n", records: [#"{"a":1}"#], blank: 4),
    Case(rule: "only blank lines", text: "\n\n  ", blank: 3),
    Case(rule: "nothing", text: ""),
    Case(rule: "a byte order mark is no data", text: "\u{feff}{\"a\":1}\n", records: [#"{"a":1}"#]),
    Case(rule: "columns count the byte order mark", text: "\u{feff}{\"a\":x}\n", rejects: [(.invalidJSON, 1, 9)]),
    Case(rule: "a byte order mark alone is nothing", text: "\u{feff}"),
    Case(
      rule: "a raw line feed ends the record whatever the quote state", text: "{\"a\":\"x\ny\"}\n{\"a\":2}\n", records: [#"{"a":2}"#],
      rejects: [(.invalidJSON, 1, 8), (.invalidJSON, 2, 1)]),
    Case(
      rule: "a record may not run on in the next line", text: "{}\n{\"a\":1,\n\"b\":2}\n{\"c\":[\n1]}\n{}\n",
      records: ["{}", "{}"], rejects: [(.invalidJSON, 2, 8), (.invalidJSON, 3, 4), (.invalidJSON, 4, 7), (.invalidJSON, 5, 2)]),
    Case(
      rule: "a record is an object", text: "1\n[1]\n\"x\"\nnull\n{}\n", records: ["{}"],
      rejects: [(.notAnObject, 1, 1), (.notAnObject, 2, 1), (.notAnObject, 3, 1), (.notAnObject, 4, 1)]),
    Case(
      rule: "what JSON forbids is rejected wherever it stands",
      text: #"{"a":NaN}"# + "\n" + #"{"a":-Infinity}"# + "\n" + #"{"a":01}"# + "\n" + #"{"a":1,}"# + "\n" + #"{"a":[1,]}"# + "\n"
        + #"{'a':1}"#
        + "\n" + #"{"a":1}}"# + "\n" + #"{"a":1} {"b":2}"# + "\n" + #"{"a":tru}"# + "\n" + #"{"a":"\x"}"# + "\n" + #"{"a" 1}"# + "\n",
      rejects: [
        (.invalidJSON, 1, 6), (.invalidJSON, 2, 7), (.invalidJSON, 3, 7), (.invalidJSON, 4, 8), (.invalidJSON, 5, 9), (.invalidJSON, 6, 2),
        (.invalidJSON, 7, 8), (.invalidJSON, 8, 9), (.invalidJSON, 9, 9), (.invalidJSON, 10, 8), (.invalidJSON, 11, 6),
      ]),
    Case(
      rule: "half a surrogate pair is rejected, in keys too",
      text: #"{"a":"x\udc00y"}"# + "\n" + #"{"\ud800":1}"# + "\n" + #"{"a":["\ud83d\ude00"]}"#,
      records: [#"{"a":["\ud83d\ude00"]}"#], rejects: [(.loneSurrogate, 1, 8), (.loneSurrogate, 2, 3)]),
    Case(
      rule: "one faulty line costs no other", text: "{\"a\":1}\n{\"bad\",\"line\"}\n{\"a\":\"\u{7}\"}\n{\"a\":2}\n",
      records: [#"{"a":1}"#, #"{"a":2}"#],
      rejects: [(.invalidJSON, 2, 7), (.invalidJSON, 3, 7)]),
    Case(
      rule: "a backslash outside strings is no JSON", text: "{\\\"a\":1}\n{\"a\":1}\\\n{}\n", records: ["{}"],
      rejects: [(.invalidJSON, 1, 2), (.invalidJSON, 2, 8)]),
    Case(
      rule: "the line ends that only Unicode knows end nothing", text: "{\"a\":\"\u{2028}\u{85}\u{2029}\"}\n",
      records: ["{\"a\":\"\u{2028}\u{85}\u{2029}\"}"]),
    Case(rule: "NUL is no white space", text: "{\"a\":1}\u{0}\n{\u{0}}\n", rejects: [(.invalidJSON, 1, 8), (.invalidJSON, 2, 2)]),
  ]

  @Test("reads", arguments: cases) func reads(_ c: Case) throws {
    for batchBytes in [1, 7, 1 << 20] {
      let result = try Reading(names: ["a"], batchBytes: batchBytes).read(Array(c.text.utf8))
      #expect(result.records.map(\.text) == c.records)
      #expect(result.rejects.map { "\($0.reason) \($0.line + 1) \($0.column)" } == c.rejects.map { "\($0.0) \($0.1) \($0.2)" })
      #expect(result.blankLines == c.blank)
      #expect(result.records.allSatisfy { $0.isVerbatim })
    }
  }

  @Test("bad UTF-8 is rejected, at the first byte of the bad sequence") func badUTF8() throws {
    let lines: [[UInt8]] = [
      Array("{\"a\":\"".utf8) + [0xff] + Array("\"}".utf8), Array("{\"a\":\"".utf8) + [0xed, 0xa0, 0x80] + Array("\"}".utf8),
      Array("{\"a\":\"ok\"}".utf8), Array("{\"a\":".utf8) + [0xe9] + Array("}".utf8), Array("{\"é".utf8) + [0xc3],
    ]
    let result = try Reading().read(Array(lines.joined(separator: [0x0a])))
    #expect(result.records.map(\.text) == [#"{"a":"ok"}"#])
    #expect(result.rejects.map(\.reason) == Array(repeating: .invalidUTF8, count: 4))
    #expect(result.rejects.map(\.column) == [7, 7, 6, 5])
    #expect(result.rejects.map(\.raw) == [0, 1, 3, 4].map { lines[$0] })
    #expect(result.rejects.map(\.ordinal) == [0, 0, 1, 1])
  }

  @Test("nesting up to 1,024 levels is read, deeper is rejected without a crash") func depth() throws {
    func line(_ levels: Int, _ open: String, _ close: String) -> String {
      "{\"n\":" + String(repeating: open, count: levels - 1) + "1" + String(repeating: close, count: levels - 1) + "}\n"
    }
    let text =
      line(1_024, "[", "]") + line(1_025, "[", "]") + line(100_000, "[", "]") + "{\"n\":\"Kim\"}\n" + line(100_000, "{\"a\":", "}")
      + line(1_024, "{\"a\":", "}")
    let result = try Reading(names: ["n"]).read(Array(text.utf8))
    #expect(result.records.map(\.fields[0].kind) == [.array, .string, .object])
    #expect(result.rejects.map { "\($0.reason) \($0.line) \($0.column)" } == ["tooDeep 1 1029", "tooDeep 2 1029", "tooDeep 4 5121"])
  }

  @Test("records longer than the limit are rejected with place and length, and not held", arguments: [1, 16, 64, 1 << 20])
  func tooLong(batchBytes: Int) throws {
    let long = "{\"a\":\"" + String(repeating: "x", count: 200) + "\"}"
    let fits = "{\"a\":\"" + String(repeating: "x", count: 92) + "\"}"  // 100 bytes
    let text = "{\"a\":1}\n\(long)\n\(fits)\r\n\(fits) \n{\"a\":2}\n\(long)"
    let result = try Reading(batchBytes: batchBytes, maxRecordBytes: 100).read(Array(text.utf8))
    #expect(result.records.map(\.text) == ["{\"a\":1}", fits, "{\"a\":2}"])
    #expect(result.records.map(\.line) == [0, 2, 4])
    #expect(result.rejects.map(\.reason) == [.tooLong, .tooLong, .tooLong])
    #expect(result.rejects.map(\.line) == [1, 3, 5])
    #expect(result.rejects.map(\.length) == [208, 101, 208])
    #expect(result.rejects.map(\.offset) == [8, 319, 429])
    #expect(result.rejects.allSatisfy { $0.raw == nil })
    #expect(result.rejects.map(\.ordinal) == [1, 2, 3])
  }

  @Test("lines before the stream's fault are delivered, the line it cut is not") func failingStream() throws {
    let failure = OhanaError(.badInput, "broken", "broken")
    var seen = 0
    #expect(throws: failure) {
      _ = try Reading().read(Array("{\"a\":1}\n{\"a\":2}\n{\"a\":3}".utf8), failure: failure) { seen += $0.recordCount }
    }
    #expect(seen == 2)
    for limit in [5, 1 << 20] {
      let recorded = FaultRecordingStream(ChoppedStream(Array("{\"a\":1}\n{\"a\":\"abcdefgh\"}\n{\"a\":3}".utf8), failure: failure))
      let framer = NDJSONFramer(recorded, batchBytes: 4, maxRecordBytes: max(7, limit))
      let parser = NDJSONParser(fields: [], maxRecordBytes: max(7, limit))
      let batch = RecordBatch()
      var lines = 0
      while try framer.next(into: batch) {
        _ = try parser.process(batch)
        lines += batch.recordCount + batch.rejects.count
        batch.recycle(limit: 1 << 20)
      }
      #expect(lines == 2)
    }
  }

  @Test("names are looked up whole first, then as paths; repeated keys: the last value counts") func lookup() throws {
    let names = ["email", "address.city", "fields[1].value", "\"x.y\"", "tags[0]", "none"]
    let lines = [
      #"{"email":"a","address":{"zip":1,"city":"Ulm"},"fields":[{},{"value":7}],"x.y":true,"tags":["t"]}"#,
      #"{"address.city":"flat","address":{"city":"nested"},"x":{"y":1},"fields":[],"tags":"t"}"#,
      #"{"address":{"city":"nested"},"address.city":"flat"}"#,
      #"{"email":"a","address":{"city":"1"},"email":"b","address":{"zip":1}}"#,
      #"{"em\u0061il":"é\n","addr\u0065ss":{"c\u0069ty":"u"}}"#,
    ]
    let result = try Reading(names: names).read(Array(lines.joined(separator: "\n").utf8))
    func texts(_ record: Int) -> [String] {
      result.records[record].fields.map { $0.kind == .missing ? "-" : ($0.isNested ? "/" : "") + $0.text }
    }
    #expect(texts(0) == ["a", "/Ulm", "/7", "true", "/t", "-"])
    #expect(texts(1) == ["-", "flat", "-", "-", "-", "-"])
    #expect(texts(2) == ["-", "flat", "-", "-", "-", "-"])
    #expect(texts(3) == ["b", "-", "-", "-", "-", "-"])
    #expect(texts(4) == ["é\n", "/u", "-", "-", "-", "-"])
    #expect(result.records.map(\.isVerbatim) == [true, true, true, false, true])
  }

  @Test("repeats of keys that the plan does not use leave a record its bytes") func unusedRepeats() throws {
    let result = try Reading(names: ["b"]).read(Array("{\"a\":1,\"a\":2,\"b\":3}\n{\"b\":1,\"b\":2}\n".utf8))
    #expect(result.records.map(\.isVerbatim) == [true, false])
  }

  @Test("says which fields were ever found, in accepted records only, and which keys there were") func foundFields() throws {
    var schema = RecordSchema(columns: nil)
    for name in ["a", "b", "c.d", "e", "f"] { _ = try schema.slot(reading: FieldName(name)) }
    let parser = NDJSONParser(fields: schema.sourceFields)
    let framer = NDJSONFramer(ChoppedStream(Array("{\"e\":1,}\n{\"a\":1,\"c\":{\"d\":1},\"zz\":1}\n{\"b\":1,\"q\":2]\n{\"a\":1}\n".utf8)))
    let batch = RecordBatch()
    batch.slotCount = schema.slotCount
    while try framer.next(into: batch) {
      _ = try parser.process(batch)
      batch.recycle(limit: 1 << 20)
    }
    #expect(parser.foundFields == [true, false, true, false, false])
    #expect(parser.keyNames.map { String(decoding: $0, as: UTF8.self) } == ["a", "c", "zz"])
  }

  // MARK: Properties

  static func document(seed: UInt64, count: Int) -> (text: [UInt8], models: [JSONModel]) {
    var maker = JSONMaker(seed: seed)
    var text: [UInt8] = []
    var models: [JSONModel] = []
    for _ in 0..<count {
      let model = maker.record()
      models.append(model)
      text += Array((maker.gap() + maker.spell(model) + maker.gap() + (maker.chance(10) ? "\r\n" : "\n")).utf8)
      if maker.chance(5) { text.append(0x0a) }
    }
    if maker.chance(30) { text.removeLast() }
    return (text, models)
  }

  @Test("finds what was written, whole and as members", arguments: 0..<60 as Range<UInt64>) func findsValues(seed: UInt64) throws {
    let (text, models) = Self.document(seed: seed, count: 40)
    let names = ["email", "\"address.city\"", "tags", "a key that is longer than sixteen bytes", "\"\"", "\"ké\"\"y\"", "n\\"]
    let keys = ["email", "address.city", "tags", "a key that is longer than sixteen bytes", "", "ké\"y", "n\\"]
    for wantsMembers in [false, true] {
      let result = try Reading(names: names, wantsMembers: wantsMembers).read(text)
      #expect(result.rejects.isEmpty)
      try #require(result.records.count == models.count)
      for (record, model) in zip(result.records, models) {
        func check(_ field: ReadResult.Field?, _ expected: JSONModel?) throws {
          #expect(field?.kind ?? .missing == expected?.kind ?? .missing)
          switch expected {
          case .string(let text), .number(let text): #expect(field?.text == text)
          case .array, .object:
            let parsed = try JSONSerialization.jsonObject(with: Data(field!.text.utf8)) as! NSObject
            var maker = JSONMaker(seed: 0)
            maker.isSloppy = false
            #expect(parsed == (try JSONSerialization.jsonObject(with: Data(maker.spell(expected!.resolved).utf8)) as! NSObject))
          default: break
          }
        }
        for (index, key) in keys.enumerated() { try check(record.fields[index], model[key]) }
        guard case .object(let members) = model else { fatalError() }
        if wantsMembers {
          #expect(Set(record.members.keys) == Set(members.map(\.key)))
          for (key, field) in record.members { try check(field, model[key]) }
        }
      }
    }
  }

  @Test("any batch size and any split of the input give the same records", arguments: 0..<40 as Range<UInt64>) func splits(seed: UInt64)
    throws
  {
    var (text, _) = Self.document(seed: seed, count: 60)
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<(seed % 3 == 0 ? 0 : 8) {
      text[Int.random(in: 0..<text.count, using: &generator)] = [0x22, 0x5c, 0x7d, 0xff, 0x0a].randomElement(using: &generator)!
    }
    let names = ["email", "address.city", "tags[0]"]
    var expected = try Reading(names: names, wantsMembers: true).read(text)
    expected.batches = 0
    for batchBytes in [1, 13, 100, 1_000] {
      let pieces = (0..<5).map { _ in Int.random(in: 1...(batchBytes + 20), using: &generator) }
      var result = try Reading(names: names, batchBytes: batchBytes, pieces: pieces, wantsMembers: true).read(text)
      result.batches = 0
      #expect(result == expected)
    }
  }

  @Test("accepts and rejects mutated lines as the exact validator and Foundation do", arguments: 0..<400 as Range<UInt64>)
  func mutations(seed: UInt64) throws {
    var maker = JSONMaker(seed: seed)
    for _ in 0..<25 {
      var line = Array(maker.spell(maker.record(repeating: 0)).utf8)
      for _ in 0..<Int.random(in: 0...2, using: &maker.generator) {
        let at = Int.random(in: 0..<line.count, using: &maker.generator)
        switch Int.random(in: 0..<3, using: &maker.generator) {
        case 0: line[at] = Array("{}[]:,\"\\ue0-. 1tn\u{0}\u{c}\u{1a}".utf8).randomElement(using: &maker.generator)!
        case 1: line.remove(at: at)
        default: line.insert(Array("{}[]:,\"\\ue0-. 1tn\u{ff}".utf8).randomElement(using: &maker.generator)!, at: at)
        }
        if line.isEmpty { line = [0x7b] }
      }
      line.removeAll { $0 == 0x0a }
      // Between good lines, so that the fault is met in company.
      let text = Array("{\"id\":1}\n".utf8) + line + Array("\n{\"id\":\"\\n\"}\n".utf8)
      let result = try Reading(names: ["id", "email"]).read(text)
      let isAccepted = result.records.count == 3
      let trimmed = line.last == 0x0d ? Array(line.dropLast()) : line
      let fault = trimmed.withUnsafeBufferPointer { JSONValidator().firstFault(in: $0) }
      let isBlank = line.allSatisfy { [0x20, 0x09, 0x0d].contains($0) }
      let isObject = trimmed.first { $0 > 0x20 } == 0x7b
      #expect(isAccepted == (fault == nil && isObject && !isBlank), "\(String(decoding: line, as: UTF8.self))")
      #expect(result.records.first?.text == "{\"id\":1}")
      #expect(result.records.last?.fields[0].text == "\n")
      #expect(result.records.count + result.rejects.count + result.blankLines == 3)
      if let fault, !isBlank { #expect(result.rejects.first?.column == fault.offset + 1) }
      // Foundation lets lone surrogates pass in part and a comma before a closing brace, and refuses numbers beyond a Double; all else
      // has to agree.
      let isHuge = String(decoding: line, as: UTF8.self).contains(/[eE][+-]?\d{3,}/)
      let isTrailingComma = fault.map { fault in
        fault.offset < line.count && [0x5d, 0x7d].contains(line[fault.offset]) && line[..<fault.offset].last { $0 > 0x20 } == 0x2c
      }
      if fault?.reason != .loneSurrogate, !isHuge, isTrailingComma != true {
        let foundation = (try? JSONSerialization.jsonObject(with: Data(line))) is [String: Any]
        #expect(foundation == isAccepted, "\(String(decoding: line, as: UTF8.self)) \(line)")
      }
    }
  }

  // MARK: Suites

  @Test("agrees with JSONTestSuite, each text as a line and the valid ones as a member", .enabled(if: dataFolder != nil))
  func suite() throws {
    struct Verdict: Decodable {
      let verdict: String
      let byte: Int?
    }
    let folder = URL(fileURLWithPath: dataFolder!).appendingPathComponent("json-test-suite")
    let expected = try JSONDecoder().decode([String: Verdict].self, from: Data(contentsOf: folder.appendingPathComponent("expected.json")))
    var members = 0
    var lines = 0
    for (name, verdict) in expected {
      var file = folder.appendingPathComponent("test_parsing").appendingPathComponent(name)
      if !FileManager.default.fileExists(atPath: file.path) {
        file = folder.appendingPathComponent("test_transform").appendingPathComponent(name)
      }
      let text = [UInt8](try Data(contentsOf: file))
      // In valid JSON a raw line feed is white space only.
      let isOneLine = !text.dropLast().contains(0x0a)
      let line = isOneLine && text.last == 0x0a ? Array(text.dropLast()) : text.map { $0 == 0x0a ? 0x20 : $0 }
      let isLone = line.withUnsafeBufferPointer { JSONValidator().firstFault(in: $0)?.reason == .loneSurrogate }
      if verdict.verdict == "ok", !isLone {
        let result = try Reading(names: ["v"]).read(Array("{\"v\":".utf8) + line + Array("}\n{}\n".utf8))
        #expect(result.records.count == 2, "\(name)")
        members += 1
      }
      // A mark at the start of the input is dropped, so none stands at the start of these.
      guard isOneLine, !line.isEmpty, !line.starts(with: [0xef, 0xbb, 0xbf]) else { continue }
      let result = try Reading(names: ["v"]).read(Array("{}\n".utf8) + line + Array("\n{}\n".utf8))
      lines += 1
      if verdict.verdict == "ok" && !isLone {
        #expect(result.records.count + result.rejects.filter { $0.reason == .notAnObject }.count == 3, "\(name)")
      } else if line.contains(where: { $0 > 0x20 }) {
        #expect(result.records.count == 2 && result.rejects.count == 1, "\(name)")
        let isDeep = result.rejects.first?.reason == .tooDeep
        if !isDeep, !isLone { #expect(result.rejects.first.map { $0.column - 1 } == verdict.byte!, "\(name)") }
      }
    }
    #expect(members > 70, "\(members) members")
    #expect(lines > 180, "\(lines) lines")
  }

  @Test("real NDJSON of arrays: every line is one reject, none is lost", .enabled(if: dataFolder != nil)) func arrays() throws {
    let file = URL(fileURLWithPath: dataFolder!).appendingPathComponent("simdjson-ndjson/amazon_cellphones.ndjson")
    let text = [UInt8](try Data(contentsOf: file))
    let result = try Reading().read(text)
    #expect(result.rejects.count == 793 && result.rejects.allSatisfy { $0.reason == .notAnObject && $0.column == 1 })
    let wrapped = text.split(separator: 0x0a).flatMap { Array("{\"v\":".utf8) + $0 + Array("}\n".utf8) }
    let members = try Reading(names: ["v[0]"]).read(wrapped)
    #expect(members.records.count == 793 && members.rejects.isEmpty)
    #expect(members.records.allSatisfy { $0.fields[0].kind == .string && $0.fields[0].isNested })
  }
}
