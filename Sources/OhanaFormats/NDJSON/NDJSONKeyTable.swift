internal import OhanaCore

/// The top-level keys met so far by one walker, and what the plan wants of each.
///
/// Entries are numbered from 0. Number 0 stands before the first key of a record, number 1 for every key that is not remembered; both
/// match nothing. Each entry remembers which key followed it last, so that records of one shape cost one comparison of 16 bytes a key.
struct NDJSONKeyTable: ~Copyable {
  struct Entry: BitwiseCopyable {
    /// The key's first 16 bytes as they stand in the text, the closing quote included, under the masks. An entry that must not be
    /// guessed (not yet part of an accepted record, or never spelled without escapes) has a pattern that nothing matches.
    var low: UInt64 = 1
    var high: UInt64 = 1
    var lowMask: UInt64 = 0
    var highMask: UInt64 = 0
    /// Bytes of the decoded key.
    var length: UInt32 = 0
    /// Where the decoded key is kept in `texts`.
    var text: UInt32 = 0
    /// The key that followed this one last.
    var next: UInt32 = NDJSONKeyTable.unknown
    /// Whether the plan wants anything of it: false means that its value is only checked.
    var isUsed = false
    var isCommitted = false
    var canBeGuessed = false
    /// Slot of the field of this whole name, or -1.
    var slot: Int32 = -1
    /// Index of the paths that begin with this key, or -1.
    var group: Int32 = -1
    /// The record it was met in last, by the walker's own count.
    var record: UInt32 = 0
    /// Where its member stands in the batch's member table; only if `record` is the present one.
    var member: UInt32 = 0
    /// Its number in the batch's member table, if `batch` is the present one.
    var batchKey: UInt32 = 0
    var batch: UInt32 = 0
    var hash: UInt64 = 0
  }

  static let head: UInt32 = 0
  static let unknown: UInt32 = 1
  /// Keys the plan does not use are remembered up to this number …
  static let maxKeys = 4_096
  /// … and this length, so that odd input cannot swell memory.
  static let maxKeyLength = 1_024

  private(set) var entries: UnsafeMutablePointer<Entry>
  private(set) var count = 0
  private var capacity = 64
  /// Decoded keys, end to end.
  let texts = ByteBuffer(capacity: 1_024)
  private var slots: UnsafeMutablePointer<UInt32>
  private var slotMask = 127
  private let seed: UInt64

  init() {
    entries = .allocate(capacity: capacity)
    slots = .allocate(capacity: slotMask + 1)
    slots.initialize(repeating: 0, count: slotMask + 1)
    seed = UInt64.random(in: .min ... .max)
    for _ in 0..<2 {  // head and unknown
      (entries + count).initialize(to: Entry())
      count += 1
    }
  }

  deinit {
    entries.deallocate()
    slots.deallocate()
  }

  /// The number of a key, or nil.
  func find(_ key: UnsafeBufferPointer<UInt8>) -> UInt32? {
    let hash = hash(of: key)
    var slot = Int(truncatingIfNeeded: hash) & slotMask
    while slots[slot] != 0 {
      let number = slots[slot]
      let entry = entries + Int(number)
      if entry.pointee.hash == hash, Int(entry.pointee.length) == key.count,
        key.count == 0 || memcmp(texts.base + Int(entry.pointee.text), key.baseAddress!, key.count) == 0
      {
        return number
      }
      slot = (slot + 1) & slotMask
    }
    return nil
  }

  /// Adds a key that is not there yet.
  mutating func add(_ key: UnsafeBufferPointer<UInt8>) -> UInt32 {
    if count == capacity { growEntries() }
    if count * 2 > slotMask { growSlots() }
    var entry = Entry()
    entry.length = UInt32(key.count)
    entry.text = UInt32(texts.count)
    entry.hash = hash(of: key)
    entry.canBeGuessed = !key.contains { $0 < 0x20 || $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "\\") }
    texts.append(key)
    let number = UInt32(count)
    (entries + count).initialize(to: entry)
    count += 1
    insert(number)
    return number
  }

  /// Lets a key be guessed from now on: called once a record that holds it was accepted.
  func commit(_ number: UInt32) {
    let entry = entries + Int(number)
    guard !entry.pointee.isCommitted else { return }
    entry.pointee.isCommitted = true
    guard entry.pointee.canBeGuessed else { return }
    var pattern = [UInt8](repeating: 0, count: 16)
    var mask = pattern
    let length = Int(entry.pointee.length)
    for index in 0..<min(length + 1, 16) {
      pattern[index] = index < length ? texts.base[Int(entry.pointee.text) + index] : UInt8(ascii: "\"")
      mask[index] = 0xff
    }
    func word(_ bytes: [UInt8], _ at: Int) -> UInt64 { bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: at, as: UInt64.self) } }
    entry.pointee.low = word(pattern, 0)
    entry.pointee.high = word(pattern, 8)
    entry.pointee.lowMask = word(mask, 0)
    entry.pointee.highMask = word(mask, 8)
  }

  /// The text of a key.
  func text(_ number: UInt32) -> UnsafeBufferPointer<UInt8> {
    let entry = entries[Int(number)]
    return UnsafeBufferPointer(start: texts.base + Int(entry.text), count: Int(entry.length))
  }

  private mutating func growEntries() {
    let new = UnsafeMutablePointer<Entry>.allocate(capacity: capacity * 2)
    new.moveInitialize(from: entries, count: count)
    entries.deallocate()
    entries = new
    capacity *= 2
  }

  private mutating func growSlots() {
    slots.deallocate()
    slotMask = slotMask * 2 + 1
    slots = .allocate(capacity: slotMask + 1)
    slots.initialize(repeating: 0, count: slotMask + 1)
    for number in 2..<count { insert(UInt32(number)) }
  }

  private func insert(_ number: UInt32) {
    var slot = Int(truncatingIfNeeded: entries[Int(number)].hash) & slotMask
    while slots[slot] != 0 { slot = (slot + 1) & slotMask }
    slots[slot] = number
  }

  /// Seeded at random, so that no input can be made to collide. Folded multiplication, eight bytes at a time.
  private func hash(of key: UnsafeBufferPointer<UInt8>) -> UInt64 {
    func fold(_ a: UInt64, _ b: UInt64) -> UInt64 {
      let (high, low) = a.multipliedFullWidth(by: b)
      return high ^ low
    }
    let prime: UInt64 = 0x9e37_79b9_7f4a_7c15
    var hash = seed ^ UInt64(truncatingIfNeeded: key.count) &* prime
    var index = 0
    while index + 8 <= key.count {
      let word = UnsafeRawPointer(key.baseAddress! + index).loadUnaligned(as: UInt64.self)
      hash = fold(hash ^ word, prime ^ seed)
      index += 8
    }
    var rest: UInt64 = 0
    while index < key.count {
      rest = rest << 8 | UInt64(key[index])
      index += 1
    }
    return fold(hash ^ rest, prime ^ seed)
  }
}
