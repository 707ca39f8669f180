internal import OhanaCore

/// Positions of records that are dropped, with their survivors, sorted by position; spills like any sort.
final class DropList {
  private let sorter: ExternalSorter
  private let run = ByteBuffer()
  private var runCount = 0
  private var last: UInt64 = 0
  private let runSize: Int
  private(set) var count = 0
  private var merger: RunMerger?
  private var isReading = false

  init(spill: any SpillStore, budget: Int) {
    sorter = ExternalSorter(spill: spill, budget: budget)
    runSize = min(1 << 16, max(256, budget / 16))
  }

  func append(_ position: UInt64, _ survivor: RecordOrigin?) throws {
    if runCount > 0, position < last || run.count > runSize { try flush() }
    last = position
    runCount += 1
    count += 1
    // An item with the position as its key: see SortItem.
    run.reserve(Self.itemSize)
    let item = UnsafeMutableRawPointer(run.base + run.count)
    item.storeBytes(of: UInt32(Self.itemSize), as: UInt32.self)
    item.storeBytes(of: 8, toByteOffset: 4, as: UInt32.self)
    item.storeBytes(of: position.bigEndian, toByteOffset: 8, as: UInt64.self)
    item.storeBytes(of: 0, toByteOffset: 16, as: UInt64.self)
    item.storeBytes(of: survivor?.ordinal ?? .max, toByteOffset: 24, as: UInt64.self)
    item.storeBytes(of: survivor?.source ?? .max, toByteOffset: 32, as: UInt32.self)
    run.count += Self.itemSize
  }

  private static let itemSize = 36

  /// Before anything is read only.
  func save(to writer: CheckpointWriter) throws {
    try flush()
    try writer.put(count)
    try sorter.save(to: writer)
  }

  func restore(from reader: CheckpointReader) throws {
    count = try reader.count()
    try sorter.restore(from: reader)
  }

  private func flush() throws {
    try sorter.add(run.base, byteCount: run.count, count: runCount)
    run.removeAll()
    runCount = 0
  }

  /// The drops in order of position. No more is appended once this is called.
  func next() throws -> (position: UInt64, survivor: RecordOrigin?)? {
    if !isReading {
      isReading = true
      try flush()
      merger = try sorter.finish()
    }
    guard let item = try merger?.next() else { return nil }
    let ordinal = item.loadUnaligned(fromByteOffset: 24, as: UInt64.self)
    let source = item.loadUnaligned(fromByteOffset: 32, as: UInt32.self)
    return (
      UInt64(bigEndian: item.loadUnaligned(fromByteOffset: 8, as: UInt64.self)),
      ordinal == .max ? nil : RecordOrigin(source: source, ordinal: ordinal)
    )
  }
}
