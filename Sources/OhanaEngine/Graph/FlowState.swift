/// The rules by which batches move through a pipeline, as a plain value: events in, actions out, no thread, no batch, no clock.
///
/// Nodes are numbered in stream order. A *row* node works on any of its batches at any time; an *ordered* node takes them one at a time by
/// sequence number. All batches come from one fixed set: whoever makes a batch (the source, or an ordered node that streams out what it
/// held back) first needs a free one. That is the back-pressure, and it is why nothing in here can grow.
///
/// Only one producer is active at a time: a node streams out only behind its own end of input.
///
/// An event adds to the actions, which are taken from it at once. Everything is kept in plain numbers, so that an event neither allocates
/// nor counts references.
struct FlowState: Sendable {
  enum NodeKind: Sendable { case row, ordered }

  enum Action: Equatable, Sendable {
    /// Let the source fill batch `batch`.
    case fillFromSource(batch: Int)
    /// Let what node `node` returned from `finish` fill batch `batch`.
    case fillFromTail(node: Int, batch: Int)
    /// Run node `node` on batch `batch`.
    case process(node: Int, batch: Int)
    /// Call `finish` of ordered node `node`; every batch is free.
    case finish(node: Int)
    /// The batch has done its work, or (`counts` false) it lies behind an early stop and never happened: count it, empty it and report it
    /// as recycled.
    case recycle(batch: Int, counts: Bool)
    /// Everything has come to rest as ``FlowState/requestPause()`` asked for: every batch is free, and nothing begins before
    /// ``FlowState/proceed()``.
    case rest
    /// It cannot come to rest: the source has ended, and something streams out behind it. It goes on.
    case declineRest
    /// Everything is done, or, after a failure, everything has come to rest.
    case complete
  }

  enum OrderedResult: Sendable { case pass, consumed, passAndStop }

  private struct Node {
    let kind: NodeKind
    /// Batches that wait for it, see ``FlowState/place``.
    var waiting = 0
    var running = 0
    /// Batches of those running whose work has not begun.
    var handedOut = 0
    /// Ordered: sequence number wanted next. Row: batches done.
    var done = 0
    /// Batches that will have arrived in all, once that is known.
    var inputEnd: Int?
    /// Ordered: sequence number of the next batch handed on.
    var emitted = 0
    var isFinishing = false
    var isFinished = false
  }
  private enum Producer { case none, source, tail(Int) }

  private var nodes: [Node]
  private var free: [Int]
  /// By batch: its number in the stream, which says whose turn it is in an ordered node.
  private var sequence: [Int]
  /// By batch: the node it waits for, or -1.
  private var place: [Int]
  private var producer = Producer.source
  private var isProducing = false
  private var produced = 0
  /// Work handed out and not yet reported back.
  private var outstanding = 0
  private var hasFailed = false
  private var isComplete = false
  private enum Pause { case none, wanted, resting }
  private var pause = Pause.none
  /// When the source has nothing more, everything comes to rest once before anything is finished.
  private var restsAtEnd: Bool
  /// Nodes before this one were stopped early.
  private var stoppedBefore = 0
  /// What the last events asked for.
  private var actions: [Action] = []

  /// - Parameter restsAtEnd: there is an ``Action/rest`` at the end of the source, as if ``requestPause()`` had been called just before it.
  init(nodes kinds: [NodeKind], batches: Int, restsAtEnd: Bool = false) {
    self.restsAtEnd = restsAtEnd
    precondition(batches > 0 && !kinds.isEmpty, "a pipeline needs a node and a batch")
    nodes = kinds.map { Node(kind: $0) }
    free = Array((0..<batches).reversed())
    sequence = Array(repeating: 0, count: batches)
    place = Array(repeating: -1, count: batches)
    actions.reserveCapacity(maxActions)
  }

  /// The most actions that one event asks for: each batch given up or handed out, a `finish` for each node, the producer's, the answer
  /// to a pause, the end.
  var maxActions: Int { 2 * sequence.count + nodes.count + 3 }

  /// Moves the actions asked for into `target`, in order, and returns their number.
  mutating func takeActions(into target: UnsafeMutableBufferPointer<Action>) -> Int {
    let count = actions.count
    precondition(count <= target.count, "an event asked for more than it can")
    for index in 0..<count { target.initializeElement(at: index, to: actions[index]) }
    actions.removeAll(keepingCapacity: true)
    return count
  }

  // MARK: Events

  mutating func start() { advance() }

  /// The source filled the batch (`hasMore`), or had nothing more and left it untouched.
  mutating func sourceFilled(batch: Int, hasMore: Bool) {
    outstanding -= 1
    isProducing = false
    let isWanted = if case .source = producer { true } else { false }  // else stopped or failed meanwhile
    guard hasMore else {
      free.append(batch)
      // On its way to a rest the source is at its end, but has not ended: it is asked once more afterwards.
      if isWanted, restsAtEnd {
        restsAtEnd = false
        pause = .wanted
      } else if isWanted, pause == .none {
        producer = .none
        nodes[0].inputEnd = produced
      }
      return advance()
    }
    guard isWanted else { return discard(batch) }
    sequence[batch] = produced
    produced += 1
    deliver(batch, to: 0)
    advance()
  }

  mutating func tailFilled(node: Int, batch: Int, hasMore: Bool) {
    outstanding -= 1
    isProducing = false
    let isWanted = if case .tail(node) = producer { true } else { false }
    guard hasMore else {
      free.append(batch)
      if isWanted {
        producer = .none
        endOutput(of: node)
      }
      return advance()
    }
    guard isWanted else { return discard(batch) }
    emit(batch, from: node)
    advance()
  }

  /// Work on one of the node's batches begins. Returns how many others wait for it then: handed out and not begun, or not handed out.
  mutating func begin(node: Int) -> Int {
    nodes[node].handedOut -= 1
    return nodes[node].handedOut + nodes[node].waiting
  }

  mutating func rowDone(node: Int, batch: Int) {
    outstanding -= 1
    nodes[node].running -= 1
    if hasFailed || node < stoppedBefore { return discard(batch) }
    nodes[node].done += 1
    deliver(batch, to: node + 1)
    endIfDone(node)
    advance()
  }

  mutating func orderedDone(node: Int, batch: Int, result: OrderedResult) {
    outstanding -= 1
    nodes[node].running -= 1
    if hasFailed || node < stoppedBefore { return discard(batch) }
    nodes[node].done += 1
    switch result {
    case .consumed: giveUp(batch, counts: true)
    case .pass: emit(batch, from: node)
    case .passAndStop:
      emit(batch, from: node)
      stop(before: node)
    }
    advance()
  }

  mutating func finished(node: Int, hasTail: Bool) {
    outstanding -= 1
    if hasFailed || node < stoppedBefore { return advance() }
    if hasTail { producer = .tail(node) } else { endOutput(of: node) }
    advance()
  }

  /// Asks for a rest between two batches of the source: answered once by ``Action/rest`` or ``Action/declineRest``, or never if the run
  /// completes before.
  mutating func requestPause() {
    if pause == .none { pause = .wanted }
    advance()
  }

  /// Everything has come to rest, and nobody has said to go on.
  var isAtRest: Bool { pause == .resting }

  /// Goes on after a rest.
  mutating func proceed() {
    pause = .none
    advance()
  }

  /// The first failure, or a cancellation: nothing new begins.
  mutating func fail() {
    hasFailed = true
    producer = .none
    for index in nodes.indices { drainWaiting(of: index) }
    advance()
  }

  /// Work ended with an error: like the matching event, but the batch is given up.
  mutating func workFailed(node: Int?, batch: Int?) {
    outstanding -= 1
    if let node, batch != nil { nodes[node].running -= 1 } else { isProducing = false }
    if let batch { giveUp(batch, counts: false) }
    fail()
  }

  /// The batch is empty and counted.
  mutating func recycled(batch: Int) {
    outstanding -= 1
    free.append(batch)
    advance()
  }

  // MARK: Inside

  /// The batch is free once it has been recycled, and not before: somebody else may be handing out work at the same time.
  private mutating func giveUp(_ batch: Int, counts: Bool) {
    outstanding += 1
    actions.append(.recycle(batch: batch, counts: counts))
  }

  private mutating func discard(_ batch: Int) {
    giveUp(batch, counts: false)
    advance()
  }

  private mutating func deliver(_ batch: Int, to node: Int) {
    guard node < nodes.count else { return giveUp(batch, counts: true) }
    place[batch] = node
    nodes[node].waiting += 1
  }

  private mutating func emit(_ batch: Int, from node: Int) {
    sequence[batch] = nodes[node].emitted
    nodes[node].emitted += 1
    deliver(batch, to: node + 1)
  }

  private mutating func endOutput(of node: Int) {
    nodes[node].isFinished = true
    if node + 1 < nodes.count { nodes[node + 1].inputEnd = nodes[node].emitted }
  }

  /// A row node ends by itself; an ordered one still has to be finished.
  private mutating func endIfDone(_ node: Int) {
    guard nodes[node].kind == .row, !nodes[node].isFinished, nodes[node].inputEnd == nodes[node].done else { return }
    nodes[node].isFinished = true
    if node + 1 < nodes.count { nodes[node + 1].inputEnd = nodes[node].done }
  }

  /// Takes the batch that waits for `node` longest, if there is one. There are a few dozen batches at most.
  private mutating func takeWaiting(of node: Int) -> Int? {
    guard nodes[node].waiting > 0 else { return nil }
    var oldest = -1
    for batch in place.indices where place[batch] == node {
      if oldest < 0 || sequence[batch] < sequence[oldest] { oldest = batch }
    }
    place[oldest] = -1
    nodes[node].waiting -= 1
    return oldest
  }

  private mutating func drainWaiting(of node: Int) {
    while let batch = takeWaiting(of: node) { giveUp(batch, counts: false) }
  }

  private mutating func stop(before node: Int) {
    // A node that streams out behind the stopping one, or the source before it: only a producer before it is stopped.
    switch producer {
    case .tail(let tail) where tail >= node: break
    default: producer = .none
    }
    stoppedBefore = node
    for index in 0...node { drainWaiting(of: index) }
    for index in 0..<node { nodes[index].isFinished = true }
    nodes[node].inputEnd = nodes[node].done
  }

  private mutating func advance() {
    guard !isComplete else { return }
    if !hasFailed {
      for index in stoppedBefore..<nodes.count {
        endIfDone(index)
        startWork(at: index)
      }
      answerPause()
      startProducer()
    }
    let isOver = hasFailed ? outstanding == 0 : outstanding == 0 && nodes[nodes.count - 1].isFinished
    if isOver {
      isComplete = true
      actions.append(.complete)
    }
  }

  private mutating func startWork(at index: Int) {
    switch nodes[index].kind {
    case .row:
      while let batch = takeWaiting(of: index) {
        actions.append(.process(node: index, batch: batch))
        nodes[index].running += 1
        nodes[index].handedOut += 1
        outstanding += 1
      }
    case .ordered:
      guard nodes[index].running == 0, !nodes[index].isFinishing else { return }
      let next = nodes[index].done
      if nodes[index].waiting > 0, let batch = place.indices.first(where: { place[$0] == index && sequence[$0] == next }) {
        place[batch] = -1
        nodes[index].waiting -= 1
        nodes[index].running = 1
        nodes[index].handedOut = 1
        outstanding += 1
        actions.append(.process(node: index, batch: batch))
      } else if nodes[index].inputEnd == next, free.count == sequence.count {
        // Not before all it handed on has gone through: should it fail now, that was delivered, however fast the nodes behind it are.
        nodes[index].isFinishing = true
        outstanding += 1
        actions.append(.finish(node: index))
      }
    }
  }

  private mutating func answerPause() {
    guard pause == .wanted else { return }
    guard case .source = producer else {
      pause = .none
      actions.append(.declineRest)
      return
    }
    guard outstanding == 0 else { return }
    pause = .resting
    actions.append(.rest)
  }

  private mutating func startProducer() {
    guard pause == .none, !isProducing, let batch = free.last else { return }
    switch producer {
    case .none: return
    case .source: actions.append(.fillFromSource(batch: batch))
    case .tail(let node): actions.append(.fillFromTail(node: node, batch: batch))
    }
    free.removeLast()
    isProducing = true
    outstanding += 1
  }
}
