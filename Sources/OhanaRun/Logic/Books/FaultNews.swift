internal import OhanaCore

/// Gathers what could not be read until it is worth telling: at once where nothing was told for a while, otherwise with what follows, and at
/// the latest before the input's end.
struct FaultNews {
  private let announce: @Sendable (Int, InputEvent.Kind) -> Void
  private let clock: @Sendable () -> UInt64
  private var rejects: [(input: Int, count: Int, first: OhanaError)] = []
  private var warnings: [(input: Int, code: String, count: Int, line: Int)] = []
  private var pace = Pace()

  init(_ announce: @escaping @Sendable (Int, InputEvent.Kind) -> Void, clock: @escaping @Sendable () -> UInt64 = monotonicNanoseconds) {
    self.announce = announce
    self.clock = clock
  }

  /// - Parameter source: the input's name.
  mutating func add(_ batch: RecordBatch, _ source: FilePath) {
    for reject in batch.rejects {
      if rejects.last?.input == batch.source {
        rejects[rejects.count - 1].count += 1
      } else {
        let location = OhanaError.Location(source, line: batch.firstLine + reject.line + 1, byte: reject.column)
        rejects.append((batch.source, 1, OhanaError(.badInput, reject.reason.rawValue, at: location, reject.detail)))
      }
    }
    for warning in batch.warnings {
      if let index = warnings.firstIndex(where: { $0.input == batch.source && $0.code == warning.code }) {
        warnings[index].count += 1
      } else {
        warnings.append((batch.source, warning.code, 1, batch.firstLine + warning.line + 1))
      }
    }
    if hasNews, pace.isDue(at: clock()) { giveOut() }
  }

  /// Tells all there is.
  mutating func tell() {
    guard hasNews else { return }
    pace.tell(at: clock())
    giveOut()
  }

  private var hasNews: Bool { !rejects.isEmpty || !warnings.isEmpty }

  private mutating func giveOut() {
    for reject in rejects { announce(reject.input, .rejected(reject.count, first: reject.first)) }
    for warning in warnings { announce(warning.input, .warned(warning.count, code: warning.code, line: warning.line)) }
    (rejects, warnings) = ([], [])
  }
}
