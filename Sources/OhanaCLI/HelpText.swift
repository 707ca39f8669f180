internal import Ohana

/// What `ohana help` says of verbs; stages speak for themselves.
enum HelpText {
  struct Verb: Sendable {
    let name: String
    let usage: String
    let summary: String
    let text: String
    let options: [StageHelp.Option]
    let takesRunOptions: Bool
    let examples: [(command: String, text: String)]
    /// Prints an answer instead of records.
    var hasOutput = true
    /// All run options that it takes; nil: any.
    var optionNames: Set<String>?

    /// Those in front of the first `then` that mean something to it.
    var runOptions: [RunOption] {
      guard takesRunOptions else { return [] }
      return RunOption.all.filter { hasOutput || $0.name != "--output" }.filter { optionNames?.contains($0.name) ?? true }
    }
  }

  static let verbs: [Verb] = [
    Verb(
      name: "run", usage: "ohana run INPUT… [-o OUTPUT] [options] then STAGE ARGS [then STAGE ARGS]…",
      summary: "Run a chain of stages over the inputs.",
      text: """
        Everything in front of the first 'then' belongs to the run, everything behind a stage's name to that stage. INPUT is a file, a glob, a \
        directory or '-'; inputs are read in the order given. Without -o the result goes to standard output. \
        With -f a file names inputs, options and stages: 'ohana help pipeline' explains it.
        """,
      options: RunCommand.help, takesRunOptions: true,
      examples: [
        (
          #"ohana run family.ndjson then require first,last,image then sort last,first then set "full_name = first || ' ' || last" then keep full_name,image"#,
          "Complete contacts, in order of last and first name, as full name and picture."
        ),
        (
          "ohana run 'exports/*.csv.gz' -o clean.csv.gz then dedupe --by email:email then sort last,first",
          "One record per e-mail address, sorted."
        ),
        ("ohana run -f nightly.json exports/", "A chain that is checked in, over today's folder."),
      ]),
    Verb(
      name: "convert", usage: "ohana convert INPUT… -o OUTPUT [options]", summary: "Change the format and nothing else.",
      text:
        "Formats come from content first and names second, or from --from and --to. Columns of CSV output are the union of all keys, in input order, unless --columns names them; where a stage stops reading, of the keys up to there.",
      options: [], takesRunOptions: true,
      examples: [
        ("ohana convert contacts.ndjson.gz -o contacts.csv", "NDJSON to CSV."),
        ("ohana convert contacts.csv --to ndjson --unflatten --lists tags", "CSV to NDJSON with nested addresses and lists."),
      ]),
    Verb(
      name: "plan", usage: "ohana plan run … | ohana plan STAGE … | ohana plan convert …",
      summary: "Show what a command would do, without doing it.",
      text: "Prints the stages, what they need of each record, what is fused, where the stream has to wait, and how memory is shared.",
      options: [], takesRunOptions: false,
      examples: [("ohana plan dedupe --by email:email exports/", "The plan of a dedupe.")]),
    Verb(
      name: "check", usage: "ohana check INPUT… [options] | ohana check --manifest FILE",
      summary: "Read everything and report what cannot be read.",
      text: """
        Exit status 1 if there is anything unreadable. With --manifest, holds the files of a published set against sizes and SHA-256 of the \
        manifest that its run wrote: exit status 1 if one is missing or other than it was published, or if there is another file with a name of its \
        chunks.
        """, options: [], takesRunOptions: true,
      examples: [
        ("ohana check exports/*.ndjson.gz", "Are all chunks whole and all records readable?"),
        ("ohana check --manifest clean.manifest.json", "Is the set as it was published?"),
      ], hasOutput: false),
    Verb(
      name: "count", usage: "ohana count INPUT… [options]", summary: "Count records.", text: "Prints one number.", options: [],
      takesRunOptions: true, examples: [("ohana count exports/", "How many contacts are there?")], hasOutput: false),
    Verb(
      name: "stats", usage: "ohana stats INPUT… [options]", summary: "Describe every field.",
      text:
        "Prints per field: how often it is present, null and empty, how many different values it has (estimated), lengths, and the most frequent values. A field of many different values takes about half a MiB of --memory, beside the 20 MiB of the run itself: 64M hold some 80 such fields.",
      options: StatsCommand.help, takesRunOptions: true, examples: [("ohana stats exports/", "What is in there?")]),
    Verb(
      name: "diff", usage: "ohana diff OLD NEW --by KEY,… [options]", summary: "Tell what was added, removed and changed.",
      text:
        "Prints NDJSON lines {op,key,old,new,fields}: in NEW's order what was added or changed, then in OLD's order what was removed. Exit status 1 if there is any difference. A repeated key is exit 3.",
      options: DiffCommand.help, takesRunOptions: true,
      examples: [("ohana diff yesterday.csv today.csv --by id", "What changed over night?")]),
    Verb(
      name: "head", usage: "ohana head [-n N] INPUT… [options]", summary: "The first records.",
      text: "Stops reading as soon as they are there.",
      options: HeadCommand.help, takesRunOptions: true,
      examples: [("ohana head -n 3 exports/part-1.ndjson.gz", "Three records to look at.")]),
    Verb(
      name: "resume", usage: "ohana resume OUTPUT", summary: "Go on with a run that was ended before it had published OUTPUT.",
      text: """
        The same command once more, with --resume, in the folder where it was given. Runs that write a file take a checkpoint every 30 seconds, \
        and with --resume when everything is read, and at SIGTERM or SIGHUP where --resume was given or there is one already. What a checkpoint holds is not read again; a run that was killed \
        before the first begins anew. Any file of the run stands for it. Inputs, options and versions have to be the same, threads and memory may differ.
        """, options: [], takesRunOptions: false,
      examples: [("ohana resume clean.ndjson.gz", "Go on where the machine was switched off.")]),
    Verb(
      name: "generate", usage: "ohana generate --rows N -o OUTPUT [options]", summary: "Make sample contacts.",
      text: """
        Deterministic: the same seed gives the same bytes. The people are invented. The files appear together at the end, like those of a run; \
        after a kill, the next command to the same output finishes or clears up what was left.
        """, options: GenerateCommand.help, takesRunOptions: true,
      examples: [
        ("ohana generate --rows 1000000 --chunks 8 -o 'sample/part-{n}.ndjson.gz' --truth truth.csv", "A million contacts in eight chunks.")
      ], optionNames: GenerateCommand.runOptions),
    Verb(
      name: "help", usage: "ohana help [VERB | STAGE | functions | keys | pipeline | exit | man | completion SHELL]", summary: "Explain.",
      text: "",
      options: [],
      takesRunOptions: false,
      examples: []),
    Verb(
      name: "version", usage: "ohana version", summary: "Print the version.", text: "", options: [], takesRunOptions: false, examples: []),
  ]

  static var overview: String {
    var lines = [
      "ohana \(Version.current): deduplicate, filter, map, sort and convert contact data sets of any size.", "",
      "  ohana run INPUT… [-o OUTPUT] [options] then STAGE ARGS [then STAGE ARGS]…", "  ohana STAGE ARGS [--] INPUT… [-o OUTPUT] [options]",
      "  ohana convert INPUT… -o OUTPUT", "", "Commands:",
    ]
    lines += table(verbs.map { ($0.name, $0.summary) })
    lines += ["", "Stages (S streams, K holds keys, B needs the whole input; K and B spill to disk beyond --memory):"]
    lines += table(StageCatalog.all.map { ("\($0.help.name)", "[\($0.help.memoryClass.rawValue)] \($0.help.summary)") })
    lines += [
      "", "'ohana help NAME' explains a command or stage; also: help functions, help keys, help pipeline, help exit.",
      "'ohana help man' prints a manual page, 'ohana help completion bash|zsh|fish' what a shell is to evaluate.",
    ]
    return lines.joined(separator: "\n")
  }

  static func page(_ verb: Verb) -> String {
    var lines = [verb.summary, "", "  " + verb.usage]
    if !verb.text.isEmpty { lines += [""] + wrapped(verb.text) }
    if !verb.options.isEmpty { lines += ["", "Options:"] + optionTable(verb.options) }
    if verb.takesRunOptions {
      for section in RunOption.Section.allCases {
        let options = verb.runOptions.filter { $0.section == section }
        if options.isEmpty { continue }
        lines += ["", section.rawValue + ":"]
        lines += table(
          options.map { option in
            ((option.short.map { $0 + ", " } ?? "") + option.name + (option.value.map { " " + $0 } ?? ""), option.help)
          })
      }
    }
    if !verb.examples.isEmpty {
      lines += ["", "Examples:"]
      for example in verb.examples { lines += ["  " + example.command, "      " + example.text] }
    }
    return lines.joined(separator: "\n")
  }

  static func page(_ help: StageHelp) -> String {
    let invocation = help.name + (help.usage.isEmpty ? "" : " " + help.usage)
    var lines = [
      help.summary, "", "  … then \(invocation)", "  ohana \(invocation) INPUT… [-o OUTPUT] [options]", "",
    ]
    lines += wrapped(help.text)
    let memory: String =
      switch help.memoryClass {
      case .streaming: "streams; one record at a time"
      case .keyed: "holds keys; spills beyond its share"
      case .breaker: "needs the whole input; spills beyond its share"
      }
    lines += ["", "Memory: \(memory)\(help.memoryNote.map { ". " + $0 } ?? "")."]
    if !help.options.isEmpty { lines += ["", "Options:"] + optionTable(help.options) }
    if !help.examples.isEmpty {
      lines += ["", "Examples:"]
      for example in help.examples { lines += ["  " + example.command, "      " + example.text] }
    }
    return lines.joined(separator: "\n")
  }

  static let exitPage = """
    Exit status:
      0        done; rejects within --max-rejects are counted in the summary
      1        the answer of check or diff is no
      2        wrong usage: unknown option or field, an existing output
      3        bad input beyond the budget; nothing is published
      4        reading or writing failed: missing file, no access, disk full
      5        the memory limit cannot hold a record, a header, or what stats counts
      6        the books do not balance; nothing is published
      7        another run holds the output
      8        a guard failed: --min-records, --max-drop, a refused selection
      129/130/143  interrupted; everything temporary is gone, but what --resume goes on from after SIGTERM or SIGHUP.
                   A signal that was ignored when the run began does not end it
    """

  static let pipelinePage = """
    ohana run -f PIPELINE [INPUT…] [options] [then STAGE ARGS]…

    PIPELINE is a file of JSON5: JSON with comments, bare keys, single quotes and trailing commas. It holds one object. What the line says wins:
    inputs and stages replace those of the file, an option the same option.

    {
      // Every key may be left out.
      inputs: ["exports/*.ndjson.gz"],              // list of texts: files, patterns, folders; '-' is standard input
      output: "clean.csv.gz",                       // text, as behind -o
      options: {                                    // those of 'ohana help run', without their dashes
        memory: "128M",                             // a text or a number where the option takes a value
        "max-rejects": 10,                          // quotes, for the dash in the name
        null: ["", "\\\\N"],                         // a list where it may be given more than once
        overwrite: true,                            // true where it takes none; false is as if it were not there
      },
      stages: [                                     // list of stages in their order
        "dedupe --by email:email",                  // a text, split into words as a shell splits a line; nothing is expanded
        ["filter", "city = 'Oslo'"],                // or a list of words, which need no further quotes
        "sort last,first",
      ],
    }

    inputs   list of texts
    output   text
    options  object; values are texts, whole numbers, true, false, or lists of texts
    stages   list; each a text, or a list of texts

    Example:
      ohana run -f nightly.json exports/ --report nightly.html
    """

  static let keysPage = """
    A KEY is FIELD[:KIND] or an expression. Names with blanks, commas or colons stand in double quotes.

    Kinds for equality (dedupe, distinct, count-by, suppress, diff):
      exact           the decoded text (default); the number 7 equals the string "7"
      fold            compatibility forms, case and accents made one, blanks collapsed
      email           trimmed and lower-cased; text without @ is no key
      email/provider  also without dots and +tags at gmail.com and googlemail.com
      name            fold, without punctuation and titles; 'Last, First' turned
      phone[/REGION]  E.164 of what libphonenumber calls possible, numbers without a country code being of the region (phone/US); other text is
                      its own key
    A key with a blank part (missing, null or "") equals nothing.

    Kinds for order (sort):
      locale[/xx]     CLDR collation, root or of a language (default)
      binary          bytes
      number          by value; what is no number comes after, by bytes
      natural         collation with digit runs as numbers
      ohana           code points of the decomposed text
    each with :desc and :nulls-first. Blank values come last, also under :desc.
    """

  static func table(_ rows: [(String, String)]) -> [String] {
    let width = min(30, rows.map { $0.0.count }.max() ?? 0)
    return rows.flatMap { name, text -> [String] in
      let lines = wrapped(text, width: 96 - width)
      let indent = String(repeating: " ", count: width + 4)
      guard name.count <= width else { return ["  " + name] + lines.map { indent + $0 } }
      guard let first = lines.first else { return ["  " + name] }
      return ["  " + name + String(repeating: " ", count: width - name.count + 2) + first]
        + lines.dropFirst().map { indent + $0 }
    }
  }

  private static func optionTable(_ options: [StageHelp.Option]) -> [String] {
    table(options.map { ($0.name + ($0.value.map { " " + $0 } ?? ""), $0.text) })
  }

  static func wrapped(_ text: String, width: Int = 98) -> [String] {
    var lines: [String] = []
    var line = ""
    for word in text.split(separator: " ") {
      if line.count + word.count + 1 > width, !line.isEmpty {
        lines.append(line)
        line = ""
      }
      line += (line.isEmpty ? "" : " ") + word
    }
    if !line.isEmpty { lines.append(line) }
    return lines
  }
}
