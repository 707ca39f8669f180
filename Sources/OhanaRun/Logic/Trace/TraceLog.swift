internal import OhanaCore
internal import OhanaEngine
internal import OhanaFormats

/// What each step did with each batch, as a file for chrome://tracing and Perfetto (`--trace FILE`): the Trace Event Format, complete
/// events ("ph":"X") in microseconds since the run began. Changes of the run's state stand among them, in the category `dispatch`. No names or
/// values of records are in it.
final class TraceLog: FlowTrace {
  private struct Text {
    var bytes = ByteBuffer(capacity: 1 << 16)
    var failure: OhanaError?
    var isOpen = true
  }
  private let file: OutputFile
  private let began: UInt64
  private let text = Locked(Text())
  private let names = Locked<[String]>([])
  private let threads = Locked<[pthread_t: Int]>([:])

  init(_ target: OutputTarget, began: UInt64) {
    file = OutputFile(target)
    self.began = began
    text.withLock { $0.bytes.append("[\n{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":1,\"args\":{\"name\":\"ohana\"}}") }
  }

  /// What steps are called, by index.
  func name(_ plan: RunPlan) {
    let known = plan.pipeline.steps.map { step in
      if let stage = step.stage { return String(plan.stages[stage].stage.text.prefix { $0 != " " }) }
      return switch step.step {
      case .row(let stage): "\(type(of: stage))"
      case .ordered(let stage): "\(type(of: stage))"
      }
    }
    names.withLock { $0 = known }
  }

  func span(step: Int?, from start: UInt64, to end: UInt64, records: Int) {
    let name = step.flatMap { step in names.withLock { $0.indices.contains(step) ? $0[step] : nil } } ?? "read"
    write(name, "batch", from: start, to: end, arguments: "\"records\":\(records)")
  }

  /// A change of the state, refused or not.
  func dispatch(_ updater: any RunUpdater, from start: UInt64, to end: UInt64, isRefused: Bool) {
    let name = String(reflecting: type(of: updater)).split(separator: ".").dropFirst().joined(separator: ".")
    write(name, "dispatch", from: start, to: end, arguments: isRefused ? "\"refused\":true" : "")
  }

  private func write(_ name: String, _ category: String, from start: UInt64, to end: UInt64, arguments: String) {
    let line =
      ",\n{\"name\":\"\(name)\",\"cat\":\"\(category)\",\"ph\":\"X\",\"pid\":1,\"tid\":\(threadNumber()),"
      + "\"ts\":\(microseconds(start &- min(start, began))),\"dur\":\(microseconds(end &- start)),\"args\":{\(arguments)}}"
    text.withLock { text in
      guard text.isOpen else { return }
      text.bytes.append(string: line)
      if text.bytes.count >= 1 << 16 { flush(&text) }
    }
  }

  /// Ends the file and lets it appear. Called once. - Throws: `io`, what went wrong since the beginning included.
  func finish() throws {
    let failure = text.withLock { text in
      text.bytes.append("\n]\n")
      flush(&text)
      text.isOpen = false
      return text.failure
    }
    if let failure { throw failure }
    try file.finish()
    try file.publish()
  }

  /// Leaves nothing, unless it has appeared.
  func discard() {
    text.withLock { $0.isOpen = false }
    file.discard()
  }

  private func flush(_ text: inout Text) {
    guard text.failure == nil else { return text.bytes.removeAll() }
    do throws(OhanaError) { try file.write(text.bytes.bytes) } catch { text.failure = error }
    text.bytes.removeAll()
  }

  private func microseconds(_ nanoseconds: UInt64) -> String {
    let rest = String(nanoseconds % 1000)
    return "\(nanoseconds / 1000)." + String(repeating: "0", count: 3 - rest.count) + rest
  }

  /// Threads by the order in which they were met.
  private func threadNumber() -> Int {
    let thread = pthread_self()
    return threads.withLock { threads in
      if let number = threads[thread] { return number }
      threads[thread] = threads.count + 1
      return threads.count
    }
  }
}
