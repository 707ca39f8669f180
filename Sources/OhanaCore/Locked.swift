/// A value that one thread at a time may look at.
///
/// The platform's mutex instead of `Synchronization.Mutex`: that one waits on a futex of its own, which the thread sanitizer cannot see, so
/// that it reports every guarded access as a race.
package final class Locked<Value>: @unchecked Sendable {  // because the value is touched under the mutex only
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private var guarded: Value

  package init(_ value: sending Value) {
    guarded = value
    mutex = .allocate(capacity: 1)
    let status = pthread_mutex_init(mutex, nil)
    precondition(status == 0, "a mutex cannot be made")
  }

  deinit {
    pthread_mutex_destroy(mutex)
    mutex.deallocate()
  }

  package func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return try body(&guarded)
  }
}

extension Locked where Value: Sendable {
  /// A copy of it; to change what is there by what is there, use ``withLock(_:)``.
  package var value: Value {
    get { withLock { $0 } }
    set {
      // What was there ends outside the lock.
      var value = newValue
      withLock { swap(&$0, &value) }
    }
  }
}
