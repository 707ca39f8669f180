internal import Dispatch

/// Tells whether the caller already is on a queue, or on one that targets it.
enum SignalQueue {
  private static let key = DispatchSpecificKey<ObjectIdentifier>()

  /// Called once for each queue before ``isCurrent(_:)`` is asked of it.
  static func mark(_ queue: DispatchQueue) { queue.setSpecific(key: key, value: ObjectIdentifier(queue)) }

  static func isCurrent(_ queue: DispatchQueue) -> Bool { DispatchQueue.getSpecific(key: key) == ObjectIdentifier(queue) }
}
