public import OhanaCore

/// What goes to standard error as `--log-format json`: one object a line, keys in order, told apart by `event`. No values of records are
/// in it. Pure functions of the state.
///
/// | event | keys |
/// |---|---|
/// | `progress` | `bytesRead`, `bytesTotal` (where known), `records` (good ones read), `seconds`, `percent` and `secondsLeft` (of what is being done, where known), `limiting` (where known), `warning` (where something is short); behind the end of the input, while a stage gives out what it held back, `stage`, `passed` and `toPass` (its records) |
/// | `note` | `message` |
/// | `signal` | `signal` (its name), `detail` (what it carries, in numbers), `observers` (`--trace-signals`) |
/// | `error` | `code`, `exit`, `message` |
/// | `interrupted` | `signal`, `resumable`, `message` |
/// | `summary` | the books, and the output's name |
public enum LogText {
  private struct Line: Encodable {
    var event: String
    var message: String?
    var code: String?
    var exit: Int32?
    var signal: Int32?
    var resumable: Bool?
  }
  private struct ProgressLine: Encodable {
    var event = "progress"
    var bytesRead: Int
    var bytesTotal: Int?
    var records: Int
    var seconds: Double
    var percent: Int?
    var secondsLeft: Double?
    var stage: String?
    var passed: Int?
    var toPass: Int?
    var limiting: String?
    var warning: String?
  }
  private struct SignalLine: Encodable {
    var event = "signal"
    var signal: String
    var detail: String
    var observers: [String]
  }
  private struct SummaryLine: Encodable {
    var event = "summary"
    var output: FilePath?
    var books: RunBooks
  }

  /// How far a run is.
  public static func progress(_ progress: RunState.Progress) -> String {
    text(
      ProgressLine(
        bytesRead: progress.bytesRead, bytesTotal: progress.bytesTotal, records: progress.records, seconds: progress.seconds,
        percent: progress.percent, secondsLeft: progress.secondsLeft.map { ($0 * 10).rounded() / 10 }, stage: progress.held?.stage,
        passed: progress.held?.passed, toPass: progress.held?.total, limiting: progress.limiting, warning: progress.warning))
  }
  /// Something worth knowing that is no error.
  public static func note(_ message: String) -> String { text(Line(event: "note", message: message)) }
  /// A signal of the run has fired.
  ///
  /// - Parameters:
  ///   - name: the signal's.
  ///   - detail: what it carries, without values of records.
  ///   - observers: who was told.
  public static func fired(_ name: String, detail: String, observers: [String]) -> String {
    text(SignalLine(signal: name, detail: detail, observers: observers))
  }
  /// What went wrong, and the exit status that comes of it.
  public static func error(_ failure: RunState.Failure) -> String {
    text(Line(event: "error", message: failure.message, code: failure.code, exit: failure.exitStatus))
  }
  /// - Parameter message: what a person is told.
  public static func interrupted(_ state: RunState, message: String) -> String {
    text(Line(event: "interrupted", message: message, signal: state.interruption?.signal, resumable: state.hasLeft))
  }
  /// - Parameter output: the name of the main output, as given; nil: standard output.
  public static func summary(_ state: RunState, output: FilePath?) -> String { text(SummaryLine(output: output, books: state.books)) }

  private static func text(_ value: some Encodable) -> String {
    String(decoding: (try? JSONCoding.line(value)) ?? Array("{}".utf8), as: UTF8.self)
  }
}
