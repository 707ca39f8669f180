internal import Ohana

/// `ohana diff OLD NEW --by KEY,…`: 0 if nothing differs, 1 if something does.
enum DiffCommand {
  static let help = DiffStage.help.options

  static func run(_ words: inout ArgumentWords) async throws -> Int32 {
    var parser = try PlainCommand.parse(&words, extra: help)
    let inputs = parser.request.inputs
    guard inputs.count == 2 else {
      throw OhanaError(.usage, "wrong-inputs", "diff compares two inputs, not \(inputs.count)", fix: "ohana diff OLD NEW --by KEY")
    }
    if let onAuth = parser.request.options.onAuth, onAuth != .fail {
      throw OhanaError(.usage, "unused-option", "diff needs both of its inputs, so that --on-auth cannot be \(onAuth.rawValue)")
    }
    if parser.request.options.interleave {
      throw OhanaError(.usage, "unused-option", "diff knows its inputs by their order, so that there is no --interleave")
    }
    // Each side may be several files: a folder, a glob.
    let old = try InputResolver.resolve([inputs[0]])
    let new = try InputResolver.resolve([inputs[1]])
    parser.request.files = old + new
    let to = parser.request.options.to
    if to == .csv || to == .tsv || to == nil && parser.request.output.flatMap({ FormatSniffer.format(of: $0) }) == .csv {
      throw OhanaError(
        .usage, "needs-ndjson", "diff writes records within records, which need NDJSON", fix: "--to ndjson, or a .ndjson name")
    }
    let stage = try DiffStage.parse(arguments: parser.extra["--by"].map { ["--by", $0] } ?? [], oldSources: 0..<old.count)
    parser.request.stages = [stage]
    if parser.request.output == nil, parser.request.options.to == nil { parser.request.options.to = .ndjson }
    let run = ConsoleRun(parser.request)
    let state = await run.write()
    let status = run.status(state)
    // Each difference is a record; those that a run before has written count, too.
    return status == 0 && state.books.written > 0 ? 1 : status
  }
}

/// `ohana stats INPUT…`: a table for people, or with `--to` or `-o` a record per field.
enum StatsCommand {
  static let help: [StageHelp.Option] = []

  static func run(_ words: inout ArgumentWords) async throws -> Int32 {
    var parser = try PlainCommand.parse(&words)
    let stage = StatisticsStage()
    parser.request.stages = [stage]
    if parser.request.output != nil || parser.request.options.to != nil { return try await RunCommand.run(parser.request) }
    let run = ConsoleRun(parser.request)
    let state = await run.execute(.count)
    let status = run.status(state)
    if status == 0 {
      for line in StatisticsText.table(stage.report.fields, records: stage.report.records, width: Terminal.width) { Terminal.print(line) }
    }
    return status
  }
}
