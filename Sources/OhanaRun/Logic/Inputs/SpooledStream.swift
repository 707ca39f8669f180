internal import OhanaCore
internal import OhanaFormats

/// Reads a temporary file from its beginning.
final class SpooledStream: ByteStream, @unchecked Sendable {  // because one piece of work at a time uses it
  private let file: any SpillFile
  private var offset = 0

  init(_ file: any SpillFile) { self.file = file }

  var inputBytesRead: Int { offset }

  func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
    let count = try file.read(at: offset, into: buffer)
    offset += count
    return count
  }
}
