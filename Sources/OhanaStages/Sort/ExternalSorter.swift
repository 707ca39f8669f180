internal import OhanaCore

/// Sorts items beyond memory: takes sorted runs, keeps them while they fit, merges them into runs on disk when they do not, and merges
/// all of them at the end, in passes where there are more than buffers fit.
///
/// The result depends on the items alone, never on the budget. Used by one piece of work at a time.
final class ExternalSorter {
  private let spill: any SpillStore
  private var budget: Int
  /// Part of the budget that was taken of it.
  private let reserve: MemoryReserve?
  private var borrowed = 0
  /// Of equal keys, what came later goes first.
  private let laterFirst: Bool
  /// Only so many items are wanted.
  private let limit: Int?

  private var memory: RunMemory
  private var runs: [SortedRun] = []
  private var itemsInMemory = 0
  private var lastItem: UnsafeMutableRawPointer?
  private var spilled: [SortedRun] = []
  private var spillFile: SharedSpillFile?
  /// Key of the item spilled last, while its run can still grow at its end.
  private var lastSpilledKey: [UInt8]?
  private var nextRank = 0
  /// With a limit: key of the worst item that is still wanted.
  private var threshold: [UInt8]?

  private(set) var passes = 0
  var spilledRunCount: Int { spilled.count }

  /// - Parameter reserve: asked for more before anything goes to disk.
  init(spill: any SpillStore, budget: Int, reserve: MemoryReserve? = nil, laterFirst: Bool = false, limit: Int? = nil) {
    self.spill = spill
    self.budget = budget
    self.reserve = reserve
    self.laterFirst = laterFirst
    self.limit = limit
    memory = RunMemory(share: budget)
  }

  deinit {
    reserve?.give(borrowed)
    for run in spilled { if case .file(let file, _, _) = run.place { file.release() } }
  }

  /// Adds a sorted run that came in behind all earlier ones.
  ///
  /// - Throws: `memory` for an item that the budget cannot hold, `io` from the spill store.
  func add(_ items: UnsafeRawPointer, byteCount: Int, count: Int) throws {
    var byteCount = byteCount
    var count = count
    if let limit { (byteCount, count) = wantedPart(items, count: min(count, limit)) }
    guard count > 0 else { return }
    let end = items + byteCount
    var item = items
    var longest = 0
    var last = items
    while item < end {
      let size = SortItem.size(item)
      longest = max(longest, size)
      last = item
      item += size
    }
    guard longest <= budget else { throw tooLong(longest, budget) }
    if let limit, itemsInMemory > limit,
      itemsInMemory / 2 > limit + 4096 || memory.allocated + memory.growth(for: byteCount, longest: longest) > budget / 2
    {
      try compact(to: limit)
    }
    let missing = memory.allocated + memory.growth(for: byteCount, longest: longest) - (budget - writeBufferSize)
    if missing > 0, reserve?.take(missing) ?? false {
      budget += missing
      borrowed += missing
    }
    while memory.allocated + memory.growth(for: byteCount, longest: longest) > budget - writeBufferSize, !runs.isEmpty {
      try spillRuns(limit == nil ? runsToSpill() : runs.count)
    }
    if memory.allocated + memory.growth(for: byteCount, longest: longest) > budget - writeBufferSize {
      // More than the budget in one run: it is in order, so it may go to disk as it is.
      memory.trim()
      try spillRun(rank: makeRank()) { writer in
        try writer.append(items, byteCount)
      } first: {
        UnsafeRawPointer(items)
      } last: {
        UnsafeRawPointer(last)
      }
      return
    }
    let isContinued = lastItem.map { follows(items, UnsafeRawPointer($0)) } ?? false
    if isContinued, case .memory(var segments) = runs[runs.count - 1].place {
      runs[runs.count - 1].place = .memory([])  // so that the array is not copied
      memory.append(items, byteCount: byteCount, to: &segments)
      runs[runs.count - 1].place = .memory(segments)
      lastItem = segments[segments.count - 1].end - SortItem.size(last)
    } else {
      var segments: [RunPlace.Segment] = []
      memory.append(items, byteCount: byteCount, to: &segments)
      lastItem = segments[segments.count - 1].end - SortItem.size(last)
      runs.append(SortedRun(place: .memory(segments), rank: makeRank()))
    }
    itemsInMemory += count
  }

  /// All items in order. The sorter must live as long as the result, and take no more items.
  func finish() throws -> RunMerger {
    var buffer = bufferSize(for: spilled.count, free: budget - memory.allocated)
    memory.trim()
    if !spilled.isEmpty, spilled.count * buffer > budget - memory.allocated {
      if !runs.isEmpty { try spillRuns(runs.count) }
      memory.trim()
      let fanIn = max(2, budget / minimumBuffer)
      while spilled.count > fanIn { try mergePass(fanIn: fanIn) }
      buffer = bufferSize(for: spilled.count, free: budget)
    }
    return try RunMerger(spilled + runs, bufferSize: buffer, memoryLimit: budget)
  }

  // MARK: Checkpoints

  /// Everything as it is: runs in memory are written down, those on disk are named.
  func save(to writer: CheckpointWriter) throws {
    for number in [itemsInMemory, nextRank, passes] { try writer.put(number) }
    for key in [threshold, lastSpilledKey] {
      try writer.put(key != nil)
      if let key { try writer.put(key) }
    }
    var files: [SharedSpillFile] = []
    for run in spilled {
      if case .file(let file, _, _) = run.place, !files.contains(where: { $0 === file }) { files.append(file) }
    }
    try writer.put(files.count)
    for file in files { try writer.put(file.file) }
    try writer.put(spillFile.flatMap { file in files.firstIndex { $0 === file } } ?? -1)
    try writer.put(spilled.count)
    for run in spilled {
      guard case .file(let file, let start, let end) = run.place else { continue }
      for number in [run.rank, files.firstIndex { $0 === file }!, start, end] { try writer.put(number) }
    }
    try writer.put(runs.count)
    for run in runs {
      guard case .memory(let segments) = run.place else { continue }
      try writer.put(run.rank)
      try writer.put(segments.count)
      for segment in segments { try writer.put(UnsafeRawBufferPointer(start: segment.start, count: segment.end - segment.start)) }
    }
  }

  func restore(from reader: CheckpointReader) throws {
    itemsInMemory = try reader.count()
    nextRank = try reader.count()
    passes = try reader.count()
    threshold = try reader.bool() ? try reader.bytes() : nil
    lastSpilledKey = try reader.bool() ? try reader.bytes() : nil
    var files: [SharedSpillFile] = []
    for _ in 0..<(try reader.count(1 << 20)) { files.append(SharedSpillFile(try reader.file())) }
    let open = try reader.int()
    guard open < files.count else { throw CheckpointReader.damaged }
    spillFile = open < 0 ? nil : files[open]
    for _ in 0..<(try reader.count()) {
      let (rank, index, start, end) = (try reader.int(), try reader.count(), try reader.count(), try reader.count())
      guard index < files.count, start <= end, end <= files[index].file.size else { throw CheckpointReader.damaged }
      files[index].retain()
      spilled.append(SortedRun(place: .file(files[index], start: start, end: end), rank: rank))
    }
    let items = ByteBuffer()
    for _ in 0..<(try reader.count()) {
      let rank = try reader.int()
      var segments: [RunPlace.Segment] = []
      for _ in 0..<(try reader.count()) {
        items.removeAll()
        try reader.bytes(to: items)
        guard items.count > 0, SortItem.isWhole(items.bytes) else { throw CheckpointReader.damaged }
        memory.append(items.base, byteCount: items.count, to: &segments)
      }
      runs.append(SortedRun(place: .memory(segments), rank: rank))
    }
    // The next run begins a new one: which runs there are makes no difference to the result.
    lastItem = nil
  }

  // MARK: Sizes

  /// 64 KiB a run, so that a disk reads more than it seeks; less only where the budget is smaller than four of them.
  private var minimumBuffer: Int { max(256, min(1 << 16, budget / 4)) }
  private var writeBufferSize: Int { max(1024, min(1 << 18, budget / 8)) }

  private func bufferSize(for count: Int, free: Int) -> Int {
    count == 0 ? minimumBuffer : min(1 << 20, max(minimumBuffer, free / (count + 1)))
  }

  private func makeRank() -> Int {
    nextRank += 1
    return laterFirst ? -nextRank : nextRank
  }

  // MARK: Order

  private func compare(_ a: UnsafeRawPointer, _ b: UnsafeRawPointer) -> Int {
    compareKeys(
      UnsafeRawBufferPointer(start: SortItem.key(a), count: SortItem.keyLength(a)),
      UnsafeRawBufferPointer(start: SortItem.key(b), count: SortItem.keyLength(b)))
  }

  /// `item`, which came in later, also sorts behind `earlier`.
  private func follows(_ item: UnsafeRawPointer, _ earlier: UnsafeRawPointer) -> Bool {
    let order = compare(item, earlier)
    return laterFirst ? order > 0 : order >= 0
  }

  // MARK: Limit

  /// With a limit: an item of this key, which comes in now, could still be among the first.
  func isWanted(_ key: UnsafeRawBufferPointer) -> Bool {
    guard let threshold else { return true }
    let order = threshold.withUnsafeBytes { compareKeys(key, $0) }
    // Of equal keys those that come later are wanted only if they go first.
    return laterFirst ? order <= 0 : order < 0
  }

  /// The first `count` items, less those behind the threshold.
  private func wantedPart(_ items: UnsafeRawPointer, count: Int) -> (byteCount: Int, count: Int) {
    var item = items
    for index in 0..<count {
      if threshold != nil, !isWanted(UnsafeRawBufferPointer(start: SortItem.key(item), count: SortItem.keyLength(item))) {
        return (item - items, index)
      }
      item += SortItem.size(item)
    }
    return (item - items, count)
  }

  /// Keeps the first `limit` items of those in memory.
  private func compact(to limit: Int) throws {
    var kept = RunMemory(blockSize: memory.blockSize)
    var segments: [RunPlace.Segment] = []
    let merger = try RunMerger(runs, bufferSize: 0, memoryLimit: budget)
    var count = 0
    while count < limit, let item = try merger.next() {
      kept.append(item, byteCount: SortItem.size(item), to: &segments)
      count += 1
      if count == limit { threshold = Array(UnsafeRawBufferPointer(start: SortItem.key(item), count: SortItem.keyLength(item))) }
    }
    memory = kept
    runs = [SortedRun(place: .memory(segments), rank: runs[0].rank)]
    lastItem = nil  // keys equal to the last one belong to other runs
    itemsInMemory = count
  }

  // MARK: Spilling

  /// How many of the oldest runs to write: a quarter of the memory, so that little more is written than does not fit, as long as the runs
  /// made that way can be merged in one pass; all of it where they are many.
  private func runsToSpill() -> Int {
    if (spilled.count + 8) * minimumBuffer > budget / 8 { return runs.count }
    var size = 0
    for (index, run) in runs.enumerated() {
      guard case .memory(let segments) = run.place else { continue }
      for segment in segments { size += segment.end - segment.start }
      if size >= budget / 4 { return index + 1 }
    }
    return runs.count
  }

  /// Merges the oldest `count` runs in memory into one on disk.
  private func spillRuns(_ count: Int) throws {
    let group = Array(runs[..<count])
    let merger = try RunMerger(group, bufferSize: 0, memoryLimit: budget)
    let limit = self.limit ?? .max
    var last: UnsafeRawPointer?
    try spillRun(rank: group[0].rank) { writer in
      var written = 0
      while written < limit, let item = try merger.next() {
        try writer.append(item, SortItem.size(item))
        last = item
        written += 1
        if written == limit { self.threshold = Array(UnsafeRawBufferPointer(start: SortItem.key(item), count: SortItem.keyLength(item))) }
      }
    } first: {
      // The first of a merge is known before it is run: the least of the runs' first items.
      let heads = group.compactMap { run in
        if case .memory(let segments) = run.place { UnsafeRawPointer(segments[0].start) } else { nil }
      }
      return heads.min { self.compare($0, $1) < 0 }!
    } last: {
      last!
    }
    itemsInMemory = 0  // counts only with a limit, and then all runs go
    if count == runs.count {
      runs = []
      lastItem = nil
      memory.removeAll()
    } else {
      runs.removeFirst(count)
      memory.remove(Self.segments(of: group), keeping: Self.segments(of: runs))
    }
  }

  private static func segments(of runs: [SortedRun]) -> [RunPlace.Segment] {
    runs.flatMap { run in if case .memory(let segments) = run.place { segments } else { [RunPlace.Segment]() } }
  }

  /// Writes one sorted run; it goes on the run spilled last where it sorts behind it (presorted input).
  private func spillRun(
    rank: Int, _ write: (inout SpillWriter) throws -> Void, first: () -> UnsafeRawPointer, last: () -> UnsafeRawPointer
  ) throws {
    let shared: SharedSpillFile
    if let spillFile {
      shared = spillFile
    } else {
      shared = SharedSpillFile(try spill.makeFile())
      spillFile = shared
    }
    let key = UnsafeRawBufferPointer(start: SortItem.key(first()), count: SortItem.keyLength(first()))
    var continues = false
    if let lastSpilledKey {
      let order = lastSpilledKey.withUnsafeBytes { compareKeys(key, $0) }
      continues = laterFirst || limit != nil ? order > 0 && limit == nil : order >= 0
    }
    var writer = SpillWriter(shared.file, capacity: writeBufferSize)
    let start = writer.position
    try write(&writer)
    try writer.flush()
    let end = writer.position
    let lastItem = last()
    lastSpilledKey = Array(UnsafeRawBufferPointer(start: SortItem.key(lastItem), count: SortItem.keyLength(lastItem)))
    if continues, case .file(_, let runStart, _) = spilled[spilled.count - 1].place {
      spilled[spilled.count - 1].place = .file(shared, start: runStart, end: end)
    } else {
      shared.retain()
      spilled.append(SortedRun(place: .file(shared, start: start, end: end), rank: rank))
    }
  }

  /// Merges groups of `fanIn` neighbouring runs into one each, in a new file.
  private func mergePass(fanIn: Int) throws {
    passes += 1
    let target = SharedSpillFile(try spill.makeFile())
    target.retain()
    defer { target.release() }
    var merged: [SortedRun] = []
    var index = 0
    while index < spilled.count {
      let group = Array(spilled[index..<min(index + fanIn, spilled.count)])
      index += group.count
      let merger = try RunMerger(group, bufferSize: max(256, (budget - writeBufferSize) / (group.count + 1)), memoryLimit: budget)
      var writer = SpillWriter(target.file, capacity: writeBufferSize)
      let start = writer.position
      var left = limit ?? .max
      while left > 0, let item = try merger.next() {
        try writer.append(item, SortItem.size(item))
        left -= 1
      }
      try writer.flush()
      target.retain()
      merged.append(SortedRun(place: .file(target, start: start, end: writer.position), rank: group[0].rank))
    }
    for run in spilled { if case .file(let file, _, _) = run.place { file.release() } }
    spilled = merged
    spillFile = nil
  }
}

/// Compares whole keys as `memcmp` does, a proper prefix first.
func compareKeys(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Int {
  let shorter = min(a.count, b.count)
  if shorter > 0 {
    let order = memcmp(a.baseAddress!, b.baseAddress!, shorter)
    if order != 0 { return Int(order) }
  }
  return a.count - b.count
}
