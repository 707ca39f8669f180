internal import CMalloc
internal import OhanaCore

/// Where a sorted run lies.
enum RunPlace {
  /// In memory: whole items in each segment.
  case memory([Segment])
  /// In a file that other runs may share.
  case file(SharedSpillFile, start: Int, end: Int)

  struct Segment {
    var start: UnsafeMutableRawPointer
    var end: UnsafeMutableRawPointer
  }
}

/// A spill file that several runs lie in; given back when the last of them is.
final class SharedSpillFile {
  let file: any SpillFile
  private var users = 0

  init(_ file: any SpillFile) { self.file = file }

  func retain() { users += 1 }
  func release() {
    users -= 1
    if users == 0 { file.remove() }
  }
}

/// Memory of sorted runs: blocks of one size that are used again after a spill, since fresh pages cost more than the copy, and blocks
/// of their own for longer items.
struct RunMemory: ~Copyable {
  let blockSize: Int
  /// Bytes of all blocks, free ones included.
  private(set) var allocated = 0
  private var used: [UnsafeMutableRawPointer] = []
  private var free: [UnsafeMutableRawPointer] = []
  private var oversized: [(base: UnsafeMutableRawPointer, size: Int)] = []
  private var next: UnsafeMutableRawPointer?
  private var room = 0

  init(blockSize: Int) { self.blockSize = blockSize }
  /// Blocks that suit a share of so many bytes: sixteen of them at least, down to 4 KiB each.
  init(share: Int) { self.init(blockSize: min(Self.largestBlock, max(4096, share / 16))) }
  deinit {
    for block in used + free { block.deallocate() }
    for block in oversized { block.base.deallocate() }
  }

  /// Bytes that would be allocated anew to hold `size` more, in items of at most `longest`. Never too few.
  func growth(for size: Int, longest: Int) -> Int {
    if longest > blockSize { return size + blockSize }
    if size <= room { return 0 }
    // A block may be left with a rest too small for the next item.
    let perBlock = max(blockSize - longest + 1, blockSize / 2)
    let blocks = (size - room + perBlock - 1) / perBlock + 1
    return max(0, blocks - free.count) * blockSize
  }

  var isEmpty: Bool { used.isEmpty && oversized.isEmpty }

  /// Copies whole items into the blocks, and appends where they went to `segments`.
  mutating func append(_ items: UnsafeRawPointer, byteCount: Int, to segments: inout [RunPlace.Segment]) {
    var item = items
    let end = items + byteCount
    while item < end {
      var fits = end - item <= room ? end : item
      while fits < end, (fits - item) + SortItem.size(fits) <= room { fits += SortItem.size(fits) }
      if fits == item {
        let size = SortItem.size(item)
        if size > blockSize {
          let block = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 16)
          oversized.append((block, size))
          allocated += size
          block.copyMemory(from: item, byteCount: size)
          segments.append(.init(start: block, end: block + size))
          item += size
        } else {
          let block: UnsafeMutableRawPointer
          if let recycled = free.popLast() {
            block = recycled
          } else {
            block = .allocate(byteCount: blockSize, alignment: 16)
            ohana_populate(block, blockSize)
            allocated += blockSize
          }
          used.append(block)
          next = block
          room = blockSize
        }
        continue
      }
      let target = next!
      target.copyMemory(from: item, byteCount: fits - item)
      if let last = segments.last, last.end == target {
        segments[segments.count - 1].end = target + (fits - item)
      } else {
        segments.append(.init(start: target, end: target + (fits - item)))
      }
      next = target + (fits - item)
      room -= fits - item
      item = fits
    }
  }

  /// Huge pages were tried: in a virtual machine they cost as much as they saved.
  private static let largestBlock = 1 << 20

  /// Forgets all items and keeps the blocks.
  mutating func removeAll() {
    free += used
    used = []
    for block in oversized {
      block.base.deallocate()
      allocated -= block.size
    }
    oversized = []
    next = nil
    room = 0
  }

  /// Forgets the items of the oldest runs and keeps their blocks; `rest` is where the remaining ones are.
  mutating func remove(_ removed: [RunPlace.Segment], keeping rest: [RunPlace.Segment]) {
    let starts = Set(removed.map { UnsafeRawPointer($0.start) })
    oversized.removeAll { block in
      guard starts.contains(UnsafeRawPointer(block.base)) else { return false }
      block.base.deallocate()
      allocated -= block.size
      return true
    }
    let lastRemoved = removed.last { segment in used.contains { contains($0, segment) } }
    guard let lastRemoved, var index = used.firstIndex(where: { contains($0, lastRemoved) }) else { return }
    // The block of the last item removed may hold some of the rest, or be the one being filled.
    if !rest.contains(where: { contains(used[index], $0) }), next.map({ $0 < used[index] || $0 > used[index] + blockSize }) ?? true {
      index += 1
    }
    free += used[..<index]
    used.removeFirst(index)
  }

  private func contains(_ block: UnsafeMutableRawPointer, _ segment: RunPlace.Segment) -> Bool {
    segment.start >= block && segment.end <= block + blockSize
  }

  /// Gives free blocks back to the system.
  mutating func trim() {
    for block in free {
      block.deallocate()
      allocated -= blockSize
    }
    free = []
  }
}

/// Buffers what is appended to a spill file.
struct SpillWriter: ~Copyable {
  let file: any SpillFile
  private let buffer: UnsafeMutableRawPointer
  private let capacity: Int
  private var count = 0

  init(_ file: any SpillFile, capacity: Int) {
    self.file = file
    self.capacity = capacity
    buffer = .allocate(byteCount: capacity, alignment: 16)
  }
  deinit { buffer.deallocate() }

  /// Bytes written so far, those in the buffer included.
  var position: Int { file.size + count }

  @inline(__always)
  mutating func append(_ bytes: UnsafeRawPointer, _ size: Int) throws {
    if size > capacity &- count { return try appendLong(bytes, size) }
    (buffer + count).copyMemory(from: bytes, byteCount: size)
    count &+= size
  }

  private mutating func appendLong(_ bytes: UnsafeRawPointer, _ size: Int) throws {
    try flush()
    if size >= capacity {
      try file.append(UnsafeRawBufferPointer(start: bytes, count: size))
    } else {
      buffer.copyMemory(from: bytes, byteCount: size)
      count = size
    }
  }

  mutating func flush() throws {
    if count > 0 { try file.append(UnsafeRawBufferPointer(start: buffer, count: count)) }
    count = 0
  }
}
