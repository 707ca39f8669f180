public import OhanaCore

/// Bytes that were read from a stream before, then the rest of it: looking at the start of an input loses nothing.
public final class PrefixedByteStream: ByteStream, Checkpointable, @unchecked Sendable {  // because one piece of work at a time uses it
  private var head: ByteBuffer
  private var start = 0
  private let rest: any ByteStream

  /// - Parameter head: bytes that were read from `rest` before; taken over.
  public init(_ head: ByteBuffer, then rest: any ByteStream) {
    self.head = head
    self.rest = rest
  }

  public var inputBytesRead: Int { rest.inputBytesRead }
  public var fault: OhanaError? { rest.fault }

  public func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
    let count = min(head.count - start, buffer.count)
    guard count > 0 else { return try rest.read(into: buffer) }
    buffer.copyMemory(from: UnsafeRawBufferPointer(start: head.base + start, count: count))
    start += count
    return count
  }

  public var canCheckpoint: Bool { rest.canBeSaved }

  public func save(to writer: CheckpointWriter) throws {
    try writer.put(UnsafeRawBufferPointer(start: head.base + start, count: head.count - start))
    try rest.save(to: writer)
  }

  public func restore(from reader: CheckpointReader) throws {
    head = ByteBuffer()
    start = 0
    try reader.bytes(to: head)
    try rest.restore(from: reader)
  }

  /// Reads up to `count` bytes of a stream and returns them with a stream that still delivers them.
  ///
  /// - Parameter isPrompt: a whole line is enough, where waiting for more would be waiting.
  package static func peek(
    _ stream: any ByteStream, count: Int, isPrompt: Bool = false
  ) throws -> (head: ByteBuffer, stream: PrefixedByteStream) {
    let head = ByteBuffer(capacity: count)
    while head.count < count {
      let got = try stream.read(into: UnsafeMutableRawBufferPointer(start: head.base + head.count, count: count - head.count))
      if got == 0 { break }
      head.count += got
      if isPrompt, head.bytes.contains(0x0a) { break }
    }
    let copy = ByteBuffer(capacity: head.count)
    copy.append(head.bytes)
    return (head, PrefixedByteStream(copy, then: stream))
  }
}
