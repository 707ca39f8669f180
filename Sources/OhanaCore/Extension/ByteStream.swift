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
}
