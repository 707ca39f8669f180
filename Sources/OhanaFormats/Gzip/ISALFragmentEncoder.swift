internal import CISAL

/// ISA-L's levels 1 and 2. Their SSE, AVX and AVX2 kernels write the same bytes; the plain C ones (arm64) others. Level 3 differs from
/// processor to processor.
///
/// Where a stream has no history, these kernels (2.30) hash the address of the stream's own state instead of its third byte, so that
/// equal blocks become different bytes. So the first byte of a block goes out as a stored block and is the dictionary of the others.
final class ISALFragmentEncoder: FragmentEncoder {
  private let stream = UnsafeMutablePointer<isal_zstream>.allocate(capacity: 1)
  private let work: UnsafeMutableBufferPointer<UInt8>
  private let level: UInt32

  init(level: UInt32) {
    self.level = level
    work = .allocate(capacity: Int(level == 1 ? ohana_isal_level1_buffer : ohana_isal_level2_buffer))
  }
  deinit {
    stream.deallocate()
    work.deallocate()
  }

  /// A stored block of one byte: header, length, its complement, the byte.
  private static let firstByteSize = 6

  // Stored blocks of at most 65,535 bytes have five bytes in front; the rest is slack for the flush.
  func bound(_ count: Int) -> Int { count + count / 8 + 1024 }

  func encode(_ block: UnsafeBufferPointer<UInt8>, into room: UnsafeMutableBufferPointer<UInt8>) -> Int {
    let first = UnsafeMutablePointer(mutating: block.baseAddress!)
    let start = room.baseAddress!
    (start[0], start[1], start[2], start[3], start[4], start[5]) = (0, 1, 0, 0xfe, 0xff, first.pointee)
    guard block.count > 1 else { return Self.firstByteSize }
    ohana_isal_deflate_block_init(stream, level, work.baseAddress, UInt32(work.count))
    isal_deflate_set_dict(stream, first, 1)
    stream.pointee.next_in = first + 1
    stream.pointee.avail_in = UInt32(block.count - 1)
    stream.pointee.next_out = start + Self.firstByteSize
    stream.pointee.avail_out = UInt32(room.count - Self.firstByteSize)
    let result = isal_deflate(stream)
    precondition(
      result == COMP_OK && stream.pointee.avail_in == 0 && stream.pointee.internal_state.state == ZSTATE_NEW_HDR,
      "a block always fits into its bound")
    return room.count - Int(stream.pointee.avail_out)
  }

  func crc32(_ block: UnsafeBufferPointer<UInt8>) -> UInt32 { crc32_gzip_refl(0, block.baseAddress, UInt64(block.count)) }
}
