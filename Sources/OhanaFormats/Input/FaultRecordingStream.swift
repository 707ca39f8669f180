public import OhanaCore

/// Bytes in order, from a file, a decompressor or a converter. Used by one piece of work at a time.
public protocol ByteStream: AnyObject, Sendable {
  /// Fills as much of `buffer` as it can without waiting more than once; returns the bytes read, 0 at the end only.
  ///
  /// - Throws: ``OhanaError`` (`io`, or `badInput` for a broken compressed stream, with the byte where it broke). Bytes returned before
  ///   are good.
  func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int
  /// Bytes taken from the underlying file so far, compressed where it is compressed; for progress.
  var inputBytesRead: Int { get }
  /// Why the stream ended before its end, where an error was turned into an end: see ``FaultRecordingStream``. A framer must not take
  /// what follows the last record end for a record then.
  var fault: OhanaError? { get }
}

extension ByteStream {
  public var fault: OhanaError? { nil }

  /// Whether a checkpoint can be taken of it now.
  var canBeSaved: Bool { (self as? any Checkpointable)?.canCheckpoint ?? false }

  func save(to writer: CheckpointWriter) throws {
    guard let stream = self as? any Checkpointable else { throw CheckpointReader.damaged }
    try stream.save(to: writer)
  }

  func restore(from reader: CheckpointReader) throws {
    guard let stream = self as? any Checkpointable else { throw CheckpointReader.damaged }
    try stream.restore(from: reader)
  }
}

/// Turns the first error of a stream into its end, and remembers it.
///
/// Records before a break are delivered in order like any others; the error is raised behind them.
public final class FaultRecordingStream: ByteStream, Checkpointable, @unchecked Sendable {  // because one piece of work at a time uses it
  private let stream: any ByteStream
  public private(set) var fault: OhanaError?

  public init(_ stream: any ByteStream) { self.stream = stream }

  public var inputBytesRead: Int { stream.inputBytesRead }

  public var canCheckpoint: Bool { fault == nil && stream.canBeSaved }
  public func save(to writer: CheckpointWriter) throws { try stream.save(to: writer) }
  public func restore(from reader: CheckpointReader) throws { try stream.restore(from: reader) }

  public func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
    guard fault == nil else { return 0 }
    do {
      return try stream.read(into: buffer)
    } catch let error as OhanaError where error.category == .badInput {
      fault = error
      return 0
    }
  }
}

/// Cuts one input into batches of whole records. The serial half of a reader; the row-local half is a ``RowStage``.
public protocol RecordFramer: AnyObject, Sendable {
  /// Fills an empty batch with the bytes of whole records (about 1 MiB, more only for a longer record) and sets `firstByte`,
  /// `inputBytesRead`, `readerState`; `source` is set by the caller. Returns false at the end of the input.
  func next(into batch: RecordBatch) throws -> Bool
}
