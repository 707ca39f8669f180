internal import Dispatch
internal import OhanaCore

/// Tells how long processes of this control group, or of the machine where it has no numbers of its own, have waited for memory in the last
/// ten seconds (pressure stall information), and whether the group has run into its limits since the last look (`memory.events`). Where the
/// system has no such numbers it is silent.
final class MemoryObserver: @unchecked Sendable {  // because what changes is touched on the source's queue only
  private let source: any DispatchSourceTimer
  private var limitEvents: Int?

  /// - Parameters:
  ///   - seconds: between two looks.
  ///   - read: the text of a small file; nil if there is none.
  ///   - notify: called on a queue of the observer's own, at each look.
  init(every seconds: Double, read: @escaping @Sendable (FilePath) -> String?, _ notify: @escaping @Sendable (RunEvent) -> Void) {
    let source = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "ohana.memory"))
    self.source = source
    source.schedule(deadline: .now() + seconds, repeating: seconds, leeway: .milliseconds(Int(seconds * 250)))
    source.setEventHandler { [weak self] in
      if let event = self?.look(read) { notify(event) }
    }
    source.resume()
  }

  deinit { source.cancel() }

  private func look(_ read: (FilePath) -> String?) -> RunEvent? {
    let group = Self.group(read("/proc/self/cgroup"))
    let text = group.flatMap { read($0.appending("memory.pressure")) } ?? read("/proc/pressure/memory")
    guard let share = text.flatMap(Self.share) else { return nil }
    let events = group.flatMap { read($0.appending("memory.events")) }.map(Self.limitEvents)
    let meetsLimits = limitEvents.map { before in events.map { $0 > before } ?? false } ?? false
    limitEvents = events
    return .memory(share: share, meetsLimits: meetsLimits)
  }

  /// Of the line `0::/path` of cgroup version 2.
  private static func group(_ text: String?) -> FilePath? {
    guard let line = text?.split(separator: "\n").first(where: { $0.hasPrefix("0::/") }) else { return nil }
    return FilePath("/sys/fs/cgroup" + line.dropFirst(3))
  }

  /// `avg10` of the line `some avg10=0.00 avg60=0.00 avg300=0.00 total=0`.
  private static func share(_ text: String) -> Double? {
    let line = text.split(separator: "\n").first { $0.hasPrefix("some ") }
    return line?.split(separator: " ").first { $0.hasPrefix("avg10=") }.flatMap { Double($0.dropFirst(6)) }
  }

  /// How often the group came to its limits: the lines `high N` and `max N`.
  private static func limitEvents(_ text: String) -> Int {
    text.split(separator: "\n").reduce(0) { sum, line in
      let words = line.split(separator: " ")
      return words.count == 2 && (words[0] == "high" || words[0] == "max") ? sum + (Int(words[1]) ?? 0) : sum
    }
  }
}
