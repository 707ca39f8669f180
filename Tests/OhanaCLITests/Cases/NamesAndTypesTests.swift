import OhanaTestSupport
import Testing

/// What is named, or asked for by type, and is not there; and numbers that are none (DESIGN 4, 6).
@Suite("Names, types and numbers that are not there") struct NamesAndTypesTests {
  static let numbers = ["p.csv": "id,phone\n1,02125550199\n2,555 010\n3,212-555-0199-5550\n4,212 555 0199\n5,junk\n"]
  static let listed = [
    "p.ndjson": """
    {"phone":"555 010","phone.e164":"old","fields":[{"type":"phone","value":"555 010","phone.e164":"old"},{"type":"phone","value":"212 555 0199"}]}

    """
  ]

  @Test(
    "a number that is not possible keeps its text and gets no format, in every way of asking alike",
    arguments: [
      ToolCase(
        "dedupe-008: phone --replace", numbers, ["phone", "--region", "US", "--replace", "p.csv", "--quiet"],
        out: "id,phone\n1,02125550199\n2,555 010\n3,212-555-0199-5550\n4,+12125550199\n5,junk\n"),
      ToolCase(
        "dedupe-008: normalize", numbers, ["normalize", "phone:phone/US", "p.csv", "--quiet"],
        out: "id,phone\n1,02125550199\n2,555 010\n3,212-555-0199-5550\n4,+12125550199\n5,junk\n"),
      ToolCase(
        "dedupe-008: phone and phone_e164", numbers,
        [
          "run", "p.csv", "--quiet", "then", "phone", "--region", "US", "then", "set", "same = phone_e164(phone, 'US')", "then", "drop",
          "phone",
        ],
        out: "id,phone.e164,same\n1,,\n2,,\n3,,\n4,+12125550199,+12125550199\n5,,\n"),
      ToolCase(
        "what was beside a number that is not possible is none of its formats", listed, ["phone", "--region", "US", "p.ndjson", "--quiet"],
        out: """
          {"phone":"555 010","fields":[{"type":"phone","value":"555 010"},{"type":"phone","value":"212 555 0199","phone.e164":"+12125550199"}]}

          """),
    ])
  func impossible(_ testCase: ToolCase) throws { try testCase.check() }

  static let untyped = ["q.csv": "id,Telefon\n1,+12125550199\n", "q.ndjson": "{\"id\":1,\"Telefon\":\"+12125550199\"}\n"]

  @Test(
    "a type that no column is of is told, in both formats",
    arguments: [
      ["phone"], ["split", "--on", "phone"], ["count-fields"], ["require", "--type", "phone"], ["match", "1"],
      ["require", "--type", "address"],
    ], ["q.csv", "q.ndjson"])
  func noSuchType(_ words: [String], _ file: String) throws {
    let parts = words[0] == "match" && file == "q.csv" ? ["--in"] : ["no input has a column", "Telefon", "put 'rename NAME="]
    try ToolCase("\(words) \(file)", Self.untyped, words + [file, "-o", "o"], status: 2, says: parts, leavesNot: ["o"]).check()
    try ToolCase(
      "\(words) \(file)", Self.untyped, words + [file, "-o", "o", "--optional", "all"],
      status: words[0] == "match" && file == "q.csv" ? 2 : 0
    )
    .check()
  }

  static let there: [ToolCase] = [
    ToolCase(
      "a column that a rename made", untyped,
      ["run", "q.ndjson", "--quiet", "then", "rename", "Telefon=phone", "then", "split", "--on", "phone"],
      out: "{\"id\":1,\"phone\":\"+12125550199\"}\n"),
    ToolCase(
      "a column that a stage wrote", untyped,
      ["run", "q.ndjson", "--quiet", "then", "set", "phone = Telefon", "then", "require", "--type", "phone", "then", "keep", "phone"],
      out: "{\"phone\":\"+12125550199\"}\n"),
    ToolCase(
      "a column of a high number", ["a.ndjson": "{\"phone_12\":\"1\"}\n"], ["require", "--type", "phone", "a.ndjson", "--quiet"],
      out: "{\"phone_12\":\"1\"}\n"),
    ToolCase(
      "a list of fields, whatever it holds", ["a.ndjson": "{\"fields\":[]}\n"], ["split", "--on", "phone", "a.ndjson", "--quiet"], out: ""),
    ToolCase("no record at all", ["a.ndjson": ""], ["split", "--on", "phone", "a.ndjson", "--quiet"], out: ""),
    ToolCase(
      "--optional with the type's name", untyped, ["split", "--on", "phone", "q.csv", "--quiet", "--optional", "phone"], out: "id,Telefon\n"
    ),
  ]
  @Test("a type that is somewhere is asked for without a word", arguments: there) func isThere(_ testCase: ToolCase) throws {
    try testCase.check()
  }

  static let lists = ["a.csv": "id,email\n1,a;b\n", "a.ndjson": "{\"id\":1,\"more\":{\"email\":\"a\",\"x\":null}}\n"]
  static let misnamed: [ToolCase] = [
    ToolCase(
      "ops-007: distinct --ignore", lists, ["distinct", "--ignore", "emial", "a.csv", "-o", "o"], status: 2,
      error:
        "emial: distinct: no input has a field of this name; did you mean email? there are id, email, or --optional emial where it may be missing",
      leavesNot: ["o"]),
    ToolCase(
      "distinct --ignore, NDJSON", lists, ["distinct", "--ignore", "mroe", "a.ndjson", "-o", "o"], status: 2,
      error:
        "mroe: distinct: no record of the input has a member of this name; did you mean more? there are id, more, or --optional mroe where it may be missing",
      leavesNot: ["o"]),
    ToolCase("distinct --ignore, within a value", lists, ["distinct", "--ignore", "email,x", "a.ndjson", "-o", "o"]),
    ToolCase("distinct --ignore, --optional", lists, ["distinct", "--ignore", "emial", "a.csv", "-o", "o", "--optional", "emial"]),
    ToolCase(
      "sort to standard output: before anything is there", lists, ["sort", "emial", "a.ndjson", "--quiet"], status: 2, out: "",
      error: "emial: no record of the input has this field; there are id, more, or --optional emial where it may be missing"),
    ToolCase(
      "--lists", lists, ["convert", "a.csv", "--to", "ndjson", "--lists", "emial"], status: 2,
      error:
        "emial: --lists: no input has a field of this name; did you mean email? there are id, email, or --optional emial where it may be missing"
    ),
    ToolCase(
      "--lists of a column that a stage made", lists,
      ["run", "a.csv", "--to", "ndjson", "--lists", "l", "--quiet", "then", "set", "l = 'x;y'", "then", "keep", "l"],
      out: "{\"l\":[\"x\",\"y\"]}\n"),
    ToolCase(
      "--header without --no-header", lists, ["convert", "a.csv", "--to", "ndjson", "--header", "a,b"], status: 2,
      error: "--header names the columns of files that have no header; add --no-header, or leave it out"),
  ]
  @Test("a name that is nowhere is told, wherever it is given", arguments: misnamed) func names(_ testCase: ToolCase) throws {
    try testCase.check()
  }

  static let signed = ["a.ndjson": "{\"id\":3}\n{\"id\":4}\n", "b=c.ndjson": "{\"id\":5}\n", "-d.ndjson": "{\"id\":6}\n"]
  static let minus: [ToolCase] = [
    ToolCase("a blank in it", signed, ["filter", "-id < -3", "a.ndjson", "--quiet"], out: "{\"id\":4}\n"),
    ToolCase("no blank", signed, ["filter", "-id<-3", "a.ndjson", "--quiet"], out: "{\"id\":4}\n"),
    ToolCase("behind --", signed, ["filter", "--quiet", "--", "-id < -3", "a.ndjson", "-d.ndjson"], out: "{\"id\":4}\n{\"id\":6}\n"),
    ToolCase("inputs behind --", signed, ["filter", "-id < -3", "--quiet", "--", "-d.ndjson"], out: "{\"id\":6}\n"),
    ToolCase("a name with = behind --", signed, ["set", "x=1", "--quiet", "--", "b=c.ndjson"], out: "{\"id\":5,\"x\":1}\n"),
    ToolCase("an unknown option stays one", signed, ["filter", "-id", "a.ndjson"], status: 2, says: ["there is no option -id"]),
    ToolCase("a second one too", signed, ["filter", "id > 1", "-x y", "a.ndjson"], status: 2, says: ["there is no option -x y"]),
  ]
  @Test("an expression may begin with a minus sign", arguments: minus) func expressions(_ testCase: ToolCase) throws {
    try testCase.check()
  }

  static let told: [ToolCase] = [
    ToolCase(
      "tee within a group is a tee", signed,
      ["run", "a.ndjson", "-o", "o", "then", "any", "{", "limit", "1", "}", "{", "tee", "t.ndjson", "}"],
      says: ["tee: 2 records to t.ndjson"], neverSays: ["duplicates"], leaves: ["t.ndjson": signed["a.ndjson"]!]),
    ToolCase(
      "rename says what it wants", signed, ["rename", "id=a,b", "a.ndjson"], status: 2,
      error: "rename: 'b' has no '='; write OLD=NEW, the name that the field has first"),
    ToolCase(
      "a stage without 'then'", lists, ["run", "a.csv", "sort", "id"], status: 4,
      error: "sort: cannot open: no such file or folder; if the stage 'sort' is meant, put 'then' in front of it"),
    ToolCase("a file of a stage's name", ["sort": "{\"id\":1}\n", "a.ndjson": "{\"id\":2}\n"], ["count", "a.ndjson", "sort"], out: "2\n"),
    ToolCase(
      "an empty list", lists.merging(["l.csv": ""]) { $1 }, ["suppress", "--list", "l.csv", "--by", "email", "a.csv"], out: lists["a.csv"]!,
      says: ["note: l.csv: there is no record in this list"]),
    ToolCase(
      "a list of a header alone", lists.merging(["l.csv": "email\n"]) { $1 }, ["suppress", "--list", "l.csv", "--by", "email", "a.csv"],
      says: ["note: l.csv: there is no record in this list"]),
    ToolCase(
      "a list with a record", lists.merging(["l.csv": "email\nx\n"]) { $1 }, ["suppress", "--list", "l.csv", "--by", "email", "a.csv"],
      neverSays: ["note"]),
    ToolCase(
      "--to offers what can be written", lists, ["convert", "a.csv", "--to", "vcf"], status: 2,
      error: "--to cannot be 'vcf'; there are ndjson, csv, tsv"),
    ToolCase(
      "records without a field are no CSV", ["a.ndjson": "{}\n{}\n"], ["convert", "a.ndjson", "-o", "o.csv"], status: 3,
      error: "the records to be written have no field, and CSV cannot hold such records; name columns with --columns, or write NDJSON",
      leavesNot: ["o.csv"]),
    ToolCase("nor are those that lost all", ["a.csv": "id\n1\n"], ["drop", "id", "a.csv", "-o", "o.csv"], status: 3, leavesNot: ["o.csv"]),
    ToolCase("no record at all is one", ["a.ndjson": ""], ["convert", "a.ndjson", "-o", "o.csv"]),
    ToolCase(
      "blank lines alone, the last without an end", ["a.ndjson": "\n \t\n\r\n\n  "], ["convert", "a.ndjson", "-o", "o.ndjson"],
      says: ["5 blank lines skipped"]),
    ToolCase(
      "blank lines count on", ["a.ndjson": String(repeating: "\n", count: 3_000_000) + "{\"id\"}\n"], ["count", "a.ndjson"], status: 3,
      says: ["a.ndjson:3000001:6: "]),
  ]
  @Test("what is said is true and helps on", arguments: told) func tells(_ testCase: ToolCase) throws { try testCase.check() }

  static let separated: [ToolCase] = [
    ToolCase(
      "is no header", ["a.csv": "sep=;\r\nid;n\r\n1;\"a,b\"\r\n"], ["convert", "a.csv", "--to", "ndjson", "-q"],
      out: "{\"id\":\"1\",\"n\":\"a,b\"}\n"),
    ToolCase(
      "names any byte, behind a byte order mark", ["a.csv": "\u{feff}sep=|\nid|n,m\n1|2\n"], ["convert", "a.csv", "--to", "ndjson", "-q"],
      out: "{\"id\":\"1\",\"n,m\":\"2\"}\n"),
    ToolCase("counts as a line", ["a.csv": "sep=;\nid;n\n1;2;3\n"], ["count", "a.csv"], status: 3, says: ["a.csv:3:"]),
    ToolCase(
      "is a name like others with --delimiter", ["a.csv": "sep=;\n1;2\n"],
      ["convert", "a.csv", "--to", "ndjson", "-q", "--delimiter", ","],
      out: "{\"sep=;\":\"1;2\"}\n"),
    ToolCase(
      "is that alone", ["a.csv": "sep=;x\n1;2\n"], ["convert", "a.csv", "--to", "ndjson", "-q"], out: "{\"sep=\":\"1\",\"x\":\"2\"}\n"),
    ToolCase("passes, with a comma", ["a.csv": "sep=,\nid,n\n1,2\n"], ["convert", "a.csv", "--to", "csv", "-q"], out: "id,n\n1,2\n"),
  ]
  @Test("a first line sep=C", arguments: separated) func separators(_ testCase: ToolCase) throws { try testCase.check() }
}
