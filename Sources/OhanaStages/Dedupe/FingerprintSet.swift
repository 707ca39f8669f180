internal import CXXHash
internal import OhanaCore

/// A set of fingerprints in raw memory: open addressing, linear probing, 16 bytes a slot, at most three quarters full.
///
/// A slot holds 120 bits of a fingerprint, and in the low 8 bits of its upper half how often the key was met again, up to 255: what
/// nobody looks at until a key repeats costs nothing.
///
/// Optionally remembers where each fingerprint came from. Grows by doubling; old and new table together stay within the budget. Copies
/// share the memory: work on one at a time.
struct FingerprintSet {
  private var table: RawTable<Fingerprint>
  private var slots: UnsafeMutablePointer<Fingerprint>
  private var origins: RawTable<RecordOrigin>?
  /// By number of repeats, 1 to 255: how many keys came to it.
  private let reached = RawTable<Int>(capacity: 256)
  private let reachedBase: UnsafeMutablePointer<Int>
  private static let mostRepeats: UInt64 = 255
  private var mask: Int
  private(set) var count = 0
  private var room: Int
  private var budget: Int
  private let reserve: MemoryReserve?
  /// Part of the budget that was taken of the reserve; to be given back by the owner.
  private(set) var borrowed = 0

  /// - Parameters:
  ///   - budget: bytes for all of it; at least a few slots are taken whatever it is.
  ///   - keepsOrigins: 16 bytes more a slot.
  ///   - reserve: asked for more where the budget does not let the table grow.
  init(budget: Int, keepsOrigins: Bool, reserve: MemoryReserve? = nil) {
    self.budget = budget
    self.reserve = reserve
    let slotSize = keepsOrigins ? 32 : 16
    var capacity = 64
    while capacity < 1 << 14, capacity * 2 * slotSize * 4 <= budget { capacity *= 2 }
    table = RawTable(capacity: capacity)
    slots = table.base
    reachedBase = reached.base
    origins = keepsOrigins ? RawTable(capacity: capacity) : nil
    mask = capacity - 1
    room = capacity / 4 * 3
  }

  /// Makes sure that `extra` more fingerprints fit; false if the budget forbids it.
  mutating func reserve(_ extra: Int) -> Bool {
    while count + extra > room {
      if !grow() { return false }
    }
    return true
  }

  /// Fingerprints that fit as it is.
  var free: Int { room - count }

  @inline(__always)
  func prefetch(_ fingerprint: Fingerprint) { ohana_prefetch(slots + (Int(truncatingIfNeeded: fingerprint.low) & mask)) }

  /// The slot of a fingerprint that is in the set, or of the free place where it would go.
  @inline(__always)
  func find(_ fingerprint: Fingerprint) -> (slot: Int, isPresent: Bool) {
    var slot = Int(truncatingIfNeeded: fingerprint.low) & mask
    while true {
      let found = slots[slot]
      if found.low == fingerprint.low, found.high ^ fingerprint.high <= Self.mostRepeats { return (slot, true) }
      if found.isNone { return (slot, false) }
      slot = (slot &+ 1) & mask
    }
  }

  @inline(__always)
  func contains(_ fingerprint: Fingerprint) -> Bool { find(fingerprint).isPresent }

  /// Puts a fingerprint into the free slot that ``find(_:)`` gave. There must be room.
  @inline(__always)
  mutating func insert(_ fingerprint: Fingerprint, at slot: Int) {
    slots[slot] = Fingerprint(high: fingerprint.high & ~Self.mostRepeats, low: fingerprint.low)
    count &+= 1
  }

  /// The key in this slot was met again.
  @inline(__always)
  func countRepeat(at slot: Int) {
    let repeats = slots[slot].high & Self.mostRepeats
    guard repeats < Self.mostRepeats else { return }
    slots[slot].high &+= 1
    reachedBase[Int(truncatingIfNeeded: repeats) &+ 1] &+= 1
  }

  /// How often the keys of the set were met.
  var sizes: ClusterSizes {
    var sizes = ClusterSizes()
    var more = count
    for repeats in 0..<Int(Self.mostRepeats) {
      sizes.add(more - reachedBase[repeats + 1], metTimes: repeats + 1)
      more = reachedBase[repeats + 1]
    }
    sizes.add(more, metTimes: Int(Self.mostRepeats) + 1)
    return sizes
  }

  /// Inserts a fingerprint; false if it was there. There must be room.
  @inline(__always)
  mutating func insert(_ fingerprint: Fingerprint) -> Bool {
    let (slot, isPresent) = find(fingerprint)
    if !isPresent { insert(fingerprint, at: slot) }
    return !isPresent
  }

  func origin(at slot: Int) -> RecordOrigin { origins!.base[slot] }
  mutating func setOrigin(_ origin: RecordOrigin, at slot: Int) { origins!.base[slot] = origin }

  func save(to writer: CheckpointWriter) throws {
    try writer.put(count)
    try writer.put(origins != nil)
    for index in 0...mask where !slots[index].isNone {
      try writer.put(raw: UnsafeRawBufferPointer(start: slots + index, count: MemoryLayout<Fingerprint>.size))
      if let origins {
        try writer.put(raw: UnsafeRawBufferPointer(start: origins.base + index, count: MemoryLayout<RecordOrigin>.size))
      }
    }
  }

  /// Takes up a set that was saved, beyond the budget too: less memory than before is no reason to lose keys.
  mutating func restore(from reader: CheckpointReader) throws {
    let saved = try reader.count()
    guard try reader.bool() == (origins != nil) else { throw CheckpointReader.damaged }
    while saved > room { _ = grow(isForced: true) }
    for _ in 0..<saved {
      var fingerprint = Fingerprint.none
      try withUnsafeMutableBytes(of: &fingerprint) { try reader.fill($0) }
      let (slot, isPresent) = find(fingerprint)
      guard !isPresent, !fingerprint.isNone else { throw CheckpointReader.damaged }
      slots[slot] = fingerprint
      count += 1
      let repeats = Int(fingerprint.high & Self.mostRepeats)
      if repeats > 0 { for reachedNow in 1...repeats { reachedBase[reachedNow] += 1 } }
      if let origins { try reader.fill(UnsafeMutableRawBufferPointer(start: origins.base + slot, count: MemoryLayout<RecordOrigin>.size)) }
    }
  }

  private mutating func grow(isForced: Bool = false) -> Bool {
    let slotSize = origins == nil ? 16 : 32
    let capacity = (mask + 1) * 2
    let missing = capacity * slotSize + (mask + 1) * slotSize - budget
    if missing > 0 {
      if reserve?.take(missing) ?? false {
        budget += missing
        borrowed += missing
      } else if !isForced {
        return false
      }
    }
    let old = table
    let oldMask = mask
    table = RawTable(capacity: capacity)
    slots = table.base
    mask = capacity - 1
    room = capacity / 4 * 3
    let oldOrigins = origins
    if oldOrigins != nil { origins = RawTable(capacity: capacity) }
    for index in 0...oldMask {
      let fingerprint = old.base[index]
      if fingerprint.isNone { continue }
      let slot = find(fingerprint).slot
      slots[slot] = fingerprint  // with its repeats
      if let oldOrigins { origins!.base[slot] = oldOrigins.base[index] }
    }
    return true
  }
}
