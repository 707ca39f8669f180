import Foundation
import OhanaTestSupport
import Testing

/// Runs that were killed in front of one of their renames, and what is run next.
@Suite(
  "Killed between two renames", .enabled(if: FailingFiles.library != nil, "there is no C compiler to make the file layer with that kills"))
struct HalfNamedTests {
  private static let chunks = 60
  private static let run = ["run", "in.ndjson", "-o", "p-{n}.ndjson", "--chunk-records", "10", "--overwrite", "-q", "then", "sort", "last"]
  private static let generate = [
    "generate", "--rows", "600", "--chunks", "60", "--seed", "9", "-o", "p-{n}.ndjson", "--truth", "truth.csv",
  ]

  /// What is run next, and its exit status.
  struct Next: Sendable, CustomTestStringConvertible {
    let words: [String]
    var status: Int32 = 0
    /// The one file that is this command's then, instead of the set's.
    var ownFile: String?
    var testDescription: String { words.joined(separator: " ") }
  }
  static let next = [
    Next(words: ["resume", "p-{n}.ndjson"]),
    Next(words: ["convert", "five.ndjson", "-o", "p-7.ndjson", "--overwrite", "-q"], ownFile: "p-7.ndjson"),
    Next(words: ["convert", "five.ndjson", "-o", "p-007.ndjson", "-q"], ownFile: "p-007.ndjson"),
    Next(words: ["convert", "five.ndjson", "-o", "o.ndjson", "--rejects", "p-9.ndjson", "--overwrite", "-q"], ownFile: "p-9.ndjson"),
    Next(words: ["convert", "five.ndjson", "-o", "p-7.ndjson"], status: 2),
    Next(words: generate, status: 2),
    Next(words: run + ["nofield"], status: 2),
  ]

  private func makeWorkdir() throws -> Workdir {
    let workdir = try Workdir()
    #expect(try workdir.run(["generate", "--rows", "600", "-o", "in.ndjson"]).status == 0)
    #expect(try workdir.run(["generate", "--rows", "5", "-o", "five.ndjson"]).status == 0)
    return workdir
  }

  private func set(_ workdir: Workdir) throws -> [String: Data] {
    var found: [String: Data] = [:]
    for name in workdir.names where name.contains("p-") || name.hasPrefix(".p") || name == "truth.csv" {
      found[name] = try workdir.read(name)
    }
    return found
  }

  @Test(
    "the next command that writes any of the files lets the whole set appear first, and nothing older comes afterwards",
    arguments: [run, generate + ["--overwrite"]], next)
  func finishesTheSet(command: [String], next: Next) throws {
    let workdir = try makeWorkdir()
    #expect(try workdir.run(command).status == 0)
    var wanted = try set(workdir)
    #expect(wanted.count == Self.chunks + (command[0] == "generate" ? 1 : 0))
    for number in 1...Self.chunks + 5 { try workdir.write("p-\(number).ndjson", "old\n") }
    let killed = try workdir.run(command, environment: ["LD_PRELOAD": FailingFiles.library!, "KILL_AT": "21"])
    #expect(killed.status != 0 && !workdir.isTemporaryEmpty)
    let half = try set(workdir)
    #expect(half["p-20.ndjson"] == wanted["p-20.ndjson"] && half["p-21.ndjson"] == Data("old\n".utf8))

    let ended = try workdir.run(next.words.filter { $0 != "-q" })
    #expect(ended.status == next.status, "\(ended.err)")
    #expect((next.words[0] == "resume") != ended.err.contains("they have them now"), "\(ended.err)")
    if let own = next.ownFile { wanted[own] = try workdir.read(own == "p-9.ndjson" ? own : "five.ndjson") }
    let now = try set(workdir)
    #expect(now == wanted, "\(now.keys.sorted())")
    #expect(workdir.isTemporaryEmpty, "\(workdir.names)")
    #expect(try workdir.run(["resume", "p-{n}.ndjson"]).status == 2)
    #expect(try set(workdir) == wanted)
  }

  @Test("a file and its manifest, of which one has its name, are finished by a run to a set of chunks that holds the file") func fileFirst()
    throws
  {
    let workdir = try makeWorkdir()
    let words = ["convert", "five.ndjson", "-o", "p-61.ndjson", "--manifest", "five.json", "--overwrite", "-q"]
    try workdir.write("p-61.ndjson", "old\n")
    #expect(try workdir.run(words, environment: ["LD_PRELOAD": FailingFiles.library!, "KILL_AT": "2"]).status != 0)
    #expect(!workdir.exists("five.json"))
    // All but the last of its chunks, so that the other run's file is looked at as what is left of an earlier set.
    #expect(try workdir.run(Self.run).status == 0)
    #expect(workdir.exists("five.json") && !workdir.exists("p-61.ndjson"), "\(workdir.names)")
    #expect(!workdir.names.contains { $0.contains("ohana-") } && workdir.isTemporaryEmpty, "\(workdir.names)")
  }

  @Test("killed while it clears up behind its outputs, it leaves nothing that the next run stumbles over", arguments: [true, false])
  func clearingUp(resumes: Bool) throws {
    let workdir = try makeWorkdir()
    let words = Self.run + ["then", "tee", "side.csv"]
    let resuming = Array(words.prefix(2)) + ["--resume"] + words.dropFirst(2)
    #expect(try workdir.run(words).status == 0)
    let wanted = try set(workdir)
    let side = try workdir.read("side.csv")
    var kills = 0
    while kills < 50 {
      let environment = ["LD_PRELOAD": FailingFiles.library!, "KILL_REMOVING": "\(kills + 1)"]
      if try workdir.run(resuming, environment: environment).status == 0 { break }
      kills += 1
      let next = try workdir.run(resumes ? resuming : words)
      try #require(next.status == 0, "killed in front of removal \(kills): \(next.err)")
      #expect(try set(workdir) == wanted && workdir.read("side.csv") == side)
      #expect(workdir.isTemporaryEmpty && !workdir.names.contains { $0.contains("ohana-") }, "\(workdir.names)")
    }
    // The checkpoint, the journal, the folder and two locks.
    #expect((5..<50).contains(kills))
  }

  @Test("resume tells what the killed run would have told: the answer of a diff, and the plan in the report") func sameAnswer() throws {
    let workdir = try makeWorkdir()
    try workdir.write("new.ndjson", try workdir.text("five.ndjson").split(separator: "\n").dropLast().joined(separator: "\n") + "\n")
    let killing = ["LD_PRELOAD": FailingFiles.library!, "KILL_AT": "1"]
    for (new, status) in [("new.ndjson", 1), ("five.ndjson", 0)] as [(String, Int32)] {
      let words = ["diff", "five.ndjson", new, "--by", "id", "-o", "d.ndjson", "--overwrite", "--report", "r.json", "-q"]
      #expect(try workdir.run(words).status == status)
      func plan() throws -> [String]? {
        try (JSONSerialization.jsonObject(with: workdir.read("r.json")) as? [String: Any])?["plan"] as? [String]
      }
      let wanted = try plan()
      #expect(wanted?.isEmpty == false)
      for next in [["resume", "d.ndjson"], words.dropLast() + ["--resume"]] {
        #expect(![0, 1].contains(try workdir.run(words, environment: killing).status))
        let resumed = try workdir.run(next)
        #expect(resumed.status == status, "\(resumed.err)")
        #expect(try plan() == wanted)
      }
    }
  }

  @Test("where the file system has no locks, nothing is left behind, a killed publication is finished, and who lives is not disturbed")
  func withoutLocks() throws {
    let workdir = try makeWorkdir()
    let layer = ["LD_PRELOAD": FailingFiles.library!, "NO_FLOCK": "1"]
    #expect(try workdir.run(Self.run, environment: layer).status == 0)
    let wanted = try set(workdir)
    #expect(wanted.count == Self.chunks && !workdir.names.contains { $0.contains("ohana-") }, "\(workdir.names)")
    for number in 1...Self.chunks { try workdir.write("p-\(number).ndjson", "old\n") }
    #expect(try workdir.run(Self.run, environment: layer.merging(["KILL_AT": "21"]) { $1 }).status != 0)
    #expect(try workdir.run(["resume", "p-{n}.ndjson"], environment: layer).status == 0)
    #expect(try set(workdir) == wanted)
    // One that waits for its first record, and another to the same output.
    let script = """
      mkfifo f; $OHANA convert f --from ndjson -o o.ndjson -q & run=$!
      exec 3>f; until grep -qs "^$run$" .o.ndjson.ohana-lock; do :; done
      $OHANA convert five.ndjson -o o.ndjson -q; echo "exit $?"; cat five.ndjson >&3; exec 3>&-; wait $run; echo "exit $?"; rm f
      """
    let both = try workdir.run([], environment: layer, shell: script)
    #expect(both.lines == ["exit 7", "exit 0"] && both.err.contains("another run (process"), "\(both.text)\(both.err)")
    #expect(try workdir.read("o.ndjson") == workdir.read("five.ndjson"))
    #expect(!workdir.names.contains { $0.contains("ohana-") } && workdir.isTemporaryEmpty, "\(workdir.names)")
  }

  @Test("generate takes away what an older, longer set has behind its last chunk, and has a manifest that holds") func shorterSet() throws {
    let workdir = try Workdir()
    #expect(try workdir.run(["generate", "--rows", "40", "--chunks", "8", "-o", "g-{n}.csv.gz"]).status == 0)
    let shorter = try workdir.run([
      "generate", "--rows", "40", "--chunks", "5", "-o", "g-{n}.csv.gz", "--overwrite", "--manifest", "set.json",
    ])
    #expect(shorter.status == 0 && shorter.err.contains("g-6.csv.gz to g-8.csv.gz are removed (3 files)"), "\(shorter.err)")
    #expect(workdir.names.filter { $0.hasPrefix("g-") }.count == 5)
    #expect(try workdir.run(["check", "--manifest", "set.json"]).status == 0)
    #expect(try workdir.run(["check", "g-1.csv.gz", "g-2.csv.gz", "g-3.csv.gz", "g-4.csv.gz", "g-5.csv.gz"]).status == 0)
    let refused = try workdir.run(["generate", "--rows", "4", "--columns", "id", "-o", "x.csv"])
    #expect(refused.status == 2 && refused.err.contains("--columns means nothing here"), "\(refused.err)")
  }

  @Test("what is damaged while it waits for its name does not appear, and whoever comes next is told once") func damaged() throws {
    let workdir = try makeWorkdir()
    let words = Self.run.map { $0 == "-q" ? "--quiet" : $0 } + ["then", "tee", "side.csv"]
    #expect(try workdir.run(words, environment: ["LD_PRELOAD": FailingFiles.library!, "KILL_AT": "999"]).status == 0)
    for number in 1...Self.chunks { try workdir.write("p-\(number).ndjson", "old\n") }
    #expect(try workdir.run(words, environment: ["LD_PRELOAD": FailingFiles.library!, "KILL_AT": "21"]).status != 0)
    let waiting = try #require(workdir.names.first { $0.hasPrefix(".p-") && $0.contains(".ohana-") && !$0.hasSuffix("-lock") })
    try workdir.write(waiting, try workdir.read(waiting).dropLast(5))
    let next = ["convert", "five.ndjson", "-o", "side.csv", "--overwrite", "-q"]
    let told = try workdir.run(next)
    #expect(told.status == 7 && told.err.contains("1 of 61 are neither there nor waiting"), "\(told.err)")
    #expect(try workdir.run(next).status == 0)
    #expect(!workdir.names.contains { $0.contains("ohana-") } && workdir.isTemporaryEmpty, "\(workdir.names)")
  }

  @Test(
    "an output that cannot get its name leaves the others waiting: told, and finished by resume when the cause is gone",
    arguments: [[], ["--rejects", "p-bad", "--report", "r.json"]])
  func renameFails(options: [String]) throws {
    let workdir = try makeWorkdir()
    let words = Array(Self.run.prefix(2)) + options + Self.run.dropFirst(2)
    #expect(try workdir.run(words).status == 0)
    let wanted = try set(workdir)
    for number in 1...Self.chunks { try workdir.write("p-\(number).ndjson", "old\n") }
    let halted = try workdir.run(words, environment: ["LD_PRELOAD": FailingFiles.library!, "FAIL_RENAME": "21"])
    #expect(halted.status == 4, "\(halted.err)")
    #expect(
      halted.err.contains("p-21.ndjson: cannot rename")
        && halted.err.contains("20 of \(Self.chunks + options.count / 4) outputs have got their names"), "\(halted.err)")
    let again = try workdir.run(["resume", "p-{n}.ndjson"], environment: ["LD_PRELOAD": FailingFiles.library!, "FAIL_RENAME": "1"])
    #expect(again.status == 4, "\(again.err)")
    let resumed = try workdir.run(["resume", "p-{n}.ndjson"])
    #expect(resumed.status == 0, "\(resumed.err)")
    let now = try set(workdir)
    #expect(now == wanted, "\(now.keys.sorted())")
    #expect(workdir.isTemporaryEmpty)
    for number in 1...Self.chunks { try workdir.write("p-\(number).ndjson", "old\n") }
    let first = try workdir.run(words, environment: ["LD_PRELOAD": FailingFiles.library!, "FAIL_RENAME": "1"])
    #expect(first.status == 4 && !first.err.contains("half new"), "\(first.err)")
    #expect(!workdir.names.contains { $0.contains("ohana-") } && workdir.isTemporaryEmpty, "nothing has appeared, and nothing is kept")
    #expect(try workdir.text("p-1.ndjson") == "old\n")
  }

  @Test("a file that would not let another take its place is told before anything is read")
  func notReplaceable() throws {
    let workdir = try makeWorkdir()
    let script = """
      echo old > o.ndjson; echo x > other; mount --bind other o.ndjson 2>/dev/null || exit 77
      $OHANA convert /nowhere in.ndjson -o free.ndjson; $OHANA run five.ndjson -o free.ndjson then tee o.ndjson; echo "exit $?"
      $OHANA convert five.ndjson -o o.ndjson --overwrite; echo "exit $?"; cat o.ndjson
      """
    let result = try workdir.run([], shell: "unshare --mount bash -c '\(script)'")
    if result.status == 77 || result.err.contains("unshare") {
      print("SKIPPED: nothing can be mounted here (needs root)")
      return
    }
    #expect(result.lines == ["exit 2", "exit 4", "x"], "\(result.text) \(result.err)")
    #expect(result.err.contains("o.ndjson: the file there cannot be replaced: something is mounted on it"), "\(result.err)")
    #expect(!workdir.names.contains { $0.contains("ohana-") } && workdir.isTemporaryEmpty, "\(workdir.names)")
  }

  @Test("where there is no room for a journal in --temp-dir, it is beside the output, and a killed publication is finished all the same")
  func journalBesideTheOutput() throws {
    let workdir = try makeWorkdir()
    for number in 1...Self.chunks { try workdir.write("p-\(number).ndjson", "old\n") }
    let script = """
      mkdir small && mount -t tmpfs -o size=16k tmpfs small 2>/dev/null || exit 77
      dd if=/dev/zero of=small/fill bs=1k 2>/dev/null; export TMPDIR=$PWD/small
      LD_PRELOAD=\(FailingFiles.library!) KILL_AT=21 $OHANA convert in.ndjson -o "p-{n}.ndjson" --chunk-records 10 --overwrite -q; echo "exit $?"
      $OHANA resume "p-{n}.ndjson"; echo "exit $?"; grep -l old p-*.ndjson | wc -l
      """
    let result = try workdir.run([], shell: "unshare --mount bash -c '\(script)'")
    if result.status == 77 || result.err.contains("unshare") {
      print("SKIPPED: a small disk cannot be mounted here (needs root)")
      return
    }
    #expect(result.lines.suffix(3) == ["exit 137", "exit 0", "0"], "\(result.text) \(result.err)")
    #expect(!workdir.names.contains { $0.contains("ohana-") }, "\(workdir.names)")
  }
}
