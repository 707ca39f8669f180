public import OhanaCore

/// Turns blocks of text into deflate fragments that can be put end to end (RFC 1951): each stands for its block alone (empty window),
/// holds no final block and ends at a byte edge. What a block becomes depends on its bytes and the level only.
///
/// Keeps its work memory from block to block (60 KiB to 10 MiB by level) and allocates nothing once a fragment buffer has its size.
public final class BlockCompressor: @unchecked Sendable {  // because one piece of work at a time uses it
  /// Bytes of text in every block of a file but the last.
  public static let blockSize = 1 << 20

  private let encoder: any FragmentEncoder

  /// - Parameter level: what it says about the codec counts too.
  public init(_ level: CompressionLevel) {
    switch (level.codec, level.level) {
    case (.zlib, let level): encoder = ZlibFragmentEncoder(level: Int32(level))
    case (.fast, 1...2): encoder = ISALFragmentEncoder(level: UInt32(level.level))
    case (.fast, let level): encoder = LibdeflateFragmentEncoder(level: Int32(level - 2))
    }
  }

  /// Appends the fragment that stands for `block` to `fragment`.
  ///
  /// - Parameter block: 1 to ``blockSize`` bytes.
  /// - Returns: the CRC-32 of the block.
  public func compress(_ block: UnsafeBufferPointer<UInt8>, into fragment: ByteBuffer) -> UInt32 {
    precondition(!block.isEmpty && block.count <= Self.blockSize, "a block holds 1 byte to 1 MiB")
    fragment.reserve(encoder.bound(block.count))
    let room = UnsafeMutableBufferPointer(start: fragment.base + fragment.count, count: fragment.capacity - fragment.count)
    fragment.count += encoder.encode(block, into: room)
    return encoder.crc32(block)
  }
}

/// The library behind a ``BlockCompressor``.
protocol FragmentEncoder: AnyObject {
  /// Bytes that always suffice for the fragment of a block of `count` bytes.
  func bound(_ count: Int) -> Int
  /// Writes the fragment; returns its size.
  func encode(_ block: UnsafeBufferPointer<UInt8>, into room: UnsafeMutableBufferPointer<UInt8>) -> Int
  func crc32(_ block: UnsafeBufferPointer<UInt8>) -> UInt32
}

/// The parts of a gzip member around its fragments (RFC 1952).
enum GzipMember {
  /// No name, no time, so that equal contents are equal files.
  static let header: [UInt8] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255]

  /// An empty final block, CRC and length.
  static func trailer(crc: UInt32, length: Int) -> [UInt8] {
    var bytes: [UInt8] = [3, 0]
    for value in [crc, UInt32(truncatingIfNeeded: length)] {
      for shift in stride(from: UInt32(0), to: 32, by: 8) { bytes.append(UInt8(truncatingIfNeeded: value >> shift)) }
    }
    return bytes
  }
}
