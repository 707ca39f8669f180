import Foundation
import OhanaStages
import OhanaTestSupport
import Testing

@Suite("Help") struct HelpTests {
  static let verbs = ["run", "convert", "plan", "check", "count", "stats", "diff", "head", "generate"]
  static let stages = StageCatalog.all.map(\.help.name)

  @Test("every verb and stage has a page with examples", arguments: verbs + stages) func page(name: String) throws {
    let folder = try Workdir()
    let page = try folder.run(["help", name])
    #expect(page.status == 0 && page.err.isEmpty)
    #expect(page.text.contains("Examples:\n  ohana "), "\(page.text)")
    #expect(page.text.contains(name))
    for words in [[name, "--help"], [name, "-h"], [name, "nofile", "--help"]] {
      let same = try folder.run(words)
      #expect(same.status == 0 && same.out == page.out)
    }
  }
  @Test("the overview names them all") func overview() throws {
    let text = try Workdir().run(["help"]).text
    for name in Self.verbs + Self.stages + ["help", "version", "functions", "keys", "exit"] { #expect(text.contains(name), "\(name)") }
    #expect(Self.stages.count >= 17)
    for topic in ["functions", "keys", "exit"] { #expect(try Workdir().run(["help", topic]).text.count > 300) }
  }
  /// Each example of a page runs as far as its plan, with some contacts in the place of its inputs.
  @Test("the stages of every example parse", arguments: ["run"] + stages) func examples(name: String) throws {
    let folder = try Workdir()
    let text = try folder.run(["help", name]).text
    let examples = text.components(separatedBy: "Examples:\n").dropFirst().joined().split(separator: "\n").filter {
      $0.hasPrefix("  ohana ")
    }
    #expect(!examples.isEmpty)
    for example in examples {
      let command = String(example.dropFirst("  ohana ".count)).replacing(" ", with: " --optional all ", maxReplacements: 1)
      if command.contains(" -f ") { continue }
      // Everything an example may read: inputs, and fields of any name.
      let result = try folder.run(
        [],
        shell:
          "mkdir -p exports; for f in contacts family exports/part-1 yesterday today list suppressed people; do echo '{\"a\":1}' > $f.ndjson; echo a > $f.csv; done; \"$OHANA\" plan \(command)"
      )
      #expect(result.status == 0 || result.status == 4, "\(command): \(result.err)")
      #expect(!result.err.contains("no option") && !result.err.contains("no stage"), "\(command): \(result.err)")
    }
  }
  static let misses: [ToolCase] = [
    ToolCase("a command", ["dedup", "a"], status: 2, says: ["did you mean dedupe?"]),
    ToolCase("a stage", ["run", "a", "then", "lmit", "3"], status: 2, says: ["did you mean limit?"]),
    ToolCase("an option of the run", ["convert", "a", "--theads", "3"], status: 2, says: ["did you mean --threads?"]),
    ToolCase("an option of a stage", ["dedupe", "--bi", "id", "a"], status: 2, says: ["did you mean --by?"]),
    ToolCase("an option of a stage behind then", ["run", "a", "then", "dedupe", "--bi", "id"], status: 2, says: ["--by"]),
    ToolCase("a choice", ["convert", "a", "--to", "ndjsn"], status: 2, says: ["did you mean ndjson?"]),
    ToolCase("a topic", ["help", "srot"], status: 2, says: ["did you mean sort?"]),
    ToolCase("a function", ["a.ndjson": "{}\n"], ["filter", "uper(a) = 'x'", "a.ndjson"], status: 2, says: ["upper"]),
    ToolCase(
      "a run option behind then", ["run", "a", "then", "sort", "n", "--memory", "1G"], status: 2,
      says: ["--memory", "in front of the first 'then'"]),
    ToolCase(
      "head speaks of its own option", ["a.csv": "a\n1\n"], ["head", "-n", "x", "a.csv"], status: 2,
      error:
        "-n 'x' is not a number of records; write a whole number of at least 0"),
    ToolCase("a word behind version", ["version", "x"], status: 2, says: ["'x' is not expected behind 'ohana version'"]),
    ToolCase("a word behind a topic", ["help", "run", "x"], status: 2, says: ["'x' is not expected behind 'ohana help run'"]),
    ToolCase("no command", [], status: 2),
    ToolCase("a value that is none", ["convert", "a", "--memory", "much"], status: 2, says: ["--memory", "256M"]),
    ToolCase("too little memory", ["convert", "a", "--memory", "1M"], status: 2, says: ["--memory"]),
    ToolCase("a missing value", ["convert", "a", "-o"], status: 2, says: ["-o"]),
    ToolCase("an option twice", ["convert", "a", "--to", "csv", "--to", "csv"], status: 2, says: ["--to"]),
  ]
  @Test("near misses are suggested, and nothing is read", arguments: misses) func nearMiss(_ c: ToolCase) throws {
    if c.words.isEmpty {
      #expect(try Workdir().run([]).status == 2)
    } else {
      try c.check()
    }
  }
  @Test("O-102: version and --version say what it is") func version() throws {
    #expect(try Workdir().run(["version"]).text.hasPrefix("ohana "))
    #expect(try Workdir().run(["--version"]).status == 0)
  }

  @Test("O-102: completion knows every verb, stage and option, and each shell that is there takes it", arguments: ["bash", "zsh", "fish"])
  func completion(shell: String) throws {
    let folder = try Workdir()
    let result = try folder.run(["help", "completion", shell])
    #expect(result.status == 0)
    for name in Self.verbs + Self.stages { #expect(result.text.contains(name)) }
    #expect(result.text.contains("max-rejects") && result.text.contains("on-exceed"))
    try folder.write("completion", result.text)
    let check = try folder.run([], shell: "command -v \(shell) >/dev/null || exit 0; \(shell) -n completion")
    #expect(check.status == 0, "\(check.err)")
    #expect(try folder.run(["help", "completion", "tcsh"]).status == 2)
    #expect(try folder.run(["help", "completion"]).status == 2)
  }

  @Test("O-102: bash completes verbs, stages behind then, and options of the last stage") func bashCompletes() throws {
    let folder = try Workdir()
    func complete(_ line: String) throws -> [String] {
      try folder.run(
        [],
        shell:
          "source <(\"$OHANA\" help completion bash); COMP_WORDS=(\(line)); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _ohana; echo \"${COMPREPLY[@]}\""
      )
      .text.split(whereSeparator: \.isWhitespace).map(String.init)
    }
    #expect(try complete("ohana conv") == ["convert"])
    #expect(try complete("ohana run in.ndjson then ded") == ["dedupe"])
    #expect(try complete("ohana run in.ndjson then dedupe --dup") == ["--duplicates"])
    #expect(try complete("ohana run --max-rej") == ["--max-rejects"])
    #expect(try complete("ohana run in.ndjson th") == ["then"])
  }

  @Test("O-102: the manual page has a section for each verb and stage, in macros that man takes") func manual() throws {
    let folder = try Workdir()
    let page = try folder.run(["help", "man"])
    #expect(page.status == 0 && page.text.hasPrefix(".TH OHANA 1"))
    for name in Self.stages { #expect(page.text.contains("\n.SS \(name)\n")) }
    let macros = Set(page.lines.filter { $0.hasPrefix(".") }.map { $0.prefix { $0 != " " } })
    #expect(macros == [".TH", ".SH", ".SS", ".nf", ".fi"])
  }
}
