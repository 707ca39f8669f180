internal import CXXHash
internal import OhanaCore

/// A set of fingerprints in raw memory: open addressing, linear probing, 16 bytes a slot, at most three quarters full.
///
/// Optionally remembers where each fingerprint came from. Grows by doubling; old and new table together stay within the budget. Copies
/// share the memory: work on one at a time.
struct FingerprintSet {
  private var table: RawTable<Fingerprint>
  private var slots: UnsafeMutablePointer<Fingerprint>
  private var origins: RawTable<RecordOrigin>?
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
      if found.low == fingerprint.low, found.high == fingerprint.high { return (slot, true) }
      if found.isNone { return (slot, false) }
      slot = (slot &+ 1) & mask
    }
  }

  @inline(__always)
  func contains(_ fingerprint: Fingerprint) -> Bool { find(fingerprint).isPresent }

  /// Puts a fingerprint into the free slot that ``find(_:)`` gave. There must be room.
  @inline(__always)
  mutating func insert(_ fingerprint: Fingerprint, at slot: Int) {
    slots[slot] = fingerprint
    count &+= 1
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

  private mutating func grow() -> Bool {
    let slotSize = origins == nil ? 16 : 32
    let capacity = (mask + 1) * 2
    let missing = capacity * slotSize + (mask + 1) * slotSize - budget
    if missing > 0 {
      guard reserve?.take(missing) ?? false else { return false }
      budget += missing
      borrowed += missing
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
      slots[slot] = fingerprint
      if let oldOrigins { origins!.base[slot] = oldOrigins.base[index] }
    }
    return true
  }
}
