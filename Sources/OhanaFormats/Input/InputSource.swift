public import OhanaCore

/// Reads inputs one after the other, each through a framer of its own, and hands out their batches in order. At most one is open.
public final class InputSource: BatchSource, @unchecked Sendable {  // because one piece of work at a time uses it
  /// Opens an input. The stream is the one the framer reads from, asked for its fault when the framer is at its end.
  public typealias Opener = @Sendable (_ index: Int) throws -> (framer: any RecordFramer, stream: any ByteStream)

  private let count: Int
  private let open: Opener
  private var index = 0
  private var current: (framer: any RecordFramer, stream: any ByteStream)?
  /// Bytes taken from the inputs before the current one.
  private var bytesBefore = 0

  /// - Parameters:
  ///   - count: number of inputs.
  ///   - open: called for 0, 1, 2 … when the input before is done.
  public init(count: Int, open: @escaping Opener) {
    self.count = count
    self.open = open
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
    }
    return false
  }
}
