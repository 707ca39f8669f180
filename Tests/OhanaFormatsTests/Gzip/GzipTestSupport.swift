import CZlib
import Foundation
import OhanaCore
import OhanaFormats

/// Deterministic random numbers (SplitMix64), so that a failing seed fails again.
struct SeededRandom: RandomNumberGenerator {
  var state: UInt64
  init(_ seed: UInt64) { state = seed &* 0x9e37_79b9_7f4a_7c15 &+ 1 }
  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var z = state
    z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
    z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
    return z ^ (z >> 31)
  }
}

/// Bytes in memory, handed out in pieces of at most `piece` bytes.
final class BytesInPieces: ByteStream, @unchecked Sendable {  // because a test uses it on one thread
  private let bytes: [UInt8]
  private let piece: Int
  private var position = 0
  init(_ bytes: [UInt8], piece: Int) { (self.bytes, self.piece) = (bytes, piece) }
  var inputBytesRead: Int { position }
  func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
    let count = min(buffer.count, piece, bytes.count - position)
    buffer.copyBytes(from: bytes[position..<(position + count)])
    position += count
    return count
  }
}

/// What a stream delivered, and the error it ended with.
struct Outcome: Equatable {
  var bytes: [UInt8] = []
  var error: OhanaError?
}

func drain(_ stream: any ByteStream, readSize: Int = 1 << 16) -> Outcome {
  var outcome = Outcome()
  var buffer = [UInt8](repeating: 0, count: readSize)
  do {
    while true {
      let got = try buffer.withUnsafeMutableBytes { try stream.read(into: $0) }
      if got == 0 { break }
      outcome.bytes.append(contentsOf: buffer[..<got])
    }
  } catch let error as OhanaError {
    outcome.error = error
  } catch {
    fatalError("only OhanaError may come out of a stream: \(error)")
  }
  return outcome
}

/// zlib, the oracle.
enum Zlib {
  /// Raw deflate data.
  static func deflate(_ bytes: [UInt8], level: Int32 = 6, strategy: Int32 = Z_DEFAULT_STRATEGY) -> [UInt8] {
    var stream = z_stream()
    deflateInit2_(&stream, level, Z_DEFLATED, -MAX_WBITS, 8, strategy, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
    defer { deflateEnd(&stream) }
    var output = [UInt8](repeating: 0, count: bytes.count + bytes.count / 1000 + 64)
    var input = bytes
    let count = input.withUnsafeMutableBufferPointer { source in
      output.withUnsafeMutableBufferPointer { target in
        stream.next_in = source.baseAddress
        stream.avail_in = UInt32(source.count)
        stream.next_out = target.baseAddress
        stream.avail_out = UInt32(target.count)
        precondition(CZlib.deflate(&stream, Z_FINISH) == Z_STREAM_END)
        return target.count - Int(stream.avail_out)
      }
    }
    return Array(output[..<count])
  }

  static func crc(_ bytes: [UInt8]) -> UInt32 { UInt32(truncatingIfNeeded: crc32_z(0, bytes, bytes.count)) }

  /// One gzip member. `flags` and `extras` are what the header holds beyond its ten bytes.
  static func gzip(
    _ bytes: [UInt8], level: Int32 = 6, strategy: Int32 = Z_DEFAULT_STRATEGY, flags: UInt8 = 0, extras: [UInt8] = []
  ) -> [UInt8] {
    var member: [UInt8] = [0x1f, 0x8b, 8, flags, 0, 0, 0, 0, 0, 255] + extras
    if flags & 2 != 0 { member += littleEndian(crc(member) & 0xffff, 2) }
    return member + deflate(bytes, level: level, strategy: strategy) + littleEndian(crc(bytes), 4)
      + littleEndian(UInt32(truncatingIfNeeded: bytes.count), 4)
  }

  static func littleEndian(_ value: UInt32, _ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * UInt32($0))) }
  }

  /// Inflates all members and, at the end or at a fault, returns what came out and whether the data was whole. Zero padding is allowed.
  static func gunzip(_ bytes: [UInt8]) -> (bytes: [UInt8], isWhole: Bool) {
    var output: [UInt8] = []
    var input = bytes
    var position = 0
    while position < input.count {
      if position > 0, input[position...].allSatisfy({ $0 == 0 }) { return (output, true) }
      var stream = z_stream()
      inflateInit2_(&stream, MAX_WBITS + 16, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
      defer { inflateEnd(&stream) }
      var block = [UInt8](repeating: 0, count: 1 << 16)
      var result = Z_OK
      let total = input.count
      input.withUnsafeMutableBufferPointer { source in
        stream.next_in = source.baseAddress! + position
        stream.avail_in = UInt32(total - position)
        while result == Z_OK {
          let got = block.withUnsafeMutableBufferPointer { target in
            stream.next_out = target.baseAddress
            stream.avail_out = UInt32(target.count)
            result = inflate(&stream, Z_NO_FLUSH)
            return target.count - Int(stream.avail_out)
          }
          output.append(contentsOf: block[..<got])
        }
      }
      guard result == Z_STREAM_END else { return (output, false) }
      position = total - Int(stream.avail_in)
    }
    return (output, !bytes.isEmpty)
  }
}

/// Text that looks like contacts: repeats, numbers, other scripts. About `count` bytes.
func contactText(_ count: Int, seed: UInt64 = 1) -> [UInt8] {
  var random = SeededRandom(seed)
  let names = ["Ann", "Björn", "Chloé", "Dmitri", "Eszter", "Fatima", "李雷", "Zoë"]
  var text: [UInt8] = []
  while text.count < count {
    let n = UInt32.random(in: 0..<1_000_000, using: &random)
    text += Array(#"{"id":\#(n),"first":"\#(names.randomElement(using: &random)!)","email":"u\#(n % 977)@example.org","note":null}"#.utf8)
    text.append(10)
  }
  return text
}

func randomBytes(_ count: Int, seed: UInt64) -> [UInt8] {
  var random = SeededRandom(seed)
  return (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
}
