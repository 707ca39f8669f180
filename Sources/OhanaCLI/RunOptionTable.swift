internal import Ohana

/// One option in front of the first `then`: its help and what it sets.
struct RunOption: Sendable {
  enum Section: String, CaseIterable {
    case input = "Input", output = "Output", guards = "Guards", resources = "Resources", telling = "Telling", meaning = "Meaning"
  }
  let name: String
  /// A one-letter form, `-o`.
  let short: String?
  /// What its value stands for; nil for a switch.
  let value: String?
  let section: Section
  let help: String
  let isRepeatable: Bool
  let set: @Sendable (inout RunRequest, FilePath) throws -> Void

  init(
    _ name: String, short: String? = nil, _ value: String?, _ section: Section, repeatable: Bool = false, _ help: String,
    set: @escaping @Sendable (inout RunRequest, FilePath) throws -> Void
  ) {
    self.name = name
    self.short = short
    self.value = value
    self.section = section
    self.help = help
    isRepeatable = repeatable
    self.set = set
  }

  static func named(_ word: String) -> RunOption? { all.first { $0.name == word || $0.short == word } }
}

extension RunOption {
  static let all: [RunOption] = [
    // Input
    .init(
      "--from", "FORMAT", .input, repeatable: true,
      "Input format, whatever content and name say: ndjson, csv, tsv, rejects. 'cmd: PROGRAM' adds what a program writes to its standard output, "
        + "behind the other inputs; it has to end with status 0."
    ) {
      let value = text($1)
      if value.hasPrefix("cmd:") {
        let command = String(value.dropFirst(4).drop { $0 == " " })
        if command.isEmpty { throw bad("--from", $1, "a program behind cmd:") }
        $0.providers.append(CommandDataProvider(command))
      } else {
        $0.options.from = try choice("--from", $1)
      }
    },
    .init("--files-from", "LIST", .input, "Read names of inputs from LIST, one a line (or separated by NUL bytes); '-' is standard input.")
    {
      $0.filesFrom = $1
    },
    .init(
      "--encoding", "NAME", .input,
      "Encoding of text inputs without a byte order mark: utf-8 (default), utf-16le, utf-16be, windows-1252, latin1."
    ) {
      $0.options.encoding = text($1)
    },
    .init("--delimiter", "C", .input, "CSV cell delimiter: one character, or 'tab'. Default: told among , ; TAB | from the first records.")
    {
      $0.options.delimiter = try character("--delimiter", $1)
    },
    .init("--quote", "C", .input, "CSV quote character. Default: \".") { $0.options.quote = try character("--quote", $1) },
    .init(
      "--escape", "C", .input, "CSV escape character within quoted cells, for dumps that write \\\". Default: none; a quote is doubled."
    ) {
      $0.options.escape = try character("--escape", $1)
    },
    .init("--null", "TEXT", .input, repeatable: true, "A CSV cell of this text, quoted or not, is null: --null '' or --null '\\N'.") {
      $0.options.nulls.append($1.bytes)
    },
    .init("--no-header", nil, .input, "CSV inputs have no header: columns are _1, _2, … unless --header names them.") { request, _ in
      request.options.hasHeader = false
    },
    .init("--header", "A,B,…", .input, "Column names for --no-header.") {
      $0.options.header = try ArgumentList.fields([text($1)], what: "--header").map(\.whole)
    },
    .init("--infer", nil, .input, "Take unquoted CSV cells that are JSON numbers, true or false as such; else all cells are strings.") {
      request, _ in
      request.options.infer = true
    },
    .init(
      "--ragged", "strict|pad", .input,
      "CSV rows longer than the header: reject them (strict, the default) or put the surplus into column_N."
    ) {
      $0.options.ragged = try choice("--ragged", $1)
    },
    .init("--optional", "F,…|all", .input, repeatable: true, "Fields that may be absent from the whole input; they are missing then.") {
      let value = text($1)
      if value == "all" {
        $0.options.optional = .all
      } else if case .names(let names) = $0.options.optional {
        $0.options.optional = .names(names.union(try ArgumentList.fields([value], what: "--optional").map(\.whole)))
      }
    },
    .init("--no-image", nil, .input, "Leave the field 'image' out, as if no record had one; stages that ask for it are named.") {
      request, _ in
      request.options.loadsImages = false
    },
    .init("--max-record", "SIZE", .input, "A longer record is rejected without being held. Default: 64M.") {
      $0.options.maxRecord = try size("--max-record", $1, least: 64)
    },
    .init(
      "--on-bad-chunk", "fail|skip", .input,
      "A broken compressed chunk: fail (default), or deliver what is whole before the break and exit 3."
    ) {
      $0.options.onBadChunk = try choice("--on-bad-chunk", $1)
    },
    .init(
      "--on-provider-error", "fail|skip", .input,
      "An input that is not there, may not be read or cannot be read on: fail (default), or go on without it, name it, and exit 4."
    ) {
      $0.options.onProviderError = try choice("--on-provider-error", $1)
    },
    .init(
      "--on-auth", "ask|fail|skip", .input,
      "An input that may not be read: fail before anything is read, exit 4 (default); skip it as --on-provider-error does any that fails; or ask on the "
        + "terminal, once for each, and try again on consent (without a terminal, or where standard input is an input: fail)."
    ) {
      $0.options.onAuth = try choice("--on-auth", $1)
    },
    .init(
      "--interleave", nil, .input,
      "Records of several inputs in the order in which they arrive: a slow pipe or program holds up no other input. Records of one input keep their "
        + "order, but another run may give another result: not deterministic. Not with --resume, --ragged pad, or CSV written on the way from NDJSON without --columns."
    ) { request, _ in request.options.interleave = true },
    // Output
    .init(
      "--output", short: "-o", "OUTPUT", .output,
      "Where to write; .gz in the name compresses; {n} or {n:5} is the chunk number of --chunk-records. Default: standard output."
    ) {
      if $1.bytes.isEmpty {
        throw OhanaError(.usage, "bad-value", "the name of the output is empty", fix: "name a file, or - for standard output")
      }
      $0.output = $1
    },
    .init("--to", "FORMAT", .output, "Output format: ndjson, csv, tsv. Default: by the output's name, else the first input's format.") {
      $0.options.to = try choice("--to", $1, among: [.ndjson, .csv, .tsv])
    },
    .init("--compress", "gz|none", .output, "Overrides what the output's name says.") {
      $0.options.compression = try choice("--compress", $1)
    },
    .init("--level", "1..12", .output, "Compression level. Default: 1, the fastest.") {
      $0.options.level = try count("--level", $1, within: 1...12)
    },
    .init("--codec", "fast|zlib", .output, "Compression library: the fast ones (default), or zlib for reference.") {
      switch text($1) {
      case "fast": $0.options.useZlib = false
      case "zlib": $0.options.useZlib = true
      default: throw bad("--codec", $1, "fast or zlib")
      }
    },
    .init("--chunk-records", "N", .output, "Begin a new output file every N records; the name needs {n}.") {
      $0.options.chunkRecords = try count("--chunk-records", $1, within: 1...Int.max)
    },
    .init(
      "--overwrite", nil, .output,
      "Replace an existing output; of a set of chunks, those that follow the last new one are removed when it appears."
    ) { request, _ in request.options.overwrite = true },
    .init("--columns", "A,B,…", .output, "CSV output columns, instead of the union of all keys; each in the input or made by a stage.") {
      $0.options.columns = try ArgumentList.fields([text($1)], what: "--columns").map(\.whole)
    },
    .init("--out-delimiter", "C", .output, "CSV output delimiter: one character, or 'tab'.") {
      let delimiter = try character("--out-delimiter", $1)
      guard delimiter != UInt8(ascii: "\"") else {
        throw bad("--out-delimiter", $1, "another character than the quote that cells are put in")
      }
      $0.options.outDelimiter = delimiter
    },
    .init("--quote-all", nil, .output, "Quote every CSV cell that is not null.") { request, _ in request.options.quoteAll = true },
    .init("--crlf", nil, .output, "End CSV records with CR LF.") { request, _ in request.options.crlf = true },
    .init("--bom", nil, .output, "Begin CSV files with a byte order mark.") { request, _ in request.options.bom = true },
    .init("--no-out-header", nil, .output, "Write no CSV header.") { request, _ in request.options.outHeader = false },
    .init("--unflatten", nil, .output, "Put dotted columns back into objects: address.city becomes {\"address\":{\"city\":…}}.") {
      request, _ in
      request.options.unflatten = true
    },
    .init("--lists", "F,…", .output, repeatable: true, "Write the cells of these columns as arrays, which they hold in JSON or cut at ;.") {
      $0.options.lists += try ArgumentList.fields([text($1)], what: "--lists").map(\.whole)
    },
    // Guards
    .init("--max-rejects", "N|P%", .guards, "Records that may be unreadable before the run fails. Default: 0.") {
      if let percent = Quantity.percent(text($1)) {
        $0.options.maxRejects = .percent(percent)
      } else if let count = Quantity.count(text($1)) {
        $0.options.maxRejects = .count(count)
      } else {
        throw bad("--max-rejects", $1, "a whole number, or a percentage such as 0.1%")
      }
    },
    .init("--rejects", "FILE", .guards, "Write unreadable records to FILE, as NDJSON that --from rejects reads back.") {
      $0.options.rejects = $1
    },
    .init("--min-records", "N", .guards, "Publish nothing and exit 8 if fewer records would be written.") {
      $0.options.minRecords = try count("--min-records", $1, within: 0...Int.max)
    },
    .init("--max-drop", "P%", .guards, "Publish nothing and exit 8 if more than this share of the records read is not written.") {
      guard let percent = Quantity.percent(text($1)) else { throw bad("--max-drop", $1, "a percentage such as 5%") }
      $0.options.maxDrop = percent
    },
    // Resources
    .init("--memory", "SIZE", .resources, "What the run may use; everything beyond spills to --temp-dir. Default: 256M.") {
      $0.options.memory = try size("--memory", $1, least: 16 << 20)
    },
    .init("--threads", "N", .resources, "Pieces of work at once, compression included. Default: the processors at hand.") {
      $0.options.threads = try count("--threads", $1, within: 1...1024)
    },
    .init("--temp-dir", "DIR", .resources, "Where to spill. Default: $TMPDIR, else /var/tmp.") { $0.options.tempDir = $1 },
    .init(
      "--resume", nil, .resources,
      "Finish or go on with a run to this output that was killed; an ordinary run where there is none, or it left nothing."
    ) { request, _ in request.options.resume = true },
    // Telling
    .init(
      "--report", "FILE", .telling,
      "Write the books of the run to FILE: .json, .md or .html for people, .prom for Prometheus' text file collector."
    ) {
      if ReportText.hasUnknownEnding($1) {
        throw OhanaError(
          .usage, "bad-value", "--report cannot be told its form by the name '\($1)'", fix: "end it in .json, .md, .html or .prom")
      }
      $0.options.report = $1
    },
    .init(
      "--manifest", "FILE", .telling,
      "Describe the published files in FILE (records, sizes, SHA-256, plan, versions, books), which appears last; see 'ohana help check'."
    ) { $0.options.manifest = $1 },
    .init("--trace", "FILE", .telling, "Write what each step did with each batch to FILE, for chrome://tracing or Perfetto.") {
      $0.options.trace = $1
    },
    .init(
      "--trace-signals", nil, .telling,
      "Write a line to standard error for each signal of the run that fires, with its observers; as --log-format says, and without values."
    ) { request, _ in request.options.traceSignals = true },
    .init("--progress", "auto|always|never", .telling, "The progress line on standard error. Default: auto, only on a terminal.") {
      $0.options.progress = try choice("--progress", $1)
    },
    .init("--quiet", short: "-q", nil, .telling, "No summary, no notes, no progress; errors only.") { request, _ in
      request.options.quiet = true
    },
    .init("--log-format", "text|json", .telling, "What goes to standard error: lines for people (default), or a JSON object a line.") {
      $0.options.logFormat = try choice("--log-format", $1)
    },
    .init("--show-values", nil, .telling, "Let messages show values: the beginning of rejects, the key that diff met twice.") {
      request, _ in request.options.showValues = true
    },
    // Meaning
    .init("--locale", "L", .meaning, "Language of collation, for example de or sv. Default: CLDR root; never the environment's.") {
      $0.options.locale = text($1)
    },
    .init("--seed", "N", .meaning, "Seed of sample and generate. Default: 0.") {
      guard let seed = UInt64(text($1)) else { throw bad("--seed", $1, "a whole number") }
      $0.options.seed = seed
    },
  ]

  // MARK: Reading values

  private static func text(_ value: FilePath) -> String { String(decoding: value.bytes, as: UTF8.self) }

  private static func bad(_ option: String, _ value: FilePath, _ expected: String) -> OhanaError {
    OhanaError(.usage, "bad-value", "\(option) '\(value)' is not \(expected)")
  }

  private static func choice<Choice: RawRepresentable<String> & CaseIterable & Equatable>(
    _ option: String, _ value: FilePath, among choices: [Choice] = Array(Choice.allCases)
  ) throws -> Choice {
    if let choice = Choice(rawValue: text(value).lowercased()), choices.contains(choice) { return choice }
    let known = choices.map(\.rawValue)
    let near = NearMiss.best(for: text(value), among: known).map { "did you mean \($0)? " } ?? ""
    throw OhanaError(.usage, "bad-value", "\(option) cannot be '\(value)'", fix: "\(near)there are \(known.joined(separator: ", "))")
  }

  private static func size(_ option: String, _ value: FilePath, least: Int) throws -> Int {
    guard let bytes = Quantity.bytes(text(value)) else { throw bad(option, value, "a size such as 256M or 4G") }
    guard bytes >= least else { throw OhanaError(.usage, "bad-value", "\(option) cannot be less than \(Quantity.sized(least))") }
    return bytes
  }

  private static func count(_ option: String, _ value: FilePath, within range: ClosedRange<Int>) throws -> Int {
    guard let count = Quantity.count(text(value)), range.contains(count) else {
      throw bad(
        option, value,
        range.upperBound == .max
          ? "a whole number of at least \(range.lowerBound)" : "a whole number in \(range.lowerBound)…\(range.upperBound)")
    }
    return count
  }

  private static func character(_ option: String, _ value: FilePath) throws -> UInt8 {
    switch text(value).lowercased() {
    case "tab", "\\t": return UInt8(ascii: "\t")
    default: break
    }
    guard value.bytes.count == 1, let byte = value.bytes.first, byte < 0x80, byte != 0x0a, byte != 0x0d, byte != 0 else {
      throw bad(option, value, "one ASCII character, or 'tab'")
    }
    return byte
  }
}
