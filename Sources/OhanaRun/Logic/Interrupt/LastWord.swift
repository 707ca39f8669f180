internal import OhanaCore

/// How something ends that an interruption may end too: whoever speaks first decides, and nobody goes on meanwhile.
final class LastWord: Sendable {
  private let isSpoken = Locked(false)

  /// It ends as it was to end, from now on; waits for an interruption that came first.
  func take() { isSpoken.value = true }

  /// Runs `body`, which ends the process, unless the last word is spoken.
  func interrupt(_ body: () -> Void) {
    isSpoken.withLock { isSpoken in
      if !isSpoken { body() }
      isSpoken = true
    }
  }
}
