internal import OhanaCore

/// Writes each change of the state down, with what it took, where there is a trace; costs nothing otherwise.
struct TraceInterceptor: RunInterceptor {
  let trace: Locked<TraceLog?>
  let clock: @Sendable () -> UInt64

  func chain(
    state: @escaping @Sendable () -> RunState, next: @escaping @Sendable (any RunUpdater) throws -> Void
  ) -> @Sendable (any RunUpdater) throws -> Void {
    { [trace, clock] updater in
      guard let log = trace.withLock({ $0 }) else { return try next(updater) }
      let start = clock()
      var isRefused = true
      defer { log.dispatch(updater, from: start, to: clock(), isRefused: isRefused) }
      try next(updater)
      isRefused = false
    }
  }
}
