internal import OhanaCore

/// What a data source hands out with a provider that nobody has decided about yet: call it when a person has answered.
///
/// Letting go of it without a call counts as a refusal, so that no load hangs.
public final class AccessRetry: Sendable {
  private let answer: Locked<CheckedContinuation<Bool, Never>?>

  init(_ continuation: CheckedContinuation<Bool, Never>) { answer = Locked(continuation) }
  deinit { decide(false) }

  /// The provider is asked for its access again, and loading goes on if it is granted. Only the first answer counts.
  public func callAsFunction() { decide(true) }

  /// The load fails with the code `auth`.
  public func refuse() { decide(false) }

  private func decide(_ isGranted: Bool) {
    let continuation = answer.withLock { answer in
      defer { answer = nil }
      return answer
    }
    continuation?.resume(returning: isGranted)
  }
}
