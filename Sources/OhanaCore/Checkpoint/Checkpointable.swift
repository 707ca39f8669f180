/// A part of a run that remembers something from one batch to the next, and can write it down while everything is at rest.
///
/// A stage, source or sink that remembers something and does not conform, or cannot at the moment, keeps its run from taking checkpoints;
/// the run is none the worse otherwise. Stages without memory need nothing.
///
/// What is written depends on the records seen so far only: it is taken up by a run of other threads, batches and memory.
public protocol Checkpointable: AnyObject {
  /// Looked at before each checkpoint, while everything is at rest.
  var canCheckpoint: Bool { get }
  /// Writes down what it remembers. It goes on afterwards as if nothing had happened.
  func save(to writer: CheckpointWriter) throws
  /// Takes up what `save` of its like wrote. Called before the first batch.
  ///
  /// - Throws: ``CheckpointReader/damaged`` or its like where the bytes make no sense.
  func restore(from reader: CheckpointReader) throws
}

extension Checkpointable {
  public var canCheckpoint: Bool { true }
}

/// Writes numbers and bytes one behind the other, in small pieces, so that a large table takes no second memory.
///
/// Numbers are eight bytes, little-endian; runs of bytes have their length in front.
public final class CheckpointWriter {
  private let buffer = ByteBuffer(capacity: 1 << 16)
  private let output: (UnsafeRawBufferPointer) throws -> Void
  private var named: [Int: any SpillFile] = [:]
  /// Numbers of the spill files named so far.
  public var files: Set<Int> { Set(named.keys) }

  /// - Parameter output: gets all bytes in order.
  public init(_ output: @escaping (UnsafeRawBufferPointer) throws -> Void) { self.output = output }

  /// Eight bytes, little-endian, two's complement.
  public func put(_ number: Int) throws { try put(UInt64(bitPattern: Int64(number))) }

  /// Eight bytes, little-endian.
  public func put(_ number: UInt64) throws {
    try withUnsafeBytes(of: number.littleEndian) { try put(raw: $0) }
  }

  /// Written as the number 0 or 1.
  public func put(_ flag: Bool) throws { try put(flag ? 1 : 0) }

  /// Bytes with their number in front.
  public func put(_ bytes: UnsafeRawBufferPointer) throws {
    try put(bytes.count)
    try put(raw: bytes)
  }

  /// The number of bytes, then the bytes.
  public func put(_ bytes: [UInt8]) throws { try bytes.withUnsafeBytes { try put($0) } }
  /// The UTF-8 bytes of `text`, as ``put(_:)-([UInt8])`` writes them.
  public func put(_ text: String) throws { try put(Array(text.utf8)) }
  /// The content of a buffer, as ``put(_:)-([UInt8])`` writes it.
  public func put(_ buffer: ByteBuffer) throws { try put(UnsafeRawBufferPointer(buffer.bytes)) }

  /// A spill file as it is now. - Throws: `io` for a file that would not outlive the process.
  public func put(_ file: any SpillFile) throws {
    guard let number = file.number else { throw OhanaError(.io, "no-checkpoint", "a temporary file has no name") }
    named[number] = file
    try put(number)
    try put(file.size)
    try put(file.digest)
  }

  /// Bytes whose number the reader knows.
  public func put(raw bytes: UnsafeRawBufferPointer) throws {
    guard let start = bytes.baseAddress, !bytes.isEmpty else { return }
    if buffer.count + bytes.count > buffer.capacity { try flush() }
    if bytes.count >= buffer.capacity { return try output(bytes) }
    buffer.append(start.assumingMemoryBound(to: UInt8.self), count: bytes.count)
  }

  /// To be called when all has been put: hands on what is held back, and brings the spill files named to disk, since what is written
  /// here may outlive the machine's stop. - Throws: `io`.
  public func finish() throws {
    try flush()
    for file in named.values { try file.sync() }
  }

  private func flush() throws {
    if buffer.count > 0 { try output(UnsafeRawBufferPointer(buffer.bytes)) }
    buffer.removeAll()
  }
}

/// Reads what a ``CheckpointWriter`` wrote, in the same order.
public final class CheckpointReader {
  private let input: (UnsafeMutableRawBufferPointer) throws -> Int
  private let spill: any SpillStore
  private let limit: Int

  /// - Parameters:
  ///   - spill: holds the files that are named.
  ///   - limit: bytes there are in all; no run of bytes is longer.
  ///   - input: fills as much of a buffer as there is left.
  public init(spill: any SpillStore, limit: Int, _ input: @escaping (UnsafeMutableRawBufferPointer) throws -> Int) {
    self.spill = spill
    self.limit = limit
    self.input = input
  }

  /// What every reading method throws where the saved state ends early or says what cannot be.
  public static let damaged = OhanaError(
    .locked, "damaged-checkpoint", "what an earlier run left to go on from cannot be read", fix: "run without --resume to start anew")

  /// What ``CheckpointWriter/put(_:)-(Int)`` wrote.
  public func int() throws -> Int { Int(Int64(bitPattern: try uint64())) }

  /// What ``CheckpointWriter/put(_:)-(UInt64)`` wrote.
  public func uint64() throws -> UInt64 {
    var number: UInt64 = 0
    try withUnsafeMutableBytes(of: &number) { try fill($0) }
    return UInt64(littleEndian: number)
  }

  /// A number that cannot be negative, and not more than `limit`.
  public func count(_ limit: Int = .max) throws -> Int {
    let number = try int()
    guard number >= 0, number <= limit else { throw Self.damaged }
    return number
  }

  /// What ``CheckpointWriter/put(_:)-(Bool)`` wrote.
  public func bool() throws -> Bool { try int() != 0 }

  /// What ``CheckpointWriter/put(_:)-([UInt8])`` wrote.
  public func bytes() throws -> [UInt8] {
    let count = try count(limit)
    var bytes = [UInt8](repeating: 0, count: count)
    try bytes.withUnsafeMutableBytes { try fill($0) }
    return bytes
  }

  public func text() throws -> String { String(decoding: try bytes(), as: UTF8.self) }

  /// Appends a run of bytes.
  public func bytes(to buffer: ByteBuffer) throws {
    let count = try count(limit)
    buffer.reserve(count)
    try fill(UnsafeMutableRawBufferPointer(start: buffer.base + buffer.count, count: count))
    buffer.count += count
  }

  /// A spill file of the earlier process, found by number and size. Reads it once, to see that it holds what was written.
  public func file() throws -> any SpillFile {
    let file = try spill.reopen(try int(), size: try count())
    guard try uint64() == file.digest else { throw Self.damaged }
    return file
  }

  /// Bytes whose number is known.
  public func fill(_ target: UnsafeMutableRawBufferPointer) throws {
    var done = 0
    while done < target.count {
      let got = try input(UnsafeMutableRawBufferPointer(rebasing: target[done...]))
      guard got > 0 else { throw Self.damaged }
      done += got
    }
  }
}
