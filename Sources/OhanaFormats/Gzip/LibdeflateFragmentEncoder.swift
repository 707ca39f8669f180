internal import CDeflate

/// libdeflate's levels. It only makes whole streams, so the final block is found, made non-final, and an empty stored block behind it
/// leads to the byte edge.
final class LibdeflateFragmentEncoder: FragmentEncoder {
  private let compressor: OpaquePointer
  private var walker = DeflateWalker()

  init(level: Int32) {
    guard let compressor = libdeflate_alloc_compressor(level) else { preconditionFailure("libdeflate: out of memory or no such level") }
    self.compressor = compressor
  }
  deinit { libdeflate_free_compressor(compressor) }

  /// Header bits of an empty stored block and its length fields.
  private static let flushSize = 6

  func bound(_ count: Int) -> Int { libdeflate_deflate_compress_bound(compressor, count) + Self.flushSize + DeflateWalker.padding }

  func encode(_ block: UnsafeBufferPointer<UInt8>, into room: UnsafeMutableBufferPointer<UInt8>) -> Int {
    let start = room.baseAddress!
    let size = libdeflate_deflate_compress(compressor, block.baseAddress, block.count, start, room.count)
    precondition(size > 0, "a block always fits into its bound")
    // The walker may load, but not use, bytes behind the stream.
    (start + size).update(repeating: 0, count: DeflateWalker.padding)
    let (finalBit, endBit) = walker.walk(start, count: size)
    start[finalBit >> 3] &= ~(1 << UInt8(finalBit & 7))
    // Three zero bits (not final, stored) and zeros to the edge: as padding of the last byte, or in a further byte.
    let end = (endBit + 3 + 7) >> 3
    UnsafeMutableRawPointer(start + end).storeBytes(of: UInt32(0xffff_0000).littleEndian, as: UInt32.self)
    return end + 4
  }

  func crc32(_ block: UnsafeBufferPointer<UInt8>) -> UInt32 { libdeflate_crc32(0, block.baseAddress, block.count) }
}
