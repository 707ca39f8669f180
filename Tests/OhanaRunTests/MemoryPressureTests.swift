import Foundation
import OhanaCore
import OhanaStages
import OhanaTestSupport
import Synchronization
import Testing

@testable import OhanaRun

@Suite("Short memory") struct MemoryPressureTests {
  /// What the system's files say at each look; at the last one for ever.
  struct Case: Sendable, CustomTestStringConvertible {
    let rule: String
    var looks: [[String: String]]
    var tells: Double?
    var testDescription: String { rule }
  }
  private static let group = ["/proc/self/cgroup": "1:name=systemd:/x\n0::/job.slice\n"]
  private static func pressure(_ share: String) -> String {
    "some avg10=\(share) avg60=0.00 avg300=0.00 total=1\nfull avg10=99.00 avg60=0.00 avg300=0.00 total=1\n"
  }
  private static func events(_ high: Int, _ max: Int) -> String { "low 9\nhigh \(high)\nmax \(max)\noom 0\noom_kill 0\n" }
  private static func look(_ share: String, _ high: Int, _ max: Int) -> [String: String] {
    group.merging([
      "/sys/fs/cgroup/job.slice/memory.pressure": pressure(share), "/sys/fs/cgroup/job.slice/memory.events": events(high, max),
    ]) { $1 }
  }
  static let cases = [
    Case(rule: "no such files: silent", looks: [[:], [:], [:]]),
    Case(rule: "a file of something else: silent", looks: [["/proc/pressure/memory": "some\nfull\n"]]),
    Case(rule: "a quiet machine: silent", looks: [["/proc/pressure/memory": pressure("0.00")]]),
    Case(rule: "processes wait for memory", looks: [["/proc/pressure/memory": pressure("12.50")]], tells: 12.5),
    Case(
      rule: "they do so later", looks: [["/proc/pressure/memory": pressure("9.99")], ["/proc/pressure/memory": pressure("10.00")]],
      tells: 10),
    Case(
      rule: "the group's own numbers count where it has some",
      looks: [look("0.00", 0, 0).merging(["/proc/pressure/memory": pressure("80.00")]) { $1 }]),
    Case(
      rule: "the machine's count where the group has none", looks: [group.merging(["/proc/pressure/memory": pressure("80.00")]) { $1 }],
      tells: 80),
    Case(rule: "limits met before the run began: silent", looks: [look("5.00", 70, 70)]),
    Case(rule: "limits met by files alone: silent", looks: [look("0.50", 0, 0), look("0.50", 5, 9), look("0.50", 9, 19)]),
    Case(rule: "limits met while some wait: high", looks: [look("1.50", 0, 0), look("1.50", 1, 0)], tells: 1.5),
    Case(rule: "limits met while some wait: max", looks: [look("1.50", 3, 3), look("1.50", 3, 4)], tells: 1.5),
  ]

  @Test("is told of, from what the system's files say", arguments: cases) func observes(_ example: Case) async {
    let number = Mutex(-1)
    let (looks, looked) = AsyncStream<Int>.makeStream()
    let (tellings, told) = AsyncStream<Double>.makeStream()
    let observer = MemoryObserver(every: 0.002) { path in
      let look = number.withLock { number in
        if path == "/proc/self/cgroup" {
          number += 1
          looked.yield(number)
        }
        return number
      }
      return example.looks[min(look, example.looks.count - 1)][path.description]
    } _: { event in
      if let change = PressureActions.ShortMemory(event, RunState()) { told.yield(change.share) }
    }
    if let tells = example.tells {
      for await share in tellings {
        #expect(share == tells)
        break
      }
    } else {
      for await look in looks where look > example.looks.count + 1 { break }
      told.finish()
      for await share in tellings { Issue.record("told of \(share)") }
    }
    withExtendedLifetime(observer) {}
  }

  @Test("is a note and a word in the progress line, once") func isTold() {
    var state = RunState()
    PressureActions.ShortMemory(share: 12.6).update(&state)
    PressureActions.ShortMemory(share: 50).update(&state)
    #expect(state.isMemoryShort && state.notes.count == 1)
    #expect(state.notes[0].contains("13 %"))
    #expect(ProgressText.line(state.progress).contains("memory is short"))
    #expect(LogText.progress(state.progress).contains("\"warning\":\"memory is short\""))
  }

  @Test("a closed reserve gives nothing, whatever is put back") func reserve() {
    let reserve = MemoryReserve(bytes: 100)
    #expect(reserve.take(40))
    reserve.close()
    #expect(!reserve.take(1))
    reserve.give(40)
    #expect(!reserve.take(1))
  }

  @Test("changes no byte of the result, and is in the report") func sameBytes() async throws {
    let workdir = try Workdir()
    #expect(try workdir.run(["generate", "--rows", "20000", "-o", "in.ndjson"]).status == 0)
    func run(_ name: String, isShort: Bool) async throws -> RunState {
      var request = RunRequest()
      request.inputs = [FilePath(workdir.path("in.ndjson"))]
      request.output = FilePath(workdir.path("\(name).ndjson"))
      request.options.report = FilePath(workdir.path("\(name).json"))
      request.options.tempDir = FilePath(workdir.path("tmp"))
      request.options.memory = 24 << 20
      request.stages = [
        try DedupeStage.parse(arguments: ["--by", "email:email"]), try DistinctStage.parse(arguments: ["--by", "id"]),
        try SortStage.parse(arguments: ["last,first"]),
      ]
      let session = RunSession(request)
      // Waits in the store until the run begins.
      if isShort { session.store.post(PressureActions.ShortMemory(share: 33)) }
      return await session.run(observes: false)
    }
    let (usual, short) = (try await run("usual", isShort: false), try await run("short", isShort: true))
    #expect(usual.exitStatus == 0 && short.exitStatus == 0, "\(String(describing: short.failure))")
    #expect(try workdir.read("usual.ndjson") == workdir.read("short.ndjson"))
    #expect(try workdir.text("short.json").contains("memory is short"))
    #expect(try !workdir.text("usual.json").contains("memory is short"))
  }
}
