import Foundation
import OhanaCore
import OhanaFormats
import OhanaTestSupport
import Testing

/// What a test does to records between reader and writer.
struct NDJSONEdits {
  enum Operation: Sendable {
    case drop(String)
    case rename(String, String)
    case set(String, JSONModel)
    case keep([String])
  }
  var operations: [Operation]

  /// The slots of `set` operations, with their values.
  func bind(_ schema: inout RecordSchema) throws -> [(slot: Int, value: JSONModel)] {
    var sets: [(Int, JSONModel)] = []
    for operation in operations {
      switch operation {
      case .drop(let name): try schema.drop([FieldName(name)])
      case .rename(let old, let new): try schema.rename([(FieldName(old), FieldName(new))])
      case .set(let name, let value): sets.append((try schema.slot(writing: FieldName(name)), value))
      case .keep(let names): try schema.keep(names.map { FieldName($0) })
      }
    }
    return sets
  }
}

private func render(_ text: [UInt8], _ edits: NDJSONEdits, setting chosen: (Int) -> Bool = { _ in true }, batchBytes: Int = 1 << 20) throws
  -> [UInt8]
{
  var schema = RecordSchema(columns: nil)
  let sets = try edits.bind(&schema)
  let parser = NDJSONParser(fields: schema.sourceFields)
  let framer = NDJSONFramer(ChoppedStream(text), batchBytes: batchBytes)
  let renderer = try NDJSONRenderer(layout: schema.layout, source: .ndjson)
  let batch = RecordBatch()
  batch.slotCount = schema.slotCount
  var result: [UInt8] = []
  var ordinal = 0
  while try framer.next(into: batch) {
    _ = try parser.process(batch)
    for record in 0..<batch.recordCount {
      for (slot, value) in sets where chosen(ordinal) {
        var maker = JSONMaker(seed: 0)
        maker.isSloppy = false
        let (bytes, kind): ([UInt8], ValueKind) =
          switch value {
          case .string(let text): (Array(text.utf8), .string)
          case .null, .bool: ([], value.kind)
          default: (Array(maker.spell(value).utf8), value.kind)
          }
        let offset = batch.arena.count
        bytes.withUnsafeBufferPointer { batch.arena.append($0) }
        batch.overlay(slot, of: record, offset: offset, length: bytes.count, kind: kind, inPlace: false)
      }
      ordinal += 1
    }
    _ = try renderer.process(batch)
    #expect(batch.outputCount == batch.selectedCount)
    result += batch.output.bytes
    batch.recycle(limit: 1 << 20)
  }
  return result
}

private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

@Suite("NDJSON renderer") struct NDJSONRendererTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let rule: String
    let input: String
    let operations: @Sendable () -> [Operation]
    let output: String
    var testDescription: String { rule }
    init(_ rule: String, _ input: String, _ output: String, _ operations: @autoclosure @escaping @Sendable () -> [Operation]) {
      (self.rule, self.input, self.output, self.operations) = (rule, input, output, operations)
    }
  }
  typealias Operation = NDJSONEdits.Operation
  static let cases = [
    Case(
      "unchanged records keep their bytes", " { \"a\" : 1.10 ,\t\"b\":\"\\u00e9\\/\"} \r\n", "{ \"a\" : 1.10 ,\t\"b\":\"\\u00e9\\/\"}", []),
    Case("a dropped member takes its comma", #"{"a": 1, "b": 2, "c": 3}"#, #"{"a": 1, "c": 3}"#, [.drop("b")]),
    Case("the first", #"{ "a": 1, "b": 2 }"#, #"{ "b": 2 }"#, [.drop("a")]),
    Case("the last", #"{ "a": 1 , "b": 2 }"#, #"{ "a": 1 }"#, [.drop("b")]),
    Case("the last two", #"{"a":1,"b":2,"c":3}"#, #"{"a":1}"#, [.drop("b"), .drop("c")]),
    Case("all", #"{"a":1,"b":2}"#, #"{}"#, [.drop("b"), .drop("a")]),
    Case("all but what is set", #"{ "a":1 }"#, #"{ "z":0 }"#, [.drop("a"), .set("z", .number("0"))]),
    Case("a nested member", #"{"a":{"x":1,"y":[1, 2]},"b":2}"#, #"{"a":{"x":1},"b":2}"#, [.drop("a.y")]),
    Case("an element", #"{"a":["x", "y","z"],"b":2}"#, #"{"a":["x", "z"],"b":2}"#, [.drop("a[1]")]),
    Case("a renamed member stays in place", #"{"a" :1, "b":2}"#, #"{"x\"y" :1, "b":2}"#, [.rename("a", "x\"y")]),
    Case("names may be swapped", #"{"a":1,"b":2}"#, #"{"b":1,"a":2}"#, [.drop("b"), .rename("a", "b"), .set("a", .number("2"))]),
    Case(
      "a renamed nested value becomes a flat member", #"{"a":{"x":1,"y":"\n"},"b":2}"#, #"{"a":{"x":1},"b":2,"y":"\n"}"#,
      [.rename("a.y", "y")]),
    Case(
      "a value is replaced in place", #"{"a" : 1, "b": {"c":[]}, "c":3}"#, #"{"a" : 1, "b": "q\"\n", "c":3}"#, [.set("b", .string("q\"\n"))]
    ),
    Case(
      "or appended behind the others, in order", #"{"a":1 }"#, #"{"a":1,"z":null,"y":true }"#, [.set("z", .null), .set("y", .bool(true))]),
    Case("to an empty object too", "{ }", #"{"z":"é" }"#, [.set("z", .string("é"))]),
    Case("a dotted name is a flat key", #"{"a":{"b":1}}"#, #"{"a":{"b":1},"a.b":2}"#, [.set("a.b", .number("2"))]),
    Case("a renamed member can be set", #"{"a":1,"b":2}"#, #"{"x":9,"b":2}"#, [.rename("a", "x"), .set("x", .number("9"))]),
    Case(
      "repeated keys that the plan uses are written once", #"{"a": 1, "b" :[1, 2], "a":3, "c":1, "c":2}"#, #"{"a":3,"b":[1, 2],"c":7}"#,
      [.set("c", .number("7")), .drop("zz")]),
    Case("others are left alone", #"{"a": 1, "a":3, "c":1}"#, #"{"a": 1, "a":3, "c":7}"#, [.set("c", .number("7"))]),
    Case(
      "an explicit layout is compact", #"{ "b": [1, 2], "a" : "\u00e9", "c": 1.10, "n":null }"#, #"{"n":null,"a":"\u00e9","b":[1, 2]}"#,
      [.keep(["n", "a", "x", "b"])]),
    Case("nothing to write", #"{"b":1}"#, "{}", [.keep(["a"])]),
  ]
  @Test("writes", arguments: cases) func writes(_ c: Case) throws {
    #expect(text(try render(Array(c.input.utf8), NDJSONEdits(operations: c.operations()))) == c.output + "\n")
  }

  @Test("runs of records pass as they are, whatever was filtered out") func selection() throws {
    let lines = (0..<50).map { "{\"n\":\($0)}" }
    for step in 1...5 {
      let schema = RecordSchema(columns: nil)
      let batch = RecordBatch()
      _ = try NDJSONFramer(ChoppedStream(Array(lines.joined(separator: "\r\n\n").utf8))).next(into: batch)
      _ = try NDJSONParser(fields: []).process(batch)
      _ = batch.filterSelection { $0 % step == 0 || $0 > 40 }
      _ = try NDJSONRenderer(layout: schema.layout, source: .ndjson).process(batch)
      let expected = lines.indices.filter { $0 % step == 0 || $0 > 40 }.map { lines[$0] + "\n" }.joined()
      #expect(text(Array(batch.output.bytes)) == expected)
      #expect(batch.outputCount == batch.selectedCount)
    }
  }

  @Test("a record that holds the new name of a rename is refused, naming both keys") func collision() throws {
    for line in [#"{"a":1,"b":2}"#, #"{"\u0062":2,"a":1}"#] {
      let error = #expect(throws: RecordFault.self) { try render(Array(line.utf8), NDJSONEdits(operations: [.rename("a", "b")])) }
      #expect(error?.error.code == "key-collision")
      #expect(error?.error.description.contains("a,") == true && error?.error.description.contains("b:") == true)
    }
    #expect(
      text(try render(Array(#"{"a":"b","c":{"b":1}}"#.utf8), NDJSONEdits(operations: [.rename("a", "b")])))
        == "{\"b\":\"b\",\"c\":{\"b\":1}}\n")
  }

  @Test("columns: minimal escapes, doubled quotes decoded, objects and lists where asked for") func columns() throws {
    let batch = RecordBatch()
    var layout = RecordLayout(followsSource: false)
    let names = ["id", "address.city", "address.geo.lat", "tags", "name", ".x"]
    layout.entries = names.enumerated().map { .init(name: Array($0.element.utf8), slot: $0.offset) }
    batch.slotCount = names.count
    func add(_ cells: [(String, TextEncoding)?]) {
      let record = batch.appendRecord(RecordSpan(offset: 0, length: 0))
      for (slot, cell) in cells.enumerated() {
        guard let cell else { continue }
        batch.fields[record * names.count + slot] = FieldSpan(
          offset: UInt32(batch.arena.count), length: UInt32(cell.0.utf8.count), kind: .string, encoding: cell.1, flags: .inSource)
        batch.arena.append(string: cell.0)
      }
    }
    add([("007", .plain), ("Köln", .plain), ("1.5", .plain), ("a;b c;", .plain), ("say \"\"hi\"\"\n\t\\", .csv), ("", .plain)])
    add([("1", .plain), nil, nil, ("[1, {\"a\":\"x\"}]", .plain), ("a line\u{1}that is longer than one word \"", .plain), nil])
    add([nil, nil, ("2", .plain), ("", .plain), nil, nil])
    batch.selectAll()
    _ = try NDJSONRenderer(layout: layout, source: .columns).process(batch)
    #expect(
      text(Array(batch.output.bytes)) == #"""
        {"id":"007","address.city":"Köln","address.geo.lat":"1.5","tags":"a;b c;","name":"say \"hi\"\n\t\\",".x":""}
        {"id":"1","tags":"[1, {\"a\":\"x\"}]","name":"a line\u0001that is longer than one word \""}
        {"address.geo.lat":"2","tags":""}

        """#)
    _ = try NDJSONRenderer(layout: layout, source: .columns, options: .init(unflattens: true, lists: [Array("tags".utf8)])).process(batch)
    #expect(
      text(Array(batch.output.bytes)) == #"""
        {"id":"007","address":{"city":"Köln","geo":{"lat":"1.5"}},"tags":["a","b c",""],"name":"say \"hi\"\n\t\\",".x":""}
        {"id":"1","tags":[1,{"a":"x"}],"name":"a line\u0001that is longer than one word \""}
        {"address":{"geo":{"lat":"2"}},"tags":[]}

        """#)
    layout.entries.append(.init(name: Array("address".utf8), slot: 0))
    #expect(throws: OhanaError.self) { try NDJSONRenderer(layout: layout, source: .columns, options: .init(unflattens: true)) }
  }

  // MARK: Against a model

  private static func apply(_ edits: NDJSONEdits, to model: JSONModel, sets: Bool) -> JSONModel {
    guard case .object(var members) = model.resolved else { fatalError() }
    var appended: [JSONMemberModel] = []
    func take(_ name: String) -> JSONModel? {
      if let index = members.firstIndex(where: { $0.key == name }) { return members.remove(at: index).value }
      let steps = name.split(separator: ".").map(String.init)
      guard steps.count == 2, let outer = members.firstIndex(where: { $0.key == steps[0] }), case .object(var inner) = members[outer].value,
        let index = inner.firstIndex(where: { $0.key == steps[1] })
      else { return nil }
      let value = inner.remove(at: index).value
      members[outer].value = .object(inner)
      return value
    }
    for operation in edits.operations {
      switch operation {
      case .drop(let name): _ = take(name)
      case .rename(let old, let new):
        if let index = members.firstIndex(where: { $0.key == old }) {
          members[index].key = new
        } else if let value = take(old) {
          appended.append(JSONMemberModel(new, value))
        }
      case .set(let name, let value):
        guard sets else { continue }
        if let index = members.firstIndex(where: { $0.key == name }) {
          members[index].value = value
        } else {
          appended.append(JSONMemberModel(name, value))
        }
      case .keep(let names):
        var kept: [JSONMemberModel] = []
        for name in names where !kept.contains(where: { $0.key == name }) {
          if let value = take(name) { kept.append(JSONMemberModel(name, value)) }
        }
        members = kept
      }
    }
    return .object(members + appended)
  }

  @Test("read, edit, write equals the model's edit", arguments: 0..<250 as Range<UInt64>) func model(seed: UInt64) throws {
    var maker = JSONMaker(seed: seed)
    maker.repeatsNestedKeys = false
    var models: [JSONModel] = []
    var input: [UInt8] = []
    for _ in 0..<30 {
      let model = maker.record()
      models.append(model)
      input += Array((maker.gap() + maker.spell(model) + maker.gap() + "\n").utf8)
    }
    // The stages' names do not overlap, so that the order of operations does not matter to the model.
    var names = ["id", "email", "name", "tags", "address.city", "a key that is longer than sixteen bytes"].shuffled(using: &maker.generator)
    var operations: [NDJSONEdits.Operation] = []
    if maker.chance(25) { operations.append(.keep(Array(names.prefix(Int.random(in: 1...5, using: &maker.generator))))) }
    let isExplicit = !operations.isEmpty
    for _ in 0..<(isExplicit ? 0 : Int.random(in: 0...4, using: &maker.generator)) {
      guard let name = names.popLast() else { break }
      switch Int.random(in: 0..<3, using: &maker.generator) {
      case 0: operations.append(.drop(name))
      case 1: operations.append(.rename(name, "new \"\(name)"))
      default: operations.append(.set(name == "address.city" ? "fresh" : name, maker.value(depth: 2)))
      }
    }
    // Renamed values that were nested are appended before those that are set.
    operations.sort { a, b in
      func rank(_ operation: NDJSONEdits.Operation) -> Int { if case .set = operation { 1 } else { 0 } }
      return rank(a) < rank(b)
    }
    let edits = NDJSONEdits(operations: operations)
    let isSet: (Int) -> Bool = { $0 % 3 != 1 }
    let output = try render(input, edits, setting: isSet, batchBytes: 1 << Int.random(in: 4...14, using: &maker.generator))
    let lines = output.split(separator: 0x0a, omittingEmptySubsequences: false).dropLast().map(Array.init)
    try #require(lines.count == models.count)
    var plain = JSONMaker(seed: 0)
    plain.isSloppy = false
    for (index, model) in models.enumerated() {
      let expected = Self.apply(edits, to: model, sets: isSet(index))
      let found = try JSONSerialization.jsonObject(with: Data(lines[index])) as! NSObject
      let wanted = try JSONSerialization.jsonObject(with: Data(plain.spell(expected).utf8)) as! NSObject
      #expect(found == wanted, "\(operations): \(text(lines[index]))")
      // Order, which Foundation does not tell.
      var keys: [String] = []
      lines[index].withUnsafeBufferPointer { buffer in
        var members = JSONMembers(in: buffer.baseAddress!, at: 0)
        let scratch = ByteBuffer()
        while let member = members.next() {
          let key = String(decoding: member.key(in: buffer.baseAddress!, scratch: scratch), as: UTF8.self)
          if !keys.contains(key) { keys.append(key) }
        }
      }
      guard case .object(let members) = expected else { fatalError() }
      #expect(keys == members.map(\.key))
      if operations.isEmpty { #expect(String(decoding: input.split(separator: 0x0a)[index], as: UTF8.self).contains(text(lines[index]))) }
    }
  }
}
