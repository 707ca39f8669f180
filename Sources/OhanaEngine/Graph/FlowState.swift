/// The rules by which batches move through a pipeline, as a plain value: events in, actions out, no thread, no batch, no clock.
///
/// Nodes are numbered in stream order. A *row* node works on any of its batches at any time; an *ordered* node takes them one at a time by
/// sequence number. All batches come from one fixed set: whoever makes a batch (the source, or an ordered node that streams out what it
/// held back) first needs a free one. That is the back-pressure, and it is why nothing in here can grow.
///
/// Only one producer is active at a time: a node streams out only behind its own end of input.
struct FlowState: Sendable {
  enum NodeKind: Sendable { case row, ordered }

  enum Action: Equatable, Sendable {
    /// Let the source fill batch `batch`.
    case fillFromSource(batch: Int)
    /// Let what node `node` returned from `finish` fill batch `batch`.
    case fillFromTail(node: Int, batch: Int)
    /// Run node `node` on batch `batch`.
    case process(node: Int, batch: Int)
    /// Call `finish` of ordered node `node`.
    case finish(node: Int)
    /// The batch has done its work, or (`counts` false) it lies behind an early stop and never happened: count it, empty it and report it
    /// as recycled.
    case recycle(batch: Int, counts: Bool)
    /// Everything is done, or, after a failure, everything has come to rest.
    case complete
  }

  enum OrderedResult: Sendable { case pass, consumed, passAndStop }

  private struct Node {
    let kind: NodeKind
    /// Batches waiting: for a row node in any order, for an ordered node by sequence number.
    var waiting: [Int: Int] = [:]
    var running = 0
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
  private var sequence: [Int]
  private var producer = Producer.source
  private var isProducing = false
  private var produced = 0
  /// Work handed out and not yet reported back.
  private var outstanding = 0
  private var hasFailed = false
  private var isComplete = false
  /// Nodes before this one were stopped early.
  private var stoppedBefore = 0

  init(nodes kinds: [NodeKind], batches: Int) {
    precondition(batches > 0 && !kinds.isEmpty, "a pipeline needs a node and a batch")
    nodes = kinds.map { Node(kind: $0) }
    free = Array((0..<batches).reversed())
    sequence = Array(repeating: 0, count: batches)
  }

  mutating func start() -> [Action] { advance() }

  /// The source filled the batch (`hasMore`), or had nothing more and left it untouched.
  mutating func sourceFilled(batch: Int, hasMore: Bool) -> [Action] {
    outstanding -= 1
    isProducing = false
    let isWanted = if case .source = producer { true } else { false }  // else stopped or failed meanwhile
    guard hasMore else {
      free.append(batch)
      if isWanted {
        producer = .none
        nodes[0].inputEnd = produced
      }
      return advance()
    }
    guard isWanted else { return discard(batch) }
    sequence[batch] = produced
    produced += 1
    return deliver(batch, to: 0) + advance()
  }

  mutating func tailFilled(node: Int, batch: Int, hasMore: Bool) -> [Action] {
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
    return emit(batch, from: node) + advance()
  }

  mutating func rowDone(node: Int, batch: Int) -> [Action] {
    outstanding -= 1
    nodes[node].running -= 1
    if hasFailed || node < stoppedBefore { return discard(batch) }
    nodes[node].done += 1
    let actions = deliver(batch, to: node + 1)
    endIfDone(node)
    return actions + advance()
  }

  mutating func orderedDone(node: Int, batch: Int, result: OrderedResult) -> [Action] {
    outstanding -= 1
    nodes[node].running -= 1
    if hasFailed || node < stoppedBefore { return discard(batch) }
    nodes[node].done += 1
    var actions: [Action] = []
    switch result {
    case .consumed: actions.append(giveUp(batch, counts: true))
    case .pass: actions += emit(batch, from: node)
    case .passAndStop:
      actions += emit(batch, from: node)
      actions += stop(before: node)
    }
    return actions + advance()
  }

  mutating func finished(node: Int, hasTail: Bool) -> [Action] {
    outstanding -= 1
    if hasFailed || node < stoppedBefore { return advance() }
    if hasTail { producer = .tail(node) } else { endOutput(of: node) }
    return advance()
  }

  /// The first failure, or a cancellation: nothing new begins.
  mutating func fail() -> [Action] {
    hasFailed = true
    producer = .none
    var actions: [Action] = []
    for index in nodes.indices { actions += drainWaiting(of: index) }
    return actions + advance()
  }

  /// Work ended with an error: like the matching event, but the batch is given up.
  mutating func workFailed(node: Int?, batch: Int?) -> [Action] {
    outstanding -= 1
    if let node, batch != nil { nodes[node].running -= 1 } else { isProducing = false }
    var actions: [Action] = []
    if let batch { actions.append(giveUp(batch, counts: false)) }
    return actions + fail()
  }

  /// The batch is empty and counted.
  mutating func recycled(batch: Int) -> [Action] {
    outstanding -= 1
    free.append(batch)
    return advance()
  }

  // MARK: Inside

  /// The batch is free once it has been recycled, and not before: somebody else may be handing out work at the same time.
  private mutating func giveUp(_ batch: Int, counts: Bool) -> Action {
    outstanding += 1
    return .recycle(batch: batch, counts: counts)
  }

  private mutating func discard(_ batch: Int) -> [Action] { [giveUp(batch, counts: false)] + advance() }

  private mutating func deliver(_ batch: Int, to node: Int) -> [Action] {
    guard node < nodes.count else { return [giveUp(batch, counts: true)] }
    nodes[node].waiting[sequence[batch]] = batch
    return []
  }

  private mutating func emit(_ batch: Int, from node: Int) -> [Action] {
    sequence[batch] = nodes[node].emitted
    nodes[node].emitted += 1
    return deliver(batch, to: node + 1)
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

  private mutating func drainWaiting(of node: Int) -> [Action] {
    let batches = nodes[node].waiting.sorted { $0.key < $1.key }.map(\.value)
    nodes[node].waiting = [:]
    return batches.map { giveUp($0, counts: false) }
  }

  private mutating func stop(before node: Int) -> [Action] {
    // A node that streams out behind the stopping one, or the source before it: only a producer before it is stopped.
    switch producer {
    case .tail(let tail) where tail >= node: break
    default: producer = .none
    }
    stoppedBefore = node
    var actions: [Action] = []
    for index in 0...node { actions += drainWaiting(of: index) }
    for index in 0..<node { nodes[index].isFinished = true }
    nodes[node].inputEnd = nodes[node].done
    return actions
  }

  private mutating func advance() -> [Action] {
    var actions: [Action] = []
    guard !isComplete else { return actions }
    if !hasFailed {
      for index in nodes.indices[stoppedBefore...] {
        endIfDone(index)
        actions += startWork(at: index)
      }
      actions += startProducer()
    }
    let isOver = hasFailed ? outstanding == 0 : outstanding == 0 && nodes.last!.isFinished
    if isOver {
      isComplete = true
      actions.append(.complete)
    }
    return actions
  }

  private mutating func startWork(at index: Int) -> [Action] {
    var actions: [Action] = []
    switch nodes[index].kind {
    case .row:
      guard !nodes[index].waiting.isEmpty else { return [] }
      for (_, batch) in nodes[index].waiting.sorted(by: { $0.key < $1.key }) {
        actions.append(.process(node: index, batch: batch))
        nodes[index].running += 1
        outstanding += 1
      }
      nodes[index].waiting = [:]
    case .ordered:
      guard nodes[index].running == 0, !nodes[index].isFinishing else { return [] }
      if let batch = nodes[index].waiting.removeValue(forKey: nodes[index].done) {
        nodes[index].running = 1
        outstanding += 1
        actions.append(.process(node: index, batch: batch))
      } else if nodes[index].inputEnd == nodes[index].done {
        nodes[index].isFinishing = true
        outstanding += 1
        actions.append(.finish(node: index))
      }
    }
    return actions
  }

  private mutating func startProducer() -> [Action] {
    guard !isProducing, let batch = free.last else { return [] }
    switch producer {
    case .none: return []
    case .source:
      free.removeLast()
      isProducing = true
      outstanding += 1
      return [.fillFromSource(batch: batch)]
    case .tail(let node):
      free.removeLast()
      isProducing = true
      outstanding += 1
      return [.fillFromTail(node: node, batch: batch)]
    }
  }
}
