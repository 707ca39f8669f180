import OhanaCore
import Testing

@Suite("Argument lists") struct ArgumentListTests {
  @Test(
    "commas split outside quotes and parentheses only",
    arguments: [
      ("a,b", ["a", "b"]), (" first name , last ", ["first name", "last"]), (#""a,b",c"#, [#""a,b""#, "c"]),
      ("concat(a,b):fold,c", ["concat(a,b):fold", "c"]), ("replace(x,',',''),y", ["replace(x,',','')", "y"]),
      (#""say ""hi, you""",b"#, [#""say ""hi, you""""#, "b"]), ("O'Brien's,b", ["O'Brien's", "b"]),
      ("fields[0].value,x", ["fields[0].value", "x"]),
    ] as [(String, [String])])
  func splits(text: String, items: [String]) throws { #expect(try ArgumentList.split(text, what: "keep") == items) }

  @Test("what cannot be split is a usage error", arguments: ["", ",", "a,,b", "a,", "f(a,b", "a)b", "\"a", "'a,b"])
  func refuses(text: String) {
    let error = #expect(throws: OhanaError.self) { try ArgumentList.split(text, what: "keep") }
    #expect(error?.category == .usage)
  }

  @Test("quoted names are whole, others may be paths") func fields() throws {
    let names = try ArgumentList.fields(["a.b,\"c.d\"", "e"], what: "keep")
    #expect(names.map(\.description) == ["a.b", "c.d", "e"])
    #expect(names[0].path.count == 2 && names[1].path.isEmpty)
    #expect(throws: OhanaError.self) { try ArgumentList.field(#"a"b"#, what: "keep") }
    #expect(throws: OhanaError.self) { try ArgumentList.field(#""a"b""#, what: "keep") }
  }

  @Test("kinds follow colons") func suffixes() throws {
    #expect(try ArgumentList.suffixes("name:locale/sv:desc", what: "sort") == ("name", ["locale/sv", "desc"]))
    #expect(try ArgumentList.suffixes("\"a:b\"", what: "sort") == ("\"a:b\"", []))
    #expect(try ArgumentList.suffixes("coalesce(a,':') : fold", what: "sort") == ("coalesce(a,':')", ["fold"]))
  }

  @Test("an assignment is cut at its first equals sign") func assignment() throws {
    let (name, value) = try ArgumentList.assignment("full name = CASE WHEN a = 'b' THEN 1 END", what: "set")
    #expect(name.description == "full name")
    #expect(value == "CASE WHEN a = 'b' THEN 1 END")
    #expect(throws: OhanaError.self) { try ArgumentList.assignment("x", what: "set") }
  }
}

@Suite("Stage arguments") struct StageArgumentsTests {
  static let help = StageHelp(
    name: "dedupe", usage: "--by KEY,…", summary: "", text: "",
    options: [
      .init("--by", "KEY,…", "key", isRepeatable: true), .init("--keep", "first|last", "which"), .init("--quiet", nil, "no notes"),
    ], examples: [], memoryClass: .keyed)

  @Test("options in both spellings, others stay in order") func parses() throws {
    let arguments = try StageArguments(["a", "--by", "x", "--by=y=z", "-5", "--quiet", "--", "--b"], for: Self.help)
    #expect(arguments.positionals == ["a", "-5", "--b"])
    #expect(arguments.values("--by") == ["x", "y=z"])
    #expect(arguments.has("--quiet") && !arguments.has("--keep"))
  }

  @Test(
    "mistakes name the option",
    arguments: [
      (["--keeep", "x"], "did you mean --keep?"), (["--by"], "--by needs a value"), (["--quiet=1"], "--quiet takes no value"),
      (["--keep", "a", "--keep", "b"], "--keep is given twice"),
    ] as [([String], String)])
  func mistakes(words: [String], text: String) {
    let error = #expect(throws: OhanaError.self) { try StageArguments(words, for: Self.help) }
    #expect(error?.description.contains(text) == true)
  }
}
