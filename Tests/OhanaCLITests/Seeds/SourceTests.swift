import Foundation
import OhanaTestSupport
import Testing

/// Data sources as the command line has them: rows O-01 to O-49.
@Suite("inputs, order and outputs") struct SourceTests {
  @Test("O-03: null and empty text stay apart on the way through CSV and back, and are missing alike") func nullAndEmpty() throws {
    let input = """
      {"id":"1","first":null,"last":""}
      {"id":"2","first":"","last":null}
      {"id":"3","first":"x","last":"y"}

      """
    let folder = try Workdir()
    try folder.write("in.ndjson", input)
    #expect(try folder.run(["convert", "in.ndjson", "-o", "x.csv"]).status == 0)
    #expect(try folder.text("x.csv") == "id,first,last\n1,,\"\"\n2,\"\",\n3,x,y\n")
    #expect(try folder.run(["convert", "x.csv", "--to", "ndjson"]).text == input)
    for name in ["first", "last"] { try Conformance.expect(input, ["require", name], gives: ["3"]) }
  }

  @Test("O-08: a street of several lines survives NDJSON and CSV, nested and in columns") func streets() throws {
    let input = "{\"id\":\"1\",\"address\":{\"street\":\"1 Main St\\nFlat 2\",\"city\":\"Bath\"}}\n"
    let folder = try Workdir()
    try folder.write("in.ndjson", input)
    #expect(try folder.run(["convert", "in.ndjson", "-o", "x.csv"]).status == 0)
    #expect(try folder.text("x.csv") == "id,address.street,address.city\n1,\"1 Main St\nFlat 2\",Bath\n")
    #expect(try folder.run(["convert", "x.csv", "--to", "ndjson", "--unflatten"]).text == input)
    try Conformance.expect(input, ["filter", "address.street LIKE '%St\nFlat%'"], gives: ["1"])
  }

  @Test("O-07: any other type is 'other', with its name and label kept") func otherTypes() throws {
    let field = "{\"type\":\"impp\",\"label\":\"work\",\"value\":\"x\"}"
    let input = "{\"id\":\"1\",\"fields\":[{\"type\":\"phone\",\"value\":\"1\"},\(field),{\"type\":\"url\",\"value\":\"u\"}]}\n"
    for stage in [["split", "--on", "other"], ["require", "--type", "other", "then", "split", "--on", "other"]] {
      try Conformance.expect(input, stage, gives: "{\"id\":\"1\",\"fields\":[\(field)]}\n")
    }
    try Conformance.expect(input, ["split", "--on", "url"], gives: "{\"id\":\"1\",\"fields\":[{\"type\":\"url\",\"value\":\"u\"}]}\n")
    for stage in ["require --type fax", "select --require-type fax", "split --on fax"] {
      let folder = try Workdir()
      try folder.write("in.ndjson", input)
      #expect(try folder.run(["run", "in.ndjson", "then"] + stage.split(separator: " ").map(String.init)).status == 2)
    }
  }

  @Test("O-10 O-27: an image is read where something needs it, and passed on unread otherwise") func image() throws {
    let folder = try Workdir()
    try folder.write("in.ndjson", FamilyTests.input)
    func reads(_ chain: [String]) throws -> Bool {
      let plan = try folder.run(["plan", "run", "in.ndjson", "then"] + chain)
      let line = try #require(plan.lines.first { $0.hasPrefix("reads") }, "\(plan.err)")
      return line.contains("image")
    }
    #expect(try !reads(["require", "first"]))
    #expect(try !reads(["sort", "last"]))
    #expect(try reads(["require", "first,image"]))
    #expect(try reads(["keep", "first,image"]))
    #expect(try folder.run(["run", "in.ndjson", "then", "require", "first"]).text == FamilyTests.input)
  }

  @Test("ACC O-27: with --no-image nobody has an image, and a note says who asked for one") func noImage() throws {
    try Conformance.expect(FamilyTests.input, Array(FamilyTests.chain.dropFirst()), gives: "", options: ["--no-image"])
    let folder = try Workdir()
    try folder.write("in.ndjson", FamilyTests.input)
    try folder.write("in.csv", "first,image\nAnn,a.png\nBob,\n")
    let asked = try folder.run(["run", "in.ndjson", "--no-image"] + FamilyTests.chain)
    #expect(asked.status == 0 && asked.text.isEmpty)
    #expect(asked.err.contains("--no-image: no record has an image, which 'require first,last,image' and 'keep"), "\(asked.err)")
    let unasked = try folder.run(["run", "in.ndjson", "--no-image", "then", "require", "first,last", "then", "limit", "1"])
    #expect(unasked.text == "{\"first\":\"Marge\",\"last\":\"Simpson\"}\n" && !unasked.err.contains("image"), "\(unasked.err)")
    #expect(try folder.run(["convert", "in.csv", "--no-image", "--to", "csv"]).text == "first\nAnn\nBob\n")
    let made = try folder.run(["run", "in.csv", "--no-image", "then", "set", "image = first || '.png'", "then", "limit", "1"])
    #expect(made.text == "first,image\nAnn,Ann.png\n", "\(made.err)")
  }

  @Test("O-23: an input that cannot be read ends the run, or is left out, named, and exit 4") func providerErrors() throws {
    let folder = try Workdir()
    try folder.write("a.ndjson", "{\"id\":1}\n")
    try folder.write("c.ndjson", "{\"id\":3}\n")
    let words = ["run", "a.ndjson", "absent.ndjson", "nothing-*.csv", "c.ndjson", "-o", "out.ndjson"]
    let strict = try folder.run(words)
    #expect(strict.status == 4 && !folder.exists("out.ndjson") && strict.err.contains("absent.ndjson"))
    for threads in ["1", "2", "8"] {
      let lenient = try folder.run(words + ["--on-provider-error", "skip", "--overwrite", "--threads", threads])
      #expect(lenient.status == 4, "\(lenient.err)")
      #expect(try folder.text("out.ndjson") == "{\"id\":1}\n{\"id\":3}\n")
      #expect(lenient.err.contains("left out, since it cannot be read: nothing-*.csv"), "\(lenient.err)")
      #expect(lenient.err.contains("absent.ndjson: cannot open: no such file or folder (and 1 more inputs)"), "\(lenient.err)")
    }
    let none = try folder.run(["run", "absent.ndjson", "-o", "none.ndjson", "--on-provider-error", "skip"])
    #expect(none.status == 4 && !folder.exists("none.ndjson") && none.err.split(separator: "\n").count == 1, "\(none.err)")
    for (verb, text) in [("count", "2\n"), ("check", "a.ndjson: 1 record\nc.ndjson: 1 record\n")] {
      let result = try folder.run([verb, "a.ndjson", "absent.ndjson", "c.ndjson", "--on-provider-error", "skip"])
      #expect(result.status == 4 && result.text == text, "\(result.err)")
    }
    let whole = try folder.run(["run", "a.ndjson", "c.ndjson", "--on-provider-error", "skip"])
    #expect(whole.status == 0 && whole.lines.count == 2)
  }

  @Test("O-32: what a program writes is an input behind the others, and its exit status counts") func programs() throws {
    let folder = try Workdir()
    try folder.write("a.ndjson", "{\"id\":\"a\"}\n")
    for threads in ["1", "2", "8"] {
      let both = try folder.run([
        "run", "a.ndjson", "--from", "cmd: printf 'id\\nb\\nc\\n'", "--from", "cmd: echo '{\"id\":\"d\"}'", "--threads", threads, "then",
        "filter", "id <> 'b'",
      ])
      #expect(both.status == 0 && both.text == ["a", "c", "d"].map { "{\"id\":\"\($0)\"}\n" }.joined(), "\(both.err)")
    }
    let alone = try folder.run(["run", "--from", "cmd: seq -f '{\"id\":%g}' 100000", "then", "filter", "id % 50000 = 0"])
    #expect(alone.text == "{\"id\":50000}\n{\"id\":100000}\n", "\(alone.err)")
    #expect(try folder.run(["reverse", "--from", "cmd: seq -f '{\"id\":%g}' 2"]).text == "{\"id\":2}\n{\"id\":1}\n")
    #expect(try folder.run(["sort", "id:number:desc", "--from", "cmd: seq -f '{\"id\":%g}' 2"]).text == "{\"id\":2}\n{\"id\":1}\n")
    #expect(try folder.run(["count", "a.ndjson", "--from", "cmd: seq -f '{\"id\":%g}' 2"]).text == "3\n")
    // Compressed or not, as from a file; and a plan runs nothing.
    let packed = try folder.run(["sort", "id", "--from", "cmd: gzip -c a.ndjson", "--from", "cmd: printf 'id\nb\n' | gzip"])
    #expect(packed.text == "{\"id\":\"a\"}\n{\"id\":\"b\"}\n", "\(packed.err)")
    let cut = try folder.run(["run", "--from", "cmd: gzip -c a.ndjson | head -c 20"])
    #expect(cut.status == 3 && cut.err.contains("unexpected end of compressed data"), "\(cut.err)")
    let plan = try folder.run(["plan", "run", "a.ndjson", "--from", "cmd: touch ran; cat a.ndjson", "then", "sort", "id"])
    #expect(plan.status == 0 && !folder.exists("ran"), "\(plan.err) \(plan.text)")
    // It ends when nobody wants more of it.
    let endless = try folder.run(["run", "--from", "cmd: yes '{\"id\":1}'", "then", "limit", "3"])
    #expect(endless.status == 0 && endless.lines.count == 3, "\(endless.err)")
    for (program, text) in [("echo '{}'; exit 3", "it ended with status 3"), ("echo '{}'; kill -9 $$", "it was ended by signal 9")] {
      let failed = try folder.run(["run", "a.ndjson", "--from", "cmd: \(program)", "-o", "out.ndjson"])
      #expect(failed.status == 4 && !folder.exists("out.ndjson") && failed.err.contains(text), "\(failed.err)")
      let skipped = try folder.run(
        ["run", "a.ndjson", "--from", "cmd: \(program)", "-o", "out.ndjson", "--overwrite", "--on-provider-error", "skip"])
      #expect(skipped.status == 4 && skipped.err.contains(text), "\(skipped.err)")
      #expect(try folder.text("out.ndjson") == "{\"id\":\"a\"}\n{}\n")
      try FileManager.default.removeItem(atPath: folder.path("out.ndjson"))
    }
    #expect(try folder.run(["run", "--from", "cmd: "]).status == 2)
  }

  @Test("O-30 AUTH: an input that may not be read is exit 4, named, before anything is read or written") func denied() throws {
    let folder = try Workdir()
    try folder.write("a.ndjson", "{\"id\":1}\n")
    try folder.write("b.ndjson", "{\"id\":2}\n")
    let file = folder.path("b.ndjson")
    try #require(chmod(file, 0) == 0)
    // The superuser may read everything: then somebody else runs it, in a folder of theirs.
    let isSuperuser = geteuid() == 0
    let prefix = isSuperuser ? "setpriv --reuid 65534 --regid 65534 --clear-groups " : ""
    if isSuperuser {
      for path in [folder.url.path, folder.path("a.ndjson"), file] { try #require(chown(path, 65534, 65534) == 0) }
      let works = try folder.run([], shell: "chmod 777 tmp; \(prefix)\"$OHANA\" count a.ndjson")
      try #require(works.status == 0, "\(works.err)")
    }
    for options in ["", "--rejects bad.ndjson --max-rejects 100%"] {
      let result = try folder.run([], shell: "chmod 777 tmp; \(prefix)\"$OHANA\" run a.ndjson b.ndjson -o out.ndjson \(options)")
      #expect(result.status == 4 && result.err.contains("b.ndjson: cannot open: permission denied"), "\(result.err)")
      #expect(result.err.split(separator: "\n").count == 1)
      #expect(!folder.exists("out.ndjson") && folder.isTemporaryEmpty)
    }
  }

  @Test("O-40: no input is a usage error, and - is standard input") func noInput() throws {
    let folder = try Workdir()
    for words in [["run"], ["run", "then", "limit", "1"], ["convert", "--to", "csv"], ["count"]] {
      #expect(try folder.run(words, input: Data("{\"a\":1}\n".utf8)).status == 2, "\(words)")
    }
    #expect(try folder.run(["run", "-", "then", "limit", "1"], input: Data("{\"a\":1}\n{\"a\":2}\n".utf8)).text == "{\"a\":1}\n")
  }

  @Test("O-42: stages work in the order they are written, which plan shows") func order() throws {
    let input = (1...9).map { "{\"id\":\"\($0)\"}\n" }.joined()
    try Conformance.expect(input, ["limit", "4", "then", "filter", "id > 3"], gives: ["4"])
    try Conformance.expect(input, ["filter", "id > 3", "then", "limit", "4"], gives: ["4", "5", "6", "7"])
    try Conformance.expect(input, ["filter", "id > 3", "then", "reverse", "then", "limit", "2"], gives: ["9", "8"])
    try Conformance.expect(input, ["reverse", "then", "limit", "2", "then", "filter", "id < 9"], gives: ["8"])
    let folder = try Workdir()
    try folder.write("in.ndjson", input)
    let plan = try folder.run(["plan", "run", "in.ndjson", "then", "filter", "id > 3", "then", "reverse", "then", "limit", "2"])
    let stages = plan.lines.filter { $0.hasPrefix("stage") }
    #expect(stages.count == 3, "\(plan.text)")
    for (line, name) in zip(stages, ["filter", "reverse", "limit"]) { #expect(line.contains(name)) }
  }

  @Test("RELOAD O-45 DET: the same command twice gives the same bytes, not twice the records") func twice() throws {
    let folder = try Workdir()
    try folder.write("a.ndjson", FamilyTests.input)
    try folder.write("b.ndjson", FamilyTests.input)
    let words = ["run", "a.ndjson", "b.ndjson", "-o", "out.ndjson.gz", "--overwrite"] + FamilyTests.chain
    #expect(try folder.run(words).status == 0)
    let first = try folder.read("out.ndjson.gz")
    for threads in ["1", "2", "8"] {
      #expect(try folder.run(words.prefix(3) + ["--threads", threads] + words.dropFirst(3)).status == 0)
      #expect(try folder.read("out.ndjson.gz") == first)
    }
    #expect(try folder.run(["count", "out.ndjson.gz"]).text.hasPrefix("10"))
  }

  @Test("O-73: an area code, one of an address, all of some fields, a full name") func articleProcessors() throws {
    let input = """
      {"id":"1","first":"Ann","last":"Lee","phone":"(415) 555-0100","address":{"street":"1 Main","city":"Bath"}}
      {"id":"2","first":"Bo","last":"Lee","phone":"+1 212 555 0100","address":{"street":"1 Main","city":"Bath"}}
      {"id":"3","first":"Cy","last":"","phone":"415.555.0101","address":{"street":"2 Main","city":"Bath"}}
      {"id":"4","first":"Di","last":"Ash"}

      """
    try Conformance.expect(input, ["filter", "phone_e164(phone, 'US') LIKE '+1415%'"], gives: ["1", "3"])
    try Conformance.expect(input, ["dedupe", "--by", "address"], gives: ["1", "3", "4"])
    try Conformance.expect(input, ["dedupe", "--by", "address.street:fold,address.city:fold"], gives: ["1", "3", "4"])
    try Conformance.expect(input, ["require", "first,last,phone"], gives: ["1", "2"])
    try Conformance.expect(input, ["set", "id = first || ' ' || last"], gives: ["Ann Lee", "Bo Lee", "Cy ", "Di Ash"])
  }

  @Test("O-72: groups nest, but not without end") func nesting() throws {
    let folder = try Workdir()
    try folder.write("in.ndjson", "{\"id\":\"1\"}\n")
    func chain(_ depth: Int) -> [String] {
      (0..<depth).reduce(["require", "id"]) { chain, _ in ["any", "{"] + chain + ["}"] }
    }
    #expect(try folder.run(["run", "in.ndjson", "then"] + chain(6)).text == "{\"id\":\"1\"}\n")
    let refused = try folder.run(["run", "in.ndjson", "then"] + chain(200))
    #expect(refused.status == 2 && refused.err.split(separator: "\n").count == 1, "\(refused.err)")
    for words in [["all"], ["any", "{", "}"], ["odd", "{", "require", "id"]] {
      #expect(try folder.run(["run", "in.ndjson", "then"] + words).status == 2, "\(words)")
    }
  }

  @Test("O-15 EQ: distinct by record has the relation of equality for contacts written in one way, streaming and on disk")
  func equality() throws {
    let equal = [
      (#"{"full_name":null}"#, "{}"), (#"{"fields":[]}"#, "{}"), (#"{"tags":["x","y"]}"#, #"{"tags":["y","x"]}"#),
    ]
    let field = #"{"type":"phone","value":"1","source":"a"}"#
    let unequal = [
      (#"{"first":null}"#, #"{"first":""}"#),
      ("{\"fields\":[\(field),{\"type\":\"email\"}]}", "{\"fields\":[{\"type\":\"email\"},\(field)]}"),
      ("{\"fields\":[\(field)]}", "{\"fields\":[\(field.replacing("\"a\"", with: "\"b\""))]}"),
      (#"{"addresses":[{"city":"X"}]}"#, #"{"addresses":[{"city":"X","label":"home"}]}"#),
      (#"{"properties":{"a":1}}"#, #"{"properties":{"a":2}}"#), (#"{"image":"abc"}"#, #"{"image":"abd"}"#),
    ]
    for (a, b) in equal {
      try Conformance.expect("\(a)\n\(b)\n", ["distinct"], gives: "\(a)\n")
      try Conformance.expect("\(b)\n\(a)\n", ["distinct"], gives: "\(b)\n")
    }
    for (a, b) in unequal { try Conformance.expect("\(a)\n\(b)\n\(b)\n\(a)\n", ["distinct"], gives: "\(a)\n\(b)\n") }
    let (a, b) = unequal[2]
    try Conformance.expect("\(a)\n\(b)\n", ["distinct", "--ignore", "source"], gives: "\(a)\n")
  }
}
