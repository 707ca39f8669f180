internal import Dispatch
public import OhanaCore

/// Is told what was done when.
public protocol FlowTrace: AnyObject, Sendable {
  /// A step has worked on a batch; from any thread.
  ///
  /// - Parameters:
  ///   - step: index of the pipeline's step; nil: the source.
  ///   - start: on the clock of ``monotonicNanoseconds()``, like `end`.
  ///   - records: selected when it was done.
  func span(step: Int?, from start: UInt64, to end: UInt64, records: Int)
}

/// Runs a pipeline to its end: the shell around ``FlowState`` that holds the batches and calls the stages.
///
/// Steps between two ordered ones are fused: a batch goes through all of them in one piece of work. The first error wins; what is under
/// way comes to rest, nothing new begins, and `completion` is called once, on one of the scheduler's threads.
public final class PipelineRunner: ScheduledWork, @unchecked Sendable {  // because what changes is behind its mutex
  private enum Node: Sendable {
    case row([(step: Int, stage: any RowStage)])
    case ordered(step: Int, any OrderedStage)
  }
  private struct State {
    var flow: FlowState
    var failure: (any Error)?
    var counts: FlowCounts
    var completion: (@Sendable (Result<FlowCounts, any Error>) -> Void)?
    var tails: [Int: any BatchSource] = [:]
    var atRest: (@Sendable (Bool) -> Void)?
    /// By batch: it was filled from what a stage had held back.
    var isOfTail: [Bool] = []
    /// The last step that began to stream out what it had held back, what had left it before, and when it began.
    var streaming: (step: Int, outputBefore: Int, began: UInt64)?
  }

  private let source: any BatchSource
  private let nodes: [Node]
  private let steps: [Pipeline.Step]
  private let batches: [RecordBatch]
  private let batchBytes: Int
  private let slotCount: Int
  private let scheduler: WorkScheduler
  private let onBatch: @Sendable (RecordBatch) -> Void
  private let onEnd: (@Sendable () -> Void)?
  private let trace: (any FlowTrace)?
  /// Something may stop reading early: then each batch keeps a trail of what was dropped where, so that the books can end at a record.
  private let keepsTrail: Bool
  private let hasOneSource: Bool
  private let maxActions: Int
  private let state: Locked<State>

  /// - Parameters:
  ///   - batchCount: batches in flight, the only bound on memory between stages; at least 1.
  ///   - batchBytes: arena bytes of a batch that are kept when it is recycled.
  ///   - counts: those of an earlier run that this one goes on with.
  ///   - trace: is told what each step did with each batch.
  ///   - onEnd: called at rest, once, when the source has nothing more and before anything is finished, unless the run stops early: see
  ///     ``pause(_:)``. ``proceed()`` or ``cancel(_:)`` has to follow.
  ///   - onBatch: called for each batch whose records count, when its work is done; from any thread, in no order.
  public init(
    _ pipeline: Pipeline, batchCount: Int, batchBytes: Int, scheduler: WorkScheduler, counts: FlowCounts? = nil,
    trace: (any FlowTrace)? = nil, onEnd: (@Sendable () -> Void)? = nil, onBatch: @escaping @Sendable (RecordBatch) -> Void = { _ in }
  ) {
    source = pipeline.source
    steps = pipeline.steps
    slotCount = pipeline.slotCount
    hasOneSource = pipeline.inputCount == 1
    self.batchBytes = batchBytes
    self.scheduler = scheduler
    self.onBatch = onBatch
    self.onEnd = onEnd
    self.trace = trace
    keepsTrail = pipeline.steps.contains { $0.stopsReading && $0.stage != nil }
    var nodes: [Node] = []
    for (index, step) in pipeline.steps.enumerated() {
      switch step.step {
      case .ordered(let stage): nodes.append(.ordered(step: index, stage))
      case .row(let stage):
        if case .row(let fused) = nodes.last {
          nodes[nodes.count - 1] = .row(fused + [(index, stage)])
        } else {
          nodes.append(.row([(index, stage)]))
        }
      }
    }
    self.nodes = nodes
    batches = (0..<batchCount).map { _ in RecordBatch() }
    let kinds = nodes.map { node -> FlowState.NodeKind in if case .row = node { .row } else { .ordered } }
    let flow = FlowState(nodes: kinds, batches: batchCount, restsAtEnd: onEnd != nil)
    maxActions = flow.maxActions
    var counts = counts ?? FlowCounts(steps: pipeline.steps.count)
    let queues = nodes.map { node -> FlowCounts.Queue in
      switch node {
      case .row(let stages): FlowCounts.Queue(firstStep: stages[0].step)
      case .ordered(let step, _): FlowCounts.Queue(firstStep: step)
      }
    }
    if counts.queues.map(\.firstStep) != queues.map(\.firstStep) { counts.queues = queues }
    state = Locked(State(flow: flow, counts: counts, isOfTail: Array(repeating: false, count: batchCount)))
    super.init()
  }

  /// Begins. Called once.
  public func start(completion: @escaping @Sendable (Result<FlowCounts, any Error>) -> Void) {
    apply { state in
      precondition(state.completion == nil, "a pipeline runs once")
      state.completion = completion
      state.flow.start()
    }
  }

  /// Runs to the end and returns the counts, or throws the first error.
  public func run() async throws -> FlowCounts {
    try await withCheckedThrowingContinuation { continuation in
      start { continuation.resume(with: $0) }
    }
  }

  /// Ends the run with `error`, unless it has failed already: batches in hand are finished and thrown away.
  public func cancel(_ error: any Error) {
    apply { state in
      if state.failure == nil { state.failure = error }
      state.flow.fail()
    }
    cancelDeferred()
  }

  private func cancelDeferred() {
    for case .ordered(_, let stage as any DeferredStage) in nodes { stage.cancel() }
  }

  /// Brings everything to rest between two batches of the source: then no batch is under way, and nobody touches source or stages.
  ///
  /// - Parameter atRest: called once, on one of the scheduler's threads: with true at rest, and then ``proceed()`` or ``cancel(_:)`` has to
  ///   follow; with false if that cannot be, since the source has ended. Not called if the run ends before, nor if it is on its way to a
  ///   rest or at one already.
  public func pause(_ atRest: @escaping @Sendable (Bool) -> Void) {
    apply { state in
      guard state.atRest == nil, !state.flow.isAtRest else { return }
      state.atRest = atRest
      state.flow.requestPause()
    }
  }

  /// Goes on after a rest.
  public func proceed() { apply { $0.flow.proceed() } }

  /// The counts up to now.
  public var counts: FlowCounts { state.withLock { $0.counts } }

  /// How far the step is that streams out what it held back, or did so last; nil before the first.
  public var held: HeldRecords? {
    state.withLock { state in state.streaming.map { HeldRecords(state.counts.steps[$0.step], $0) } }
  }

  // MARK: Actions

  private func apply(_ event: (inout State) -> Void) {
    withUnsafeTemporaryAllocation(of: FlowState.Action.self, capacity: maxActions) { actions in
      let count = state.withLock { state in
        event(&state)
        return state.flow.takeActions(into: actions)
      }
      for index in 0..<count { perform(actions[index]) }
    }
  }

  /// What a piece of work is, as the number the scheduler keeps for it.
  private enum Piece: Int { case fill, fillFromTail, process, finish }

  private func submit(_ piece: Piece, node: Int = 0, batch: Int = 0, priority: Int?) {
    scheduler.submit(self, code: batch << 32 | node << 2 | piece.rawValue, priority: priority)
  }

  override func perform(_ code: Int) {
    let node = code >> 2 & 0x3fff_ffff
    let batch = code >> 32
    switch Piece(rawValue: code & 3)! {
    case .fill: fill(batch, from: source, node: nil)
    case .fillFromTail: fill(batch, from: state.withLock { $0.tails[node]! }, node: node)
    case .process: process(node: node, index: batch)
    case .finish: finish(node: node)
    }
  }

  private func perform(_ action: FlowState.Action) {
    switch action {
    case .recycle(let index, let counts):
      recycle(batches[index], counts: counts)
      apply { $0.flow.recycled(batch: index) }
    case .fillFromSource(let index):
      submit(.fill, batch: index, priority: nil)
    case .fillFromTail(let node, let index):
      submit(.fillFromTail, node: node, batch: index, priority: nil)
    case .process(let node, let index):
      submit(.process, node: node, batch: index, priority: node + 1)
    case .finish(let node):
      submit(.finish, node: node, priority: node + 1)
    case .rest, .declineRest:
      let atRest = state.withLock { state in
        defer { state.atRest = nil }
        return state.atRest
      }
      // Somebody who asked meanwhile comes to the rest at the end as well.
      scheduler.submit { [onEnd] in if let atRest { atRest(action == .rest) } else if action == .rest { onEnd?() } }
    case .complete:
      let (completion, result) = state.withLock { state in
        let result: Result<FlowCounts, any Error> = state.failure.map { .failure($0) } ?? .success(state.counts)
        defer {
          state.completion = nil
          state.atRest = nil
          state.tails = [:]
        }
        return (state.completion, result)
      }
      completion?(result)
    }
  }

  private func recycle(_ batch: RecordBatch, counts: Bool) {
    if counts {
      state.withLock { state in
        state.counts.batches += 1
        for (index, count) in batch.stepCounts.enumerated() {
          state.counts.steps[index] += count
          if !batch.hasOrigins, count.input | count.output != 0 {
            state.counts.add(source: batch.source, step: index, input: count.input, output: count.output)
          }
        }
        for passage in batch.mixedPassages {
          state.counts.add(source: passage.source, step: passage.step, input: passage.input, output: passage.output)
        }
      }
      onBatch(batch)
    }
    batch.recycle(limit: batchBytes)
    batch.trail.removeAll(keepingCapacity: true)
  }

  private func fill(_ index: Int, from source: any BatchSource, node: Int?) {
    let batch = batches[index]
    batch.slotCount = slotCount
    batch.resetStepCounts(steps.count)
    do {
      let hasMore: Bool
      if let node, case .ordered(let step, let stage) = nodes[node] {
        // Records of no input, which some stages make, count for the first, whatever went through this batch before.
        batch.source = 0
        let before = stage.tally
        let began = monotonicNanoseconds()
        hasMore = try source.next(into: batch)
        // Not by way of the batch, which at the end goes nowhere.
        add(stage.tally - before, nanoseconds: monotonicNanoseconds() - began, step: step)
        batch.stepCounts[step].output += batch.selectedCount
        countOrigins(batch, step: step, entering: false)
      } else if let trace {
        let began = monotonicNanoseconds()
        hasMore = try source.next(into: batch)
        trace.span(step: nil, from: began, to: monotonicNanoseconds(), records: batch.recordCount)
      } else {
        hasMore = try source.next(into: batch)
      }
      apply { state in
        state.isOfTail[index] = node != nil
        if let node {
          state.flow.tailFilled(node: node, batch: index, hasMore: hasMore)
        } else {
          state.flow.sourceFilled(batch: index, hasMore: hasMore)
        }
      }
    } catch { failed(error, node: nil, batch: index) }
  }

  private func failed(_ error: any Error, node: Int?, batch: Int?) {
    apply { state in
      if state.failure == nil { state.failure = error }
      state.flow.workFailed(node: node, batch: batch)
    }
    cancelDeferred()
  }

  private func process(node: Int, index: Int) {
    let batch = batches[index]
    state.withLock { state in state.counts.queues[node].add(state.flow.begin(node: node), of: batches.count) }
    batch.sequence = 0
    var atWork = 0
    do {
      switch nodes[node] {
      case .row(let stages):
        for (step, stage) in stages {
          atWork = step
          let input = batch.selectedCount
          countOrigins(batch, step: step, entering: true)
          let began = monotonicNanoseconds()
          let tally = try stage.process(batch)
          count(batch, step: step, input: input, tally: tally, began: began)
        }
        apply { $0.flow.rowDone(node: node, batch: index) }
      case .ordered(let step, let stage):
        atWork = step
        let input = batch.selectedCount
        countOrigins(batch, step: step, entering: true)
        let before = stage.tally
        let began = monotonicNanoseconds()
        if let deferred = stage as? any DeferredStage {
          deferred.process(batch) { [self] result in
            switch result {
            case .success(let outcome):
              orderedDone(node, step, index, outcome, input: input, tally: stage.tally - before, began: began)
            case .failure(let error): failed(StepError.of(error, step), node: node, batch: index)
            }
          }
          return
        }
        let outcome = try stage.process(batch)
        orderedDone(node, step, index, outcome, input: input, tally: stage.tally - before, began: began)
      }
    } catch { failed(StepError.of(error, atWork), node: node, batch: index) }
  }

  private func orderedDone(
    _ node: Int, _ step: Int, _ index: Int, _ outcome: OrderedOutcome, input: Int, tally: StageTally, began: UInt64
  ) {
    let batch = batches[index]
    var outcome = outcome
    if case .consumed = outcome {
      batch.selectedCount = 0
      if steps[step].forwardsConsumed { outcome = .pass }
    }
    count(batch, step: step, input: input, tally: tally, began: began)
    if case .passAndStop = outcome {
      if let onStop = steps[step].onStop, let bound = bound(of: batch, index) { onStop(bound) }
      // What a stage held back lies behind the end of the input: there is nothing left to be read, and the books want all of it.
      if steps[step].stopsReading, !batch.hasOrigins { truncate(batch, step: step) } else { outcome = .pass }
    }
    let result: FlowState.OrderedResult =
      switch outcome {
      case .pass: .pass
      case .consumed: .consumed
      case .passAndStop: .passAndStop
      }
    apply { state in
      if case .passAndStop = result { state.counts.stoppedEarly = true }
      state.flow.orderedDone(node: node, batch: index, result: result)
    }
  }

  /// The first record in input order behind the last of a batch that a stage has let through; nil where it let none through, or one of no
  /// input.
  private func bound(of batch: RecordBatch, _ index: Int) -> RecordOrigin? {
    if !batch.hasOrigins, state.withLock({ $0.isOfTail[index] }) { return nil }
    guard batch.selectedCount > 0 else {
      // Of a stage that wants nothing at all. One that was filled by what had been held back says so again and again.
      return batch.hasOrigins ? nil : RecordOrigin(source: UInt32(batch.source), ordinal: UInt64(batch.firstOrdinal))
    }
    var bound = batch.origin(of: Int(batch.selection[batch.selectedCount - 1]))
    bound.ordinal += 1
    return bound
  }

  private func finish(node: Int) {
    guard case .ordered(let step, let stage) = nodes[node] else { preconditionFailure("only an ordered stage is finished") }
    do {
      let before = stage.tally
      let began = monotonicNanoseconds()
      let tail = try stage.finish()
      add(stage.tally - before, nanoseconds: monotonicNanoseconds() - began, step: step)
      apply { state in
        if let tail {
          state.tails[node] = tail
          // Every batch is free: what left the step before has been counted.
          state.streaming = (step, state.counts.steps[step].output, monotonicNanoseconds())
        }
        state.flow.finished(node: node, hasTail: tail != nil)
      }
    } catch { failed(StepError.of(error, step), node: nil, batch: nil) }
  }

  // MARK: Counting

  private func add(_ tally: StageTally, nanoseconds: UInt64, step: Int) {
    state.withLock { state in
      state.counts.steps[step].tally += tally
      state.counts.steps[step].nanoseconds += nanoseconds
    }
  }

  private func count(_ batch: RecordBatch, step: Int, input: Int, tally: StageTally, began: UInt64) {
    batch.stepCounts[step].input += input
    batch.stepCounts[step].output += batch.selectedCount
    batch.stepCounts[step].tally += tally
    let ended = monotonicNanoseconds()
    batch.stepCounts[step].nanoseconds += ended - began
    trace?.span(step: step, from: began, to: ended, records: batch.selectedCount)
    // Records that a stage made are others, even if there are as many.
    if tally != StageTally() { batch.originCountsAre = -1 }
    countOrigins(batch, step: step, entering: false)
    if keepsTrail {
      batch.trail.append((step, Array(UnsafeBufferPointer(start: batch.selection, count: batch.selectedCount)), batch.notedRecords))
    }
    if tally.noted > 0 { batch.notedRecords.removeAll(keepingCapacity: true) }
  }

  /// Behind a breaker a batch mixes the records of several inputs: count them one by one, unless there is only one input, or they are those
  /// counted last.
  private func countOrigins(_ batch: RecordBatch, step: Int, entering: Bool) {
    guard batch.hasOrigins else { return }
    if batch.originCountsAre != batch.selectedCount {
      batch.originCountsAre = batch.selectedCount
      if hasOneSource {
        batch.originCounts = [batch.selectedCount]
      } else {
        for index in batch.originCounts.indices { batch.originCounts[index] = 0 }
        let origins = batch.origins
        let selection = batch.selection
        for index in 0..<batch.selectedCount {
          let source = Int(origins[Int(selection[index])].source)
          while source >= batch.originCounts.count { batch.originCounts.append(0) }
          batch.originCounts[source] += 1
        }
      }
    }
    for (source, count) in batch.originCounts.enumerated() where count > 0 {
      let input = entering ? count : 0
      let output = entering ? 0 : count
      if let index = batch.mixedPassages.lastIndex(where: { $0.source == source && $0.step == step }) {
        batch.mixedPassages[index].input += input
        batch.mixedPassages[index].output += output
      } else {
        batch.mixedPassages.append((source, step, input, output))
      }
    }
  }

  /// Behind an early stop: the batch ends with the last record that was let through, for the books of all steps before too.
  private func truncate(_ batch: RecordBatch, step: Int) {
    // The last record of each generation: that let through, the one it was made of, and so on down to the one read.
    var lasts = [batch.selectedCount > 0 ? Int(batch.selection[batch.selectedCount - 1]) : -1]
    while let last = lasts.last, let parent = batch.parent(of: last) { lasts.append(parent) }
    lasts.reverse()
    func isIn(_ record: UInt32) -> Bool {
      let generation = batch.generation(of: Int(record))
      return generation < lasts.count && Int(record) <= lasts[generation]
    }
    var input = lasts[0] + 1
    var generation = 0
    batch.truncate(behind: lasts[0])
    for (step, selection, noted) in batch.trail {
      let kept = selection.prefix(while: isIn)
      if batch.stepCounts[step].input > 0 {
        var tally = StageTally(dropped: input - kept.count)
        if let first = kept.first, batch.generation(of: Int(first)) != generation {
          generation = batch.generation(of: Int(first))
          let parents = Set(kept.map { batch.parent(of: Int($0)) }).count
          tally = StageTally(dropped: input - parents, made: kept.count - parents)
        }
        tally.noted = noted.count { isIn($0) }
        batch.stepCounts[step].input = input
        batch.stepCounts[step].output = kept.count
        batch.stepCounts[step].tally = tally
      }
      input = kept.count
    }
  }
}

/// An error that only a stage from outside knows, and the index of its step.
package struct StepError: Error {
  package let step: Int
  package let error: any Error

  fileprivate static func of(_ error: any Error, _ step: Int) -> any Error {
    error is OhanaError || error is CancellationError ? error : StepError(step: step, error: error)
  }
}
