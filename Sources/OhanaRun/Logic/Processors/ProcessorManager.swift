#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// How many processors there are.
protocol ProcessorManaging: Sendable {
  /// Processors this process may run on, at least 1.
  var usableCount: Int { get }
}

/// How many processors there are. Holds nothing.
struct ProcessorManager: ProcessorManaging {
  /// Processors this process may run on, at least 1; `taskset` and the like are respected.
  var usableCount: Int { max(1, ProcessInfo.processInfo.activeProcessorCount) }
}
