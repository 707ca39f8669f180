internal import Dispatch
internal import Synchronization

/// Tells whether the caller already is on a queue, or on one that targets it.
///
/// A mark belongs to the queue itself: objects that stand for queues come and go (`DispatchQueue.main` makes one each time), and their
/// addresses are used again.
final class SignalQueue: Sendable {
  /// Only this queue, and those that target it, have a value for it.
  private let own = DispatchSpecificKey<Bool>()
  private static let marks = DispatchSpecificKey<SignalQueue>()
  private static let marking = Mutex(())

  private init() {}

  /// The mark of a queue, the same each time.
  static func mark(_ queue: DispatchQueue) -> SignalQueue {
    marking.withLock { _ in
      if let mark = queue.getSpecific(key: marks) { return mark }
      let mark = SignalQueue()
      queue.setSpecific(key: marks, value: mark)
      queue.setSpecific(key: mark.own, value: true)
      return mark
    }
  }

  var isCurrent: Bool { DispatchQueue.getSpecific(key: own) == true }
}
