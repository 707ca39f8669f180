internal import CICU
internal import OhanaCore

/// ICU's collation for one language. May be used by many threads at once.
final class Collation: @unchecked Sendable {  // because ICU's collators are not changed once they are open
  fileprivate let collator: OpaquePointer

  /// - Parameters:
  ///   - tag: a BCP 47 tag; nil is CLDR root. `_` may stand for `-`.
  ///   - isNumeric: runs of digits compare as numbers.
  /// - Throws: `usage`/`unknown-locale` for a language or variant that ICU has no data for.
  init(tag: String?, isNumeric: Bool) throws(OhanaError) {
    let tag = tag ?? ""
    let normal = String(tag.map { $0 == "_" ? "-" : $0 })
    guard let collator = ohana_icu_collator_open(normal, isNumeric) else {
      throw OhanaError(
        .usage, "unknown-locale", "there are no rules of order for the language '\(tag)'",
        fix: "write a language tag such as en, sv or de-u-co-phonebk; without one the order is that of CLDR root")
    }
    self.collator = collator
  }

  deinit { ohana_icu_collator_close(collator) }

  /// ICU's own comparison: negative, zero or positive.
  func compare(_ a: String, _ b: String) -> Int {
    let (a, b) = (Array(a.utf8CString), Array(b.utf8CString))
    return Int(ohana_icu_compare_utf8(collator, a, Int32(a.count - 1), b, Int32(b.count - 1)))
  }
}

/// Makes collation keys, and remembers those of short texts: names repeat, and a key costs 120 to 250 ns.
///
/// The cache is direct-mapped: 4,096 entries of 64 bytes, so that it stays in a core's own cache and its size is fixed.
final class CollationScratch: @unchecked Sendable {  // because it belongs to one piece of work at a time
  private static let entryCount = 4096
  private static let entrySize = 64
  /// `text padded with zeros (24) │ text length (1) │ key length (1) │ key (38)`
  private static let textCapacity = 24
  private static let keyCapacity = 38

  private let collation: Collation
  private let entries: UnsafeMutableRawPointer
  private let units = ByteBuffer(capacity: 1024)

  init(_ collation: Collation) {
    self.collation = collation
    entries = .allocate(byteCount: Self.entryCount * Self.entrySize, alignment: 64)
    entries.initializeMemory(as: UInt8.self, repeating: 0, count: Self.entryCount * Self.entrySize)
  }
  deinit { entries.deallocate() }

  /// Appends the key of `text`, which ends in its only zero byte.
  ///
  /// - Precondition: 24 bytes are readable at `text` (``ByteBuffer/padding`` sees to it), and it is not empty.
  @inline(__always)
  func appendKey(_ text: UnsafeBufferPointer<UInt8>, to out: ByteBuffer) {
    let count = text.count
    guard count <= Self.textCapacity, let start = text.baseAddress else { return makeKey(text, to: out) }
    let raw = UnsafeRawPointer(start)
    let word0 = masked(raw.loadUnaligned(as: UInt64.self), count)
    let word1 = masked(raw.loadUnaligned(fromByteOffset: 8, as: UInt64.self), count &- 8)
    let word2 = masked(raw.loadUnaligned(fromByteOffset: 16, as: UInt64.self), count &- 16)
    var hash = word0 &* 0x9e37_79b9_7f4a_7c15
    hash = (hash ^ hash >> 32 ^ word1) &* 0xbf58_476d_1ce4_e5b9
    hash = (hash ^ hash >> 29 ^ word2 ^ UInt64(truncatingIfNeeded: count)) &* 0x94d0_49bb_1331_11eb
    let entry = entries + Int(truncatingIfNeeded: hash >> 52) &* Self.entrySize
    if entry.load(as: UInt64.self) == word0, entry.load(fromByteOffset: 8, as: UInt64.self) == word1,
      entry.load(fromByteOffset: 16, as: UInt64.self) == word2, entry.load(fromByteOffset: 24, as: UInt8.self) == UInt8(count)
    {
      let length = Int(entry.load(fromByteOffset: 25, as: UInt8.self))
      out.reserve(64)
      // A copy of fixed size is a few moves; what is too much is written over.
      UnsafeMutableRawPointer(out.base + out.count).copyMemory(from: entry + 26, byteCount: Self.keyCapacity)
      out.count &+= length
      return
    }
    let keyStart = out.count
    makeKey(text, to: out)
    let length = out.count &- keyStart
    guard length <= Self.keyCapacity else { return }
    entry.storeBytes(of: word0, as: UInt64.self)
    entry.storeBytes(of: word1, toByteOffset: 8, as: UInt64.self)
    entry.storeBytes(of: word2, toByteOffset: 16, as: UInt64.self)
    entry.storeBytes(of: UInt8(count), toByteOffset: 24, as: UInt8.self)
    entry.storeBytes(of: UInt8(length), toByteOffset: 25, as: UInt8.self)
    (entry + 26).copyMemory(from: out.base + keyStart, byteCount: length)
  }

  /// The first `count` bytes of a little-endian word.
  @inline(__always)
  private func masked(_ word: UInt64, _ count: Int) -> UInt64 {
    count >= 8 ? word : count <= 0 ? 0 : word & (1 << UInt64(truncatingIfNeeded: 8 &* count) &- 1)
  }

  @inline(never)
  private func makeKey(_ text: UnsafeBufferPointer<UInt8>, to out: ByteBuffer) {
    units.removeAll()
    units.reserve(text.count * 2)
    let words = UnsafeMutableRawPointer(units.base).assumingMemoryBound(to: UInt16.self)
    let unitCount = text.withMemoryRebound(to: CChar.self) {
      ohana_icu_from_utf8($0.baseAddress, Int32(truncatingIfNeeded: $0.count), words, Int32(truncatingIfNeeded: text.count))
    }
    precondition(unitCount >= 0, "the ICU library cannot find its Unicode data")
    var capacity = text.count * 4 + 64
    while true {
      out.reserve(capacity)
      let length = Int(ohana_icu_sort_key(collation.collator, words, unitCount, out.base + out.count, Int32(truncatingIfNeeded: capacity)))
      precondition(length > 0, "the ICU library cannot find its collation data")
      if length <= capacity {
        out.count += length
        break
      }
      capacity = length
    }
    units.recycle(limit: 1 << 16)
  }
}
