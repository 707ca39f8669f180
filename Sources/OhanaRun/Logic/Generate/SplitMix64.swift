/// A stream of reproducible random numbers (the SplitMix64 construction: a Weyl sequence through a finaliser).
///
/// Any two streams with different seeds are unrelated, and starting one costs nothing: each record has its own.
struct SplitMix64: BitwiseCopyable {
  private var state: UInt64

  @inline(__always) init(_ seed: UInt64) { state = seed }
  /// The stream of number `index` among those of `seed`.
  @inline(__always) init(_ seed: UInt64, stream index: UInt64) { state = Self.mix(seed ^ Self.mix(index &+ Self.step)) }

  static let step: UInt64 = 0x9E37_79B9_7F4A_7C15

  /// A bijection in which every input bit reaches every output bit.
  @inline(__always) static func mix(_ value: UInt64) -> UInt64 {
    var z = value
    z = (z ^ (z &>> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z &>> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z &>> 31)
  }

  @inline(__always) mutating func next() -> UInt64 {
    state &+= Self.step
    return Self.mix(state)
  }

  /// Uniform in `0 ..< bound`, up to a bias of `bound` in 2³².
  @inline(__always) mutating func below(_ bound: Int) -> Int {
    Int(truncatingIfNeeded: ((next() &>> 32) &* UInt64(truncatingIfNeeded: bound)) &>> 32)
  }

  /// True `perMille` times of 1,000.
  @inline(__always) mutating func chance(_ perMille: Int) -> Bool { below(1000) < perMille }
}
