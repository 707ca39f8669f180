public import OhanaCore

/// Reads inputs one after the other, each through a framer of its own, and hands out their batches in order. At most one is open.
public final class InputSource: BatchSource, Checkpointable, @unchecked Sendable {  // because one piece of work at a time uses it
  /// Opens an input. The stream is the one the framer reads from, asked for its fault when the framer is at its end.
  public typealias Opener = @Sendable (_ index: Int) throws -> (framer: any RecordFramer, stream: any ByteStream)

  private let count: Int
  private let open: Opener
  private let onEnd: @Sendable (Int) -> Void
  private var index = 0
  private var current: (framer: any RecordFramer, stream: any ByteStream)?
  /// Bytes taken from the inputs before the current one.
  private var bytesBefore = 0

  /// - Parameters:
  ///   - count: number of inputs.
  ///   - open: called for 0, 1, 2 … when the input before is done.
  ///   - onEnd: called when all of an input has been read without a fault; of a run that is gone on with, for those before at once.
  public init(count: Int, open: @escaping Opener, onEnd: @escaping @Sendable (_ index: Int) -> Void = { _ in }) {
    self.count = count
    self.open = open
    self.onEnd = onEnd
  }

  /// Which input is next, or being read, and how many compressed bytes of it are.
  public var position: (index: Int, bytes: Int) { (index, current?.stream.inputBytesRead ?? 0) }

  public var canCheckpoint: Bool {
    guard let current else { return true }
    return (current.framer as? any Checkpointable)?.canCheckpoint ?? false && current.stream.canBeSaved
  }

  public func save(to writer: CheckpointWriter) throws {
    try writer.put(index)
    try writer.put(bytesBefore)
    try writer.put(current != nil)
    guard let current else { return }
    try current.stream.save(to: writer)
    try (current.framer as? any Checkpointable)?.save(to: writer)
  }

  public func restore(from reader: CheckpointReader) throws {
    index = try reader.count(count)
    bytesBefore = try reader.count()
    for done in 0..<index { onEnd(done) }
    guard try reader.bool(), index < count else { return }
    let input = try open(index)
    try input.stream.restore(from: reader)
    try (input.framer as? any Checkpointable)?.restore(from: reader)
    current = input
  }

  public func next(into batch: RecordBatch) throws -> Bool {
    while index < count {
      let input = try current ?? open(index)
      current = input
      let hasMore: Bool
      do {
        hasMore = try input.framer.next(into: batch)
      } catch {
        // A fault that the framer met behind the last whole record is told in order, like the record before it.
        guard input.stream.fault != nil else { throw error }
        hasMore = false
      }
      batch.source = index
      batch.inputBytesRead = bytesBefore + input.stream.inputBytesRead
      if hasMore { return true }
      bytesBefore += input.stream.inputBytesRead
      current = nil
      index += 1
      if let fault = input.stream.fault {
        batch.fault = fault
        return true
      }
      onEnd(index - 1)
    }
    return false
  }
}
