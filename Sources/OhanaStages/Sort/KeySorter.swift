internal import OhanaCore

/// A key in a batch: its first 16 bytes as integers, where all of it lies, and whose it is.
struct KeyEntry: BitwiseCopyable {
  var high: UInt64
  var low: UInt64
  /// Of the key's first byte in its buffer.
  var offset: UInt32
  /// Of the key, in bytes.
  var length: UInt32
  /// Place in input order.
  var place: UInt32
  /// Index of the record in its batch.
  var record: UInt32
}

/// Sorts the keys of one batch: a radix sort on the first bytes that differ, then the small buckets by comparison.
///
/// Keys that are equal keep their places, or turn them round where `laterFirst` says so. O(n) for keys that differ early, O(n log n) at
/// worst.
struct KeySorter: ~Copyable {
  private var entries = RawArray<KeyEntry>()
  private var spare = RawArray<KeyEntry>()
  private var counts = RawArray<UInt32>()
  private(set) var count = 0

  var base: UnsafeMutablePointer<KeyEntry> { entries.base }

  mutating func removeAll() { count = 0 }

  mutating func reserve(_ total: Int) { entries.reserve(total, used: count) }

  /// Adds the key `keys[offset ..< offset + length]`. There must be room (see ``reserve(_:)``), and 16 readable bytes at `offset`.
  @inline(__always)
  mutating func append(keys: UnsafePointer<UInt8>, offset: Int, length: Int, place: Int, record: Int) {
    let (high, low) = keyPrefix(keys + offset, length)
    entries.base[count] = KeyEntry(
      high: high, low: low, offset: UInt32(truncatingIfNeeded: offset), length: UInt32(truncatingIfNeeded: length),
      place: UInt32(truncatingIfNeeded: place), record: UInt32(truncatingIfNeeded: record))
    count &+= 1
  }

  mutating func sort(keys: UnsafePointer<UInt8>, laterFirst: Bool) {
    guard count > 1 else { return }
    // Presorted input, and what all keys have in common, in one pass.
    var isSorted = true
    var different: UInt64 = 0
    let entries = self.entries.base
    let first = entries[0].high
    for index in 1..<count {
      different |= entries[index].high ^ first
      isSorted = isSorted && Self.precedes(entries[index &- 1], entries[index], keys, laterFirst)
    }
    if isSorted { return }
    guard count > 48, different != 0 else {
      Self.insertionOrLibrarySort(entries, count, keys, laterFirst)
      return
    }
    radixSort(by: different, keys, laterFirst)
  }

  /// Distributes by the 22 bits that begin with the first bit in which any two keys differ, least significant half first, then sorts
  /// what is still equal in them.
  private mutating func radixSort(by different: UInt64, _ keys: UnsafePointer<UInt8>, _ laterFirst: Bool) {
    let bits = 11
    let shift = max(0, 64 - different.leadingZeroBitCount - 2 * bits)
    spare.reserve(count, used: 0)
    counts.reserve(1 << bits, used: 0)
    Self.distribute(entries.base, spare.base, count, counts.base, shift: shift, bits: bits)
    Self.distribute(spare.base, entries.base, count, counts.base, shift: shift + bits, bits: bits)
    let entries = self.entries.base
    let mask: UInt64 = (1 << (2 * UInt64(bits))) - 1
    var start = 0
    while start < count {
      let bucket = entries[start].high >> UInt64(shift) & mask
      var end = start &+ 1
      while end < count, entries[end].high >> UInt64(shift) & mask == bucket { end &+= 1 }
      if end &- start > 1 { Self.insertionOrLibrarySort(entries + start, end &- start, keys, laterFirst) }
      start = end
    }
  }

  private static func distribute(
    _ from: UnsafeMutablePointer<KeyEntry>, _ to: UnsafeMutablePointer<KeyEntry>, _ count: Int, _ counts: UnsafeMutablePointer<UInt32>,
    shift: Int, bits: Int
  ) {
    let mask: UInt64 = (1 << UInt64(bits)) - 1
    let shift = UInt64(shift)
    counts.update(repeating: 0, count: 1 << bits)
    for index in 0..<count { counts[Int(truncatingIfNeeded: from[index].high >> shift & mask)] &+= 1 }
    var sum: UInt32 = 0
    for index in 0..<(1 << bits) {
      let n = counts[index]
      counts[index] = sum
      sum &+= n
    }
    for index in 0..<count {
      let bucket = Int(truncatingIfNeeded: from[index].high >> shift & mask)
      to[Int(counts[bucket])] = from[index]
      counts[bucket] &+= 1
    }
  }

  private static func insertionOrLibrarySort(
    _ base: UnsafeMutablePointer<KeyEntry>, _ count: Int, _ keys: UnsafePointer<UInt8>, _ laterFirst: Bool
  ) {
    if count > 24 {
      var buffer = UnsafeMutableBufferPointer(start: base, count: count)
      buffer.sort { precedes($0, $1, keys, laterFirst) }
      _ = buffer
      return
    }
    for index in 1..<count {
      let entry = base[index]
      var hole = index
      while hole > 0, precedes(entry, base[hole &- 1], keys, laterFirst) {
        base[hole] = base[hole &- 1]
        hole &-= 1
      }
      base[hole] = entry
    }
  }

  @inline(__always)
  static func precedes(_ a: KeyEntry, _ b: KeyEntry, _ keys: UnsafePointer<UInt8>, _ laterFirst: Bool) -> Bool {
    if a.high != b.high { return a.high < b.high }
    if a.low != b.low { return a.low < b.low }
    if a.length > 16 || b.length > 16 {
      let order = compareKeyRest(keys + Int(a.offset), Int(a.length), keys + Int(b.offset), Int(b.length))
      if order != 0 { return order < 0 }
    }
    return laterFirst ? a.place > b.place : a.place < b.place
  }
}

/// The first 16 bytes of a key as two integers that compare like them; shorter keys are padded with zeros. Reads 16 bytes whatever
/// `length` is.
@inline(__always)
func keyPrefix(_ key: UnsafePointer<UInt8>, _ length: Int) -> (high: UInt64, low: UInt64) {
  let raw = UnsafeRawPointer(key)
  var high = UInt64(bigEndian: raw.loadUnaligned(as: UInt64.self))
  var low = UInt64(bigEndian: raw.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
  if length < 16 {
    if length <= 8 {
      high = length == 0 ? 0 : high & ~0 << UInt64(8 &* (8 &- length))
      low = 0
    } else {
      low &= ~0 << UInt64(8 &* (16 &- length))
    }
  }
  return (high, low)
}

/// Compares two keys whose first 16 bytes are equal.
@inline(never)
func compareKeyRest(_ a: UnsafeRawPointer, _ lengthA: Int, _ b: UnsafeRawPointer, _ lengthB: Int) -> Int {
  let shorter = min(lengthA, lengthB)
  if shorter > 16 {
    let order = memcmp(a + 16, b + 16, shorter - 16)
    if order != 0 { return Int(order) }
  }
  return lengthA - lengthB
}
