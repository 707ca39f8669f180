public import OhanaCore

/// How the bytes of a file are packed. Told by content, never by name.
public enum ByteCompression: String, Sendable, Codable {
  /// The bytes are the text.
  case none
  /// RFC 1952, any number of members.
  case gzip = "gz"
}

/// Opens `path` (`-` is standard input) and looks at its first bytes: gzip data is inflated, anything else is passed on as it is.
///
/// - Parameters:
///   - codec: what inflates; see ``DeflateCodec``.
/// - Returns: the stream, how the file is packed, and the size in bytes of the file itself where it is a regular one.
/// - Throws: as ``FileByteStream/init(_:)``.
public func openByteStream(_ path: FilePath, codec: DeflateCodec = .fast) throws -> OpenedByteStream {
  try openByteStream(path, codec: codec, retries: nil)
}

/// The same.
///
/// - Parameter retries: tries reads of a regular file again; nil: nobody does.
package func openByteStream(_ path: FilePath, codec: DeflateCodec, retries: ReadRetries?) throws -> OpenedByteStream {
  let file = try FileByteStream(path, retries: retries)
  let magic = GzipByteStream.magic
  let head = try file.peek(magic.count)
  // A gzip file cut within its first three bytes is a truncated one: no text begins like that.
  if !head.isEmpty, magic.starts(with: head) {
    return OpenedByteStream(stream: GzipByteStream(file, name: path, codec: codec), compression: .gzip, fileSize: file.size)
  }
  return OpenedByteStream(stream: file, compression: .none, fileSize: file.size)
}

/// What ``openByteStream(_:codec:)`` found.
public struct OpenedByteStream: Sendable {
  /// The decompressed bytes.
  public var stream: any ByteStream
  /// Told by content, whatever the name says.
  public var compression: ByteCompression
  /// Size in bytes of the file as it lies on disk; nil for pipes and devices.
  public var fileSize: Int?
}
