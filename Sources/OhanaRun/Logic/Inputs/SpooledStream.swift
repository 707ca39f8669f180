internal import OhanaCore
internal import OhanaFormats
internal import Synchronization

/// An input that can be read only once, and the part of it that was put aside so far.
final class SpooledInput: Sendable {
  private let file: any SpillFile
  /// What has not been put aside yet; nil where all has.
  private let rest: SpoolingStream?
  private let readers = Mutex(0)

  /// - Parameter rest: goes on behind the file, which is empty.
  init(_ file: any SpillFile, then rest: (any ByteStream)? = nil) {
    self.file = file
    self.rest = rest.map { SpoolingStream($0, to: file) }
  }

  /// Reads from the beginning. The first reader puts aside what it takes; the second one, which may come when the first is done, takes the
  /// rest from where that stopped. Only where all was put aside may there be more.
  func makeStream() -> any ByteStream {
    let isFirst = readers.withLock { readers in
      readers += 1
      return readers == 1
    }
    guard let rest else { return SpooledStream(file, then: nil) }
    if isFirst { return rest }
    rest.putsAside = false
    return SpooledStream(file, then: rest)
  }
}

/// Puts aside what it reads. Ends, or fails, as often as it is asked to, as the stream did that it reads.
private final class SpoolingStream: ByteStream, @unchecked Sendable {  // because one piece of work at a time uses it
  private let stream: any ByteStream
  private let file: any SpillFile
  /// Somebody may read it again from the beginning.
  var putsAside = true
  private var isAtEnd = false
  private var failure: (any Error)?

  init(_ stream: any ByteStream, to file: any SpillFile) {
    self.stream = stream
    self.file = file
  }

  var inputBytesRead: Int { stream.inputBytesRead }
  var fault: OhanaError? { stream.fault }

  func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
    if let failure { throw failure }
    if isAtEnd { return 0 }
    do {
      let count = try stream.read(into: buffer)
      isAtEnd = count == 0
      if putsAside, count > 0 { try file.append(UnsafeRawBufferPointer(rebasing: buffer[..<count])) }
      return count
    } catch {
      failure = error
      throw error
    }
  }
}

/// Reads a temporary file from its beginning, and then what follows it.
private final class SpooledStream: ByteStream, @unchecked Sendable {  // because one piece of work at a time uses it
  private let file: any SpillFile
  private let rest: (any ByteStream)?
  private var offset = 0
  private var isInRest = false

  init(_ file: any SpillFile, then rest: (any ByteStream)?) {
    self.file = file
    self.rest = rest
  }

  var inputBytesRead: Int { isInRest ? rest?.inputBytesRead ?? offset : offset }
  var fault: OhanaError? { isInRest ? rest?.fault : nil }

  func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
    if !isInRest {
      let count = try file.read(at: offset, into: buffer)
      offset += count
      if count > 0 { return count }
      isInRest = true
    }
    return try rest?.read(into: buffer) ?? 0
  }
}
