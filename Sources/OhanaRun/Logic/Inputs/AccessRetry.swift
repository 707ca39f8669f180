internal import OhanaCore

/// What is handed out with an input that may not be read, or a provider that nobody has decided about yet: call it when a person has answered.
///
/// Letting go of it without a call counts as a refusal, so that no run hangs.
public final class AccessRetry: Sendable {
  private let answer: Locked<CheckedContinuation<Bool, Never>?>

  private init(_ continuation: CheckedContinuation<Bool, Never>) { answer = Locked(continuation) }

  /// Returns whether whoever is given it wants it tried again.
  package static func answer(to ask: (AccessRetry) -> Void) async -> Bool {
    await withCheckedContinuation { ask(AccessRetry($0)) }
  }

  deinit { decide(false) }

  /// It is tried again, and reading goes on if it may be read now. Only the first answer counts.
  public func callAsFunction() { decide(true) }

  /// It may not be read: the code is `auth`.
  public func refuse() { decide(false) }

  private func decide(_ isGranted: Bool) {
    let continuation = answer.withLock { answer in
      defer { answer = nil }
      return answer
    }
    continuation?.resume(returning: isGranted)
  }
}
