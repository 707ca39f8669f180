import Testing

@testable import OhanaEngine

/// Plays a pipeline without threads: outstanding work is reported back in a random order, and every batch carries a number.
private struct Simulation {
  struct Ordered {
    var consumes = false
    var stopsAfter: Int?
    /// Batches it streams out behind its own end.
    var tail = 0
  }
  enum Node { case row, ordered(Ordered) }

  let nodes: [Node]
  let sourceBatches: Int
  let batches: Int
  var generator: SystemRandomNumberGenerator = .init()
  var seed: UInt64

  /// What reached each ordered node, and what left the pipeline.
  var seen: [[Int]] = []
  var delivered: [Int] = []
  var isComplete = 0
  var maxOutstanding = 0
  /// Asks for a rest before every so many events.
  var pausesEvery: Int?
  /// What the source had given, and what had gone through, at each rest.
  var rests: [(made: Int, delivered: Int)] = []
  var declined = 0
  var restsAtEnd = false
  /// Whether anything was finished before the last rest.
  var finishedBeforeRest = false

  mutating func random(below limit: Int) -> Int {
    seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return Int((seed >> 33) % UInt64(limit))
  }

  /// - Parameter failAt: after this many events the run fails.
  mutating func run(failAt: Int? = nil) throws {
    var flow = FlowState(
      nodes: nodes.map { if case .row = $0 { .row } else { .ordered } }, batches: batches, restsAtEnd: restsAtEnd)
    var hasFinished = false
    seen = Array(repeating: [], count: nodes.count)
    var value = Array(repeating: -1, count: batches)
    var inUse = Set<Int>()
    var made = 0
    var tails = nodes.map { if case .ordered(let ordered) = $0 { ordered.tail } else { 0 } }
    var processed = Array(repeating: 0, count: nodes.count)
    var pending: [FlowState.Action] = []
    var runningOrdered = Set<Int>()
    func take(_ event: (inout FlowState) -> Void) {
      event(&flow)
      let actions = withUnsafeTemporaryAllocation(of: FlowState.Action.self, capacity: flow.maxActions) { buffer in
        Array(buffer[..<flow.takeActions(into: buffer)])
      }
      for action in actions {
        switch action {
        case .complete:
          #expect(inUse.isEmpty, "every batch is recycled before the end")
          isComplete += 1
        case .fillFromSource(let batch), .fillFromTail(_, let batch):
          #expect(inUse.insert(batch).inserted, "only a free batch is filled")
          pending.append(action)
        case .process(let node, _):
          if case .ordered = nodes[node] { #expect(runningOrdered.insert(node).inserted, "one batch at a time in an ordered node") }
          pending.append(action)
        case .finish:
          #expect(inUse.isEmpty, "what went before is delivered before a node is finished")
          hasFinished = true
          pending.append(action)
        case .recycle: pending.append(action)
        case .rest:
          #expect(inUse.isEmpty, "no batch is under way at rest")
          rests.append((made, delivered.count))
          finishedBeforeRest = hasFinished
          pending.append(action)
        case .declineRest: declined += 1
        }
      }
      maxOutstanding = max(maxOutstanding, pending.count)
    }
    take { $0.start() }
    var events = 0
    while !pending.isEmpty {
      events += 1
      try #require(events < 100_000, "the pipeline does not come to an end")
      if events == failAt { take { $0.fail() } }
      if let pausesEvery, events % pausesEvery == 0 { take { $0.requestPause() } }
      let action = pending.remove(at: random(below: pending.count))
      switch action {
      case .fillFromSource(let batch):
        let hasMore = made < sourceBatches
        if hasMore {
          value[batch] = made
          made += 1
        } else {
          inUse.remove(batch)
        }
        take { $0.sourceFilled(batch: batch, hasMore: hasMore) }
      case .fillFromTail(let node, let batch):
        let hasMore = tails[node] > 0
        if hasMore {
          value[batch] = 1000 * (node + 1) + tails[node]
          tails[node] -= 1
        } else {
          inUse.remove(batch)
        }
        take { $0.tailFilled(node: node, batch: batch, hasMore: hasMore) }
      case .process(let node, let batch):
        let others = pending.count { if case .process(node, _) = $0 { true } else { false } }
        let waiting = flow.begin(node: node)
        switch nodes[node] {
        case .row: #expect(waiting == others, "all that reached it were handed out")
        case .ordered: #expect(others == 0 && waiting <= inUse.count - 1)
        }
        switch nodes[node] {
        case .row: take { $0.rowDone(node: node, batch: batch) }
        case .ordered(let ordered):
          runningOrdered.remove(node)
          seen[node].append(value[batch])
          processed[node] += 1
          let result: FlowState.OrderedResult =
            ordered.consumes ? .consumed : ordered.stopsAfter == processed[node] ? .passAndStop : .pass
          take { $0.orderedDone(node: node, batch: batch, result: result) }
        }
      case .recycle(let batch, let counts):
        #expect(inUse.remove(batch) != nil, "a batch is recycled once")
        if counts { delivered.append(value[batch]) }
        take { $0.recycled(batch: batch) }
      case .rest: take { $0.proceed() }
      case .finish(let node): take { $0.finished(node: node, hasTail: tails[node] > 0) }
      default: break
      }
    }
  }
}

@Suite("How batches flow") struct FlowStateTests {
  @Test("every batch passes every ordered node once and in order", arguments: 0..<40)
  func passesInOrder(seed: Int) throws {
    var simulation = Simulation(
      nodes: [.row, .ordered(.init()), .row, .ordered(.init()), .ordered(.init())], sourceBatches: seed * 3, batches: 1 + seed % 5,
      seed: UInt64(seed))
    try simulation.run()
    #expect(simulation.isComplete == 1)
    let all = Array(0..<seed * 3)
    #expect(simulation.seen[1] == all && simulation.seen[3] == all && simulation.seen[4] == all)
    #expect(simulation.delivered.sorted() == all)
  }

  @Test("what a breaker consumed comes out behind its end, in order", arguments: 0..<40)
  func breakerStreams(seed: Int) throws {
    var simulation = Simulation(
      nodes: [.row, .ordered(.init(consumes: true, tail: seed % 7)), .row, .ordered(.init(tail: 2)), .row, .ordered(.init())],
      sourceBatches: 9, batches: 1 + seed % 4, seed: UInt64(seed))
    try simulation.run()
    #expect(simulation.isComplete == 1)
    let out = (0..<seed % 7).map { 2000 + seed % 7 - $0 }
    #expect(simulation.seen[1] == Array(0..<9))
    #expect(simulation.seen[3] == out)
    #expect(simulation.seen[5] == out + [4002, 4001])
  }

  @Test("a node that has enough stops the source; what lies behind never counts", arguments: 0..<40)
  func stopsEarly(seed: Int) throws {
    var simulation = Simulation(
      nodes: [.row, .ordered(.init(stopsAfter: 3)), .row, .ordered(.init())], sourceBatches: 1_000, batches: 2 + seed % 5,
      seed: UInt64(seed))
    try simulation.run()
    #expect(simulation.isComplete == 1)
    #expect(simulation.seen[1] == [0, 1, 2])
    #expect(simulation.seen[3] == [0, 1, 2])
    #expect(simulation.delivered.sorted() == [0, 1, 2])
  }

  @Test("after a failure everything comes to rest and completion is told once", arguments: 1..<60)
  func failureDrains(event: Int) throws {
    var simulation = Simulation(
      nodes: [.row, .ordered(.init()), .row, .ordered(.init(consumes: true, tail: 5)), .row, .ordered(.init())], sourceBatches: 8,
      batches: 3, seed: UInt64(event))
    try simulation.run(failAt: event)
    #expect(simulation.isComplete == 1)
  }

  @Test("a rest finds every batch free and all that was read gone through, and changes nothing of the stream", arguments: 0..<80)
  func rests(seed: Int) throws {
    var simulation = Simulation(
      nodes: [.row, .ordered(.init()), .row, .ordered(.init(consumes: true, tail: 4)), .row, .ordered(.init())], sourceBatches: 12,
      batches: 1 + seed % 5, seed: UInt64(seed))
    simulation.pausesEvery = 2 + seed % 9
    try simulation.run()
    #expect(simulation.isComplete == 1)
    #expect(simulation.seen[1] == Array(0..<12) && simulation.seen[3] == Array(0..<12))
    #expect(simulation.seen[5] == [4004, 4003, 4002, 4001])
    #expect(!simulation.rests.isEmpty)
    for rest in simulation.rests { #expect(rest.made == rest.delivered, "what was read before a rest has gone through") }
    #expect(simulation.declined > 0, "behind the end of the source there is no rest")
  }

  @Test("there is a rest behind the last batch of the source and before anything is finished, where it is wanted", arguments: 0..<80)
  func restsAtEnd(seed: Int) throws {
    var simulation = Simulation(
      nodes: [.row, .ordered(.init(consumes: seed % 2 == 0, tail: seed % 2 == 0 ? 5 : 0)), .row, .ordered(.init())],
      sourceBatches: seed, batches: 1 + seed % 5, seed: UInt64(seed), pausesEvery: seed % 3 == 0 ? 5 + seed % 7 : nil, restsAtEnd: true)
    try simulation.run()
    #expect(simulation.isComplete == 1)
    #expect(simulation.seen[1] == Array(0..<seed))
    #expect(simulation.rests.last?.made == seed && !simulation.finishedBeforeRest)
    if seed % 3 != 0 { #expect(simulation.rests.count == 1) }
  }

  @Test("a rest and an early stop, or a failure, do not lock up", arguments: 0..<60)
  func restsAndEnds(seed: Int) throws {
    var simulation = Simulation(
      nodes: [.row, .ordered(.init(stopsAfter: 5)), .row, .ordered(.init())], sourceBatches: 30, batches: 1 + seed % 4,
      seed: UInt64(seed))
    simulation.pausesEvery = 1 + seed % 7
    try simulation.run(failAt: seed % 2 == 0 ? nil : seed)
    #expect(simulation.isComplete == 1)
    if seed % 2 == 0 { #expect(simulation.seen[3] == [0, 1, 2, 3, 4]) }
  }

  @Test("64 ordered nodes and one batch do not lock up")
  func manyNodesOneBatch() throws {
    var simulation = Simulation(
      nodes: Array(repeating: .ordered(.init()), count: 64), sourceBatches: 20, batches: 1, seed: 1)
    try simulation.run()
    #expect(simulation.isComplete == 1)
    #expect(simulation.seen[63] == Array(0..<20))
  }
}
