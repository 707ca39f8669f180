import OhanaCore
import OhanaTestSupport
import Testing

@testable import OhanaStages

/// An item of a sorter: a two-byte key, and a number to tell it by.
func appendItem(key: UInt16, place: Int, size: Int, to bytes: ByteBuffer) {
  bytes.reserve(size)
  let base = UnsafeMutableRawPointer(bytes.base + bytes.count)
  base.storeBytes(of: UInt32(size), as: UInt32.self)
  base.storeBytes(of: 2, toByteOffset: 4, as: UInt32.self)
  base.storeBytes(of: 0, toByteOffset: 8, as: UInt64.self)
  base.storeBytes(of: 0, toByteOffset: 16, as: UInt64.self)
  base.storeBytes(of: key.bigEndian, toByteOffset: 8, as: UInt16.self)
  base.storeBytes(of: UInt32(place), toByteOffset: 24, as: UInt32.self)
  bytes.count += size
}

@Suite("More runs than can be merged at once") struct ManyRunsTests {
  @Test("sort-011: 1,600 runs are merged in passes, out of few files", arguments: [false, true]) func passes(laterFirst: Bool) throws {
    var generator = SeededGenerator(seed: 11)
    let spill = MemorySpillStore()
    let sorter = ExternalSorter(spill: spill, budget: 4_096, laterFirst: laterFirst)
    var keys: [UInt16] = []
    for _ in 0..<1_600 {
      // A run nearly as large as the budget goes to disk as it is.
      let places = keys.count..<keys.count + 8
      keys += places.map { _ in UInt16.random(in: 0..<3_000, using: &generator) }
      let run = places.sorted { keys[$0] != keys[$1] ? keys[$0] < keys[$1] : laterFirst ? $0 > $1 : $0 < $1 }
      let bytes = ByteBuffer()
      for place in run { appendItem(key: keys[place], place: place, size: 480, to: bytes) }
      try sorter.add(bytes.base, byteCount: bytes.count, count: run.count)
    }
    #expect(sorter.spilledRunCount >= 1_500)
    let merger = try sorter.finish()
    var found: [Int] = []
    while let item = try merger.next() { found.append(Int(item.loadUnaligned(fromByteOffset: 24, as: UInt32.self))) }
    #expect(found == keys.indices.sorted { keys[$0] != keys[$1] ? keys[$0] < keys[$1] : laterFirst ? $0 > $1 : $0 < $1 })
    #expect(sorter.passes >= 2)
    #expect(spill.mostFilesInUse <= 3, "runs share files")
  }
}
