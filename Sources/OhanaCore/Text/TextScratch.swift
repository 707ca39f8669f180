internal import CICU

/// Memory for text work, kept from one value to the next so that a value costs no allocation. One piece of work at a time may use it.
public final class TextScratch: @unchecked Sendable {  // because it belongs to one piece of work at a time, like its batch
  /// UTF-16 text: ``units`` is the current one, ``other`` where the next step writes before the two are swapped.
  final var units = UnitBuffer()
  private final var other = UnitBuffer()
  /// Free for whoever runs on this scratch; ``appendKeyText(_:of:in:to:scratch:)`` uses it for decoding.
  public final let decoded = ByteBuffer()
  /// The name kind: the folded name, the bytes of its words, and where they are.
  final let folded = ByteBuffer()
  final let words = ByteBuffer()
  final var nameWords = Storage<NameWord>()
  final var nameWordCount = 0

  /// Made where it is needed first.
  private(set) final lazy var phones = PhoneMemo()

  /// Memory is taken when it is first needed.
  public init() {}

  typealias Transform = (UnsafePointer<UInt16>?, Int32, UnsafeMutablePointer<UInt16>?, Int32) -> Int32

  /// Makes `text` the current UTF-16 text.
  final func load(_ text: UnsafeBufferPointer<UInt8>) {
    units.reserve(text.count)  // UTF-8 never has fewer bytes than UTF-16 has units
    guard let base = text.baseAddress, text.count > 0 else {
      units.count = 0
      return
    }
    let count = base.withMemoryRebound(to: CChar.self, capacity: text.count) {
      ohana_icu_from_utf8($0, Int32(text.count), units.base, Int32(units.capacity))
    }
    units.count = Self.checked(count)
  }

  /// Replaces the current text by what an ICU function makes of it.
  @inline(__always)
  final func apply(_ transform: Transform) {
    var needed = Self.checked(transform(units.base, Int32(units.count), other.base, Int32(other.capacity)))
    if needed > other.capacity {
      other.reserve(needed)
      needed = Self.checked(transform(units.base, Int32(units.count), other.base, Int32(other.capacity)))
    }
    other.count = needed
    swap(&units, &other)
  }

  /// Appends the current text as UTF-8.
  final func appendUnits(from start: Int = 0, to out: ByteBuffer) {
    out.reserve((units.count - start) * 3)
    var index = start
    while index < units.count { TextDecoding.appendUTF8(units.nextScalar(&index), to: out) }
  }

  /// ICU fails for one reason only once lengths are right: its data file is missing or broken, with which nothing can be trusted.
  private static func checked(_ count: Int32) -> Int {
    precondition(count >= 0, "the ICU library cannot find its Unicode data")
    return Int(count)
  }
}

/// Growable UTF-16 units.
struct UnitBuffer: ~Copyable {
  private(set) var base: UnsafeMutablePointer<UInt16>
  private(set) var capacity: Int
  var count = 0

  init() {
    capacity = 256
    base = .allocate(capacity: 256)
  }
  deinit { base.deallocate() }

  /// Room for `total` units; the contents are lost when it grows.
  mutating func reserve(_ total: Int) {
    guard total > capacity else { return }
    base.deallocate()
    capacity = max(total, capacity * 2)
    base = .allocate(capacity: capacity)
  }

  /// The scalar at `index`, which is moved behind it. Text from ICU has no lone surrogates.
  @inline(__always)
  func nextScalar(_ index: inout Int) -> UInt32 {
    let unit = UInt32(base[index])
    index &+= 1
    guard unit & 0xfc00 == 0xd800, index < count else { return unit }
    let low = UInt32(base[index])
    index &+= 1
    return 0x10000 &+ ((unit &- 0xd800) << 10) &+ (low &- 0xdc00)
  }

  /// Writes `scalar` at `index`, which must not be ahead of where scalars are being read.
  @inline(__always)
  mutating func put(_ scalar: UInt32, _ index: inout Int) {
    if scalar < 0x10000 {
      base[index] = UInt16(truncatingIfNeeded: scalar)
      index &+= 1
    } else {
      base[index] = UInt16(truncatingIfNeeded: 0xd7c0 &+ scalar >> 10)
      base[index &+ 1] = UInt16(truncatingIfNeeded: 0xdc00 | scalar & 0x3ff)
      index &+= 2
    }
  }
}
