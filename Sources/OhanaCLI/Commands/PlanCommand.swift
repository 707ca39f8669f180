internal import Ohana

/// `ohana plan run …`: what a command would do.
enum PlanCommand {
  static func run(_ words: inout ArgumentWords) async throws -> Int32 {
    guard let verb = words.take()?.text else {
      throw OhanaError(.usage, "missing-verb", "there is nothing to plan", fix: "ohana plan run INPUT… then STAGE …")
    }
    var request: RunRequest
    switch verb {
    case "run": request = try RunCommand.parse(&words)
    case "convert": request = try PlainCommand.parse(&words).request
    default:
      guard let entry = StageCatalog.entry(named: verb) else {
        throw OhanaError(.usage, "unknown-verb", "'\(verb)' has no plan", fix: "plan run, convert, or a stage")
      }
      request = try StageCommand.parse(entry, &words)
    }
    request.providers = request.providers.map { $0 is CommandDataProvider ? NotStarted(identifier: $0.identifier) : $0 }
    for line in try RunSession.describe(request) { Terminal.print(line) }
    return 0
  }
}

/// A program of `--from 'cmd: …'` that is not run: what it would write is not known, and taken for NDJSON.
private struct NotStarted: DataProvider {
  let identifier: String
  func open() throws -> ProviderContent { .stream(Nothing()) }

  private final class Nothing: ByteStream {
    var inputBytesRead: Int { 0 }
    func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int { 0 }
  }
}
