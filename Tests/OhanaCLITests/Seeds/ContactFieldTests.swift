import Foundation
import OhanaTestSupport
import Testing

/// Fields by type: rows O-11, O-64 to O-67.
@Suite("fields by type") struct ContactFieldTests {
  static let splitInput = """
    {"id":"P","fields":[{"type":"phone","value":"p1"},{"type":"email","value":"e1"},{"type":"phone","value":"p2"},{"type":"email","value":"e2"}],\
    "addresses":[{"city":"Oslo"}],"tags":["t"]}
    {"id":"Q","fields":[{"type":"email","value":"e3"},{"type":"email","value":"e4"}]}
    {"id":"R","fields":[{"type":"phone","value":"p3"},{"type":"phone","value":"p4"}]}

    """

  private func row(_ id: String, _ type: String, _ value: String) -> String {
    let rest = id == "P" ? ",\"addresses\":[{\"city\":\"Oslo\"}],\"tags\":[\"t\"]" : ""
    return "{\"id\":\"\(id)\",\"fields\":[{\"type\":\"\(type)\",\"value\":\"\(value)\"}]\(rest)}\n"
  }

  @Test("O-66 SPLIT: one record for each field of the type, with its address, its tag and no other field") func split() throws {
    try Conformance.expect(
      Self.splitInput, ["split", "--on", "phone"],
      gives: row("P", "phone", "p1") + row("P", "phone", "p2") + row("R", "phone", "p3") + row("R", "phone", "p4"))
    try Conformance.expect(
      Self.splitInput, ["split", "--on", "email"],
      gives: row("P", "email", "e1") + row("P", "email", "e2") + row("Q", "email", "e3") + row("Q", "email", "e4"))
    try Conformance.expect(Self.splitInput, ["split", "--on", "other"], gives: "")
  }

  static let nested = """
    {"id":"A","fields":[{"type":"phone","label":"mobile","value":"+49 30 1234567"},{"type":"email","value":"a;\\"b@x.org"},\
    {"type":"phone","value":"555-5555555","tags":["x"]}],"addresses":[{"label":"home","street":"A \\"1\\"\\nB","city":"C"}],"tags":["t;1","u"]}
    {"id":"B","fields":[{"type":"url","value":"u"}],"addresses":["Main St 1","Oak 2"],"tags":["v"]}
    {"id":"C","fields":[{"type":"phone","value":""}],"addresses":["one"],"tags":[]}
    {"id":"D","fields":[],"addresses":[],"tags":["w"]}

    """

  @Test(
    "O-05: the lists fields and addresses survive CSV, and stages see in their cells what they see in lists",
    arguments: [
      ["require --type phone"], ["require --type phone --nonempty"], ["require --type address"], ["require --type url"], ["count-fields"],
      ["split --on phone"], ["split --on email --keep-others"], ["phone --region US"], ["phone --region US --formats national --replace"],
      ["phone --invalid drop"], ["match 555"], ["match 5 --in fields"], ["select --require-type email --max 1 --emit both"],
      ["split --on phone", "phone --region US", "count-fields", "require --type phone"],
      ["tag new", "sort id:desc", "split --on phone --keep-others", "rename id=x", "require --type email"],
    ]) func survivesCSV(stages: [String]) throws
  {
    let chain = stages.joined(separator: " then ").split(separator: " ").map { String($0) }
    let folder = try Workdir()
    try folder.write("in.ndjson", Self.nested)
    #expect(try folder.run(["convert", "in.ndjson", "-o", "in.csv"]).status == 0)
    let expected = try folder.run(["run", "in.ndjson", "then"] + chain)
    #expect(expected.status == 0 && !expected.text.isEmpty, "\(expected.err)")
    let lists = ["--to", "ndjson", "--lists", "fields,addresses,tags"]
    try Conformance.expect(try folder.text("in.csv"), chain, gives: expected.text, file: "in.csv", options: lists, stageBytes: 4096)
    // Through CSV again.
    #expect(try folder.run(["run", "in.csv", "-o", "out.csv", "then"] + chain).status == 0)
    let back = try folder.run(["convert", "out.csv"] + lists)
    #expect(back.text.replacing("\"true\"", with: "true").replacing(/"(false|[0-9])"/) { "\($0.output.1)" } == expected.text)
    // Without --lists cells are texts, which NDJSON may hold too.
    #expect(try folder.run(["convert", "in.csv", "-o", "texts.ndjson"]).status == 0)
    #expect(try folder.text("texts.ndjson").contains("\"fields\":\"[{"))
    let texts = try folder.run(["run", "texts.ndjson", "then"] + chain)
    #expect(texts.status == 0 && texts.lines.count == expected.lines.count, "\(texts.err)")
  }

  @Test(
    "O-11: white space is blank however it is written, whatever the threads",
    arguments: [
      ["require", "x", "--nonempty"], ["require", "--type", "phone", "--nonempty"], ["require", "--type", "address", "--nonempty"],
    ])
  func blanksWithEscapes(stage: [String]) throws {
    let workdir = try Workdir()
    let name = stage.contains("address") ? "city" : stage.contains("phone") ? "phone" : "x"
    let blanks = [#"\n"#, #"\t \n"#, #"\u0009"#, #" \r\n"#]
    try workdir.write(
      "in.ndjson", (0..<20_000).map { "{\"id\":\($0),\"\(name)\":\"\(blanks[$0 % 4])\"}\n" }.joined() + "{\"id\":-1,\"\(name)\":\"\\ta\"}\n"
    )
    for threads in ["1", "4"] {
      let result = try workdir.run(["run", "in.ndjson", "-q", "--threads", threads, "then"] + stage)
      #expect(result.text == "{\"id\":-1,\"\(name)\":\"\\ta\"}\n")
    }
  }

  @Test("O-05: a cell that begins like a list and is none ends the run, where a stage has to look into it")
  func brokenList() throws {
    let folder = try Workdir()
    let broken = [#"[{""type"":""phone"",""value"":""1""}"#, #"{""type"":""phone""}"#, "[x]"]
    for (name, type) in [("fields", "phone"), ("addresses", "address")] {
      for cell in broken {
        try folder.write("in.csv", "id,\(name)\nA,\nB,\"\(cell)\"\n")
        var stages = [["require", "--type", type]]
        if name == "fields" { stages += [["split", "--on", type], ["count-fields"], ["phone"], ["match", "x"]] }
        for stage in stages {
          let result = try folder.run(["run", "in.csv", "-o", "out.csv", "then"] + stage)
          #expect(result.status == 3 && result.err.contains("\(name): \(stage[0]): "), "\(stage) \(result.err)")
          #expect(!result.err.contains("type\"\""), "no contact's values")
          #expect(!folder.exists("out.csv"))
        }
        // Nobody looks into it.
        let passed = try folder.run(["run", "in.csv", "then", "sort", "id"])
        #expect(passed.status == 0 && passed.text.replacing("\"", with: "") == "id,\(name)\nA,\nB,\(cell)\n".replacing("\"", with: ""))
      }
    }
  }

  @Test("O-66 SPLIT: --keep-others keeps the fields of other types where they stand") func keepOthers() throws {
    try Conformance.expect(
      Self.splitInput, ["split", "--on", "phone", "--keep-others", "then", "limit", "2", "then", "keep", "fields"],
      gives: """
        {"fields":[{"type":"phone","value":"p1"},{"type":"email","value":"e1"},{"type":"email","value":"e2"}]}
        {"fields":[{"type":"email","value":"e1"},{"type":"phone","value":"p2"},{"type":"email","value":"e2"}]}

        """)
  }

  @Test("O-66 SPLIT: a sort before it keeps one contact's numbers together and in order") func sortThenSplit() throws {
    let input = """
      {"full_name":"Zoe","fields":[{"type":"phone","value":"z1"},{"type":"phone","value":"z2"}]}
      {"full_name":"Al","fields":[{"type":"phone","value":"a1"}]}
      {"full_name":"Zoe","fields":[{"type":"phone","value":"z3"}]}

      """
    try Conformance.expect(
      input, ["sort", "full_name", "then", "split", "--on", "phone", "then", "set", "id = fields[0].value"],
      gives: ["a1", "z1", "z2", "z3"], stageBytes: 2048)
  }

  @Test("O-05, O-66 SPLIT: columns give the column without a number, and the columns of other fields go") func columns() throws {
    let input = "id,phone,email,phone_2,city\nA,1,a@b,2,Oslo\nB,,b@c,,Rome\nC,,,\"\",Bonn\n"
    try Conformance.expect(
      input, ["split", "--on", "phone"], gives: "id,phone,city\nA,1,Oslo\nA,2,Oslo\nC,\"\",Bonn\n", file: "in.csv")
    try Conformance.expect(
      input, ["split", "--on", "phone", "--keep-others"], gives: "id,phone,email,city\nA,1,a@b,Oslo\nA,2,a@b,Oslo\nC,\"\",,Bonn\n",
      file: "in.csv")
    try Conformance.expect(
      "{\"phone_2\":\"2\",\"id\":1,\"phone\":\"1\",\"url\":\"u\"}\n", ["split", "--on", "phone"],
      gives: "{\"id\":1,\"phone\":\"1\"}\n{\"id\":1,\"phone\":\"2\"}\n")
  }

  @Test("O-13, O-14 COPY: a tag given to one row is not on the others, nor on the one they were made of") func copy() throws {
    try Conformance.expect(
      Self.splitInput,
      [
        "tee", "all.ndjson", "then", "split", "--on", "phone", "then", "tag", "first", "where", "fields[0].value = 'p1'", "then", "keep",
        "tags",
      ],
      gives: "{\"tags\":[\"t\",\"first\"]}\n{\"tags\":[\"t\"]}\n{}\n{}\n", options: ["--overwrite"])
  }

  @Test("O-66: an early stop behind a split counts the same for any batches") func earlyStop() throws {
    let folder = try Workdir()
    var generator = SeededGenerator(seed: 4)
    var lines = ""
    for id in 0..<20000 {
      let fields = (0..<Int.random(in: 0...3, using: &generator)).map { "{\"type\":\"phone\",\"value\":\"\(id)-\($0)\"}" }
      lines += "{\"id\":\(id),\"pad\":\"\(String(repeating: "x", count: 150))\",\"fields\":[\(fields.joined(separator: ","))]}\n"
    }
    try folder.write("in.ndjson", lines)
    for count in ["1", "777", "12001"] {
      var first: (out: Data, books: String)?
      for setting in Conformance.settings {
        let result = try folder.run(
          ["run", "in.ndjson", "--report", "r.json", "--overwrite"] + setting + [
            "then", "require", "id", "then", "split", "--on", "phone", "then", "filter", "fields[0].value NOT LIKE '%7-%'", "then", "limit",
            count,
          ])
        try #require(result.status == 0, "\(result.err)")
        let report = try #require(try JSONSerialization.jsonObject(with: folder.read("r.json")) as? [String: Any])
        let books = try #require(report["books"] as? [String: Any])
        let stages = try #require(books["stages"] as? [[String: Any]])
        let told =
          "\(books["read"]!) " + stages.map { "\($0["input"]!) \($0["made"]!) \($0["dropped"]!) \($0["output"]!)" }.joined(separator: "|")
        if let first { #expect(first.out == result.out && first.books == told, "\(setting)") } else { first = (result.out, told) }
        #expect(result.lines.count == Int(count))
      }
    }
  }

  @Test("O-66: a record with very many fields takes time for each of them, and is refused where its rows cannot be held") func many() throws
  {
    let folder = try Workdir()
    let entries = (0..<2000).map { "{\"type\":\"phone\",\"value\":\"\($0)\"}" }.joined(separator: ",")
    try folder.write("in.ndjson", "{\"id\":1,\"fields\":[\(entries)]}\n")
    for options in [[], ["--keep-others"]] {
      let result = try folder.run(["split", "--on", "phone", "in.ndjson"] + options)
      #expect(result.status == 0 && result.lines.count == 2000, "\(result.err)")
    }
    let both = (0..<60000).map { "{\"type\":\"\($0 % 2 == 0 ? "phone" : "url")\",\"value\":\"\($0)\"}" }.joined(separator: ",")
    try folder.write("in.ndjson", "{\"id\":1,\"fields\":[\(both)]}\n")
    let refused = try folder.run(["split", "--on", "phone", "--keep-others", "in.ndjson"])
    #expect(refused.status == 5 && refused.text.isEmpty, "\(refused.err)")
  }

  @Test("O-67 STAT: fields, phones, e-mails, and whether a phone has a mobile's label, just so") func statistics() throws {
    let input = """
      {"id":"A","fields":[{"type":"phone","label":"home","value":"1"},{"type":"email","label":"home","value":"a"},{"type":"phone","label":"other","value":"2"}]}
      {"id":"B","fields":[{"type":"phone","label":"mobile","value":"1"}]}
      {"id":"C"}
      {"id":"D","fields":[{"type":"email","label":"mobile","value":"d"}]}
      {"id":"E","fields":[{"type":"phone","label":"Mobile","value":"1"}]}
      {"id":"F","fields":[{"type":"phone","label":"iPhone","value":"1"},{"type":"url","value":"u"}]}

      """
    let counts = ["A 3 2 1 false", "B 1 1 0 true", "C 0 0 0 false", "D 1 0 1 false", "E 1 1 0 false", "F 2 1 0 true"]
    let show = [
      "then", "set", "id = concat_ws(' ', id, \"stats.fields\", \"stats.phones\", \"stats.emails\", \"stats.has_mobile\")",
    ]
    try Conformance.expect(input, ["count-fields"] + show, gives: counts)
    try Conformance.expect(input, ["count-fields", "then", "count-fields"] + show, gives: counts)
    try Conformance.expect(
      input, ["count-fields", "--mobile-labels", "Mobile,home", "then", "filter", "\"stats.has_mobile\""], gives: ["A", "E"])
    try Conformance.expect(
      "id,phone,phone_2,email,url\n1,5,,a@b,u\n2,,,,\n", ["count-fields", "then", "drop", "phone,phone_2,email,url"],
      gives: "id,stats.fields,stats.phones,stats.emails,stats.has_mobile\n1,3,1,1,false\n2,0,0,0,false\n", file: "in.csv")
  }

  @Test("O-64, O-65 REQ: presence counts, not content, unless --nonempty") func require() throws {
    let input = """
      {"id":"A","fields":[{"type":"phone","value":"1"},{"type":"email","value":"a"}]}
      {"id":"B","fields":[{"type":"email","value":"b"}]}
      {"id":"C","fields":[{"type":"phone","value":"3"}]}
      {"id":"D"}
      {"id":"E","fields":[{"type":"phone","value":""}]}
      {"id":"F","addresses":[{"street":" ","city":""}]}
      {"id":"G","addresses":[]}
      {"id":"H","fields":[{"type":"impp","value":"x"}]}

      """
    try Conformance.expect(input, ["require", "--type", "email"], gives: ["A", "B"])
    try Conformance.expect(input, ["require", "--type", "phone"], gives: ["A", "C", "E"])
    try Conformance.expect(input, ["require", "--type", "phone", "--nonempty"], gives: ["A", "C"])
    try Conformance.expect(input, ["require", "--type", "address"], gives: ["F"])
    try Conformance.expect(input, ["require", "--type", "other"], gives: ["H"])
  }

  @Test("O-65 REQ: flat columns of an address are one, dotted or not, in both formats") func flatAddresses() throws {
    let input = """
      {"id":"A","city":"Oslo"}
      {"id":"B","address.city":""}
      {"id":"C","address":{"city":"Rome"}}
      {"id":"D","address_12.postal":"007"}
      {"id":"E","city":null,"address.street":null,"cities":"x","address_1.city":"x","address_12.zip":"x"}
      {"id":"F","street":" ","country":""}

      """
    try Conformance.expect(input, ["require", "--type", "address"], gives: ["A", "B", "C", "D", "F"])
    try Conformance.expect(input, ["require", "--type", "address", "--nonempty"], gives: ["A", "C", "D"])
    try Conformance.expect(input, ["select", "--require-type", "address"], gives: ["A", "B", "C", "D", "F"])
    try Conformance.expect(
      "id,city,address.city,address_2.region\nA,Oslo,,\nB,,\"\",\nC,,,\nD,,,x\n", ["require", "--type", "address", "then", "keep", "id"],
      gives: "id\nA\nB\nD\n", file: "in.csv")
  }

  @Test("O-05 O-64 O-67: numbered columns count whatever their number, in both formats, sorted and spilled") func highNumbers() throws {
    let input = """
      {"id":"A","phone_10":"1"}
      {"id":"B","phone_4095":"2","email_77":"e","phone_10":null}
      {"id":"C","phone_01":"x","phone_":"x","phone_1":"x","xphone_10":"x","phone_10x":"x","n":{"phone_10":"x"}}
      {"id":"D","\\u0070hone_12":"4","phone_12":null,"phone_12":"5"}
      {"id":"E","phone_2":"","phone_9":"y","phone_11":""}

      """
    try Conformance.expect(input, ["require", "--type", "phone"], gives: ["A", "B", "D", "E"])
    try Conformance.expect(input, ["require", "--type", "phone", "--nonempty"], gives: ["A", "B", "D", "E"])
    try Conformance.expect(input, ["sort", "id:desc", "then", "require", "--type", "email"], gives: ["B"])
    try Conformance.expect(
      input, ["count-fields", "then", "set", "id = id || \"stats.fields\" || \"stats.phones\""], gives: ["A11", "B21", "C00", "D11", "E33"])
    try Conformance.expect(input, ["match", "e"], gives: ["B"])
    try Conformance.expect(input, ["rename", "phone_10=work", "then", "require", "--type", "phone"], gives: ["B", "D", "E"])
    try Conformance.expect(input, ["set", "phone_12 = null", "then", "require", "--type", "phone"], gives: ["A", "B", "E"])
    try Conformance.expect(
      "id,phone_10,phone_4095\nA,1,\nB,,2\nC,,\n", ["split", "--on", "phone"], gives: "id,phone\nA,1\nB,2\n", file: "in.csv")
  }

  @Test("O-05 O-66 O-68: stages that write numbered columns ask to be told of high numbers in NDJSON, and then know them")
  func highWritten()
    throws
  {
    let input = "{\"id\":\"A\",\"phone_12\":\"+12125550100\"}\n"
    let folder = try Workdir()
    try folder.write("in.ndjson", input)
    for chain in [["split", "--on", "phone"], ["split", "--on", "email"], ["phone"]] {
      let result = try folder.run(["run", "in.ndjson", "then"] + chain)
      #expect(result.status == 3 && result.err.contains("--optional phone_12"), "\(result.err)")
      #expect(try folder.run(["help", chain[0]]).text.contains("--optional phone_10,phone_11"))
    }
    try Conformance.expect(
      input, ["split", "--on", "phone"], gives: "{\"id\":\"A\",\"phone\":\"+12125550100\"}\n", options: ["--optional", "phone_12"])
    try Conformance.expect(
      input, ["phone"], gives: "{\"id\":\"A\",\"phone_12\":\"+12125550100\",\"phone_12.e164\":\"+12125550100\"}\n",
      options: ["--optional", "phone_12"])
  }

  @Test("O-11: tags are added once, where the condition holds, and can be asked for") func tags() throws {
    let input = """
      {"id":"A","tags":["x"]}
      {"id":"B","tags":[ ]}
      {"id":"C"}
      {"id":"D","tags":null}
      {"id":"E","tags":"x;y"}
      {"id":"F","tags":["\\u0078"]}
      {"id":"G","tags":7}

      """
    try Conformance.expect(
      input, ["tag", "x", "then", "tag", "x", "then", "keep", "tags"],
      gives: """
        {"tags":["x"]}
        {"tags":["x"]}
        {"tags":["x"]}
        {"tags":["x"]}
        {"tags":"x;y"}
        {"tags":["\\u0078"]}
        {"tags":[7,"x"]}

        """)
    try Conformance.expect(
      input, ["tag", "z", "where", "id IN ('A','E')", "then", "require", "--has-tag", "x", "--has-tag", "z"], gives: ["A", "E"])
    try Conformance.expect(
      "id,tags\n1,a;b\n2,\n3,\"[\"\"p;q\"\"]\"\n", ["tag", "new one", "where", "id <> '9'"],
      gives: "id,tags\n1,a;b;new one\n2,new one\n3,\"[\"\"p;q\"\",\"\"new one\"\"]\"\n", file: "in.csv")
    let folder = try Workdir()
    try folder.write("in.ndjson", input)
    for words in [["tag"], ["tag", "a;b"], ["tag", "a", "b"], ["tag", "a", "where", "id ="]] {
      #expect(try folder.run(["run", "in.ndjson", "then"] + words).status == 2, "\(words)")
    }
    #expect(try folder.run(["tag", "z", "where", "id = 'C'", "in.ndjson"]).lines[2] == #"{"id":"C","tags":["z"]}"#)
  }
}

@Suite("paths into values that stages wrote") struct WrittenPathTests {
  @Test("see what was written, and not what was read") func paths() throws {
    let input = "{\"id\":\"A\",\"a\":{\"b\":\"old\",\"c\":[1,{\"d\":null}]}}\n{\"id\":\"B\",\"a\":5}\n{\"id\":\"C\"}\n"
    try Conformance.expect(
      input, ["set", "x = a.b", "a = '7'", "y = a.b", "then", "keep", "x,y"],
      gives: "{\"x\":\"old\",\"y\":null}\n{\"x\":null,\"y\":null}\n{\"x\":null,\"y\":null}\n")
    try Conformance.expect(input, ["keep", "id,a", "then", "filter", "a.b = 'old' AND a.c[0] = 1 AND a.c[1].d IS NULL"], gives: ["A"])
    try Conformance.expect(input, ["keep", "id,a", "then", "sort", "id:desc", "then", "filter", "a.b IS NULL"], gives: ["C", "B"])
    let folder = try Workdir()
    try folder.write("in.ndjson", input)
    let refused = try folder.run(["run", "in.ndjson", "then", "set", "a = id", "then", "normalize", "a.b:lower"])
    #expect(refused.status == 2 && refused.err.contains("a.b"))
  }
}
