import OhanaCore
import OhanaTestSupport
import Testing

@testable import OhanaStages

@Suite("require") struct RequireStageTests {
  @Test("missing, null and the empty text fail; blanks fail under --nonempty only") func fields() throws {
    let rows: [[TestValue]] = [
      [1, "a", "b"], [2, "", "b"], [3, nil, "b"], [4, .missing, "b"], [5, "a"], [6, " ", "b"], [7, 0, .bool(false)], [8, .json("[]"), "b"],
    ]
    let run = StageRun(names: ["id", "x", "y"])
    #expect(try run.ids([try RequireStage.parse(arguments: ["x,y"])], rows) == [1, 6, 7, 8])
    #expect(try run.ids([try RequireStage.parse(arguments: ["x", "y", "--nonempty"])], rows) == [1, 7])
  }

  /// The seed's cases: A phone+email, B email, C phone, D none, E a phone with an empty value; F an address of blanks, G an empty list,
  /// H none.
  static let nested: [[TestValue]] = [
    ["A", .json(#"[{"type":"phone","label":"home","value":"1"},{"type":"email","value":"a@b"}]"#)],
    ["B", .json(#"[{"value":"b@c","type":"email"}]"#)],
    ["C", .json(#"[ { "type" : "phone", "value" : "2" } ]"#)], ["D", .missing], ["E", .json(#"[{"type":"phone","value":""}]"#)],
    ["X", .json(#"[null,1,"phone",{"type":7},{"label":"phone"}]"#)], ["Y", .json("[]")], ["Z", "phone"],
    ["V", .json(#"[{"type":"\u0070hone","value":"3"}]"#)],
  ]

  @Test("entries of the list of fields") func nestedFields() throws {
    let run = StageRun(names: ["id", "fields"])
    #expect(try run.ids([try RequireStage.parse(arguments: ["--type", "email"])], Self.nested) == ["A", "B"])
    #expect(try run.ids([try RequireStage.parse(arguments: ["--type", "phone"])], Self.nested) == ["A", "C", "E", "V"])
    #expect(try run.ids([try RequireStage.parse(arguments: ["--type", "phone", "--nonempty"])], Self.nested) == ["A", "C", "V"])
    #expect(try run.ids([try RequireStage.parse(arguments: ["--type", "phone", "--type", "email"])], Self.nested) == ["A"])
    #expect(try run.ids([try RequireStage.parse(arguments: ["--type", "other"])], Self.nested) == [])
  }

  @Test("flat columns, numbered or not") func flatFields() throws {
    let rows: [[TestValue]] = [
      ["A", "1", nil], ["B", nil, "2"], ["C", nil, nil], ["D", .missing, .missing], ["E", "", nil], ["F", nil, " "],
    ]
    let run = StageRun(names: ["id", "phone", "phone_2"])
    #expect(try run.ids([try RequireStage.parse(arguments: ["--type", "phone"])], rows) == ["A", "B", "E", "F"])
    #expect(try run.ids([try RequireStage.parse(arguments: ["--type", "phone", "--nonempty"])], rows) == ["A", "B"])
    var columnar = run
    columnar.columns = run.names
    #expect(try columnar.ids([try RequireStage.parse(arguments: ["--type", "phone"])], rows) == ["A", "B", "E", "F"])
    // Of a type that no column is of, the name is wrong.
    let error = #expect(throws: OhanaError.self) { try columnar.ids([try RequireStage.parse(arguments: ["--type", "url"])], rows) }
    #expect(error?.code == "unknown-field")
  }

  @Test("addresses") func addresses() throws {
    let rows: [[TestValue]] = [
      ["F", .json(#"[{"street":" ","city":""}]"#)], ["G", .json("[]")], ["H", .missing], ["I", nil], ["J", .json(#"[{"city":"Town"}]"#)],
      ["K", .json("[null]")],
    ]
    let run = StageRun(names: ["id", "addresses"])
    #expect(try run.ids([try RequireStage.parse(arguments: ["--type", "address"])], rows) == ["F", "J"])
    #expect(try run.ids([try RequireStage.parse(arguments: ["--type", "address", "--nonempty"])], rows) == ["J"])
  }
}
