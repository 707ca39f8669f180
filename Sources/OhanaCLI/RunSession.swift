internal import Dispatch
internal import Ohana
internal import Synchronization

/// One run as the command line shows it: progress while it goes on, signals that end it, a summary, an exit status.
struct RunSession: Sendable {
  let request: RunRequest

  init(_ request: RunRequest) { self.request = request }

  /// Runs to the end and returns the exit status.
  func run() async throws -> Int32 {
    let outcome = await execute(RunManager(), purpose: .write)
    if !request.options.quiet, outcome.error == nil {
      for line in SummaryText.lines(outcome.books, request: request) { Terminal.error(line) }
    }
    return status(outcome)
  }

  /// Runs without writing anything; for `count` and `check`.
  func execute(_ manager: RunManager, purpose: RunManager.Purpose) async -> RunOutcome {
    let run = manager.makeRun(request, purpose: purpose)
    let observer = SignalObserver { event in
      switch event {
      case .terminate(let signal, let count):
        if count > 1 { _exit(128 + signal) }
        run.cancel(signal: signal)
      case .showProgress: Terminal.error(Self.progress(run))
      }
    }
    let shows =
      switch request.options.progress {
      case .always: true
      case .never: false
      case .auto: Terminal.isErrorTerminal && !request.options.quiet
      }
    let timer = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "ohana.progress"))
    if shows {
      timer.schedule(deadline: .now() + .milliseconds(500), repeating: .milliseconds(200))
      timer.setEventHandler { ProgressLine.draw(Self.progress(run)) }
    }
    timer.resume()
    let outcome = await run.execute()
    timer.cancel()
    if shows { ProgressLine.clear() }
    withExtendedLifetime(observer) {}
    if !request.options.quiet { for note in outcome.notes { Terminal.note(note) } }
    return outcome
  }

  /// Prints the error, if any, and returns the exit status.
  func status(_ outcome: RunOutcome) -> Int32 {
    if let signal = outcome.signal {
      Terminal.error("ohana: interrupted; nothing is published and everything temporary is gone")
      return 128 + signal
    }
    guard let error = outcome.error else { return 0 }
    return Terminal.report(error)
  }

  private static func progress(_ run: Run) -> String {
    let now = run.progress
    return ProgressLine.text(done: now.bytesRead, total: now.bytesTotal, records: now.records, seconds: now.seconds)
  }
}
