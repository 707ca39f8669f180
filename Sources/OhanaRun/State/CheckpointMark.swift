/// A rest of the flow that was written down.
public struct CheckpointMark: Sendable, Equatable, Codable {
  /// 1 for the first; the file is `checkpoint-N`.
  public var number: Int
  /// Of the file, in bytes.
  public var size: Int
  /// XXH3 of the whole file.
  public var checksum: UInt64
  /// Records read up to it.
  public var records: Int
}

/// When checkpoints are due.
public struct CheckpointClock: Sendable, Equatable, Codable {
  /// Seconds between two of them; nil: none are taken.
  public var interval: Double?
  /// Seconds since the run began, at the last one.
  public var last = 0.0
  /// How many have been asked for.
  public var wanted = 0

  func isDue(at seconds: Double) -> Bool { interval.map { seconds - last >= $0 } ?? false }

  mutating func ask(at seconds: Double) {
    last = seconds
    wanted += 1
  }
}
