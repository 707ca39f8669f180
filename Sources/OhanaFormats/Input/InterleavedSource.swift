internal import Dispatch
package import OhanaCore

/// Reads inputs side by side and hands out their batches in the order in which they arrive: whoever has nothing at the moment holds nobody up.
///
/// Inputs that may have to be waited for (pipes, programs) have a thread and a batch each, which it fills ahead; so many of them are open at once as
/// the caller says, and the others begin when one of those has ended. Files never have to be waited for: they are read one after the other,
/// in turns with what has arrived, and no more than one of them is open. Batches of one input keep their order. Behind its last one there is
/// an empty batch that says so, see ``EndOfInput``.
package final class InterleavedSource: BatchSource, @unchecked Sendable {  // because one piece of work at a time uses it
  private let files: [Int]
  private let open: InputSource.Opener
  private let onEnd: @Sendable (Int) -> Void
  private let inbox: Inbox
  private var position = 0
  private var file: InputSource?
  /// The last batch was one of a file: what has arrived is next.
  private var isOthersTurn = false
  private var bytesRead: [Int]
  private var bytesInAll = 0

  /// - Parameters:
  ///   - count: number of inputs.
  ///   - live: those that may have to be waited for, in order.
  ///   - openAtOnce: how many of those are open at a time, at least 1.
  ///   - batchBytes: what a batch of those holds, where its records are not longer.
  ///   - open: called once for each input, for live ones on a thread of their own, where it may wait.
  ///   - interrupt: called from any thread for a live input that nobody wants any more, which may be waiting.
  ///   - onEnd: called when all of an input has been read without a fault.
  package init(
    count: Int, live: [Int], openAtOnce: Int, batchBytes: Int, open: @escaping InputSource.Opener,
    interrupt: @escaping @Sendable (Int) -> Void, onEnd: @escaping @Sendable (Int) -> Void
  ) {
    precondition(openAtOnce > 0, "an input has to be open to be read")
    let isLive = Set(live)
    files = (0..<count).filter { !isLive.contains($0) }
    bytesRead = Array(repeating: 0, count: count)
    self.open = open
    self.onEnd = onEnd
    inbox = Inbox(live, openAtOnce: openAtOnce, batchBytes: batchBytes, interrupt: interrupt) { index in
      InputSource(count: 1) { _ in
        try open(index)
      } onEnd: { _ in
        onEnd(index)
      }
    }
  }

  deinit { close() }

  /// Nobody wants any more: what waits is interrupted, and ``next(into:)`` has nothing more. From any thread; may be called again.
  package func close() { inbox.close() }

  package func next(into batch: RecordBatch) throws -> Bool {
    inbox.begin()
    while true {
      let hasFile = position < files.count
      switch inbox.next(mayWait: !hasFile, mayTake: isOthersTurn || !hasFile) {
      case .over where hasFile, .nothing where hasFile:
        isOthersTurn = true
        try readFile(into: batch)
        return true
      case .over, .closed: return false
      case .nothing: continue
      case .arrived(let lane):
        isOthersTurn = false
        try take(lane, into: batch)
        return true
      }
    }
  }

  private func readFile(into batch: RecordBatch) throws {
    let index = files[position]
    let source =
      file
      ?? InputSource(count: 1) { [open] _ in
        try open(index)
      } onEnd: { [onEnd] _ in
        onEnd(index)
      }
    file = source
    let hasMore = try source.next(into: batch)
    count(batch, of: index)
    guard !hasMore else { return }
    batch.arena.removeAll()
    batch.readerState = EndOfInput()
    file = nil
    position += 1
  }

  private func take(_ lane: Lane, into batch: RecordBatch) throws {
    if let error = lane.error { throw error }
    let read = lane.batch
    if lane.hasMore { batch.arena.append(read.arena.bytes) }
    (batch.firstByte, batch.lineCount, batch.blankLines) = (read.firstByte, read.lineCount, read.blankLines)
    (batch.rejects, batch.warnings, batch.readerState, batch.fault) = (read.rejects, read.warnings, read.readerState, read.fault)
    batch.inputBytesRead = read.inputBytesRead
    count(batch, of: lane.index)
    if !lane.hasMore { batch.readerState = EndOfInput() }
    inbox.proceed(lane)
  }

  private func count(_ batch: RecordBatch, of index: Int) {
    batch.source = index
    bytesInAll += max(0, batch.inputBytesRead - bytesRead[index])
    bytesRead[index] = max(bytesRead[index], batch.inputBytesRead)
    batch.inputBytesRead = bytesInAll
  }
}

/// The ``RecordBatch/readerState`` of the empty batch behind the last one of an input: others may follow that began earlier.
package struct EndOfInput: Sendable {}

/// A stream that may be waiting for its next bytes when nobody wants them any more.
package protocol InterruptibleByteStream: ByteStream {
  /// Ends the wait, if that can be done. Called from any thread.
  func interrupt()
}

/// An input that is read by a thread of its own, one batch ahead.
private final class Lane: @unchecked Sendable {  // because thread and reader take turns: `goes` and the inbox's lock stand between them
  let index: Int
  let source: InputSource
  let batch = RecordBatch()
  /// The batch is one; otherwise the input has ended.
  var hasMore = true
  var error: (any Error)?
  /// The batch has been taken.
  let goes = DispatchSemaphore(value: 0)

  init(_ index: Int, _ source: InputSource) { (self.index, self.source) = (index, source) }
}

/// What has arrived, in order. Threads hold on to it alone, so that one that waits for ever keeps no run.
private final class Inbox: Sendable {
  enum Next { case arrived(Lane), nothing, over, closed }
  private struct State {
    /// Not begun, in order.
    var waiting: ArraySlice<Int>
    var lanes: [Lane] = []
    var arrived: [Lane] = []
    var isClosed = false
  }
  private let state: Locked<State>
  private let arrivals = DispatchSemaphore(value: 0)
  private let openAtOnce: Int
  private let batchBytes: Int
  private let interrupt: @Sendable (Int) -> Void
  private let makeSource: @Sendable (Int) -> InputSource

  init(
    _ live: [Int], openAtOnce: Int, batchBytes: Int, interrupt: @escaping @Sendable (Int) -> Void,
    makeSource: @escaping @Sendable (Int) -> InputSource
  ) {
    state = Locked(State(waiting: live[...]))
    self.openAtOnce = openAtOnce
    self.batchBytes = batchBytes
    self.interrupt = interrupt
    self.makeSource = makeSource
  }

  /// Lets as many threads begin as may.
  func begin() {
    state.withLock { state in
      while !state.isClosed, state.lanes.count < openAtOnce, let index = state.waiting.popFirst() {
        let lane = Lane(index, makeSource(index))
        state.lanes.append(lane)
        // A queue of its own: a concurrent one has too few threads for those that wait.
        DispatchQueue(label: "ohana.input").async { self.read(lane) }
      }
    }
  }

  func next(mayWait: Bool, mayTake: Bool) -> Next {
    let next: Next = state.withLock { state in
      if state.isClosed { return .closed }
      if mayTake, !state.arrived.isEmpty { return .arrived(state.arrived.removeFirst()) }
      return state.lanes.isEmpty && state.waiting.isEmpty ? .over : .nothing
    }
    if case .nothing = next, mayWait { arrivals.wait() }
    return next
  }

  /// The lane's batch has been taken: it reads on, or another begins.
  func proceed(_ lane: Lane) {
    if lane.hasMore {
      lane.goes.signal()
    } else {
      state.withLock { $0.lanes.removeAll { $0 === lane } }
    }
  }

  func close() {
    let lanes = state.withLock { state in
      defer { (state.isClosed, state.lanes, state.arrived, state.waiting) = (true, [], [], []) }
      return state.lanes
    }
    for lane in lanes {
      interrupt(lane.index)
      lane.goes.signal()
    }
    arrivals.signal()
  }

  private func read(_ lane: Lane) {
    while true {
      lane.batch.recycle(limit: batchBytes)
      do { lane.hasMore = try lane.source.next(into: lane.batch) } catch { lane.error = error }
      let isClosed = state.withLock { state in
        if !state.isClosed { state.arrived.append(lane) }
        return state.isClosed
      }
      arrivals.signal()
      if isClosed || !lane.hasMore || lane.error != nil { return }
      lane.goes.wait()
      if state.withLock({ $0.isClosed }) { return }
    }
  }
}
