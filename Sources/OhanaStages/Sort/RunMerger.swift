internal import CXXHash
internal import OhanaCore

/// A sorted run, and its rank among runs that hold equal keys: the lower comes first.
struct SortedRun {
  var place: RunPlace
  var rank: Int
}

/// Merges sorted runs through a tree of losers: log₂(runs) comparisons an item, most of them of two integers.
///
/// Runs in memory are read where they lie, runs in files through a buffer each. Items longer than the buffer are read when their turn
/// comes, one at a time.
final class RunMerger {
  /// The item in front of a run. The key's prefix is here so that a comparison seldom leaves this table.
  private struct Cursor: BitwiseCopyable {
    var high: UInt64
    var low: UInt64
    /// Bytes 16 to 23 of the key, zeros behind its end: enough for most last and first names.
    var third: UInt64
    var item: UnsafeRawPointer?
    /// Behind the bytes in hand.
    var end: UnsafeRawPointer?
    var rank: Int
  }

  private struct FileInput {
    var file: SharedSpillFile
    /// Offset in the file of the buffer's first byte.
    var offset: Int
    var end: Int
    var buffer: UnsafeMutableRawPointer
    var capacity: Int
    var filled = 0
  }

  /// Cache lines of an item that are asked for before it is wanted.
  private static let linesAhead = 3

  private enum Input {
    case memory([RunPlace.Segment], next: Int)
    case file(FileInput)
  }

  private let cursors: UnsafeMutablePointer<Cursor>
  /// Node 0 holds the winner, the others the loser of their match: indices of runs.
  private let tree: UnsafeMutablePointer<Int>
  private let runCount: Int
  private var inputs: [Input] = []
  private let memoryLimit: Int
  private var oversized = ByteBuffer()
  private var hasStarted = false

  /// - Parameters:
  ///   - bufferSize: bytes of buffer for each run in a file.
  ///   - memoryLimit: bytes a single item or key may take; beyond it, `memory` is thrown.
  init(_ runs: [SortedRun], bufferSize: Int, memoryLimit: Int) throws {
    runCount = runs.count
    self.memoryLimit = memoryLimit
    cursors = .allocate(capacity: max(1, runCount))
    tree = .allocate(capacity: max(1, runCount))
    for (index, run) in runs.enumerated() {
      cursors[index] = Cursor(high: .max, low: .max, third: .max, item: nil, end: nil, rank: run.rank)
      switch run.place {
      case .memory(let segments): inputs.append(.memory(segments, next: 0))
      case .file(let file, let start, let end):
        let capacity = max(64, min(bufferSize, end - start))
        inputs.append(
          .file(FileInput(file: file, offset: start, end: end, buffer: .allocate(byteCount: capacity, alignment: 16), capacity: capacity)))
      }
    }
    for index in 0..<runCount { try refill(index, skipping: 0) }
    build()
  }

  deinit {
    for input in inputs { if case .file(let input) = input { input.buffer.deallocate() } }
    cursors.deallocate()
    tree.deallocate()
  }

  /// The next item in order, whole, valid until the next call; nil at the end.
  @inline(__always)
  func next() throws -> UnsafeRawPointer? {
    guard runCount > 0 else { return nil }
    if hasStarted { try advance() } else { hasStarted = true }
    let winner = cursors[tree[0]]
    guard let item = winner.item else { return nil }
    if winner.end! - item < SortItem.size(item) { return try loadOversized(tree[0]) }
    return item
  }

  @inline(__always)
  private func advance() throws {
    let index = tree[0]
    guard let item = cursors[index].item else { return }
    let size = SortItem.size(item)
    let next = item + size
    let left = cursors[index].end! - next
    if left >= SortItem.headerSize, left >= SortItem.size(next) {
      loadKey(of: next, into: index)
      cursors[index].item = next
      // The item behind it is wanted when this run has won again: many runs later, and then at once.
      let following = next + SortItem.size(next)
      for line in 0..<Self.linesAhead { ohana_prefetch(following + 64 &* line) }
    } else {
      try refill(index, skipping: size)
    }
    replay(index)
  }

  @inline(__always)
  private func loadKey(of item: UnsafeRawPointer, into index: Int) {
    // 24 bytes are readable: behind the key lies the record's header.
    let key = SortItem.key(item)
    let length = SortItem.keyLength(item)
    cursors[index].high = UInt64(bigEndian: key.loadUnaligned(as: UInt64.self))
    cursors[index].low = UInt64(bigEndian: key.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
    let third = UInt64(bigEndian: key.loadUnaligned(fromByteOffset: 16, as: UInt64.self))
    cursors[index].third = length >= 24 ? third : length <= 16 ? 0 : third & ~0 << UInt64(truncatingIfNeeded: 8 &* (24 &- length))
  }

  /// Plays the matches on the way from run `index` to the root.
  @inline(__always)
  private func replay(_ index: Int) {
    var winner = index
    var node = (index &+ runCount) >> 1
    while node > 0 {
      let other = tree[node]
      if precedes(other, winner) {
        tree[node] = winner
        winner = other
      }
      node >>= 1
    }
    tree[0] = winner
  }

  private func build() {
    guard runCount > 0 else { return }
    // Winners of the subtrees, leaves behind the inner nodes.
    var winners = [Int](repeating: 0, count: 2 * runCount)
    for index in 0..<runCount { winners[runCount + index] = index }
    var node = runCount - 1
    while node > 0 {
      let (a, b) = (winners[2 * node], winners[2 * node + 1])
      let aWins = precedes(a, b)
      winners[node] = aWins ? a : b
      tree[node] = aWins ? b : a
      node -= 1
    }
    tree[0] = runCount == 1 ? 0 : winners[1]
  }

  @inline(__always)
  private func precedes(_ a: Int, _ b: Int) -> Bool {
    let highA = cursors[a].high
    let highB = cursors[b].high
    if highA != highB { return highA < highB }
    let lowA = cursors[a].low
    let lowB = cursors[b].low
    if lowA != lowB { return lowA < lowB }
    let thirdA = cursors[a].third
    let thirdB = cursors[b].third
    if thirdA != thirdB { return thirdA < thirdB }
    return precedesBeyondPrefix(a, b)
  }

  @inline(never)
  private func precedesBeyondPrefix(_ a: Int, _ b: Int) -> Bool {
    guard let itemA = cursors[a].item else { return false }
    guard let itemB = cursors[b].item else { return true }
    let lengthA = SortItem.keyLength(itemA)
    let lengthB = SortItem.keyLength(itemB)
    let order = compareKeyRest(SortItem.key(itemA), lengthA, SortItem.key(itemB), lengthB)
    return order != 0 ? order < 0 : cursors[a].rank < cursors[b].rank
  }

  /// Puts the item behind the present one, whose size is `skipping`, in front of run `index`.
  private func refill(_ index: Int, skipping: Int) throws {
    var found: (item: UnsafeRawPointer, end: UnsafeRawPointer)?
    switch inputs[index] {
    case .memory(let segments, let next):
      if next < segments.count {
        found = (UnsafeRawPointer(segments[next].start), UnsafeRawPointer(segments[next].end))
        inputs[index] = .memory(segments, next: next + 1)
      }
    case .file(var input):
      found = try read(&input, from: cursors[index].item, skipping: skipping)
      inputs[index] = .file(input)
    }
    if let found {
      loadKey(of: found.item, into: index)
      cursors[index].item = found.item
      cursors[index].end = found.end
    } else {
      cursors[index].high = .max
      cursors[index].low = .max
      cursors[index].third = .max
      cursors[index].item = nil
    }
  }

  private func read(
    _ input: inout FileInput, from item: UnsafeRawPointer?, skipping: Int
  ) throws -> (UnsafeRawPointer, UnsafeRawPointer)? {
    // Offset in the buffer of the item wanted; beyond `filled` when the rest of a long item is passed over.
    let start = (item.map { $0 - UnsafeRawPointer(input.buffer) } ?? 0) + skipping
    guard input.offset + start < input.end else { return nil }
    let kept = max(0, input.filled - start)
    if kept > 0 { memmove(input.buffer, input.buffer + start, kept) }
    input.offset += start
    input.filled = kept
    try fill(&input)
    let head = UnsafeRawPointer(input.buffer)
    let needed = SortItem.headSize(head)
    if needed > input.capacity {
      // A key longer than the buffer: it has to be at hand whole.
      guard needed <= memoryLimit else { throw tooLong(SortItem.size(head), memoryLimit) }
      let larger = UnsafeMutableRawPointer.allocate(byteCount: needed, alignment: 16)
      larger.copyMemory(from: input.buffer, byteCount: input.filled)
      input.buffer.deallocate()
      input.buffer = larger
      input.capacity = needed
      try fill(&input)
    }
    return (UnsafeRawPointer(input.buffer), UnsafeRawPointer(input.buffer) + input.filled)
  }

  private func fill(_ input: inout FileInput) throws {
    let wanted = min(input.capacity, input.end - input.offset)
    while input.filled < wanted {
      let target = UnsafeMutableRawBufferPointer(start: input.buffer + input.filled, count: wanted - input.filled)
      let count = try input.file.file.read(at: input.offset + input.filled, into: target)
      guard count > 0 else {
        throw OhanaError(.io, "spill-truncated", "a temporary file is shorter than what was written to it", fix: "try another --temp-dir")
      }
      input.filled += count
    }
  }

  @inline(never)
  private func loadOversized(_ index: Int) throws -> UnsafeRawPointer {
    guard case .file(let input) = inputs[index], let item = cursors[index].item else { preconditionFailure("a cut item in memory") }
    let size = SortItem.size(item)
    guard size <= memoryLimit else { throw tooLong(size, memoryLimit) }
    oversized.recycle(limit: 1 << 16)
    oversized.reserve(size)
    let offset = input.offset + (item - UnsafeRawPointer(input.buffer))
    while oversized.count < size {
      let target = UnsafeMutableRawBufferPointer(
        start: UnsafeMutableRawPointer(oversized.base) + oversized.count, count: size - oversized.count)
      let count = try input.file.file.read(at: offset + oversized.count, into: target)
      guard count > 0 else {
        throw OhanaError(.io, "spill-truncated", "a temporary file is shorter than what was written to it", fix: "try another --temp-dir")
      }
      oversized.count += count
    }
    return UnsafeRawPointer(oversized.base)
  }
}

/// A record that the stage's share of memory cannot hold.
func tooLong(_ size: Int, _ limit: Int) -> OhanaError {
  OhanaError(
    .memory, "record-exceeds-memory", "a record takes \(size) bytes, but this stage may hold \(limit) at once",
    fix: "give the run more with --memory")
}
