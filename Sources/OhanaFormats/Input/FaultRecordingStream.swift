public import OhanaCore

extension ByteStream {
  /// Whether a checkpoint can be taken of it now.
  package var canBeSaved: Bool { (self as? any Checkpointable)?.canCheckpoint ?? false }

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
  private let forgivesIO: Bool

  /// Takes over `stream`: nobody else may read from it.
  ///
  /// - Parameter forgivesIO: what cannot be read any further ends the stream, as damaged text does; otherwise it is thrown.
  public init(_ stream: any ByteStream, forgivesIO: Bool = false) { (self.stream, self.forgivesIO) = (stream, forgivesIO) }

  public var inputBytesRead: Int { stream.inputBytesRead }

  public var canCheckpoint: Bool { fault == nil && stream.canBeSaved }
  public func save(to writer: CheckpointWriter) throws { try stream.save(to: writer) }
  public func restore(from reader: CheckpointReader) throws { try stream.restore(from: reader) }

  public func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
    guard fault == nil else { return 0 }
    do {
      return try stream.read(into: buffer)
    } catch let error as OhanaError where error.category == .badInput || forgivesIO && error.category == .io {
      fault = error
      return 0
    }
  }
}
