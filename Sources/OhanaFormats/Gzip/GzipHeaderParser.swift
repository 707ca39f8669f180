internal import CZlib
internal import OhanaCore

/// Passes over the header of one gzip member (RFC 1952 section 2.3) in whatever pieces it arrives; keeps none of it.
struct GzipHeaderParser: BitwiseCopyable {
  enum Fault: Equatable {
    /// The first bytes are not `1f 8b`.
    case magic
    /// Compression method other than 8 (deflate).
    case method
    /// Reserved flag bits are set: fields of a later format could follow (RFC 1952 section 2.3.1.2).
    case reservedFlags
    /// The header's own checksum (FHCRC) differs.
    case checksum
  }

  private enum Part { case fixed, extraLength, extra, name, comment, checksum, done }

  private var part = Part.fixed
  /// Bytes of the current part seen so far.
  private var seen = 0
  private var flags: UInt8 = 0
  private var extraLeft = 0
  private var crc: UInt = 0
  private var expectedCRC: UInt = 0

  private static let fixedSize = 10
  private static let magic: (UInt8, UInt8) = (0x1f, 0x8b)

  var isDone: Bool { part == .done }

  /// Takes bytes of the header from `bytes`; returns how many. The byte at fault, if any, is the last one taken.
  mutating func consume(_ bytes: UnsafeBufferPointer<UInt8>) -> (taken: Int, fault: Fault?) {
    var index = 0
    while index < bytes.count, part != .done {
      let start = index
      var fault: Fault?
      let current = part
      switch part {
      case .fixed:
        fault = takeFixed(bytes[index])
        index += 1
      case .extraLength:
        extraLeft |= Int(bytes[index]) << (8 * seen)
        seen += 1
        index += 1
        if seen == 2 { advance() }
      case .extra:
        let taken = min(extraLeft, bytes.count - index)
        extraLeft -= taken
        index += taken
        if extraLeft == 0 { advance() }
      case .name, .comment:
        let left = bytes.count - index
        if let end = memchr(bytes.baseAddress! + index, 0, left) {
          index += UnsafeRawPointer(end) - UnsafeRawPointer(bytes.baseAddress! + index) + 1
          advance()
        } else {
          index += left
        }
      case .checksum:
        expectedCRC |= UInt(bytes[index]) << (8 * UInt(seen))
        seen += 1
        index += 1
        if seen == 2 {
          if expectedCRC != crc & 0xffff { fault = .checksum }
          part = .done
        }
      case .done: break
      }
      if current != .checksum { crc = crc32(crc, bytes.baseAddress! + start, UInt32(index - start)) }
      if let fault { return (index, fault) }
    }
    return (index, nil)
  }

  private mutating func takeFixed(_ byte: UInt8) -> Fault? {
    let index = seen
    seen += 1
    switch index {
    case 0: return byte == Self.magic.0 ? nil : .magic
    case 1: return byte == Self.magic.1 ? nil : .magic
    case 2: return byte == 8 ? nil : .method
    case 3:
      flags = byte
      return byte & 0xe0 == 0 ? nil : .reservedFlags
    case Self.fixedSize - 1:
      advance()
      return nil
    default: return nil
    }
  }

  /// Goes on to the next part that the flags announce, in the order of the RFC: extra, name, comment, checksum.
  private mutating func advance() {
    seen = 0
    switch part {
    case .fixed where flags & 0x04 != 0: part = .extraLength
    case .extraLength where extraLeft > 0: part = .extra
    case .fixed, .extraLength, .extra: part = flags & 0x08 != 0 ? .name : afterName
    case .name: part = afterName
    case .comment: part = afterComment
    case .checksum, .done: part = .done
    }
  }

  private var afterName: Part { flags & 0x10 != 0 ? .comment : afterComment }
  private var afterComment: Part { flags & 0x02 != 0 ? .checksum : .done }
}
