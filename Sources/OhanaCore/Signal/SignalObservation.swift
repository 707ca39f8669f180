/// What ``Signal/observe(_:on:once:_:)`` returns: ends one observation, and stands for it where observations are told apart.
///
/// Nobody has to keep it; an observation ends by itself with its owner.
public final class SignalObservation: Sendable, Hashable {
  private let canceller: @Sendable (SignalObservation) -> Void
  private let arming: @Sendable (SignalObservation) -> Void

  init(cancel: @escaping @Sendable (SignalObservation) -> Void, arm: @escaping @Sendable (SignalObservation) -> Void) {
    canceller = cancel
    arming = arm
  }

  /// Ends the observation. A fire that is under way still reaches it. May be called again, and from any thread.
  public func cancel() { canceller(self) }

  /// Ends it right before its next callback, which still happens; the same as `once: true` from here on.
  public func cancelAfterNextFire() { arming(self) }

  public static func == (a: SignalObservation, b: SignalObservation) -> Bool { a === b }
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
