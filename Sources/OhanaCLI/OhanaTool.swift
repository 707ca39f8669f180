internal import Ohana

/// The command line tool: a verb, and the exit status it comes to.
enum OhanaTool {
  /// Runs one command line; prints data to standard output and everything else to standard error.
  static func run(_ words: [FilePath]) async -> Int32 {
    CommandLineWords.current = words
    var words = ArgumentWords(words)
    guard let verb = words.take() else {
      Terminal.error(HelpText.overview)
      return OhanaError.Category.usage.rawValue
    }
    do {
      let status = try await run(verb: verb.text, &words)
      if status == 0, let failure = Terminal.outputFailure { return Terminal.report(failure) }
      return status
    } catch let error as OhanaError {
      return Terminal.report(error)
    } catch {
      return Terminal.report(OhanaError(.io, "unknown", "\(error)"))
    }
  }

  private static func run(verb: String, _ words: inout ArgumentWords) async throws -> Int32 {
    switch verb {
    case "help", "--help", "-h": return try HelpCommand.run(&words)
    case "version", "--version", "-V": return try VersionCommand.run(&words)
    default: break
    }
    // `ohana VERB --help` is `ohana help VERB`, wherever it stands in front of `--`.
    if words.asksForHelp {
      var topic = ArgumentWords([FilePath(verb)])
      return try HelpCommand.run(&topic)
    }
    switch verb {
    case "run": return try await RunCommand.run(RunCommand.parse(&words))
    case "convert": return try await ConvertCommand.run(&words)
    case "plan": return try await PlanCommand.run(&words)
    case "check": return try await CheckCommand.run(&words)
    case "count": return try await CountCommand.run(&words)
    case "head": return try await HeadCommand.run(&words)
    case "stats": return try await StatsCommand.run(&words)
    case "diff": return try await DiffCommand.run(&words)
    case "resume": return try await ResumeCommand.run(&words)
    case "generate": return try await GenerateCommand.run(&words)
    default:
      if let entry = StageCatalog.entry(named: verb) { return try await RunCommand.run(StageCommand.parse(entry, &words)) }
      let known = HelpText.verbs.map(\.name) + StageCatalog.all.map(\.help.name)
      let near = NearMiss.best(for: verb, among: known).map { "did you mean \($0)? " } ?? ""
      throw OhanaError(.usage, "unknown-verb", "there is no command '\(verb)'", fix: near + "'ohana help' lists them")
    }
  }
}
