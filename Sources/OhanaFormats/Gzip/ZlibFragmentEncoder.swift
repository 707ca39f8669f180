internal import CZlib

/// zlib's levels 1 to 9, flushed behind each block.
final class ZlibFragmentEncoder: FragmentEncoder {
  // Allocated, since zlib checks that its stream has not moved.
  private let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)

  init(level: Int32) {
    stream.initialize(to: z_stream())
    let result = ohana_zlib_deflate_init(stream, level, -MAX_WBITS)
    precondition(result == Z_OK, "zlib cannot be initialised: out of memory or another version")
  }
  deinit {
    deflateEnd(stream)
    stream.deallocate()
  }

  func bound(_ count: Int) -> Int { Int(deflateBound(stream, UInt(count))) + 16 }

  func encode(_ block: UnsafeBufferPointer<UInt8>, into room: UnsafeMutableBufferPointer<UInt8>) -> Int {
    deflateReset(stream)
    stream.pointee.next_in = UnsafeMutablePointer(mutating: block.baseAddress)
    stream.pointee.avail_in = UInt32(block.count)
    stream.pointee.next_out = room.baseAddress
    stream.pointee.avail_out = UInt32(room.count)
    let result = deflate(stream, Z_SYNC_FLUSH)
    precondition(result == Z_OK && stream.pointee.avail_in == 0 && stream.pointee.avail_out > 0, "a block always fits into its bound")
    return room.count - Int(stream.pointee.avail_out)
  }

  func crc32(_ block: UnsafeBufferPointer<UInt8>) -> UInt32 {
    UInt32(truncatingIfNeeded: CZlib.crc32_z(0, block.baseAddress, block.count))
  }
}
