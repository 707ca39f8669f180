/// Where text stops being UTF-8. Slow: for messages, once a fast check has said no.
enum UTF8Validation {
  /// Offset of the first byte of the first sequence that is not well formed (RFC 3629, table 3-7 of Unicode); `end` if there is none.
  static func firstInvalid(_ base: UnsafePointer<UInt8>, from start: Int, to end: Int) -> Int {
    var at = start
    while at < end {
      let lead = base[at]
      if lead < 0x80 {
        at += 1
        continue
      }
      let size: Int, low: UInt8, high: UInt8  // of the second byte
      switch lead {
      case 0xc2...0xdf: (size, low, high) = (2, 0x80, 0xbf)
      case 0xe0: (size, low, high) = (3, 0xa0, 0xbf)
      case 0xed: (size, low, high) = (3, 0x80, 0x9f)
      case 0xe1...0xef: (size, low, high) = (3, 0x80, 0xbf)
      case 0xf0: (size, low, high) = (4, 0x90, 0xbf)
      case 0xf1...0xf3: (size, low, high) = (4, 0x80, 0xbf)
      case 0xf4: (size, low, high) = (4, 0x80, 0x8f)
      default: return at
      }
      guard at + size <= end, base[at + 1] >= low, base[at + 1] <= high else { return at }
      for more in 2..<max(size, 2) where base[at + more] & 0xc0 != 0x80 { return at }
      at += size
    }
    return end
  }
}
