internal import OhanaCore

/// Inflates one raw deflate stream (RFC 1951) after another. The container around it is ``GzipByteStream``'s business.
protocol Inflater: AnyObject {
  /// Forgets everything: the next byte is the first of a new deflate stream.
  func reset()

  /// Inflates from `input` into `output` until one of them is used up, the stream ends or breaks.
  ///
  /// - Parameter input: bytes that follow those taken so far.
  func inflate(_ input: UnsafeBufferPointer<UInt8>, into output: UnsafeMutableBufferPointer<UInt8>) -> InflateStep

  /// The input ends here, inside the stream: hands out what can still be decoded for certain. Returns how many bytes.
  func takeCutEnd(into output: UnsafeMutableBufferPointer<UInt8>) -> Int

  /// Bytes taken from `input` that lie behind the end of the deflate stream; empty unless the last step was `.end`.
  var surplus: (bytes: UInt64, count: Int) { get }

  /// Whether ``save(to:)`` works with this library.
  var canCheckpoint: Bool { get }
  func save(to writer: CheckpointWriter) throws
  func restore(from reader: CheckpointReader) throws

  /// CRC-32 of `bytes`, continued from `crc`.
  func crc32(_ crc: UInt32, _ bytes: UnsafeBufferPointer<UInt8>) -> UInt32
}

extension Inflater {
  var canCheckpoint: Bool { false }
  func save(to writer: CheckpointWriter) throws { throw CheckpointReader.damaged }
  func restore(from reader: CheckpointReader) throws { throw CheckpointReader.damaged }
}

struct InflateStep {
  enum Outcome {
    /// All input was taken.
    case needsInput
    case outputFull
    /// The final block is complete and all of it was handed out.
    case end
    /// What follows `written` is no deflate data; `taken` tells where.
    case broken
  }
  var outcome: Outcome
  var taken: Int
  var written: Int
}
