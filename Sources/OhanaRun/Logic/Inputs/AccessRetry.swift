internal import OhanaCore

/// What is handed out with an input that may not be read, or a provider that nobody has decided about yet: call it when a person has answered.
///
/// Letting go of it without a call counts as a refusal, so that no run hangs.
public final class AccessRetry: Sendable {
  private let answer: Answer

  private init(_ answer: Answer) { self.answer = answer }

  /// Returns whether whoever is given it wants it tried again: false where the task is cancelled meanwhile.
  package static func answer(to ask: (AccessRetry) -> Void) async -> Bool {
    let answer = Answer()
    return await withTaskCancellationHandler {
      await withCheckedContinuation {
        answer.wait($0)
        ask(AccessRetry(answer))
      }
    } onCancel: {
      answer.give(false)
    }
  }

  deinit { answer.give(false) }

  /// It is tried again, and reading goes on if it may be read now. Only the first answer counts.
  public func callAsFunction() { answer.give(true) }

  /// It may not be read: the code is `auth`.
  public func refuse() { answer.give(false) }

  /// Only the first one counts.
  private final class Answer: Sendable {
    private enum State { case none, awaited(CheckedContinuation<Bool, Never>), given(Bool) }
    private let state = Locked(State.none)

    func wait(_ continuation: CheckedContinuation<Bool, Never>) {
      let given = state.withLock { state -> Bool? in
        if case .given(let answer) = state { return answer }
        state = .awaited(continuation)
        return nil
      }
      if let given { continuation.resume(returning: given) }
    }

    func give(_ answer: Bool) {
      let continuation = state.withLock { state -> CheckedContinuation<Bool, Never>? in
        guard case .given = state else {
          defer { state = .given(answer) }
          if case .awaited(let continuation) = state { return continuation }
          return nil
        }
        return nil
      }
      continuation?.resume(returning: answer)
    }
  }
}
