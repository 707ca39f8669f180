import OhanaCore
import OhanaStages
import OhanaTestSupport
import Synchronization
import Testing

@testable import OhanaRun

/// What `OHANA_STAGE_BYTES` does: the conformance cases are run with it, and mean something on disk only if ten records go there.
@Suite("Stages that may hold next to nothing") struct SpillForcingTests {
  struct Chain: Sendable, CustomTestStringConvertible {
    let words: [String]
    var count = 10
    var testDescription: String { words.joined(separator: " ") }
  }
  static let chains = [
    Chain(words: ["sort", "last:ohana,first:ohana"]), Chain(words: ["reverse"]),
    Chain(words: ["dedupe", "--by", "last", "--keep", "last"]),
    Chain(words: ["match", "a", "--in", "last", "--score", "score"]),
    // Sets of keys are smaller.
    Chain(words: ["distinct"], count: 300), Chain(words: ["count-by", "id"], count: 300),
    Chain(words: ["dedupe", "--by", "id"], count: 300),
    Chain(words: ["select", "--max", "999"], count: 300),
    Chain(words: ["deselect", "--ids", "ids.csv", "--min", "1"], count: 300),
    // Within a group a branch has half of the stage's share, and the group itself wants 64 KiB.
    Chain(words: ["any", "{", "sort", "id", "}", "{", "reverse", "}", "--order", "branch"], count: 3_000),
  ]

  @Test("spill what ten or some hundred records take, and only then", arguments: chains) func spills(chain: Chain) async throws {
    let folder = try Workdir()
    let ids = 1...chain.count
    let lines = ids.map { "{\"id\":\"\($0)\",\"first\":\"Al\($0 % 3)\",\"last\":\"Adams\($0 % 7)\"}\n" }
    try folder.write("in.ndjson", lines.joined())
    try folder.write("ids.csv", "id\n" + ids.map { "\($0 * 3)\n" }.joined())
    for (bytes, goesToDisk) in [(1024, true), (nil, false)] {
      var request = RunRequest()
      request.inputs = [FilePath(folder.path("in.ndjson"))]
      request.output = FilePath(folder.path("out.ndjson"))
      request.options.overwrite = true
      request.options.tempDir = FilePath(folder.url.path)
      request.stages = [try StageCatalog.stage(chain.words.map { $0 == "ids.csv" ? folder.path($0) : $0 })]
      let spilled = Mutex(0)
      request.onSpill = { bytes in spilled.withLock { $0 = bytes } }
      let dependencies = RunDependencies(clock: monotonicNanoseconds, checkpointInterval: 30, stageBytes: bytes)
      let state = await RunSession(request, dependencies: dependencies).run(observes: false)
      #expect(state.exitStatus == 0, "\(state.failure?.message ?? "")")
      #expect((spilled.withLock { $0 } > 0) == goesToDisk)
    }
  }
}
