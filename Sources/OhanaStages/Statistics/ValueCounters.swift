internal import OhanaCore

/// Counts the values of one field: exactly while there are at most ``capacity`` different ones, the frequent ones beyond that.
///
/// Beyond it this is Space-Saving ("Efficient computation of frequent and top-k elements in data streams", Metwally, Agrawal and El Abbadi
/// 2005) with evictions in bulk: when the table is full, the half with the lower upper bounds goes, and a value that comes in later may
/// have been met up to ``evictedBound`` times before. A value that was never evicted keeps its exact count. Depends on the order of the
/// values alone.
///
/// Lies in raw memory and owns raw memory, since a loop over values cannot afford to ask for exclusive access.
struct ValueCounters: ~Copyable {
  static let capacity = 4_096
  private static let keptByEviction = capacity / 2
  static let maxTextBytes = 256

  /// What the loop over a batch's values needs, in one place without a reference count.
  struct Head: BitwiseCopyable {
    /// Open addressing, linear probing, at most half full: number of an entry plus 1, 0 where free.
    var slots: UnsafeMutablePointer<UInt16>
    var mask: Int
    var hashes: UnsafeMutablePointer<UInt64>
    /// Times a value was met since it is in the table.
    var observed: UnsafeMutablePointer<UInt64>

    /// Counts the value if it is in the table.
    @inline(__always)
    func count(_ hash: UInt64) -> Bool {
      var slot = Int(truncatingIfNeeded: hash) & mask
      while true {
        let entry = Int(slots[slot])
        if entry == 0 { return false }
        if hashes[entry &- 1] == hash {
          observed[entry &- 1] &+= 1
          return true
        }
        slot = (slot &+ 1) & mask
      }
    }
  }

  private struct Text: BitwiseCopyable {
    var offset: UInt32
    var length: UInt16
    var kind: ValueKind
    var isCut: Bool
  }

  private(set) var head: Head
  private var room: Int
  private var count = 0
  /// Times a value may have been met before it came into the table (again).
  private var errors: UnsafeMutablePointer<UInt64>
  private var places: UnsafeMutablePointer<Text>
  private var texts: UnsafeMutablePointer<UInt8>
  private var textCount = 0
  private var textRoom = 0
  /// No value outside the table was met more often.
  private var evictedBound: UInt64 = 0
  private var estimator: DistinctEstimator?

  init() {
    room = 16
    head = Head(
      slots: .allocate(capacity: room * 2), mask: room * 2 - 1, hashes: .allocate(capacity: room), observed: .allocate(capacity: room))
    head.slots.initialize(repeating: 0, count: room * 2)
    errors = .allocate(capacity: room)
    places = .allocate(capacity: room)
    texts = .allocate(capacity: 0)
  }

  deinit {
    head.slots.deallocate()
    head.hashes.deallocate()
    head.observed.deallocate()
    errors.deallocate()
    places.deallocate()
    texts.deallocate()
  }

  /// Bytes taken.
  var size: Int {
    MemoryLayout<ValueCounters>.size + room * 36 + textRoom + (estimator == nil ? 0 : DistinctEstimator.registerCount)
  }

  /// Takes in a value that ``Head/count(_:)`` did not find. Returns the bytes of memory it took more.
  mutating func insert(_ hash: UInt64, kind: ValueKind, text: UnsafeBufferPointer<UInt8>) -> Int {
    var growth = 0
    if count == room || textCount &+ Self.maxTextBytes > textRoom { growth = makeRoom() }
    estimator?.add(hash)
    let length = Self.shownLength(text)
    head.hashes[count] = hash
    head.observed[count] = 1
    errors[count] = evictedBound
    places[count] = Text(
      offset: UInt32(truncatingIfNeeded: textCount), length: UInt16(truncatingIfNeeded: length), kind: kind, isCut: length < text.count)
    if let base = text.baseAddress { (texts + textCount).update(from: base, count: length) }
    textCount &+= length
    link(count)
    count &+= 1
    return growth
  }

  @inline(never)
  private mutating func makeRoom() -> Int {
    let before = size
    if count == Self.capacity { evict() } else if count == room { grow() }
    if textCount + Self.maxTextBytes > textRoom {
      let larger = max(textRoom * 2, textCount + Self.maxTextBytes)
      texts = Self.moved(texts, textCount, larger)
      textRoom = larger
    }
    return size - before
  }

  /// Bytes of the text that are kept: no part of a character.
  private static func shownLength(_ text: UnsafeBufferPointer<UInt8>) -> Int {
    if text.count <= maxTextBytes { return text.count }
    var length = maxTextBytes
    while length > maxTextBytes - 4, text[length] & 0xc0 == 0x80 { length -= 1 }
    return length
  }

  @inline(__always)
  private mutating func link(_ entry: Int) {
    var slot = Int(truncatingIfNeeded: head.hashes[entry]) & head.mask
    while head.slots[slot] != 0 { slot = (slot &+ 1) & head.mask }
    head.slots[slot] = UInt16(truncatingIfNeeded: entry &+ 1)
  }

  private mutating func relink() {
    head.slots.update(repeating: 0, count: head.mask + 1)
    for entry in 0..<count { link(entry) }
  }

  private mutating func grow() {
    let larger = room * 2
    head.slots.deallocate()
    head.slots = .allocate(capacity: larger * 2)
    head.slots.initialize(repeating: 0, count: larger * 2)
    head.mask = larger * 2 - 1
    head.hashes = Self.moved(head.hashes, count, larger)
    head.observed = Self.moved(head.observed, count, larger)
    errors = Self.moved(errors, count, larger)
    places = Self.moved(places, count, larger)
    room = larger
    relink()
  }

  private static func moved<T: BitwiseCopyable>(_ old: UnsafeMutablePointer<T>, _ count: Int, _ room: Int) -> UnsafeMutablePointer<T> {
    let new = UnsafeMutablePointer<T>.allocate(capacity: room)
    new.update(from: old, count: count)
    old.deallocate()
    return new
  }

  // MARK: Eviction

  private mutating func evict() {
    if estimator == nil {
      let estimator = DistinctEstimator()
      for entry in 0..<count { estimator.add(head.hashes[entry]) }
      self.estimator = estimator
    }
    // Upper bounds, with the entry's number so that no two are equal: of equal bounds the value met first stays.
    let ranks = UnsafeMutableBufferPointer<UInt64>.allocate(capacity: count)
    for entry in 0..<count { ranks[entry] = rank(entry) }
    let limit = Self.select(ranks, count - Self.keptByEviction)
    ranks.deallocate()
    var kept = 0
    var keptTextCount = 0
    for entry in 0..<count {
      if rank(entry) < limit {
        evictedBound = max(evictedBound, head.observed[entry] &+ errors[entry])
        continue
      }
      var place = places[entry]
      // Texts lie in the order of their entries, so they only ever move to the front.
      (texts + keptTextCount).update(from: texts + Int(place.offset), count: Int(place.length))
      place.offset = UInt32(truncatingIfNeeded: keptTextCount)
      keptTextCount += Int(place.length)
      places[kept] = place
      head.hashes[kept] = head.hashes[entry]
      head.observed[kept] = head.observed[entry]
      errors[kept] = errors[entry]
      kept += 1
    }
    textCount = keptTextCount
    count = kept
    relink()
  }

  @inline(__always)
  private func rank(_ entry: Int) -> UInt64 {
    (head.observed[entry] &+ errors[entry]) << 12 | UInt64(truncatingIfNeeded: Self.capacity &- 1 &- entry)
  }

  /// The element that has `index` smaller ones; all are different. Moves elements.
  private static func select(_ values: UnsafeMutableBufferPointer<UInt64>, _ index: Int) -> UInt64 {
    var low = 0
    var high = values.count - 1
    while low < high {
      let a = values[low]
      let b = values[(low + high) / 2]
      let c = values[high]
      let pivot = max(min(a, b), min(max(a, b), c))
      var left = low
      var right = high
      while left <= right {
        while values[left] < pivot { left &+= 1 }
        while values[right] > pivot { right &-= 1 }
        if left <= right {
          values.swapAt(left, right)
          left &+= 1
          right &-= 1
        }
      }
      if index <= right { high = right } else if index >= left { low = left } else { return values[index] }
    }
    return values[index]
  }

  // MARK: Checkpoints

  func save(to writer: CheckpointWriter) throws {
    for number in [room, count, textRoom, textCount] { try writer.put(number) }
    try writer.put(evictedBound)
    try writer.put(raw: UnsafeRawBufferPointer(start: head.hashes, count: count * 8))
    try writer.put(raw: UnsafeRawBufferPointer(start: head.observed, count: count * 8))
    try writer.put(raw: UnsafeRawBufferPointer(start: errors, count: count * 8))
    for entry in 0..<count {
      let place = places[entry]
      for number in [Int(place.offset), Int(place.length), Int(place.kind.rawValue)] { try writer.put(number) }
      try writer.put(place.isCut)
    }
    try writer.put(raw: UnsafeRawBufferPointer(start: texts, count: textCount))
    try writer.put(estimator != nil)
    if let estimator {
      try writer.put(raw: UnsafeRawBufferPointer(start: estimator.registers, count: DistinctEstimator.registerCount))
    }
  }

  /// Takes up what another has counted; of a new one only. Takes as much memory as that did.
  mutating func restore(from reader: CheckpointReader) throws {
    let room = try reader.count(Self.capacity)
    while self.room < room { grow() }
    count = try reader.count(self.room)
    textRoom = try reader.count(1 << 32)
    textCount = try reader.count(textRoom)
    texts = Self.moved(texts, 0, textRoom)
    evictedBound = try reader.uint64()
    try reader.fill(UnsafeMutableRawBufferPointer(start: head.hashes, count: count * 8))
    try reader.fill(UnsafeMutableRawBufferPointer(start: head.observed, count: count * 8))
    try reader.fill(UnsafeMutableRawBufferPointer(start: errors, count: count * 8))
    for entry in 0..<count {
      let (offset, length) = (try reader.count(textCount), try reader.count(Self.maxTextBytes))
      guard offset + length <= textCount, let kind = ValueKind(rawValue: UInt8(try reader.count(255))) else {
        throw CheckpointReader.damaged
      }
      places[entry] = Text(offset: UInt32(offset), length: UInt16(length), kind: kind, isCut: try reader.bool())
    }
    try reader.fill(UnsafeMutableRawBufferPointer(start: texts, count: textCount))
    relink()
    guard try reader.bool() else { return }
    let estimator = DistinctEstimator()
    try reader.fill(UnsafeMutableRawBufferPointer(start: estimator.registers, count: DistinctEstimator.registerCount))
    self.estimator = estimator
  }

  // MARK: Results

  /// Number of different values, and whether that is an estimate.
  var distinct: (count: Int, isEstimate: Bool) {
    estimator.map { ($0.estimate, true) } ?? (count, false)
  }

  /// The most frequent values, and whether others may be more frequent.
  func top(_ wanted: Int) -> (values: [FieldStatistics.Frequent], isEstimate: Bool) {
    let observed = head.observed
    let order = (0..<count).sorted { a, b in observed[a] != observed[b] ? observed[a] > observed[b] : a < b }
    let best = order.prefix(wanted)
    // Proven exact: their counts are whole, and nothing else, in the table or out of it, can have been met as often.
    var bound = evictedBound
    for entry in order.dropFirst(wanted) where estimator != nil { bound = max(bound, head.observed[entry] &+ errors[entry]) }
    let errors = errors
    let isExact = estimator == nil || best.count == wanted && best.allSatisfy { errors[$0] == 0 && observed[$0] > bound }
    var values: [FieldStatistics.Frequent] = []
    for entry in best { values.append(.init(json: json(entry), count: Int(observed[entry]), isCut: places[entry].isCut)) }
    return (values, !isExact)
  }

  private func json(_ entry: Int) -> String {
    let place = places[entry]
    let text = UnsafeBufferPointer(start: UnsafePointer(texts) + Int(place.offset), count: Int(place.length))
    if place.kind != .string, !place.isCut { return String(decoding: text, as: UTF8.self) }
    let quoted = ByteBuffer()
    JSONEscaping.appendQuoted(text, to: quoted)
    return String(decoding: quoted.bytes, as: UTF8.self)
  }
}
