internal import OhanaCore

/// A record with its key, as it lies in sort buffers, sorted runs and spill files.
///
/// ```
/// u32 size of all │ u32 key length │ key, padded with zeros to at least 16 bytes │ packed record (see RecordPacker)
/// ```
/// Little-endian, unaligned. Keys compare by `memcmp`; none is a proper prefix of another, since every part ends with a terminator, so
/// the padding never decides.
enum SortItem {
  /// Bytes that are whole items from the first to the last.
  static func isWhole(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
    guard var item = UnsafeRawPointer(bytes.baseAddress) else { return true }
    let end = item + bytes.count
    while end - item >= headerSize, size(item) >= headerSize, size(item) <= end - item { item += size(item) }
    return item == end
  }

  static let headerSize = 8
  /// Bytes of a key that are compared as two integers before anything else.
  static let prefixSize = 16

  @inline(__always) static func size(_ item: UnsafeRawPointer) -> Int { Int(item.loadUnaligned(as: UInt32.self)) }
  @inline(__always) static func keyLength(_ item: UnsafeRawPointer) -> Int {
    Int(item.loadUnaligned(fromByteOffset: 4, as: UInt32.self))
  }
  @inline(__always) static func key(_ item: UnsafeRawPointer) -> UnsafeRawPointer { item + headerSize }
  @inline(__always) static func payload(_ item: UnsafeRawPointer) -> UnsafeRawPointer {
    item + headerSize + max(prefixSize, keyLength(item))
  }
  /// Bytes of header and key: what a merge has to hold to compare.
  @inline(__always) static func headSize(_ item: UnsafeRawPointer) -> Int { headerSize + max(prefixSize, keyLength(item)) }

  /// Appends an item for record `record` of `batch`. Where there is a key, 32 bytes are readable at it, and it does not lie in `out`.
  @inline(__always)
  static func append(
    key: UnsafePointer<UInt8>, count: Int, record: Int, of batch: RecordBatch, packer: RecordPacker, to out: ByteBuffer
  ) {
    let start = out.count
    out.reserve(headerSize + max(prefixSize, count))
    let target = out.base + start
    UnsafeMutableRawPointer(target).storeBytes(of: UInt32(truncatingIfNeeded: count), toByteOffset: 4, as: UInt32.self)
    if count > 0 { copyBytes(from: key, to: target + headerSize, count: count) }
    if count < prefixSize { UnsafeMutableRawPointer(target + headerSize + count).storeBytes(of: .zero, as: SIMD16<UInt8>.self) }
    out.count = start + headerSize + max(prefixSize, count)
    packer.pack(record, of: batch, to: out)
    UnsafeMutableRawPointer(out.base + start).storeBytes(of: UInt32(truncatingIfNeeded: out.count - start), as: UInt32.self)
  }
}
