public import OhanaCore
internal import OhanaEngine

/// The books of a run: where every record read went.
///
/// Per stage `in + made = out + dropped + merged`; per run `read + made = written + rejected + dropped + merged` with `read` counting
/// rejects, and the same for each input. Copies (a tee, duplicates, rejects) have counts of their own.
public struct RunBooks: Sendable, Equatable, Codable {
  /// What became of one input's records.
  public struct Input: Sendable, Equatable, Codable {
    /// The path, as given.
    public var name: String
    /// Records met, unreadable ones included.
    public var read = 0
    /// Unreadable ones.
    public var rejected = 0
    /// Those in the main output.
    public var written = 0
    /// Records that stages made of this input's.
    public var made = 0
    /// Those that stages dropped.
    public var dropped = 0
    /// Those that became part of records made.
    public var merged = 0
    /// Lines with nothing or only white space on them, which are skipped.
    public var blankLines = 0
    /// Faults that cost no record, by code.
    public var warnings: [String: Int] = [:]
    /// The line, from 1, of the first of each.
    public var firstWarningLines: [String: Int] = [:]
    /// Why reading it ended before its end.
    public var fault: String?
  }
  /// What one stage did to the number of records.
  public struct Stage: Sendable, Equatable, Codable {
    /// As the user wrote it.
    public var text: String
    /// Records that reached it.
    public var input = 0
    /// Records it made.
    public var made = 0
    /// Records that left it.
    public var output = 0
    /// Records it dropped.
    public var dropped = 0
    /// Why it drops records; nil if it never does.
    public var dropReason: String?
    /// Records that became part of those it made.
    public var merged = 0
    /// What it has to tell beside the books, and what that is.
    public var noted = 0
    public var noteReason: String?
    /// Time spent in it, all threads together.
    public var seconds = 0.0
    /// Keys by how often they were met, of stages that look at keys; nil for others, and where a later stage had enough before the input
    /// ended: then nobody knows.
    public var clusters: ClusterSizes?
    /// in + made = out + dropped + merged
    public var balances: Bool { input + made == output + dropped + merged }
  }
  /// Batches that waited for a piece of work, as shares of all batches there were (0 to 1): a full queue stands before what limits.
  public struct Queue: Sendable, Equatable, Codable {
    /// What runs as this piece of work: `reading`, texts of stages, `writing`.
    public var before: [String]
    /// Over the batches it worked on, what waited while it began with each.
    public var mean: Double
    /// The largest share.
    public var most: Double
  }
  /// One file that was published, or what went to standard output.
  public struct Output: Sendable, Equatable, Codable {
    /// The path, `-` for standard output.
    public var name: String
    /// Records in it, headers not counted.
    public var records: Int
    /// Of text, before compression.
    public var bytes: Int
    /// `main`, `tee`, `duplicates`, `rejects` or `truth`.
    public var role: String
  }

  /// In the order of reading.
  public var inputs: [Input] = []
  /// In the order of the chain.
  public var stages: [Stage] = []
  /// In the order of the flow.
  public var queues: [Queue] = []
  /// The main one first, rejects last.
  public var outputs: [Output] = []
  public var read = 0
  /// Records made by stages.
  public var made = 0
  /// Records in the main output.
  public var written = 0
  /// Records that could not be read.
  public var rejected = 0
  /// Records dropped by stages.
  public var dropped = 0
  /// Records that became part of others.
  public var merged = 0
  /// Rejects by reason.
  public var rejectReasons: [String: Int] = [:]
  /// The first three, as messages.
  public var firstRejects: [String] = []
  /// A stage had enough before the input ended.
  public var stoppedEarly = false
  /// From the first byte read to the last one published.
  public var seconds = 0.0

  /// Empty books, which balance.
  public init() {}

  /// What does not add up, as one sentence; nil if the books balance.
  public var imbalance: String? {
    for (index, stage) in stages.enumerated() {
      if !stage.balances {
        return
          "stage '\(stage.text)': in \(stage.input) + made \(stage.made) is not out \(stage.output) + dropped \(stage.dropped) + merged \(stage.merged)"
      }
      let before = index == 0 ? read - rejected : stages[index - 1].output
      if stage.input != before { return "stage '\(stage.text)' got \(stage.input) records of \(before)" }
    }
    let last = stages.last?.output ?? read - rejected
    if written != last { return "\(written) records were written of \(last)" }
    if read + made != written + rejected + dropped + merged {
      return "read \(read) + made \(made) is not written \(written) + rejected \(rejected) + dropped \(dropped) + merged \(merged)"
    }
    for input in inputs where input.read + input.made != input.written + input.rejected + input.dropped + input.merged {
      return
        "input \(input.name): read \(input.read) + made \(input.made) is not written \(input.written) + rejected \(input.rejected) + dropped \(input.dropped) + merged \(input.merged)"
    }
    return nil
  }
}

extension RunBooks.Input {
  /// Faults that cost no record, as `3 short-row, first in line 17`, by code.
  public var warningTexts: [String] {
    warnings.sorted { $0.key < $1.key }.map { code, count in
      "\(Quantity.grouped(count)) \(code)" + (firstWarningLines[code].map { ", first in line \($0)" } ?? "")
    }
  }
}

extension RunBooks {
  /// Draws the books up from what the engine counted and what the ledger saw.
  ///
  /// - Parameters:
  ///   - steps: the pipeline's steps, for the stage each belongs to; `sink` is the index of the last.
  init(
    stages planned: [any PlannedStage], steps: [Pipeline.Step], counts: FlowCounts, ledger: LedgerStage.Totals, sources: [FilePath],
    sink: Int
  ) {
    self.init()
    stoppedEarly = counts.stoppedEarly
    rejectReasons = ledger.reasons
    firstRejects = ledger.named.map(\.description)
    written = counts.steps[sink].input
    for (index, stage) in planned.enumerated() {
      let own = steps.indices.filter { steps[$0].stage == index && steps[$0].isCounted }
      var book = Stage(text: stage.text, dropReason: stage.dropReason, noteReason: stage.noteReason)
      for step in own {
        book.made += counts.steps[step].tally.made
        book.dropped += counts.steps[step].tally.dropped
        book.merged += counts.steps[step].tally.merged
        book.noted += counts.steps[step].tally.noted
        book.seconds += Double(counts.steps[step].nanoseconds) / 1e9
      }
      if let first = own.first, let last = own.last {
        book.input = counts.steps[first].input
        book.output = counts.steps[last].output
      } else {  // it only changes what is written
        book.input = stages.last?.output ?? ledger.read
        book.output = book.input
      }
      if !counts.stoppedEarly
        || !steps.contains(where: { $0.stopsReading && ($0.stage ?? -1) > index && planned[$0.stage!].mayStopReading })
      {
        book.clusters = own.lazy.compactMap { steps[$0].step.clusters }.first
      }
      stages.append(book)
      made += book.made
      dropped += book.dropped
      merged += book.merged
    }
    let firstStage = steps.firstIndex { $0.stage != nil } ?? sink - 1
    for (index, queue) in counts.queues.enumerated() {
      let end = index + 1 < counts.queues.count ? counts.queues[index + 1].firstStep : steps.count
      var names: [String] = []
      for step in queue.firstStep..<end {
        let name = steps[step].stage.map { planned[$0].text } ?? (step < firstStage ? "reading" : "writing")
        if names.last != name { names.append(name) }
      }
      if queue.batches > 0 { queues.append(.init(before: names, mean: queue.sum / Double(queue.batches), most: queue.most)) }
    }
    for (index, source) in sources.enumerated() {
      let seen = index < ledger.inputs.count ? ledger.inputs[index] : InputLedger()
      var input = Input(name: source.description)
      input.read = seen.read + seen.rejected
      input.rejected = seen.rejected
      input.blankLines = seen.blankLines
      input.warnings = seen.warnings
      input.firstWarningLines = seen.firstWarningLine
      input.fault = seen.fault?.description
      let passages = index < counts.passages.count ? counts.passages[index] : []
      if !passages.isEmpty {
        input.written = passages[sink].input
        for (stageIndex, stage) in stages.enumerated() {
          let own = steps.indices.filter { steps[$0].stage == stageIndex && steps[$0].isCounted }
          // What a stage still held when a run failed is neither dropped nor merged.
          guard let first = own.first, let last = own.last, stage.balances else { continue }
          let (entering, leaving) = (passages[first].input, passages[last].output)
          // A stage that makes or merges records cannot say from which input: all that went in was merged, all that came out was made.
          if stage.made == 0, stage.merged == 0 {
            input.dropped += entering - leaving
          } else {
            input.merged += entering
            input.made += leaving
          }
        }
      }
      inputs.append(input)
      read += input.read
      rejected += input.rejected
    }
  }
}

extension StageStep {
  /// Of a step that counts keys.
  fileprivate var clusters: ClusterSizes? { if case .ordered(let stage as any ClusterCounting) = self { stage.clusterSizes } else { nil } }
}
