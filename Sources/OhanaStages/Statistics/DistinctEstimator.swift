internal import OhanaCore

/// HyperLogLog over 64-bit hashes: 4,096 registers of a byte, standard error 1.04 / √4,096 = 1.6 %.
///
/// The estimate is Ertl's ("New cardinality estimation algorithms for HyperLogLog sketches", 2017, section 3.2), which needs no
/// correction for small or large numbers.
final class DistinctEstimator {
  static let indexBits = 12
  static let registerCount = 1 << indexBits
  /// Bits of a hash that are left to be counted.
  private static let q = 64 - indexBits
  let registers: UnsafeMutablePointer<UInt8>

  init() {
    registers = .allocate(capacity: Self.registerCount)
    registers.initialize(repeating: 0, count: Self.registerCount)
  }
  deinit { registers.deallocate() }

  @inline(__always)
  func add(_ hash: UInt64) {
    let index = Int(truncatingIfNeeded: hash >> UInt64(Self.q))
    // The bit set at the end stops the count at q + 1.
    let rank = UInt8(truncatingIfNeeded: (hash << UInt64(Self.indexBits) | 1 << UInt64(Self.indexBits - 1)).leadingZeroBitCount &+ 1)
    if rank > registers[index] { registers[index] = rank }
  }

  var estimate: Int {
    var counts = [Double](repeating: 0, count: Self.q + 2)
    for index in 0..<Self.registerCount { counts[Int(registers[index])] += 1 }
    let m = Double(Self.registerCount)
    var z = m * Self.tau(1 - counts[Self.q + 1] / m)
    for value in stride(from: Self.q, through: 1, by: -1) { z = 0.5 * (z + counts[value]) }
    z += m * Self.sigma(counts[0] / m)
    let ln2 = 0.693_147_180_559_945_3
    return Int((m * m / (2 * ln2 * z)).rounded())
  }

  private static func sigma(_ start: Double) -> Double {
    if start == 1 { return .infinity }
    var x = start
    var y = 1.0
    var z = x
    while true {
      x *= x
      let before = z
      z += x * y
      y += y
      if z == before { return z }
    }
  }

  private static func tau(_ start: Double) -> Double {
    if start == 0 || start == 1 { return 0 }
    var x = start
    var y = 1.0
    var z = 1 - x
    while true {
      x = x.squareRoot()
      let before = z
      y *= 0.5
      z -= (1 - x) * (1 - x) * y
      if z == before { return z / 3 }
    }
  }
}
