import OhanaCore
import OhanaTestSupport
import Testing

@testable import OhanaStages

/// A record as a list of members in their order.
typealias Members = [(key: String, value: TestValue)]

/// Runs stages over records and reads the output as a writer would: by the schema's layout.
func members(of stages: [any PlannedStage], _ rows: [Members], columns: [String]? = nil) throws -> [[String]] {
  var schema = RecordSchema(columns: columns.map { $0.map { Array($0.utf8) } }, optional: .all)
  var steps: [StageStep] = []
  for stage in stages {
    schema.beginStage(stage.text)
    steps += try stage.bind(&schema, .forTests())
  }
  let fields = schema.sourceFields
  let batch = RecordBatch.make(
    rows.map { row in
      // Slots that no reader fills are missing.
      (0..<schema.slotCount).map { slot in
        fields.first { $0.slot == slot }.flatMap { field in row.first { $0.key == field.name.description }?.value } ?? .missing
      }
    }, slotCount: schema.slotCount)
  let layout = schema.layout
  var results: [[String]] = []
  try drive(steps, [batch], slotCount: schema.slotCount) { batch in
    for index in 0..<batch.selectedCount {
      let record = Int(batch.selection[index])
      var shown: [String] = []
      var written: Set<Int> = []
      if layout.followsSource {
        for (key, own) in rows[record] where own != .missing {
          guard let slot = fields.first(where: { $0.name.description == key })?.slot else {
            shown.append("\(key)=\(own)")
            continue
          }
          written.insert(slot)
          if layout.removed.contains(slot) { continue }
          let renamed = (layout.renamed + layout.entries).first { $0.slot == slot }
          shown.append("\(renamed.map { String(decoding: $0.name, as: UTF8.self) } ?? key)=\(batch.value(slot, of: record))")
        }
      }
      for entry in layout.renamed + layout.entries where !written.contains(entry.slot) {
        let value = batch.value(entry.slot, of: record)
        if value != .missing { shown.append("\(String(decoding: entry.name, as: UTF8.self))=\(value)") }
      }
      results.append(shown)
    }
  }
  return results
}

@Suite("set, rename, keep, drop") struct MapStageTests {
  private func shown(_ members: Members) -> [String] { members.filter { $0.value != .missing }.map { "\($0.key)=\($0.value)" } }

  @Test("assignments work from left to right, null is written") func set() throws {
    let stage = try SetStage.parse(arguments: ["b = a || 'x'", "c = b || 'y'", "d = z", "a = 1 + 1"])
    let rows: [Members] = [[("a", "1"), ("c", "old")], [("a", .null)]]
    let expected = [
      ["a=number(\"2\")", "c=text(\"1xy\")", "b=text(\"1x\")", "d=null"], ["a=number(\"2\")", "b=null", "c=null", "d=null"],
    ]
    #expect(try members(of: [stage], rows) == expected)
  }

  @Test("values keep their kinds and spelling") func kinds() throws {
    let stage = try SetStage.parse(arguments: ["x = a", "y = b", "z = c", "w = a = 1.1", "v = coalesce(c, b)"])
    let rows: [Members] = [[("a", .number("1.10")), ("b", .json("[1, {\"k\":null}]")), ("c", .text("q\"\n"))]]
    #expect(
      try members(of: [stage], rows)[0].dropFirst(3) == [
        "x=number(\"1.10\")", "y=json(\"[1, {\\\"k\\\":null}]\")", "z=text(\"q\\\"\\n\")", "w=bool(true)", "v=text(\"q\\\"\\n\")",
      ])
  }

  @Test("fields exchange their names and values") func exchange() throws {
    let rows: [Members] = [[("a", "1"), ("b", "2")]]
    #expect(try members(of: [try RenameStage.parse(arguments: ["a=b,b=a"])], rows) == [["b=text(\"1\")", "a=text(\"2\")"]])
    #expect(
      try members(of: [try SetStage.parse(arguments: ["t = a", "a = b", "b = t"]), try DropStage.parse(arguments: ["t"])], rows)
        == [["a=text(\"2\")", "b=text(\"1\")"]])
  }

  @Test("chains equal a model on ordered members", arguments: 0..<300, [false, true]) func chains(seed: Int, isColumnar: Bool) throws {
    var random = SeededGenerator(seed: UInt64(seed * 2 + (isColumnar ? 1 : 0)))
    let names = ["a", "b", "c", "d", "e"]
    let rows: [Members] = (0..<6).map { _ in
      names.compactMap { name in
        let value: TestValue = [.null, "", "x", 7, .bool(true), "q\"w"].randomElement(using: &random)!
        if isColumnar { return (name, value) }
        return Int.random(in: 0..<4, using: &random) == 0 ? nil : (name, value)
      }
    }
    var model = rows
    var present = names
    var fresh = 0
    var stages: [any PlannedStage] = []
    for _ in 0..<Int.random(in: 1...4, using: &random) where !present.isEmpty {
      let name = present.randomElement(using: &random)!
      switch Int.random(in: 0..<5, using: &random) {
      case 0:
        let target = Bool.random(using: &random) ? name : "n\(fresh)"
        fresh += 1
        let source = present.randomElement(using: &random)!
        stages.append(try SetStage.parse(arguments: ["\(target) = \(source)"]))
        if !present.contains(target) { present.append(target) }
        for index in model.indices {
          let found = model[index].first { $0.key == source }?.value ?? .null
          let value = found == .missing ? .null : found
          if let place = model[index].firstIndex(where: { $0.key == target }) {
            model[index][place].value = value
          } else {
            model[index].append((target, value))
          }
        }
      case 1:
        fresh += 1
        stages.append(try RenameStage.parse(arguments: ["\(name)=r\(fresh)"]))
        present[present.firstIndex(of: name)!] = "r\(fresh)"
        for index in model.indices {
          for place in model[index].indices where model[index][place].key == name { model[index][place].key = "r\(fresh)" }
        }
      case 2:
        let kept = Array(present.shuffled(using: &random).prefix(Int.random(in: 1...present.count, using: &random)))
        stages.append(try KeepStage.parse(arguments: [kept.joined(separator: ",")]))
        present = kept
        for index in model.indices { model[index] = kept.compactMap { key in model[index].first { $0.key == key } } }
      case 3:
        stages.append(try DropStage.parse(arguments: [name]))
        present.removeAll { $0 == name }
        for index in model.indices { model[index].removeAll { $0.key == name } }
      default:
        stages.append(try NormalizeStage.parse(arguments: ["\(name):upper"]))
        for index in model.indices {
          for place in model[index].indices where model[index][place].key == name {
            if case .text(let text) = model[index][place].value { model[index][place].value = .text(text.uppercased()) }
          }
        }
      }
    }
    let result = try members(of: stages, rows, columns: isColumnar ? names : nil)
    #expect(result.map { $0.sorted() } == model.map { shown($0).sorted() }, "\(stages.map(\.text))")
    // A record that follows its source keeps the order too, but for values set over a member it lacks.
    if isColumnar { #expect(result == model.map(shown), "\(stages.map(\.text))") }
  }

  @Test(
    "mistakes are usage errors that name the stage",
    arguments: [
      ("set", [], "no assignment"), ("set", ["x"], "no '='"), ("set", ["x ="], "empty"), ("set", ["= 1"], "no field name"),
      ("set", ["a = (1"], "never closed"),
      ("rename", [], "OLD=NEW"), ("rename", ["a=b", "c=b"], "two fields would be called 'b'"), ("rename", ["a=b", "a=c"], "renamed twice"),
      ("rename", ["a="], "no field name"),
      ("keep", [], "no field is named"), ("keep", ["a,,b"], "empty"), ("drop", ["--all"], "no option --all"),
      ("normalize", ["a:emial"], "did you mean email?"),
      ("normalize", ["a,b", "--into", "c"], "one field"), ("normalize", [], "no field"), ("normalize", ["a:exact"], "no normal form"),
      ("filter", [], "the expression is missing"), ("filter", ["a", "b"], "quotes around it"), ("filter", ["a ="], "column"),
      ("require", [], "neither"), ("require", ["--type", "fax"], "--type cannot be 'fax'"),
      ("require", ["--type", "emial"], "did you mean email?"),
    ] as [(String, [String], String)])
  func mistakes(stage: String, arguments: [String], part: String) throws {
    let entry = try #require(StageCatalog.entry(named: stage))
    let error = #expect(throws: OhanaError.self) { _ = try entry.parse(arguments) }
    #expect(error?.category == .usage)
    #expect(error?.description.contains(part) == true, "\(error?.description ?? "")")
  }

  @Test("unknown fields are usage errors where the columns are known") func unknownFields() throws {
    for stage in [
      try FilterStage.parse(arguments: ["emial = 'x'"]) as any PlannedStage, try SetStage.parse(arguments: ["x = emial"]),
      try KeepStage.parse(arguments: ["emial"]),
      try DropStage.parse(arguments: ["emial"]), try RenameStage.parse(arguments: ["emial=x"]),
      try NormalizeStage.parse(arguments: ["emial"]),
      try RequireStage.parse(arguments: ["emial"]),
    ] {
      var schema = RecordSchema(columns: [Array("email".utf8)])
      schema.beginStage(stage.text)
      let error = #expect(throws: OhanaError.self) { _ = try stage.bind(&schema, .forTests()) }
      #expect(error?.code == "unknown-field" && error?.description.contains("email") == true)
    }
  }

  @Test("each stage's help has what a page needs, and its examples parse") func help() throws {
    for name in ["require", "filter", "set", "rename", "keep", "drop", "normalize"] {
      let help = try #require(StageCatalog.entry(named: name)).help
      #expect(help.examples.count >= 2 && !help.summary.isEmpty && help.text.count > 40 && help.memoryClass == .streaming)
      for example in help.examples { #expect(example.command.hasPrefix("ohana "), "\(example.command)") }
    }
  }
}

@Suite("normalize") struct NormalizeStageTests {
  @Test(
    "forms",
    arguments: [
      ("space", "  Kim \t\u{a0} Alder\n", "Kim Alder"), ("space", "   ", ""), ("email", " Kim@Example.ORG ", "kim@example.org"),
      ("email", "no address", "no address"),
      ("email/provider", "a.b+c@googlemail.com", "ab@gmail.com"), ("name", "Alder, Dr. Kim", "kim alder"), ("fold", "JOSÉ", "jose"),
      ("fold", " ", " "),
      ("nfc", "e\u{301}", "é"), ("nfkc", "ﬁ", "fi"), ("lower", "ÄB", "äb"), ("upper", "straße", "STRASSE"),
    ] as [(String, String, String)])
  func forms(kind: String, text: String, expected: String) throws {
    let run = StageRun(names: ["a"])
    let result = try run.rows(
      [try NormalizeStage.parse(arguments: ["a:\(kind)"])], [[.text(text)], [nil], [7], [.missing], [.json("[\" x \"]")]])
    let texts = result.map { $0[0] }
    #expect(texts == [.text(expected), .null, 7, .missing, .json("[\" x \"]")])
  }

  @Test("into another field: null where there is no form, the first field stays") func into() throws {
    let run = StageRun(names: ["a", "k"])
    let stage = try NormalizeStage.parse(arguments: ["a:email", "--into", "k"])
    let result = try run.rows([stage], [["A@B.c", .missing], ["none", "old"], [nil, .missing], [7, .missing]])
    #expect(result == [["A@B.c", "a@b.c"], ["none", .null], [nil, .null], [7, .null]])
  }

  @Test("what is normal already keeps its record unchanged") func unchanged() throws {
    var schema = RecordSchema(columns: nil)
    let steps = try NormalizeStage.parse(arguments: ["a:email,b"]).bind(&schema, .forTests())
    let batch = RecordBatch.make([["a@b.c", "x y"], ["A@b.c", "x"], ["a@b.c", nil]], slotCount: 2)
    try drive(steps, [batch], slotCount: 2) { _ in }
    #expect((0..<3).map { batch.records[$0].flags.contains(.changed) } == [false, true, false])
  }

  @Test("text, key and function agree", arguments: [("email", "email"), ("fold", "fold"), ("name", "name_key")]) func agreement(
    kind: String, function: String
  ) throws {
    let texts = ["Kim@X.org", " É a ", "Alder, Kim", "O'Brien", "", "  ", "İ@x", "日本"]
    let rows = texts.map { [TestValue.text($0), TestValue.missing, TestValue.missing] }
    let stages: [any PlannedStage] = [
      try NormalizeStage.parse(arguments: ["a:\(kind)", "--into", "b"]), try SetStage.parse(arguments: ["c = \(function)(a)"]),
    ]
    for row in try StageRun(names: ["a", "b", "c"]).rows(stages, rows) { #expect(row[1] == row[2], "\(row[0])") }
  }
}
