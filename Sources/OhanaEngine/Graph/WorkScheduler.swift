internal import Dispatch
public import OhanaCore

/// Runs pieces of work on Dispatch, never more than `width` at once, the most urgent first.
///
/// Work that makes more work, such as filling a batch, comes last, but for one case: while fewer pieces are ready than there are threads,
/// it comes first. Otherwise all that is ready would be used up, and the other threads would wait for the one that fills.
///
/// A piece of work never waits for another: what cannot go on yet is not submitted. So no thread is ever parked, and one thread is enough
/// for any number of stages.
public final class WorkScheduler: WorkPool {
  public let width: Int

  fileprivate struct State {
    var running = 0
    /// Binary heap; the largest priority first, among equals the oldest.
    var ready: [Entry] = []
    /// Work that makes more work, oldest first.
    var producers: [Entry] = []
    var counter: UInt64 = 0
  }
  fileprivate struct Entry: BitwiseCopyable {
    let priority: Int
    let order: UInt64
    /// Retained until its turn.
    let work: Unmanaged<ScheduledWork>
    let code: Int
    static func isBefore(_ a: Entry, _ b: Entry) -> Bool { a.priority != b.priority ? a.priority > b.priority : a.order < b.order }
  }

  private let state = Locked(State())
  private let queue = DispatchQueue(label: "ohana.work", qos: .userInitiated, attributes: .concurrent)

  /// - Parameter width: pieces of work at once, at least 1.
  public init(width: Int) {
    precondition(width > 0, "a scheduler needs at least one thread")
    self.width = width
  }

  /// Work beside the pipeline, such as compressing a block: as urgent as the last stage, since it frees memory.
  public func submit(_ work: @escaping @Sendable () -> Void) { submit(ClosureWork(work), code: 0, priority: .max) }

  /// Calls `work` with `code` in its turn.
  ///
  /// - Parameter priority: larger is more urgent; a stage's place in the pipeline. Nil for work that makes more work.
  func submit(_ work: ScheduledWork, code: Int, priority: Int?) {
    let startsThread = state.withLock { state in
      let entry = Entry(priority: priority ?? 0, order: state.counter, work: .passRetained(work), code: code)
      state.counter += 1
      if priority == nil { state.producers.append(entry) } else { state.insert(entry) }
      guard state.running < width else { return false }
      state.running += 1
      return true
    }
    if startsThread { queue.async { [self] in drain() } }
  }

  private func drain() {
    while true {
      let next = state.withLock { state in
        let next = state.takeNext(width: width)
        if next == nil { state.running -= 1 }
        return next
      }
      guard let next else { return }
      next.work.takeRetainedValue().perform(next.code)
    }
  }
}

/// Something that does pieces of work, told apart by a number: a closure for each would have to be allocated.
public class ScheduledWork: @unchecked Sendable {  // because its subclasses are
  init() {}
  func perform(_ code: Int) { preconditionFailure("work without a body") }
}

private final class ClosureWork: ScheduledWork, @unchecked Sendable {  // because its closure is
  private let body: @Sendable () -> Void
  init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  override func perform(_ code: Int) { body() }
}

extension WorkScheduler.State {
  fileprivate mutating func takeNext(width: Int) -> WorkScheduler.Entry? {
    if !producers.isEmpty, ready.count < width { return producers.removeFirst() }
    return popFirst()
  }

  fileprivate mutating func insert(_ entry: WorkScheduler.Entry) {
    ready.append(entry)
    var child = ready.count - 1
    while child > 0 {
      let parent = (child - 1) / 2
      guard WorkScheduler.Entry.isBefore(ready[child], ready[parent]) else { return }
      ready.swapAt(child, parent)
      child = parent
    }
  }

  private mutating func popFirst() -> WorkScheduler.Entry? {
    guard !ready.isEmpty else { return nil }
    ready.swapAt(0, ready.count - 1)
    let first = ready.removeLast()
    var parent = 0
    while true {
      let left = 2 * parent + 1
      guard left < ready.count else { return first }
      let right = left + 1
      let child = right < ready.count && WorkScheduler.Entry.isBefore(ready[right], ready[left]) ? right : left
      guard WorkScheduler.Entry.isBefore(ready[child], ready[parent]) else { return first }
      ready.swapAt(child, parent)
      parent = child
    }
  }
}
