internal import Ohana

/// `ohana run INPUT… [-o OUTPUT] [run options] then STAGE ARGS [then STAGE ARGS]…`
enum RunCommand {
  static let help = [
    StageHelp.Option("--file", "PIPELINE", "Take inputs, options and stages from a JSON5 file; what the line says wins. Short: -f.")
  ]

  static func parse(_ words: inout ArgumentWords) throws -> RunRequest {
    // The file first: what the line says wins.
    var parser = RunOptionParser(try words.pipelineFile.map(PipelineFile.read) ?? RunRequest(), extra: help)
    var inputs: [FilePath] = []
    while let word = words.take() {
      if word == "then" {
        parser.request.stages = try stages(words.takeRest())
        break
      } else if word == "--" {
        while let input = words.next, input != "then" {
          inputs.append(input)
          _ = words.take()
        }
      } else if word == "-f" {
        guard words.take() != nil else { throw OhanaError(.usage, "missing-value", "-f needs a value", fix: "-f PIPELINE") }
      } else if word.isOption {
        try parser.take(word, from: &words)
      } else {
        inputs.append(word)
      }
    }
    if let stage = inputs.dropFirst().first(where: { StageCatalog.entry(named: $0.text) != nil && $0.withCString { access($0, F_OK) } != 0 }
    ) {
      throw OhanaError(
        .io, "not-found", at: .init(stage), "cannot open: no such file or folder",
        fix: "if the stage '\(stage)' is meant, put 'then' in front of it")
    }
    if !inputs.isEmpty { parser.request.inputs = inputs }
    return parser.request
  }

  /// The stages of a chain's words.
  static func stages(_ words: [FilePath]) throws -> [any PlannedStage] { try StageCatalog.chain(words.map(\.text)).map(stage) }

  static func stage(_ words: [String]) throws -> any PlannedStage {
    if let name = words.first, let entry = StageCatalog.entry(named: name) {
      var depth = 0
      for word in words.dropFirst() {
        if word == "--" { break }
        if word == "{" { depth += 1 } else if word == "}" { depth -= 1 }
        let option = FilePath(word).optionParts.name
        if depth == 0, RunOption.named(option) != nil, !entry.help.options.contains(where: { $0.name == option }) {
          throw OhanaError(
            .usage, "misplaced-option", "\(option) is an option of the run, not of '\(name)'", fix: "put it in front of the first 'then'")
        }
      }
    }
    return try StageCatalog.stage(words)
  }

  static func run(_ request: RunRequest) async throws -> Int32 {
    try await ConsoleRun(request).run()
  }
}

/// `ohana STAGE ARGS [--] INPUT… [-o OUTPUT]`: one stage, the short way.
enum StageCommand {
  static func parse(_ entry: StageCatalog.Entry, _ words: inout ArgumentWords) throws -> RunRequest {
    var parser = RunOptionParser()
    var stageWords: [String] = []
    var positionals: [FilePath] = []
    var rest: [FilePath] = []
    while let word = words.take() {
      if word == "{", entry.takesBraces {
        stageWords.append(word.text)
        var depth = 1
        while depth > 0, let word = words.take() {
          if word == "{" { depth += 1 } else if word == "}" { depth -= 1 }
          stageWords.append(word.text)
        }
      } else if word == "--" {
        rest = words.takeRest()
      } else if word == "then" {
        throw OhanaError(
          .usage, "misplaced-then", "'then' chains stages behind 'ohana run'", fix: "ohana run INPUT… then \(entry.help.name) … then …")
      } else if word.isOption, let option = entry.help.options.first(where: { $0.name == word.optionParts.name }) {
        stageWords.append(word.text)
        if option.value != nil, word.optionParts.value == nil, let value = words.take() { stageWords.append(value.text) }
      } else if word.isOption, !(entry.takesPositionals && positionals.isEmpty && word.looksLikeExpression) {
        try parser.take(word, from: &words, otherNames: entry.help.options.map(\.name))
      } else {
        positionals.append(word)
      }
    }
    // The stage's own arguments come before the inputs.
    var own = entry.positionalCount(positionals.map(\.text), stageWords)
    if own == 0 { own = entry.positionalCount((positionals + rest).map(\.text), stageWords) }
    positionals += rest
    stageWords += (positionals.prefix(own).contains(where: \.isOption) ? ["--"] : []) + positionals.prefix(own).map(\.text)
    parser.request.inputs = Array(positionals.dropFirst(own))
    parser.request.stages = [try entry.parse(stageWords)]
    if parser.request.inputs.isEmpty, parser.request.filesFrom == nil, parser.request.providers.isEmpty, let last = positionals.last {
      throw OhanaError(
        .usage, "no-input", "no input is named: '\(last)' belongs to the stage",
        fix: "ohana \(entry.help.name) \(entry.help.usage) INPUT…")
    }
    return parser.request
  }
}

/// `ohana convert INPUT… -o OUTPUT`: formats from the names, or `--from` and `--to`.
enum ConvertCommand {
  static func run(_ words: inout ArgumentWords) async throws -> Int32 {
    let request = try PlainCommand.parse(&words).request
    guard request.output != nil || request.options.to != nil else {
      throw OhanaError(
        .usage, "missing-output", "convert needs to know what to write", fix: "name an output with -o, or a format with --to")
    }
    return try await RunCommand.run(request)
  }
}

/// `ohana head [-n N] INPUT…`: the first records.
enum HeadCommand {
  static let help = [StageHelp.Option("--records", "N", "How many records. Default: 10. Short: -n.")]

  static func run(_ words: inout ArgumentWords) async throws -> Int32 {
    var parser = try PlainCommand.parse(&words, extra: help, short: ["-n": "--records"])
    let text = parser.extra["--records"] ?? "10"
    guard let count = Quantity.count(text) else {
      throw OhanaError(.usage, "bad-value", "-n '\(text)' is not a number of records", fix: "write a whole number of at least 0")
    }
    parser.request.stages = [LimitStage(count: count)]
    parser.request.options.quiet = true
    return try await RunCommand.run(parser.request)
  }
}

/// Verbs that take inputs and run options, and no stage.
enum PlainCommand {
  /// For verbs that write no records.
  static func refuseOutput(_ request: RunRequest, of verb: String) throws {
    guard let output = request.output else { return }
    throw OhanaError(
      .usage, "no-output", "\(verb) prints its answer and writes no records", fix: "leave out -o, or write 'ohana \(verb) … > \(output)'")
  }

  static func parse(
    _ words: inout ArgumentWords, extra: [StageHelp.Option] = [], short: [String: String] = [:], allowed: Set<String>? = nil
  ) throws -> RunOptionParser {
    var parser = RunOptionParser(extra: extra, allowed: allowed)
    while let word = words.take() {
      if word == "--" {
        parser.request.inputs += words.takeRest()
      } else if let long = short[word.text] {
        try parser.take(FilePath(long), from: &words)
      } else if word.isOption {
        try parser.take(word, from: &words)
      } else {
        parser.request.inputs.append(word)
      }
    }
    return parser
  }
}
