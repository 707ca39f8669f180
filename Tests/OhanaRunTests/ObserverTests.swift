import Foundation
import OhanaCore
import OhanaTestSupport
import Synchronization
import Testing

@testable import OhanaRun

/// What happens outside, and what a run is told of it.
@Suite("Observers") struct ObserverTests {
  @Test("K-11: each tick of the timer is told once, in order, with the time of the clock it was given") func ticks() async {
    let now = Mutex<UInt64>(5_000_000_000)
    let (events, told) = AsyncStream<Double>.makeStream()
    let observer = TimerObserver(
      since: 5_000_000_000, every: 0.001,
      clock: {
        now.withLock { now in
          now += 1_000_000_000
          return now
        }
      }
    ) { event in
      if case .time(let seconds) = event { told.yield(seconds) }
    }
    var seen: [Double] = []
    for await seconds in events {
      seen.append(seconds)
      if seen.count == 20 { break }
    }
    #expect(seen == (1...20).map(Double.init))
    withExtendedLifetime(observer) {}
  }

  @Test("K-14: a run's time is that of the clock it is given") func clock() async throws {
    let folder = try Workdir()
    try folder.write("in.ndjson", "{\"a\":1}\n")
    let calls = Mutex<UInt64>(0)
    var request = RunRequest()
    request.inputs = [FilePath(folder.path("in.ndjson"))]
    request.output = FilePath(folder.path("out.ndjson"))
    let dependencies = RunDependencies(
      clock: {
        calls.withLock { calls in
          calls += 1
          return calls * 3_600_000_000_000
        }
      }, checkpointInterval: 30)
    let state = await RunSession(request, dependencies: dependencies).run(observes: false)
    #expect(state.exitStatus == 0)
    let hours = state.books.seconds / 3600
    #expect(hours >= 2 && hours == hours.rounded(), "\(hours)")
  }
}
