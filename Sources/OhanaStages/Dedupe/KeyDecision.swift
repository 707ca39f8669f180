internal import OhanaCore

/// Who survives among records of one key.
enum KeepRule: Sendable, Equatable {
  case first, last
  /// The highest rank; the earliest of those.
  case best
  /// Nobody, unless it is alone.
  case none
  /// Everybody whose key is not in the list that came first.
  case unlisted
  /// Everybody whose key is in the list that came first.
  case listed

  var isOfList: Bool { self == .unlisted || self == .listed }
}

/// Decides on the keys of one log, or one part of it, in two passes: the first finds each key's survivor, the second tells of the others.
enum KeyDecision {
  private struct Slot: BitwiseCopyable {
    var fingerprint = Fingerprint.none
    var position: UInt64 = 0
    var ordinal: UInt64 = 0
    var source: UInt32 = 0
    var count: UInt32 = 0
    /// Of the best rank, in the arena of ranks.
    var rankOffset: Int = 0
    var rankLength: Int = 0
  }

  typealias Chunks = ((UnsafeRawBufferPointer) throws -> Void) throws -> Void

  /// Returns false, with nothing told, if the distinct keys do not fit `tableBudget` bytes. Drops are told in order of their positions.
  static func decide(
    _ rule: KeepRule, tableBudget: Int, chunks: Chunks, into drops: DropList, counting sizes: inout ClusterSizes
  ) throws -> Bool {
    var capacity = 64
    var table = RawTable<Slot>(capacity: capacity)
    var count = 0
    let ranks = ByteBuffer()
    var fits = true
    let slotSize = MemoryLayout<Slot>.stride

    try chunks { chunk in
      guard fits else { return }
      var next = chunk.baseAddress!
      let end = next + chunk.count
      while next < end {
        let entry = next.loadUnaligned(as: KeyLogEntry.self)
        let rank = next + KeyLogEntry.size
        next = rank + Int(entry.rankLength)
        if rule.isOfList, entry.position != KeyLogEntry.listed { continue }
        let slot = find(entry.fingerprint, table.base, capacity - 1)
        var best = table.base[slot]
        let isNew = best.fingerprint.isNone
        if isNew || wins(entry, rank, over: best, ranks, rule) {
          best.position = entry.position
          best.ordinal = entry.ordinal
          best.source = entry.source
          if rule == .best {
            if Int(entry.rankLength) > best.rankLength {
              best.rankOffset = ranks.count
              ranks.append(rank.assumingMemoryBound(to: UInt8.self), count: Int(entry.rankLength))
            } else {
              (ranks.base + best.rankOffset).update(from: rank.assumingMemoryBound(to: UInt8.self), count: Int(entry.rankLength))
            }
            best.rankLength = Int(entry.rankLength)
          }
        }
        best.fingerprint = entry.fingerprint
        best.count = best.count == .max ? .max : best.count + 1
        table.base[slot] = best
        if isNew { count += 1 }
        if count * 4 > capacity * 3 {
          guard capacity * slotSize * 3 + ranks.capacity <= tableBudget else {
            fits = false
            return
          }
          let old = table
          let oldCapacity = capacity
          capacity *= 2
          table = RawTable<Slot>(capacity: capacity)
          for index in 0..<oldCapacity where !old.base[index].fingerprint.isNone {
            table.base[find(old.base[index].fingerprint, table.base, capacity - 1)] = old.base[index]
          }
        }
        if ranks.count > 4096, capacity * slotSize + ranks.capacity > tableBudget, count > 1 {
          fits = false
          return
        }
      }
    }
    guard fits else { return false }
    if !rule.isOfList {
      for index in 0..<capacity where !table.base[index].fingerprint.isNone { sizes.add(1, metTimes: Int(table.base[index].count)) }
    }

    try chunks { chunk in
      var next = chunk.baseAddress!
      let end = next + chunk.count
      while next < end {
        let entry = next.loadUnaligned(as: KeyLogEntry.self)
        next += KeyLogEntry.size + Int(entry.rankLength)
        if rule.isOfList, entry.position == KeyLogEntry.listed { continue }
        let best = table.base[find(entry.fingerprint, table.base, capacity - 1)]
        switch rule {
        case .unlisted:
          if !best.fingerprint.isNone { try drops.append(entry.position, nil) }
        case .listed:
          if best.fingerprint.isNone { try drops.append(entry.position, nil) }
        case .none:
          if best.count > 1 { try drops.append(entry.position, nil) }
        case .first, .last, .best:
          if best.position != entry.position { try drops.append(entry.position, RecordOrigin(source: best.source, ordinal: best.ordinal)) }
        }
      }
    }
    return true
  }

  /// The newcomer, which is later than all before, takes the place of the best so far.
  private static func wins(
    _ entry: KeyLogEntry, _ rank: UnsafeRawPointer, over best: Slot, _ ranks: ByteBuffer, _ rule: KeepRule
  ) -> Bool {
    switch rule {
    case .first, .none, .unlisted, .listed: return false
    case .last: return true
    case .best:
      return compareKeys(
        UnsafeRawBufferPointer(start: rank, count: Int(entry.rankLength)),
        UnsafeRawBufferPointer(start: ranks.base + best.rankOffset, count: best.rankLength)) > 0
    }
  }

  @inline(__always)
  private static func find(_ fingerprint: Fingerprint, _ table: UnsafeMutablePointer<Slot>, _ mask: Int) -> Int {
    var slot = Int(truncatingIfNeeded: fingerprint.low) & mask
    while true {
      let found = table[slot].fingerprint
      if found.isNone || found == fingerprint { return slot }
      slot = (slot &+ 1) & mask
    }
  }
}
