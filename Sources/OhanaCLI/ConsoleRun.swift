internal import Dispatch
internal import Ohana

/// One run as the command line shows it: progress while it goes on, a summary, an exit status.
struct ConsoleRun: Sendable {
  private(set) var request: RunRequest

  init(_ request: RunRequest) {
    self.request = request
    self.request.arguments = CommandLineWords.current
    self.request.authorise = AccessQuestion.asker(for: request)
    Terminal.writesJSON = request.options.logFormat == .json
  }

  /// Runs to the end and returns the exit status.
  func run() async throws -> Int32 { status(await write()) }

  /// Runs to the end, and says what came of it unless something went wrong.
  func write() async -> RunState {
    let state = await execute(.write)
    if !request.options.quiet, state.failure == nil, !state.isInterrupted {
      let lines = Terminal.writesJSON ? [LogText.summary(state, output: request.output)] : SummaryText.lines(state, output: request.output)
      for line in lines { Terminal.error(line) }
    }
    return state
  }

  /// Runs to the end; for `count` and `check` without writing anything.
  func execute(_ purpose: RunPurpose) async -> RunState {
    var request = request
    let trace = request.options.traceSignals ? SignalTrace(&request) : nil
    defer { withExtendedLifetime(trace) {} }
    let session = RunSession(request, purpose: purpose)
    trace?.follow(session)
    let shows =
      switch request.options.progress {
      case .always: true
      case .never: false
      case .auto: Terminal.isErrorTerminal && !request.options.quiet
      }
    let shownNotes = Locked(0)
    let isQuiet = request.options.quiet
    let output = request.output
    session.store.listen { old, new in
      // What is known before the first record is told before it: the run may not come to its end.
      if old.phase < .running, new.phase == .running, !isQuiet {
        for note in new.notes { Terminal.note(note) }
        shownNotes.withLock { $0 = new.notes.count }
      }
      if new.progressRequests > old.progressRequests { Terminal.error(Self.progress(new)) }
      if shows, new.phase < .published, new.progress != old.progress, new.progress.seconds > 0.5 {
        if Terminal.writesJSON { Terminal.error(Self.progress(new)) } else { ProgressLine.draw(Self.progress(new)) }
      }
      if let interruption = new.interruption, interruption != old.interruption { Self.see(to: interruption, session, output) }
    }
    let state = await session.run()
    if state.isInterrupted { Self.claimEnd() }
    if shows, !Terminal.writesJSON { ProgressLine.clear() }
    if !isQuiet { for note in state.notes.dropFirst(shownNotes.withLock { $0 }) { Terminal.note(note) } }
    return state
  }

  /// Whoever takes it says how the run ended and ends the process.
  private static let end = DispatchSemaphore(value: 1)

  /// Returns only if nobody else is ending the process, and then nobody will.
  private static func claimEnd() { end.wait() }

  /// The second signal ends the process at once. So does the first after a while, where the run cannot come to rest: it may be waiting
  /// for a pipe.
  private static func see(to interruption: RunState.Interruption, _ session: RunSession, _ output: FilePath?) {
    let status = 128 + interruption.signal
    @Sendable func end(isPatient: Bool) {
      // Names are being changed: that is quickly done, and nothing half done is left to be seen.
      let phase = session.store.state.phase
      if phase == .committing, interruption.count == 1 { return }
      // There is a report to be written yet.
      if phase == .published, isPatient { return after(5000) { end(isPatient: false) } }
      claimEnd()
      session.abandon()
      let state = session.store.state
      Terminal.error(interrupted(state, output))
      // Whoever waits for the result has it.
      _exit(state.phase == .published ? OhanaError.Category.io.rawValue : status)
    }
    if interruption.count > 1 { return end(isPatient: false) }
    let state = session.store.state
    if !state.isLeaving, state.phase < .committing { LargeFiles.leaveClosingToOthers() }
    // A checkpoint may take its time. Behind the last record there is none to be taken.
    after(state.isLeaving && state.phase == .running ? 10_000 : 300) { end(isPatient: true) }
  }

  private static func after(_ milliseconds: Int, _ body: @escaping @Sendable () -> Void) {
    DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(milliseconds), execute: body)
  }

  private static func progress(_ state: RunState) -> String {
    Terminal.writesJSON ? LogText.progress(state.progress) : ProgressText.line(state.progress)
  }

  private static func interrupted(_ state: RunState, _ output: FilePath?) -> String {
    let message = message(state, output)
    return Terminal.writesJSON ? LogText.interrupted(state, message: message) : message
  }

  private static func message(_ state: RunState, _ output: FilePath?) -> String {
    if state.phase == .published { return "ohana: interrupted; the outputs are published, but what was to be written after them is not" }
    if state.phase == .committing { return "ohana: interrupted while outputs got their names; the next run to this output finishes that" }
    if output == nil || output == "-" {
      return "ohana: interrupted; what is on standard output is not all, and everything temporary is gone"
    }
    return state.hasLeft
      ? "ohana: interrupted; nothing is published, and --resume goes on from record \(Quantity.grouped(state.kept?.checkpoint?.records ?? 0))"
      : "ohana: interrupted; nothing is published and everything temporary is gone"
  }

  /// Prints what went wrong, if anything did, and returns the exit status.
  func status(_ state: RunState) -> Int32 {
    if state.isInterrupted {
      Terminal.error(Self.interrupted(state, request.output))
    } else if let failure = state.failure {
      Terminal.report(failure)
    }
    return state.exitStatus
  }
}
