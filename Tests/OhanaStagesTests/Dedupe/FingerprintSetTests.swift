import OhanaCore
import OhanaTestSupport
import Testing

@testable import OhanaStages

@Suite("Set of fingerprints") struct FingerprintSetTests {
  @Test("holds what a set of the library holds, however it grew, with repeats and origins", arguments: 0...5)
  func model(seed: Int) {
    var random = SeededGenerator(seed: UInt64(seed))
    // Small budgets grow in small steps, and past what doubling would allow; large ones past the size that is mapped.
    let budget = [20_000, 77_777, 300_001, 1 << 20, 9 << 20, 70 << 20][seed]
    let keepsOrigins = seed % 2 == 1
    let reserve = seed % 3 == 0 ? MemoryReserve(bytes: budget / 3) : nil
    var set = FingerprintSet(budget: budget, keepsOrigins: keepsOrigins, reserve: reserve)
    var model: [Fingerprint: (repeats: Int, origin: RecordOrigin)] = [:]
    let most = budget / (keepsOrigins ? 32 : 16)
    // Some homes in clusters at both ends of the table.
    func fingerprint() -> Fingerprint {
      let low: UInt64 =
        switch Int.random(in: 0..<max(10, most / 300), using: &random) {
        case 0: .max - UInt64.random(in: 0..<1 << 40, using: &random)
        case 1: UInt64.random(in: 0..<1 << 40, using: &random)
        default: random.next()
        }
      return Fingerprint(high: random.next() | 1 << 8, low: low)
    }
    var known: [Fingerprint] = []
    while model.count < most {
      let next = !known.isEmpty && Int.random(in: 0..<4, using: &random) == 0 ? known.randomElement(using: &random)! : fingerprint()
      guard set.free > 0 || set.reserve(1) else { break }
      let (slot, isPresent) = set.find(next)
      #expect(isPresent == (model[next] != nil))
      if isPresent {
        set.countRepeat(at: slot)
        model[next]!.repeats += 1
      } else {
        set.insert(next, at: slot)
        let origin = RecordOrigin(source: UInt32(model.count % 7), ordinal: UInt64(model.count))
        if keepsOrigins { set.setOrigin(origin, at: slot) }
        model[next] = (0, origin)
        if known.count < 1000 { known.append(next) }
      }
    }
    #expect(set.count == model.count)
    // All of the budget but what one more step would need is used.
    #expect(
      model.count * 4 >= most * 3 * 7 / 8 && model.count <= (most + (reserve == nil ? 0 : most / 3)) * 3 / 4 + 4,
      "\(model.count) of \(most)")
    for (key, value) in model {
      let (slot, isPresent) = set.find(key)
      #expect(isPresent)
      if keepsOrigins { #expect(set.origin(at: slot).ordinal == value.origin.ordinal) }
    }
    for _ in 0..<10_000 {
      let other = fingerprint()
      if model[other] == nil { #expect(!set.contains(other)) }
    }
    var sizes = ClusterSizes()
    for value in model.values { sizes.add(1, metTimes: min(value.repeats, 255) + 1) }
    #expect(set.sizes == sizes)
  }
}
