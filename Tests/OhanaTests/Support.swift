import Ohana
import OhanaTestSupport
import Synchronization

/// Gives lines as a stream, when it may.
final class LinesProvider: DataProvider {
  let identifier: String
  private let lines: [String]
  private let delay: UInt32
  private let state: Mutex<(access: ProviderAccess, opens: Int)>
  private let failure: (any Error & Sendable)?

  /// - Parameters:
  ///   - delay: microseconds before each line.
  ///   - failure: thrown behind the last line.
  init(
    _ identifier: String, _ lines: [String], access: ProviderAccess = .granted, delay: UInt32 = 0, failure: (any Error & Sendable)? = nil
  ) {
    self.identifier = identifier
    self.lines = lines
    self.delay = delay
    self.failure = failure
    state = Mutex((access, 0))
  }

  var access: ProviderAccess {
    get { state.withLock { $0.access } }
    set { state.withLock { $0.access = newValue } }
  }
  var opens: Int { state.withLock { $0.opens } }

  func open() throws -> ProviderContent {
    state.withLock { $0.opens += 1 }
    let index = Mutex(0)
    let (lines, delay, failure) = (self.lines, self.delay, self.failure)
    return .stream(
      ProviderStream { text in
        let next = index.withLock { index in
          defer { index += 1 }
          return index
        }
        guard next < lines.count else {
          if let failure { throw failure }
          return false
        }
        if delay > 0 { usleep(delay) }
        text.append(string: lines[next] + "\n")
        return true
      })
  }
}

/// Writes down the first names it gets, and whatever it is told.
final class Listener: Sendable {
  private let lines = Mutex<[String]>([])
  func add(_ line: String) { lines.withLock { $0.append(line) } }
  var all: [String] { lines.withLock { $0 } }
  func take() -> [String] {
    lines.withLock { lines in
      defer { lines = [] }
      return lines
    }
  }

  /// Every signal of a source, with what it carries and the status behind it.
  func watch(_ source: ContactsDataSource) {
    source.onProviderFinished.observe(self) { [unowned source] log, report in
      let index = source.dataProviders.firstIndex { $0.identifier == report.provider.identifier }!
      log.add("finished \(report.provider.identifier) \(report.read)+\(report.rejected) \(source.providerStatuses[index])")
    }
    source.onProviderFailed.observe(self) { [unowned source] log, failure in
      let index = source.dataProviders.firstIndex { $0.identifier == failure.provider.identifier }!
      log.add("provider failed \(failure.provider.identifier) \(failure.error.code) \(source.providerStatuses[index])")
    }
    source.onReady.observe(self) { log, source in log.add("ready \(source.status)") }
    source.onFailed.observe(self) { [unowned source] log, error in log.add("failed \(error.code) \(source.status)") }
    source.onCancelled.observe(self) { log, source in log.add("cancelled \(source.status)") }
  }
}

func ndjson(_ names: some Sequence<String>) -> [String] { names.map { #"{"first":"\#($0)"}"# } }

extension ContactsDataSource {
  /// First names, by iterating.
  func firstNames() async throws -> [String] {
    var names: [String] = []
    for try await contact in contacts { names.append(contact.firstName ?? "-") }
    return names
  }
}

func options(_ change: (inout RunOptions) -> Void) -> RunOptions {
  var options = RunOptions()
  change(&options)
  return options
}
