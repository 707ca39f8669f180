import Foundation
import OhanaTestSupport
import Testing

/// Signals at moments between the last record and the end, and to what is no run. The long series is `Benchmarks/kill.py`.
@Suite("Interrupted at its end", .serialized) struct InterruptTests {
  private static let chunks = 400

  private func makeWorkdir() throws -> Workdir {
    let workdir = try Workdir()
    #expect(try workdir.run(["generate", "--rows", "4000", "-o", "in.ndjson"]).status == 0)
    return workdir
  }

  private func old(_ workdir: Workdir) throws {
    for number in 1...Self.chunks { try workdir.write("out/o-\(number).ndjson", "old\n") }
  }

  @Test(
    "a signal while outputs are finished and get their names leaves the old set or the new one, whole, and nothing else",
    arguments: [SIGINT, SIGTERM, SIGHUP])
  func late(signal: Int32) throws {
    let workdir = try makeWorkdir()
    try old(workdir)
    var isNew = 0
    for attempt in 0..<12 {
      try old(workdir)
      // Whatever the machine's speed: at first right behind the last chunk, then later and later.
      let script = """
        set -m; $OHANA run in.ndjson -o 'out/o-{n}.ndjson' --chunk-records 10 --overwrite --quiet then sort last & run=$!
        until ls -A out | grep -q '^.o-\(Self.chunks - 20 * (attempt % 4)).ndjson.ohana-' || ! kill -0 $run 2>/dev/null; do :; done
        [ \(attempt) -lt 4 ] || sleep 0.0\(attempt)
        kill -\(signal) $run 2>/dev/null; wait $run
        """
      let ended = try workdir.run([], shell: script)
      #expect([0, 128 + signal].contains(ended.status), "\(ended.status) \(ended.err)")
      var contents = Set<Bool>()
      for number in 1...Self.chunks { contents.insert(try workdir.text("out/o-\(number).ndjson") == "old\n") }
      #expect(contents == [ended.status != 0], "the set is mixed, or not what the exit status says")
      let hidden = try FileManager.default.contentsOfDirectory(atPath: workdir.path("out")).filter { $0.hasPrefix(".") }
      #expect(hidden.isEmpty && workdir.isTemporaryEmpty, "\(hidden.prefix(3)) \(ended.err)")
      isNew += ended.status == 0 ? 1 : 0
    }
    #expect(isNew < 12)
  }

  @Test(
    "a set of which something is lost between its renames is not called published",
    .enabled(if: FailingFiles.library != nil, "there is no C compiler to make the file layer with that kills"))
  func lost() throws {
    let workdir = try makeWorkdir()
    try old(workdir)
    let words = ["run", "in.ndjson", "-o", "out/o-{n}.ndjson", "--chunk-records", "10", "--overwrite", "--quiet", "then", "sort", "last"]
    let killed = try workdir.run(words, environment: ["LD_PRELOAD": FailingFiles.library!, "KILL_AT": "201"])
    #expect(killed.status != 0)
    let waiting = try FileManager.default.contentsOfDirectory(atPath: workdir.path("out")).filter {
      $0.hasPrefix(".o-") && $0.contains(".ohana-") && !$0.hasSuffix("-lock")
    }
    #expect(waiting.count == 200)
    try FileManager.default.removeItem(atPath: workdir.path("out/\(waiting[0])"))
    let resumed = try workdir.run(["resume", "out/o-{n}.ndjson"])
    #expect(resumed.status == 7 && resumed.err.contains("1 of \(Self.chunks) are neither there nor waiting"), "\(resumed.err)")
    let left = try FileManager.default.contentsOfDirectory(atPath: workdir.path("out")).filter { $0.hasPrefix(".") }
    #expect(left.isEmpty && workdir.isTemporaryEmpty, "\(left)")
  }

  @Test("a report that nobody takes is no reason to say that nothing was published") func reportToNobody() throws {
    let workdir = try Workdir()
    try workdir.write("a.ndjson", "{\"id\":1}\n")
    let script = """
      mkfifo r.json; $OHANA convert a.ndjson -o out.ndjson --report r.json -q & run=$!
      until [ -e out.ndjson ]; do :; done
      kill -TERM $run; sleep 0.1; while kill -TERM $run 2>/dev/null; do sleep 0.05; done; wait $run
      """
    let result = try workdir.run([], shell: script)
    #expect(result.status == 4 && result.err.contains("the outputs are published, but"), "\(result.status) \(result.err)")
    #expect(try workdir.text("out.ndjson") == "{\"id\":1}\n")
    #expect(workdir.isTemporaryEmpty && !workdir.names.contains { $0.contains("ohana-") }, "\(workdir.names)")
  }

  @Test("SIGQUIT and SIGABRT end the process, and the next run clears up behind it", arguments: [SIGQUIT, SIGABRT])
  func quit(signal: Int32) throws {
    let workdir = try Workdir()
    try workdir.write("a.ndjson", "{\"id\":1}\n")
    let script = """
      mkfifo p; $OHANA convert p -o out.ndjson --trace t.json --rejects r.ndjson -q & run=$!
      exec 3>p; until [ -n "$(ls -A | grep '^.t.json.ohana-' | grep -v 'lock$')" ]; do :; done; kill -\(signal) $run; wait $run
      """
    let ended = try workdir.run([], environment: ["SWIFT_BACKTRACE": "enable=yes"], shell: script)
    #expect(ended.status == 128 + signal && !ended.err.contains("Backtrac"), "\(ended.status) \(ended.err.prefix(300))")
    #expect(workdir.names.contains { $0.contains(".t.json.ohana-") })
    #expect(try workdir.run(["convert", "a.ndjson", "-o", "out.ndjson", "--trace", "t.json", "--rejects", "r.ndjson"]).status == 0)
    #expect(!workdir.names.contains { $0.contains("ohana-") } && workdir.isTemporaryEmpty, "\(workdir.names)")
  }

  @Test("locks of a run that was killed while it waited for its first record are cleared by the next run to its output") func waiting()
    throws
  {
    let workdir = try Workdir()
    try workdir.write("a.ndjson", "{\"id\":1}\n")
    let options = "--rejects rej --report r.json --manifest m.json then dedupe --by id --duplicates d.ndjson then tee t.ndjson"
    let script = """
      mkfifo p; $OHANA run p -o out.ndjson --from ndjson \(options) & run=$!
      exec 3>p; until [ $(ls -A | grep -c 'ohana-lock') -ge 6 ] && [ -n "$(ls tmp)" ]; do :; done; sleep 0.05; kill -KILL $run; wait $run
      """
    #expect(try workdir.run([], shell: script).status == 128 + SIGKILL)
    #expect(try workdir.run(["convert", "a.ndjson", "-o", "out.ndjson"]).status == 0)
    #expect(!workdir.names.contains { $0.contains("ohana-") } && workdir.isTemporaryEmpty, "\(workdir.names)")
  }

  @Test("generate that is ended leaves nothing, and clears up behind one that was killed") func generate() throws {
    let workdir = try Workdir()
    for (signal, status) in [(SIGINT, 130), (SIGTERM, 143), (SIGHUP, 129), (SIGKILL, 137)] as [(Int32, Int32)] {
      let script = """
        set -m; $OHANA generate --rows 1000000000 -o g.ndjson & run=$!
        until [ -n "$(ls -A | grep '^.g.ndjson.ohana-' | grep -v 'lock$')" ]; do :; done; kill -USR1 $run; sleep 0.02; kill -\(signal) $run; wait $run
        """
      #expect(try workdir.run([], shell: script).status == status)
      if signal != SIGKILL { #expect(!workdir.names.contains { $0.contains("ohana-") }, "\(workdir.names)") }
    }
    #expect(workdir.names.contains { $0.contains("ohana-") })
    #expect(try workdir.run(["generate", "--rows", "10", "-o", "g.ndjson"]).status == 0)
    #expect(!workdir.names.contains { $0.contains("ohana-") }, "\(workdir.names)")
  }

  @Test(
    "generate that is ended while its chunks get their names publishes all of them or none, and says which", arguments: [SIGINT, SIGTERM])
  func generateAtItsEnd(signal: Int32) throws {
    let workdir = try Workdir()
    for attempt in 0..<8 {
      for number in 1...300 { try workdir.write("g/p-\(number).ndjson", "old\n") }
      let script = """
        set -m; $OHANA generate --rows 3000 --chunks 300 -o 'g/p-{n}.ndjson' --overwrite & run=$!
        until ls -A g | grep -q '^.p-\(attempt % 2 == 0 ? 300 : 150).ndjson.ohana-' || ! kill -0 $run 2>/dev/null; do :; done
        [ \(attempt) -lt 4 ] || until ! grep -q old g/p-1.ndjson || ! kill -0 $run 2>/dev/null; do :; done
        kill -\(signal) $run 2>/dev/null; wait $run
        """
      let ended = try workdir.run([], shell: script)
      #expect([0, 128 + signal].contains(ended.status), "\(ended.status) \(ended.err)")
      var isOld = Set<Bool>()
      for number in 1...300 { isOld.insert(try workdir.text("g/p-\(number).ndjson") == "old\n") }
      #expect(isOld == [ended.status != 0])
      #expect(try FileManager.default.contentsOfDirectory(atPath: workdir.path("g")).count == 300)
    }
  }
}
