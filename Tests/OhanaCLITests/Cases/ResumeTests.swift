import Foundation
import OhanaTestSupport
import Testing

/// The tool killed from outside, and gone on with. The long series is `Benchmarks/kill.py`.
@Suite("Killed runs", .serialized) struct ResumeTests {
  struct Job: Sendable, CustomTestStringConvertible {
    let name: String
    let options: [String]
    let stages: [String]
    var testDescription: String { name }
  }

  static let jobs = [
    Job(
      name: "sort, dedupe and a tee into chunks",
      options: [
        "-o", "out-{n}.ndjson.gz", "--chunk-records", "3000", "--memory", "16M", "--rejects", "bad.ndjson", "--optional", "a,b,c,d,e,f",
      ],
      stages: "then dedupe --by email:email then tee side.ndjson then sort last,first".split(separator: " ").map(String.init)),
    Job(
      name: "CSV whose columns are met on the way", options: ["-o", "out.csv.gz", "--memory", "16M"],
      stages: "then dedupe --by email:email --keep last --duplicates others.ndjson.gz".split(separator: " ").map(String.init)),
    Job(name: "counts by key", options: ["-o", "out.ndjson"], stages: ["then", "count-by", "country,last"]),
  ]

  /// When a run gets its signal.
  enum Moment {
    /// As soon as it has taken its Nth checkpoint.
    case checkpoint(Int)
    case seconds(Double)
  }

  /// Runs `ohana`, and sends it a signal at a moment, if it is not done before.
  private func run(
    _ workdir: Workdir, _ job: Job, _ extra: [String] = [], kill: (signal: Int32, at: Moment)? = nil, every interval: String = "0.05",
    stageBytes: String? = nil
  ) throws -> (status: Int32, err: String) {
    let process = Process()
    process.executableURL = Tool.url
    process.currentDirectoryURL = workdir.url
    process.arguments = ["run", "in-1.ndjson.gz", "in-2.ndjson.gz", "--overwrite"] + job.options + extra + job.stages
    process.environment = ProcessInfo.processInfo.environment.merging(
      [
        "TMPDIR": workdir.path("tmp"), "OHANA_CHECKPOINT_SECONDS": interval, "OHANA_STAGE_BYTES": stageBytes,
      ].compactMapValues { $0 }
    ) { $1 }
    let errors = Pipe()
    process.standardError = errors
    process.standardOutput = FileHandle.nullDevice
    try process.run()
    if let kill {
      switch kill.at {
      case .checkpoint(let number): while process.isRunning, !hasCheckpoint(number, workdir) { usleep(500) }
      case .seconds(let seconds): Thread.sleep(forTimeInterval: seconds)
      }
      if process.isRunning { Foundation.kill(process.processIdentifier, kill.signal) }
    }
    let text = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    return (process.terminationReason == .exit ? process.terminationStatus : -process.terminationStatus, text)
  }

  private func hasCheckpoint(_ number: Int, _ workdir: Workdir) -> Bool {
    let folders = (try? FileManager.default.contentsOfDirectory(atPath: workdir.path("tmp"))) ?? []
    return folders.contains { folder in
      let names = (try? FileManager.default.contentsOfDirectory(atPath: workdir.path("tmp/\(folder)"))) ?? []
      return names.contains { $0.hasPrefix("checkpoint-") && (Int($0.dropFirst(11)) ?? 0) >= number }
    }
  }

  /// A run with `--resume` that got the signal after its first checkpoint and before its end, whatever the machine does meanwhile:
  /// one that was done first is tried again. `prepare` is called before each.
  private func runEnded(
    by signal: Int32, _ workdir: Workdir, _ job: Job, every interval: String = "0.05", stageBytes: String? = nil,
    prepare: () throws -> Void = {}
  ) throws -> (status: Int32, err: String) {
    for _ in 0..<50 {
      try prepare()
      let ended = try run(workdir, job, ["--resume"], kill: (signal, .checkpoint(1)), every: interval, stageBytes: stageBytes)
      if ended.status != 0 { return ended }
    }
    Issue.record("each run was done before its signal")
    return (0, "")
  }

  private func outputs(_ workdir: Workdir) throws -> [String: Data] {
    var found: [String: Data] = [:]
    for name in workdir.names where name != "tmp" && !name.hasPrefix("in-") { found[name] = try workdir.read(name) }
    return found
  }

  private func makeWorkdir() throws -> Workdir {
    let workdir = try Workdir()
    let made = try workdir.run(["generate", "--rows", "25000", "--chunks", "2", "-o", "in-{n}.ndjson.gz"])
    #expect(made.status == 0)
    return workdir
  }

  @Test(
    "killed at any moment, each output is the old or the new one; --resume ends with the same bytes and leaves nothing", arguments: jobs)
  func killed(job: Job) throws {
    let workdir = try makeWorkdir()
    let began = Date()
    let whole = try run(workdir, job)
    #expect(whole.status == 0, "\(whole.err)")
    let duration = Date().timeIntervalSince(began)
    let wanted = try outputs(workdir)
    #expect(!wanted.isEmpty)
    var random = SeededGenerator(seed: 4)
    var wentOn = 0
    for attempt in 0..<6 {
      for name in wanted.keys { try workdir.write(name, "old\n") }
      // At first with a checkpoint at hand, so that the test cannot pass without one.
      let moment = attempt < 3 ? Moment.checkpoint(attempt + 1) : .seconds(.random(in: 0...duration, using: &random))
      _ = try run(workdir, job, kill: (SIGKILL, moment))
      for (name, data) in try outputs(workdir) where !name.hasPrefix(".") {
        #expect(data == wanted[name] || data == Data("old\n".utf8), "\(name)")
      }
      let resumed = try run(workdir, job, ["--resume", "--threads", "1"])
      #expect(resumed.status == 0, "\(resumed.err)")
      wentOn += resumed.err.contains("goes on with the run before") ? 1 : 0
      #expect(try outputs(workdir) == wanted, "attempt \(attempt)")
      #expect(workdir.isTemporaryEmpty)
    }
    #expect(wentOn > 0)
  }

  @Test("SIGTERM keeps a checkpoint where --resume is in force, and ohana resume goes on from it") func terminated() throws {
    let workdir = try makeWorkdir()
    let job = Self.jobs[0]
    #expect(try run(workdir, job).status == 0)
    let wanted = try outputs(workdir)
    let killed = try runEnded(by: SIGTERM, workdir, job) { for name in wanted.keys { try workdir.write(name, "old\n") } }
    #expect(killed.status == 143)
    #expect(killed.err.contains("--resume goes on from record"), "\(killed.err)")
    for name in wanted.keys { #expect(try workdir.text(name) == "old\n") }
    // From another folder: the command is given where it was given before. Any of its files stands for the run.
    let resumed = try workdir.run(["resume", workdir.path("side.ndjson")], environment: ["TMPDIR": workdir.path("tmp")], shell: nil)
    #expect(resumed.status == 0, "\(resumed.err)")
    #expect(resumed.err.contains("goes on with the run before"))
    #expect(try outputs(workdir) == wanted)
    #expect(workdir.isTemporaryEmpty)
    let again = try workdir.run(["resume", "out-{n}.ndjson.gz"])
    #expect(again.status == 2 && again.err.contains("no run to this output was ended"))
    #expect(try runEnded(by: SIGTERM, workdir, job).status == 143)
    try workdir.run([], shell: "rm -r tmp/*")
    let gone = try workdir.run(["resume", "side.ndjson"])
    #expect(gone.status == 2 && gone.err.contains("what it kept in") && gone.err.contains("is gone"), "\(gone.err)")
  }

  @Test(
    "outputs through links: private files and locks lie where those point, and nothing is left there",
    .enabled(if: FailingFiles.library != nil, "there is no C compiler to make the file layer with that kills"))
  func throughLinks() throws {
    let workdir = try makeWorkdir()
    let job = Job(name: "links", options: ["-o", "out.csv"], stages: ["then", "tee", "side.ndjson"])
    #expect(try run(workdir, job).status == 0)
    let wanted = try outputs(workdir)
    let killing = ["LD_PRELOAD": FailingFiles.library!, "KILL_REMOVING": "1"]
    func files() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: workdir.path("far")).sorted() }
    try workdir.run([], shell: "mkdir far; rm out.csv side.ndjson; ln -s far/1.csv out.csv; ln -s far/2.ndjson side.ndjson")
    // Killed again when it has made new private files, before it has cleared away those that came behind the checkpoint.
    #expect(try runEnded(by: SIGTERM, workdir, job) { try workdir.run([], shell: "rm -f far/*") }.status == 143)
    #expect(try workdir.run(["resume", "out.csv"], environment: killing).status != 0)
    #expect(try workdir.run(["resume", "out.csv"]).status == 0)
    for (name, bytes) in wanted { #expect(try workdir.read(name) == bytes) }
    #expect(try files() == ["1.csv", "2.ndjson"])
    // Killed between the two names; the next run to the first alone gives the second its name, and back its lock.
    let once = ["run", "in-1.ndjson.gz", "-o", "out.csv", "--overwrite", "-q"]
    #expect(try workdir.run(once + job.stages, environment: ["LD_PRELOAD": FailingFiles.library!, "KILL_AT": "2"]).status != 0)
    #expect(try workdir.run(once).status == 0)
    #expect(try files() == ["1.csv", "2.ndjson"])
    #expect(try workdir.read("side.ndjson") != wanted["side.ndjson"])
    #expect(workdir.isTemporaryEmpty)
  }

  @Test(
    "a resume that is killed, or has no room, while it writes the lock leaves what was kept",
    .enabled(if: FailingFiles.library != nil, "there is no C compiler to make the file layer with that kills"))
  func lockIsWritten() throws {
    let workdir = try makeWorkdir()
    let job = Self.jobs[1]
    #expect(try run(workdir, job).status == 0)
    let wanted = try outputs(workdir)
    #expect(try runEnded(by: SIGTERM, workdir, job).status == 143)
    // Of two locks each is written and cut to its length.
    for call in 1...4 {
      let killed = try workdir.run(["resume", "out.csv.gz"], environment: ["LD_PRELOAD": FailingFiles.library!, "KILL_LOCK": "\(call)"])
      #expect(killed.status == SIGKILL, "\(killed.err)")
    }
    // Behind the opening of both.
    let full = try workdir.run(["resume", "out.csv.gz"], environment: ["LD_PRELOAD": FailingFiles.library!, "FAULT_AT": "3"])
    #expect(full.status == 4 && full.err.contains("no space left"), "\(full.err)")
    let resumed = try workdir.run(["resume", "out.csv.gz"])
    #expect(resumed.status == 0 && resumed.err.contains("goes on with the run before"), "\(resumed.err)")
    #expect(try outputs(workdir) == wanted)
    #expect(workdir.isTemporaryEmpty)
  }

  @Test("what a run has read is kept by SIGTERM and SIGHUP while it is given out again and the outputs are finished", arguments: jobs)
  func terminatedBehindTheEnd(job: Job) throws {
    let workdir = try makeWorkdir()
    #expect(try run(workdir, job).status == 0)
    let wanted = try outputs(workdir)
    // The only checkpoint is the one behind the last record.
    for (signal, status) in [(SIGTERM, 143), (SIGHUP, 129)] as [(Int32, Int32)] {
      let killed = try runEnded(by: signal, workdir, job, every: "100000") { for name in wanted.keys { try workdir.write(name, "old\n") } }
      #expect(killed.status == status && killed.err.contains("--resume goes on from record 25,000"), "\(killed.err)")
      for name in wanted.keys { #expect(try workdir.text(name) == "old\n", "\(name)") }
      let resumed = try run(workdir, job, ["--resume"])
      #expect(resumed.status == 0 && resumed.err.contains("goes on with the run before, from record 25,000"), "\(resumed.err)")
      #expect(try outputs(workdir) == wanted)
      #expect(workdir.isTemporaryEmpty)
    }
  }

  @Test("a signal that is ignored when the run begins is no reason to end it", arguments: ["HUP", "INT", "TERM"])
  func ignores(signal: String) throws {
    let workdir = try Workdir()
    try workdir.write("a.ndjson", "{\"id\":1}\n")
    // The reader of the pipe lets the run go on behind the signal.
    let script = """
      mkfifo p; trap '' \(signal); $OHANA convert p -o out.ndjson -q & run=$!
      exec 3>p; until [ -n "$(ls -A | grep ohana-lock)" ]; do :; done
      kill -\(signal) $run; cat a.ndjson >&3; exec 3>&-; wait $run
      """
    let result = try workdir.run([], shell: script)
    #expect(result.status == 0, "\(result.err)")
    #expect(try workdir.text("out.ndjson") == "{\"id\":1}\n")
  }

  @Test("SIGINT leaves nothing, checkpoint or not") func interrupted() throws {
    let workdir = try makeWorkdir()
    let job = Self.jobs[0]
    #expect(try run(workdir, job).status == 0)
    let wanted = try outputs(workdir)
    let killed = try runEnded(by: SIGINT, workdir, job) { for name in wanted.keys { try workdir.write(name, "old\n") } }
    #expect(killed.status == 130)
    // Rejects are published for runs that fail, too.
    for name in try outputs(workdir).keys where name != "bad.ndjson" { #expect(try workdir.text(name) == "old\n", "\(name)") }
    #expect(workdir.isTemporaryEmpty)
  }

  @Test("what has changed since is told, and refused with exit 7; without --resume the run begins anew") func conflicts() throws {
    let workdir = try makeWorkdir()
    let job = Self.jobs[0]
    #expect(try run(workdir, job).status == 0)
    let wanted = try outputs(workdir)
    let killed = try runEnded(by: SIGTERM, workdir, job)
    #expect(killed.err.contains("--resume goes on"), "\(killed.err)")
    let other = Job(name: "", options: job.options, stages: ["then", "sort", "first"])
    let stages = try run(workdir, other, ["--resume"])
    #expect(stages.status == 7 && stages.err.contains("options or stages are others"), "\(stages.err)")
    let phones = try run(workdir, Job(name: "", options: job.options, stages: ["then", "dedupe", "--by", "phone"]), ["--resume"])
    #expect(phones.status == 7 && phones.err.contains("options or stages are others"), "\(phones.err)")
    let time = try FileManager.default.attributesOfItem(atPath: workdir.path("in-1.ndjson.gz"))[.modificationDate] as! Date
    try FileManager.default.setAttributes([.modificationDate: time.addingTimeInterval(5)], ofItemAtPath: workdir.path("in-1.ndjson.gz"))
    let touched = try run(workdir, job, ["--resume"])
    #expect(touched.status == 7 && touched.err.contains("in-1.ndjson.gz has changed"), "\(touched.err)")
    // Same size, same time, another byte: only the checksum tells.
    var bytes = try workdir.read("in-1.ndjson.gz")
    bytes[bytes.startIndex + 4] ^= 1
    try bytes.write(to: URL(filePath: workdir.path("in-1.ndjson.gz")))
    try FileManager.default.setAttributes([.modificationDate: time], ofItemAtPath: workdir.path("in-1.ndjson.gz"))
    let flipped = try run(workdir, job, ["--resume"])
    #expect(flipped.status == 7, "\(flipped.err)")
    let anew = try run(workdir, job)
    #expect(anew.status == 0, "\(anew.err)")
    #expect(try outputs(workdir) == wanted)
    #expect(workdir.isTemporaryEmpty)
  }

  @Test("a list of a stage that holds something else than it did is told, though it is as large and as old; the locks of a refused run go")
  func otherList() throws {
    let workdir = try makeWorkdir()
    func write(_ text: String) throws {
      try workdir.write("list.csv", text)
      try FileManager.default.setAttributes([.modificationDate: Date(timeIntervalSince1970: 1e9)], ofItemAtPath: workdir.path("list.csv"))
    }
    let job = Job(
      name: "", options: ["-o", "out.ndjson"],
      stages: ["then", "suppress", "--list", "list.csv", "--by", "country", "then", "sort", "last"])
    try write("country\nDE\n")
    #expect(try runEnded(by: SIGTERM, workdir, job).status == 143)
    try write("country\nUS\n")
    let other = try run(workdir, job, ["--resume", "--report", "other.json"])
    #expect(other.status == 7 && other.err.contains("list.csv holds something else"), "\(other.err)")
    #expect(!workdir.names.contains(".other.json.ohana-lock") && workdir.names.contains(".out.ndjson.ohana-lock"))
    try write("country\nDE\n")
    let resumed = try run(workdir, job, ["--resume"])
    #expect(resumed.status == 0 && resumed.err.contains("goes on"), "\(resumed.err)")
    #expect(workdir.isTemporaryEmpty && !workdir.names.contains { $0.contains("ohana-") }, "\(workdir.names)")
  }

  @Test("what a run was ended with is never taken for whole when something of it is damaged, and tries leave nothing more behind")
  func damaged() throws {
    let workdir = try makeWorkdir()
    // Held back and spilled before the first checkpoint.
    let job = Job(name: "", options: Self.jobs[0].options, stages: ["then", "tee", "side.ndjson", "then", "sort", "first"])
    #expect(try run(workdir, job).status == 0)
    let wanted = try outputs(workdir)
    // Which file, and how it is damaged.
    let cases: [(String, (KeptFile) throws -> Void)] = [
      ("spill-", { try $0.flip($0.data.count / 2) }),
      ("spill-", { try FileManager.default.removeItem(at: $0.url) }),
      (".side.ndjson.", { try $0.flip(0) }),
      ("checkpoint-", { try $0.flip(0) }),
      ("journal", { try $0.flip(40) }),
      ("journal", { try $0.flip(0) }),
    ]
    for (index, (prefix, damage)) in cases.enumerated() {
      let killed = try runEnded(by: SIGTERM, workdir, job, stageBytes: "65536") {
        for name in wanted.keys { try workdir.write(name, "old\n") }
      }
      #expect(killed.err.contains("--resume goes on"), "\(killed.err)")
      let state = try #require(try FileManager.default.contentsOfDirectory(atPath: workdir.path("tmp")).first)
      let folder = prefix.hasPrefix(".") ? workdir.url : workdir.url.appending(path: "tmp/\(state)")
      let files = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasPrefix(prefix) && !$0.hasSuffix("-lock") }
      let largest = try files.map { ($0, try Data(contentsOf: folder.appending(path: $0)).count) }.max { $0.1 < $1.1 }
      let url = folder.appending(path: try #require(largest, "case \(index)").0)
      try damage(KeptFile(url: url, data: try Data(contentsOf: url)))
      let names = workdir.names
      for _ in 0..<2 {
        let resumed = try run(workdir, job, ["--resume"])
        let isRefused = resumed.status == 7 && resumed.err.contains("run without --resume to start anew")
        #expect(isRefused, "case \(index): \(resumed.status) \(resumed.err)")
        #expect(!resumed.err.contains("goes on with"), "\(resumed.err)")
        #expect(workdir.names == names)
      }
      let anew = try run(workdir, job)
      #expect(anew.status == 0, "\(anew.err)")
      #expect(try outputs(workdir) == wanted, "case \(index): \(workdir.names)")
      #expect(workdir.isTemporaryEmpty)
    }
  }

  private struct KeptFile {
    let url: URL
    let data: Data
    /// Changes one bit.
    func flip(_ index: Int) throws { try (data.prefix(index) + [data[index] ^ 1] + data.dropFirst(index + 1)).write(to: url) }
  }

  @Test("a report and a trace of the part that was ended are no obstacle for the rest; supervisors may repeat SIGTERM") func reports()
    throws
  {
    let workdir = try makeWorkdir()
    let job = Job(name: "", options: Self.jobs[2].options + ["--report", "r.json", "--trace", "t.json"], stages: Self.jobs[2].stages)
    for _ in 0..<50 {
      for name in ["out.ndjson", "r.json", "t.json"] { try? FileManager.default.removeItem(atPath: workdir.path(name)) }
      let script = """
        export OHANA_CHECKPOINT_SECONDS=0.02
        $OHANA run in-1.ndjson.gz in-2.ndjson.gz \((job.options + ["--resume"] + job.stages).joined(separator: " ")) & run=$!
        until ls tmp/*/checkpoint-* >/dev/null 2>&1 || ! kill -0 $run 2>/dev/null; do :; done
        kill -TERM $run; kill -TERM $run; sleep 0.01; kill -TERM $run; wait $run
        """
      let ended = try workdir.run([], shell: script)
      if ended.status == 0 { continue }
      #expect(ended.status == 143 && ended.err.contains("--resume goes on"), "\(ended.err)")
      #expect(workdir.exists("r.json") && workdir.exists("t.json"))
      // Somebody else's file is one, though.
      for name in ["r.json", "t.json"] {
        #expect(try workdir.run([], shell: "mv \(name) own && echo mine > \(name)").status == 0)
        let refused = try workdir.run(["resume", "out.ndjson"])
        #expect(refused.status == 2 && refused.err.contains("\(name): the output exists already"), "\(refused.err)")
        #expect(try workdir.text(name) == "mine\n")
        #expect(try workdir.run([], shell: "mv own \(name)").status == 0)
      }
      let resumed = try workdir.run(["resume", "out.ndjson"])
      #expect(resumed.status == 0, "\(resumed.err)")
      #expect(try workdir.text("r.json").contains("\"exit\" : 0"))
      #expect(workdir.isTemporaryEmpty && !workdir.names.contains { $0.contains("ohana-") }, "\(workdir.names)")
      return
    }
    Issue.record("each run was done before its signal")
  }

  @Test("what another run keeps outlives runs to a file that both write, killed ones too", arguments: ["b.ndjson", "-"])
  func neighbours(other: String) throws {
    let workdir = try makeWorkdir()
    let job = Self.jobs[1]
    #expect(try run(workdir, job).status == 0)
    let wanted = try outputs(workdir)
    #expect(try runEnded(by: SIGTERM, workdir, job).status == 143)
    // Killed while it waits for its first record; then the same once more to its end, and another.
    let script = """
      run() { $OHANA run "$1" -o \(other) --from ndjson --overwrite -q then dedupe --by id --duplicates others.ndjson.gz; }
      mkfifo p; $OHANA run p -o \(other) --from ndjson --overwrite -q then dedupe --by id --duplicates others.ndjson.gz > /dev/null & dead=$!
      exec 3>p; until ls -A | grep '^.others.ndjson.gz.ohana-' | grep -qv 'lock$' && grep -q "^$dead$" .others.ndjson.gz.ohana-lock; do :; done
      sleep 0.05; kill -KILL $dead; wait $dead; exec 3>&-
      run in-1.ndjson.gz > /dev/null && $OHANA convert in-2.ndjson.gz -o others.ndjson.gz --overwrite -q && rm p others.ndjson.gz b.ndjson -f
      """
    let between = try workdir.run([], shell: script)
    #expect(between.status == 0, "\(between.err)")
    let resumed = try workdir.run(["resume", "out.csv.gz"])
    #expect(resumed.status == 0 && resumed.err.contains("goes on with the run before"), "\(resumed.err)")
    #expect(try outputs(workdir) == wanted, "\(workdir.names)")
    #expect(workdir.isTemporaryEmpty)
  }
}
