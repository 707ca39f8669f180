internal import CXXHash
internal import OhanaCore

/// A set of fingerprints in raw memory: open addressing, linear probing, 16 bytes a slot, at most three quarters full.
///
/// A fingerprint's home is as far into the table as its lower half is into the numbers of 64 bits. So homes keep their order when the table
/// grows, to whatever size: it grows where it is, and all of the budget can be used.
///
/// A slot holds 120 bits of a fingerprint, and in the low 8 bits of its upper half how often the key was met again, up to 255: what
/// nobody looks at until a key repeats costs nothing.
///
/// Optionally remembers where each fingerprint came from. Copies share the memory: work on one at a time.
struct FingerprintSet {
  private var table: RawTable<Fingerprint>
  private var slots: UnsafeMutablePointer<Fingerprint>
  private var origins: RawTable<RecordOrigin>?
  /// By number of repeats, 1 to 255: how many keys came to it.
  private let reached = RawTable<Int>(capacity: 256)
  private let reachedBase: UnsafeMutablePointer<Int>
  private static let mostRepeats: UInt64 = 255
  private var capacity: Int
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
    self.capacity = capacity
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
  private func home(_ fingerprint: Fingerprint) -> Int {
    Int(truncatingIfNeeded: fingerprint.low.multipliedFullWidth(by: UInt64(truncatingIfNeeded: capacity)).high)
  }

  @inline(__always)
  func prefetch(_ fingerprint: Fingerprint) { ohana_prefetch(slots + home(fingerprint)) }

  /// The slot of a fingerprint that is in the set, or of the free place where it would go.
  @inline(__always)
  func find(_ fingerprint: Fingerprint) -> (slot: Int, isPresent: Bool) {
    var slot = home(fingerprint)
    while true {
      let found = slots[slot]
      if found.low == fingerprint.low, found.high ^ fingerprint.high <= Self.mostRepeats { return (slot, true) }
      if found.isNone { return (slot, false) }
      slot &+= 1
      if slot == capacity { slot = 0 }
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
    for index in 0..<capacity where !slots[index].isNone {
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
    if saved > room { grow(to: saved / 3 * 4 + 64) }
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

  /// Doubles the table; where the budget forbids that, takes what there is, unless it is not worth it.
  private mutating func grow() -> Bool {
    let slotSize = origins == nil ? 16 : 32
    for wanted in [capacity * 2, capacity / 2 * 3, capacity / 4 * 5] {
      let missing = wanted * slotSize - budget
      guard missing <= 0 || reserve?.take(missing) ?? false else { continue }
      if missing > 0 {
        budget += missing
        borrowed += missing
      }
      grow(to: wanted)
      return true
    }
    let most = budget / slotSize
    guard most >= capacity / 8 * 9 else { return false }
    grow(to: most)
    return true
  }

  private mutating func grow(to newCapacity: Int) {
    let old = capacity
    table.grow(to: newCapacity)
    origins?.grow(to: newCapacity)
    slots = table.base
    capacity = newCapacity
    room = newCapacity / 4 * 3
    // From the end: whoever goes up finds only those that have moved already. The few that do not, near the beginning, and those that would
    // go round the end, come when all others have their place.
    var late: [(Fingerprint, RecordOrigin?)] = []
    var index = old
    while index > 0 {
      index -= 1
      let fingerprint = slots[index]
      if fingerprint.isNone { continue }
      let origin = origins?.base[index]
      slots[index] = .none
      var slot = home(fingerprint)
      if slot > index {
        while slot < newCapacity, !slots[slot].isNone { slot += 1 }
      }
      if slot > index, slot < newCapacity {
        place(fingerprint, origin, at: slot)
      } else {
        late.append((fingerprint, origin))
      }
    }
    for (fingerprint, origin) in late { place(fingerprint, origin, at: find(fingerprint).slot) }
  }

  /// With its repeats.
  private func place(_ fingerprint: Fingerprint, _ origin: RecordOrigin?, at slot: Int) {
    slots[slot] = fingerprint
    if let origin { origins!.base[slot] = origin }
  }
}
