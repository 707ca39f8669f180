internal import OhanaCore

/// Lends objects to pieces of work that may run at once; a new one is made only where all others are lent. Take one once per batch.
final class ScratchPool<Scratch: Sendable>: Sendable {
  private let free = Locked<[Scratch]>([])
  private let make: @Sendable () -> Scratch

  init(_ make: @escaping @Sendable () -> Scratch) { self.make = make }

  func take() -> Scratch { free.withLock { $0.popLast() } ?? make() }
  /// One that was given back, if there is any.
  func takeIfAny() -> Scratch? { free.withLock { $0.popLast() } }
  func give(_ scratch: Scratch) { free.withLock { $0.append(scratch) } }
}
