import AreaCode
import Ohana
import Synchronization

// The library from outside: a post-processor of another package against the built-in filter, and what signals cost.
//
//   ohana generate --rows 1000000 --chunks 8 --format ndjson -o 'Benchmarks/work/part-{n}.ndjson.gz'
//   swift run -c release --package-path Benchmarks ohana-library-bench Benchmarks/work/part-*.ndjson.gz

let files = CommandLine.arguments.dropFirst().map { FilePath($0) }
guard !files.isEmpty else { fatalError("usage: ohana-library-bench FILE…") }

func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }

func cpuSeconds() -> Double {
  var time = timespec()
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
  return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}

/// Takes records and forgets them.
final class NowhereSink: RecordSink {
  func write(_ records: RenderedRecords) async throws {}
}

func run(_ processor: any PostProcessor) async throws -> (cpu: Double, seconds: Double, books: RunBooks) {
  let source = ContactsDataSource(dataProviders: [FileDataProvider(files)], postProcessors: [processor])
  let (cpu, began) = (cpuSeconds(), ContinuousClock.now)
  let books = try await source.run(into: NowhereSink())
  return (cpuSeconds() - cpu, (ContinuousClock.now - began) / .seconds(1), books)
}

// MARK: A foreign processor against the built-in filter

var foreign: [(cpu: Double, seconds: Double)] = []
var own: [(cpu: Double, seconds: Double)] = []
for round in 0..<6 {
  let a = try await run(AreaCodePostProcessor("+44"))
  let b = try await run(FilterPostProcessor("phone LIKE '+44%'"))
  precondition(a.books.written == b.books.written && a.books.written > 0 && a.books.written < a.books.read, "they keep the same records")
  if round == 0 { continue }  // warms the page cache
  foreign.append((a.cpu, a.seconds))
  own.append((b.cpu, b.seconds))
}
func round3(_ value: Double) -> Double { (value * 1000).rounded() / 1000 }
let cpuRatio = median(own.map(\.cpu)) / median(foreign.map(\.cpu))
print("foreign processor   \(round3(median(foreign.map(\.seconds)))) s, \(round3(median(foreign.map(\.cpu)))) s of CPU")
print("built-in filter     \(round3(median(own.map(\.seconds)))) s, \(round3(median(own.map(\.cpu)))) s of CPU")
print("throughput a CPU second, foreign to built-in: \(round3(cpuRatio)) (at least 0.8)")

// MARK: Signals

final class Counter: Sendable {
  let events = Mutex(0)
  func count() { events.withLock { $0 += 1 } }
}
let counter = Counter()
let source = ContactsDataSource(dataProviders: [FileDataProvider(files)])
source.onProgress.observe(counter) { counter, _ in counter.count() }
source.onChunkDone.observe(counter) { counter, _ in counter.count() }
source.onProviderFinished.observe(counter) { counter, _ in counter.count() }
source.onProviderFailed.observe(counter) { counter, _ in counter.count() }
source.onReady.observe(counter) { counter, _ in counter.count() }
source.onFailed.observe(counter) { counter, _ in counter.count() }
source.onCancelled.observe(counter) { counter, _ in counter.count() }
source.onSelected.observe(counter) { counter, _ in counter.count() }
source.onDeselected.observe(counter) { counter, _ in counter.count() }
let before = cpuSeconds()
let books = try await source.run(into: NowhereSink())
let whole = cpuSeconds() - before
let events = counter.events.withLock { $0 }
let signal = Signal<RunState.Progress>()
signal.observe(counter) { counter, _ in counter.count() }
let began = cpuSeconds()
for _ in 0..<1_000_000 { signal.fire(RunState.Progress()) }
let each = (cpuSeconds() - began) / 1e6
let share = Double(events) * each / whole
print(
  "signals             \(events) for \(books.read) records; \(Int(each * 1e9)) ns each, \(share * 100) % of \(round3(whole)) s of CPU (under 1)"
)
exit(cpuRatio >= 0.8 && share < 0.01 ? 0 : 1)
