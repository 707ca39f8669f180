/// How `--memory` is shared out before a run.
///
/// | who | how much |
/// |---|---|
/// | the program itself | 12 MiB |
/// | batches in flight | arena, field table and output text, about three times a batch's bytes each; with sorted runs in them, four times |
/// | compressors in flight | a block of 1 MiB of text and as much of output each |
/// | stages that hold keys or the whole input | the rest, breakers twice as much as keyed ones; of several, each has a claim on half of that, and the first to need more takes it of the other half; of large inputs breakers leave that, and half of their claims, to those with keys |
struct MemoryPlan: Sendable, Equatable {
  static let programBytes = 12 << 20
  static let blockBytes = 1 << 20

  var total: Int
  var batchBytes: Int
  var batchCount: Int
  /// Blocks being compressed at once, for each output.
  var compressors: Int
  /// For all stages that hold something.
  var stageBytes: Int
  private let isShared: Bool
  private var weights = 0

  /// - Parameter holders: weights of the stages that hold something (1 keyed, 2 breaker).
  init(total: Int, threads: Int, outputs: Int, holders: [Int]) {
    self.total = total
    let weights = holders.reduce(0, +)
    self.weights = weights
    isShared = holders.count > 1
    batchBytes = max(32 << 10, min(1 << 20, total / 256))
    let affordable = total / 4 / (3 * batchBytes)
    batchCount = max(2, min(threads * 3 + 3, affordable))
    compressors = max(1, min(threads + 1, total / 16 / (2 * Self.blockBytes)))
    let fixed = Self.programBytes + batchCount * (weights > 0 ? 4 : 3) * batchBytes + outputs * (compressors + 1) * 2 * Self.blockBytes
    stageBytes = max(total / 8, total - fixed)
  }

  /// What a stage of this weight has a claim on.
  func share(weight: Int) -> Int { weights == 0 ? 0 : max(1 << 20, stageBytes * weight / weights / (isShared ? 2 : 1)) }

  /// What is left for the first to need it.
  var reserveBytes: Int { isShared ? stageBytes / 2 : 0 }
}
