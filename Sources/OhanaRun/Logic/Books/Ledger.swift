internal import OhanaCore
internal import OhanaFormats
internal import Synchronization

/// What is known of each input once its batches have passed in order.
struct InputLedger: Sendable, Codable {
  /// Good records.
  var read = 0
  var rejected = 0
  var blankLines = 0
  var warnings: [String: Int] = [:]
  var firstWarningLine: [String: Int] = [:]
  /// The chunk broke; what is before the break was delivered.
  var fault: OhanaError?
}

/// Numbers records and lines of each input: the first ordered step behind the reader.
final class NumberingStage: OrderedStage, Checkpointable {
  private struct Position { var ordinal = 0, line = 0 }
  private let positions = Mutex<[Position]>([])

  func process(_ batch: RecordBatch) throws -> OrderedOutcome {
    positions.withLock { positions in
      while positions.count <= batch.source { positions.append(Position()) }
      batch.firstOrdinal = positions[batch.source].ordinal
      batch.firstLine = positions[batch.source].line
      positions[batch.source].ordinal += batch.recordCount
      positions[batch.source].line += batch.lineCount
    }
    return .pass
  }
  func finish() throws -> (any BatchSource)? { nil }
  var tally: StageTally { StageTally() }

  func save(to writer: CheckpointWriter) throws {
    let positions = positions.withLock { $0 }
    try writer.put(positions.count)
    for position in positions {
      try writer.put(position.ordinal)
      try writer.put(position.line)
    }
  }

  func restore(from reader: CheckpointReader) throws {
    var restored: [Position] = []
    for _ in 0..<(try reader.count()) { restored.append(Position(ordinal: try reader.count(), line: try reader.count())) }
    positions.withLock { $0 = restored }
  }
}

/// Counts what was read and what could not be, writes rejects down, and ends the run when there are too many. Behind an early `limit`, so
/// that what lies beyond it is no error; in front of everything that holds records back.
final class LedgerStage: OrderedStage, Checkpointable {
  struct Totals: Sendable, Codable {
    var inputs: [InputLedger] = []
    var reasons: [String: Int] = [:]
    /// The first three rejects, as messages.
    var named: [OhanaError] = []
    /// The first reject is the first line of its input, read as JSON, and does not begin as JSON does.
    var beginsAsText = false
    /// Inputs whose end has been told of.
    var announced = 0
    var read: Int { inputs.reduce(0) { $0 + $1.read } }
    var rejected: Int { inputs.reduce(0) { $0 + $1.rejected } }
  }

  private let sources: [FilePath]
  private let budget: RunOptions.RejectBudget
  private let readsOn: Bool
  private let onBadChunk: RunOptions.BadChunkPolicy
  private let showsValues: Bool
  private let inTurns: Bool
  /// Inputs whose end has been told of, where they do not end in order.
  private let ended = Mutex<Set<Int>>([])
  private let write: (@Sendable (FilePath, RecordBatch, Reject) throws -> Void)?
  private let announce: (@Sendable (Int, InputEvent.Kind) -> Void)?
  /// What is to be told of faults; used by one piece of work at a time.
  private let news: Locked<FaultNews>?
  private let state = Mutex(Totals())

  /// - Parameters:
  ///   - readsOn: over the budget, read to the end and count (there is a file for rejects) instead of stopping at the first.
  ///   - showsValues: the first rejects are named with the beginning of their text.
  ///   - inTurns: batches of several inputs take turns, and there is an ``EndOfInput`` behind each input's last.
  ///   - write: gets each reject in input order.
  init(
    sources: [FilePath], budget: RunOptions.RejectBudget, readsOn: Bool, onBadChunk: RunOptions.BadChunkPolicy,
    showsValues: Bool = false, inTurns: Bool = false,
    write: (@Sendable (FilePath, RecordBatch, Reject) throws -> Void)?, announce: (@Sendable (Int, InputEvent.Kind) -> Void)? = nil
  ) {
    self.sources = sources
    self.budget = budget
    self.readsOn = readsOn
    self.onBadChunk = onBadChunk
    self.showsValues = showsValues
    self.inTurns = inTurns
    self.write = write
    self.announce = announce
    news = announce.map { Locked(FaultNews($0)) }
  }

  /// For a pass that keeps no books.
  static let idle = LedgerStage(sources: [], budget: .percent(100), readsOn: true, onBadChunk: .skip, write: nil)

  var totals: Totals { state.withLock { $0 } }
  var tally: StageTally { StageTally() }

  func process(_ batch: RecordBatch) throws -> OrderedOutcome {
    // What a stage held back was counted when it was read.
    if batch.hasOrigins { return .pass }
    let source = sources[batch.source]
    if !inTurns { announceEnds(before: batch.source) }
    for reject in batch.rejects { try write?(source, batch, reject) }
    if let news, !batch.rejects.isEmpty || !batch.warnings.isEmpty { news.withLock { $0.add(batch, source) } }
    try state.withLock { totals in
      while totals.inputs.count <= batch.source { totals.inputs.append(InputLedger()) }
      let before = totals.inputs[batch.source].read
      totals.inputs[batch.source].read += batch.truncatedAt ?? batch.readCount
      totals.inputs[batch.source].blankLines += batch.truncatedAt == nil ? batch.blankLines : 0
      for warning in batch.warnings {
        totals.inputs[batch.source].warnings[warning.code, default: 0] += 1
        let line = batch.firstLine + warning.line + 1
        if totals.inputs[batch.source].firstWarningLine[warning.code] == nil {
          totals.inputs[batch.source].firstWarningLine[warning.code] = line
        }
      }
      for reject in batch.rejects {
        totals.inputs[batch.source].rejected += 1
        totals.reasons[reject.reason.rawValue, default: 0] += 1
        if totals.named.isEmpty { totals.beginsAsText = Self.beginsAsText(reject, in: batch) }
        if totals.named.count < 3 {
          totals.named.append(
            OhanaError(
              .badInput, reject.reason.rawValue,
              at: .init(source, line: batch.firstLine + reject.line + 1, byte: reject.column),
              reject.detail + (showsValues ? Self.shown(reject) : "")))
        }
        if case .count(let limit) = budget, totals.rejected > limit, !readsOn { throw Self.overBudget(totals, budget: budget) }
      }
      if var fault = batch.fault {
        let whole = before + batch.readCount
        fault.problem += " (\(Quantity.grouped(whole)) \(whole == 1 ? "record" : "records") before it \(whole == 1 ? "is" : "are") whole)"
        // What cannot be read is recorded as a fault only where it is put up with.
        if fault.category != .io {
          if fault.fix.isEmpty { fault.fix = "--on-bad-chunk skip delivers what is whole" }
          guard onBadChunk == .skip else { throw fault }
        }
        totals.inputs[batch.source].fault = fault
      }
    }
    if let fault = batch.fault, fault.category == .io { announce?(batch.source, .failed(fault)) }
    if inTurns, batch.readerState is EndOfInput { announceEnd(of: batch.source) }
    return .pass
  }

  func finish() throws -> (any BatchSource)? {
    let totals = self.totals
    let isOver =
      switch budget {
      case .count(let limit): totals.rejected > limit
      case .percent(let percent): Double(totals.rejected) * 100 > percent * Double(totals.read + totals.rejected)
      }
    if isOver { throw Self.overBudget(totals, budget: budget) }
    if inTurns { for source in sources.indices { announceEnd(of: source) } } else { announceEnds(before: sources.count) }
    return nil
  }

  /// All that came before an input has been read when its first batch, or the end, is here.
  private func announceEnds(before source: Int) {
    guard let announce, let news else { return }
    let ended = state.withLock { totals in
      while totals.inputs.count < source { totals.inputs.append(InputLedger()) }
      defer { totals.announced = max(totals.announced, source) }
      return totals.announced < source ? Array(totals.inputs.enumerated())[totals.announced..<source] : []
    }
    if !ended.isEmpty { news.withLock { $0.tell() } }
    for (index, input) in ended { announce(index, .ended(read: input.read, rejected: input.rejected)) }
  }

  private func announceEnd(of source: Int) {
    guard let announce, let news, ended.withLock({ $0.insert(source).inserted }) else { return }
    news.withLock { $0.tell() }
    let input = state.withLock { source < $0.inputs.count ? $0.inputs[source] : InputLedger() }
    announce(source, .ended(read: input.read, rejected: input.rejected))
  }

  /// Whether an input's very first line was read as JSON and does not even begin as a record does: it may be CSV under another name.
  private static func beginsAsText(_ reject: Reject, in batch: RecordBatch) -> Bool {
    guard batch.firstLine + reject.line == 0, reject.reason == .invalidJSON || reject.reason == .notAnObject else { return false }
    return reject.raw?.first.map { $0 != UInt8(ascii: "{") && $0 != UInt8(ascii: "[") } ?? false
  }

  /// The beginning of a reject's text, on one line and of what a terminal shows.
  private static func shown(_ reject: Reject) -> String {
    guard let raw = reject.raw else { return "" }
    let text = String(decoding: raw.prefix(4 * 80 + 4), as: UTF8.self).unicodeScalars
    let printed = text.prefix(80).map { scalar -> Character in
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator, .unassigned, .privateUse, .surrogate: " "
      default: Character(scalar)
      }
    }
    return ": '" + String(printed) + (text.count > 80 ? "…'" : "'")
  }

  func save(to writer: CheckpointWriter) throws { try writer.put(JSONCoding.line(totals)) }

  func restore(from reader: CheckpointReader) throws {
    guard let totals = try? JSONCoding.value(Totals.self, from: try reader.bytes()) else { throw CheckpointReader.damaged }
    state.withLock { $0 = totals }
  }

  /// One line: the first reject's place and reason, where the next two are, how many there were, and which option lets the run go on.
  static func overBudget(_ totals: Totals, budget: RunOptions.RejectBudget) -> OhanaError {
    var error = totals.named[0]
    let others = totals.named.dropFirst().compactMap { named in
      named.location.map { "\($0.source):\($0.line ?? 0):\($0.byte ?? 0)" + ": \(named.problem)" }
    }
    if !others.isEmpty { error.problem += " (then " + others.joined(separator: ", ") + ")" }
    if totals.rejected > totals.named.count { error.problem += ", \(Quantity.grouped(totals.rejected)) unreadable records in all" }
    error.fix = "--max-rejects N lets the run go on without such records, --rejects FILE keeps them"
    if totals.beginsAsText { error.fix += ", --from csv reads CSV" }
    return error
  }
}
