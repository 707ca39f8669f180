internal import Ohana

/// `ulimit -v`: where the address space is too small, threads cannot be made and memory cannot be had, which nothing answers well.
enum AddressSpace {
  /// Program, libraries, their data, and the threads that wait and watch. Measured: 115 to 125 MiB beyond `--memory`; twice that, since
  /// heaps are cut from it in pieces.
  private static let ownBytes = 256 << 20
  /// The stack of a thread, as the system reserves it unless told otherwise.
  private static let stackBytes = 8 << 20

  /// What keeps the command of these words from running, if anything does. To be asked before the first thread is made.
  static func obstacle(_ words: [FilePath]) -> OhanaError? {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit) == 0, let available = Int(exactly: limit.rlim_cur) else { return nil }
    guard let verb = words.first?.text, !["help", "--help", "-h", "version", "--version", "-V"].contains(verb) else { return nil }
    let memory = value(of: "--memory", in: words).flatMap { Quantity.bytes($0) } ?? (words.pipelineIsGiven ? 16 << 20 : RunOptions().memory)
    let threads = value(of: "--threads", in: words).flatMap { Quantity.count($0) } ?? sysconf(Int32(_SC_NPROCESSORS_ONLN))
    let (stacks, overflows) = threads.multipliedReportingOverflow(by: stackBytes)
    guard !overflows, memory < Int.max >> 2, stacks < Int.max >> 2 else { return nil }
    let needed = memory + ownBytes + stacks
    guard available < needed else { return nil }
    return OhanaError(
      .memory, "address-space",
      "the address space is limited to \(available >> 20) MiB (ulimit -v), and this run may need \(needed >> 20) MiB",
      fix: "raise the limit, or lower --memory or --threads")
  }

  private static func value(of option: String, in words: [FilePath]) -> String? {
    for (index, word) in words.enumerated() {
      if word.text == option { return index + 1 < words.count ? words[index + 1].text : nil }
      if word.text.hasPrefix(option + "=") { return String(word.text.dropFirst(option.utf8.count + 1)) }
    }
    return nil
  }
}

extension [FilePath] {
  /// Options may stand in a pipeline file, which is not read yet.
  fileprivate var pipelineIsGiven: Bool { contains { $0.text == "-f" || $0.text.hasPrefix("--file") } }
}
