import OhanaCore
import OhanaStages
import OhanaTestSupport
import Testing

@testable import OhanaRun

/// What a run makes of managers that cannot do their part, with nothing outside that would have to be in their way.
@Suite("Runs on other managers") struct FakeManagerTests {
  private let workdir: Workdir
  init() throws {
    workdir = try Workdir()
    try workdir.write("in.ndjson", "{\"a\":1}\n{\"a\":2}\n")
    try workdir.write("out.ndjson", "old\n")
  }

  private func request(_ change: (inout RunRequest) -> Void = { _ in }) -> RunRequest {
    var request = RunRequest()
    request.inputs = [FilePath(workdir.path("in.ndjson"))]
    request.output = FilePath(workdir.path("out.ndjson"))
    request.options.overwrite = true
    request.options.tempDir = FilePath(workdir.path("tmp"))
    change(&request)
    return request
  }

  private func run(
    _ request: RunRequest, for purpose: RunPurpose = .write, _ change: (inout RunDependencies) -> Void
  ) async throws -> RunState {
    var dependencies = RunDependencies(clock: monotonicNanoseconds, checkpointInterval: 1000)
    change(&dependencies)
    try workdir.run(["version"])  // makes the folder for temporary files
    let state = await RunSession(request, purpose: purpose, dependencies: dependencies).run(observes: false)
    #expect(workdir.isTemporaryEmpty)
    #expect(!workdir.names.contains { $0.hasPrefix(".ohana") }, "\(workdir.names)")
    return state
  }

  @Test("K-12: inputs that are no files at all are read like any others, and what is missing among them is told") func inputs() async throws
  {
    let texts: [FilePath: String] = ["made/up.csv": "a,b\n1,x\n2,y\n", "made/more.csv": "b,a\nz,3\n"]
    let state = try await run(request { $0.inputs = ["made/up.csv", "made/more.csv"] }) { $0.inputs = FakeInputManager(texts) }
    #expect(state.exitStatus == 0, "\(String(describing: state.failure))")
    #expect(state.books.read == 3 && state.books.inputs.map(\.name) == ["made/up.csv", "made/more.csv"])
    #expect(try workdir.text("out.ndjson") == "{\"a\":\"1\",\"b\":\"x\"}\n{\"a\":\"2\",\"b\":\"y\"}\n{\"a\":\"3\",\"b\":\"z\"}\n")
    try workdir.write("out.ndjson", "old\n")
    let missing = try await run(request { $0.inputs = ["made/up.csv", "gone.csv"] }) { $0.inputs = FakeInputManager(texts) }
    #expect(missing.exitStatus == 4 && missing.failure?.code == "not-found")
    #expect(try workdir.text("out.ndjson") == "old\n")
  }

  @Test("K-12: a run is as wide as there are processors", arguments: [1, 3, 17]) func processors(count: Int) async throws {
    let state = try await run(request { $0.stages = [try! SortStage.parse(arguments: ["a"])] }) {
      $0.processors = FakeProcessorManager(usableCount: count)
    }
    #expect(state.exitStatus == 0)
    #expect(state.plan.contains { $0.split(separator: " ") == ["threads", "\(count)"] }, "\(state.plan)")
    #expect(try workdir.text("out.ndjson") == "{\"a\":1}\n{\"a\":2}\n")
  }

  @Test("K-12: contacts may be made by anybody; those of a maker that gives up never appear") func generator() async throws {
    let options = GenerateOptions(rows: 3)
    let short = try await run(request { $0.inputs = [] }, for: .generate(options)) { $0.generator = FakeGenerateManager(most: 2) }
    #expect(short.exitStatus == 4 && short.phase == .failed)
    #expect(try workdir.text("out.ndjson") == "old\n")
    let whole = try await run(request { $0.inputs = [] }, for: .generate(options)) { $0.generator = FakeGenerateManager(most: 3) }
    #expect(whole.exitStatus == 0 && whole.phase == .published && whole.books.written == 3 && whole.books.imbalance == nil)
    #expect(try workdir.text("out.ndjson") == "{}\n{}\n{}\n")
  }

  @Test("K-12: a report that finds no room is exit 4, and the outputs are there all the same") func reports() async throws {
    let state = try await run(request { $0.options.report = FilePath(workdir.path("report.json")) }) {
      $0.reports = FakeReportManager(number: ENOSPC)
    }
    #expect(state.phase == .published && state.exitStatus == 4 && state.failure?.code == "disk-full")
    #expect(try workdir.text("out.ndjson") == "{\"a\":1}\n{\"a\":2}\n")
    #expect(!workdir.exists("report.json"))
  }

  @Test("K-12: an output that is somebody else's is exit 7 before anything is read") func locks() async throws {
    let state = try await run(request { $0.inputs = ["/nowhere"] }) { $0.locks = FakeLockManager() }
    #expect(state.exitStatus == 7 && state.failure?.code == "output-locked")
    #expect(try workdir.text("out.ndjson") == "old\n")
  }

  @Test("K-12: without room for a journal a run does its work, and says that it cannot be gone on with") func journals() async throws {
    let state = try await run(request { $0.options.resume = true }) { $0.journals = FakeJournalManager() }
    #expect(state.exitStatus == 0 && state.kept == nil)
    #expect(state.notes.contains { $0.contains("there is no private folder for them") }, "\(state.notes)")
    #expect(try workdir.text("out.ndjson") == "{\"a\":1}\n{\"a\":2}\n")
  }

  @Test("K-12: a checkpoint that finds no room is given up, and the run goes on") func checkpoints() async throws {
    let checkpoints = FakeCheckpointManager()
    // With --resume there is one behind the last record.
    let state = try await run(
      request {
        $0.options.resume = true
        $0.stages = [try! SortStage.parse(arguments: ["a:number:desc"])]
      }
    ) { $0.checkpoints = checkpoints }
    #expect(checkpoints.tries >= 1)
    #expect(state.exitStatus == 0 && state.kept?.checkpoint == nil, "\(String(describing: state.failure))")
    #expect(try workdir.text("out.ndjson") == "{\"a\":2}\n{\"a\":1}\n")
  }

  @Test("K-12: where a manifest cannot be made, nothing is published; a set that differs from it is told of") func manifests() async throws
  {
    let state = try await run(request { $0.options.manifest = FilePath(workdir.path("set.json")) }) { $0.manifests = FakeManifestManager() }
    #expect(state.exitStatus == 4 && state.phase == .failed)
    #expect(try workdir.text("out.ndjson") == "old\n" && !workdir.exists("set.json"))
    let whole = try await run(request { $0.options.manifest = FilePath(workdir.path("set.json")) }) { _ in }
    #expect(whole.exitStatus == 0)
    var dependencies = RunDependencies()
    let manifest = FilePath(workdir.path("set.json"))
    #expect(try RunSession.check(manifest: manifest, dependencies: dependencies).isWhole)
    dependencies.manifests = FakeManifestManager()
    let check = try RunSession.check(manifest: manifest, dependencies: dependencies)
    #expect(!check.isWhole && check.lines[0].hasSuffix("its bytes are others (SHA-256)"))
  }
}
