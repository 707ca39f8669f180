/// When something is told that happens often: at once the first time, then ten times a second at most. Within its owner's lock.
struct Pace: Sendable {
  /// Nanoseconds between two tellings.
  private static let pause: UInt64 = 100_000_000
  private var toldAt: UInt64?

  /// Whether it is time, on the monotonic clock; then the pause begins anew.
  mutating func isDue(at now: UInt64) -> Bool {
    if let toldAt, now &- toldAt <= Self.pause { return false }
    toldAt = now
    return true
  }

  /// It is told out of turn.
  mutating func tell(at now: UInt64) { toldAt = now }
}
