internal import Ohana

/// `--trace-signals`: a line on standard error whenever a signal of the run fires, with what it carries in numbers, and who observes it. No
/// value of a record is in it.
final class SignalTrace: Sendable {
  private let onChunkDone = Signal<InputEvent>("chunk done")
  private let onReject = Signal<InputEvent>("reject")
  private let onWarning = Signal<InputEvent>("warning")
  private let onProviderFailed = Signal<InputEvent>("provider failed")
  private let onSpill = Signal<Int>("spill")
  private let ofRun = Locked<RunSignals?>(nil)

  /// Hears of a request's inputs and spills, behind whoever does already.
  init(_ request: inout RunRequest) {
    let (onInput, spilled) = (request.onInput, request.onSpill)
    request.onInput = { [onChunkDone, onReject, onWarning, onProviderFailed] event in
      onInput?(event)
      switch event.kind {
      case .opened: break
      case .ended: onChunkDone.fire(event)
      case .rejected: onReject.fire(event)
      case .warned: onWarning.fire(event)
      case .failed: onProviderFailed.fire(event)
      }
    }
    request.onSpill = { [onSpill] bytes in
      spilled?(bytes)
      onSpill.fire(bytes)
    }
    for signal in [onChunkDone, onReject, onWarning, onProviderFailed] { trace(signal, Self.text) }
    trace(onSpill) { "\(Quantity.sized($0)) so far" }
  }

  /// - Parameter session: has not begun.
  func follow(_ session: RunSession) {
    let signals = RunSignals(of: session)
    trace(signals.onProgress) { "records: \(Quantity.grouped($0.records))" + ($0.percent.map { ", \($0) %" } ?? "") }
    trace(signals.onCheckpoint) { "number \($0.number), at record \(Quantity.grouped($0.records))" }
    trace(signals.onPublished) { "written: \(Quantity.grouped($0.written))" }
    trace(signals.onCancelled) { "signal \($0)" }
    trace(signals.onFailed) { "\($0.code), exit \($0.exitStatus)" }
    ofRun.withLock { $0 = signals }
  }

  private static func text(_ event: InputEvent) -> String {
    switch event.kind {
    case .opened: "\(event.name)"
    case .ended(let read, let rejected): "\(event.name): \(Quantity.grouped(read)) read, \(Quantity.grouped(rejected)) rejected"
    case .rejected(let count, let first): "\(event.name): \(Quantity.grouped(count)), first in line \(first.location?.line ?? 0)"
    case .warned(let count, let code, let line): "\(event.name): \(Quantity.grouped(count)) \(code), first in line \(line)"
    case .failed(let error): "\(event.name): \(error.code)"
    }
  }

  private func trace<Payload>(_ signal: Signal<Payload>, _ detail: @escaping @Sendable (Payload) -> String) {
    signal.observe(self) { [unowned signal] _, payload in
      let observers = signal.debugDescription.split(separator: "\n").dropFirst().map { String($0.drop { $0 == " " }) }
      if Terminal.writesJSON {
        Terminal.error(LogText.fired(signal.name, detail: detail(payload), observers: observers))
      } else {
        let count = observers.count == 1 ? "1 observer" : "\(observers.count) observers"
        Terminal.error("signal: \(signal.name) (\(detail(payload))) to \(count): \(observers.joined(separator: ", "))")
      }
    }
  }
}
