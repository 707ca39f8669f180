internal import Ohana

/// `ohana generate --rows N -o OUTPUT`: sample contacts.
enum GenerateCommand {
  static let help: [StageHelp.Option] = [
    .init("--rows", "N", "How many records."),
    .init("--chunks", "K", "Over how many files they are spread. Default: 1."),
    .init("--duplicates", "P%", "Share of records that repeat an earlier person, in other spellings. Default: 28%."),
    .init("--format", "ndjson|csv", "Default: by the output's name, else ndjson."),
    .init("--truth", "FILE", "Also write which record is which person, as CSV."),
  ]

  /// Those that mean something where nothing is read.
  static let runOptions: Set = [
    "--output", "--compress", "--level", "--codec", "--overwrite", "--threads", "--temp-dir", "--resume", "--report", "--manifest",
    "--progress", "--quiet", "--log-format", "--seed",
  ]

  static func run(_ words: inout ArgumentWords) async throws -> Int32 {
    let parser = try PlainCommand.parse(&words, extra: help, allowed: runOptions)
    let request = parser.request
    if let surplus = request.inputs.first {
      throw OhanaError(.usage, "surplus-argument", "'\(surplus)' is not expected here", fix: "generate reads nothing")
    }
    func number(_ option: String) throws -> Int? {
      guard let text = parser.extra[option] else { return nil }
      guard let count = Quantity.count(text) else { throw OhanaError(.usage, "bad-value", "\(option) '\(text)' is not a whole number") }
      return count
    }
    guard let rows = try number("--rows") else {
      throw OhanaError(.usage, "missing-option", "generate needs to know how many records", fix: "--rows N")
    }
    var options = GenerateOptions(rows: rows, chunks: try number("--chunks") ?? 1, seed: request.options.seed)
    if let text = parser.extra["--duplicates"] {
      guard let percent = Quantity.percent(text) else {
        throw OhanaError(.usage, "bad-value", "--duplicates '\(text)' is not a percentage such as 28%")
      }
      options.duplicatesInPercent = percent
    }
    if let text = parser.extra["--format"] {
      guard let format = GenerateOptions.Format(rawValue: text) else {
        throw OhanaError(.usage, "bad-value", "--format cannot be '\(text)'", fix: "there are ndjson, csv")
      }
      options.format = format
    } else if let output = request.output, FormatSniffer.format(of: output) == .csv {
      options.format = .csv
    }
    options.truth = parser.extra["--truth"].map { FilePath($0) }
    let run = ConsoleRun(request)
    return run.status(await run.execute(.generate(options)))
  }
}
