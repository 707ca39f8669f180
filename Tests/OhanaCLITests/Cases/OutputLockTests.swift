import Foundation
import OhanaTestSupport
import Testing

@Suite("Two runs with an output in common") struct OutputLockTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let rule: String
    /// What the first writes beside `first.ndjson`, and its lock.
    let first: String, lock: String
    let second: String, named: String
    var testDescription: String { rule }
  }
  static let cases: [Case] = [
    Case(
      rule: "the main output", first: "-o out.ndjson", lock: ".out.ndjson.ohana-lock", second: "-o out.ndjson --overwrite",
      named: "out.ndjson"),
    Case(
      rule: "a tee, and a main output", first: "-o first.ndjson then tee out.ndjson", lock: ".out.ndjson.ohana-lock",
      second: "-o out.ndjson", named: "out.ndjson"),
    Case(
      rule: "a main output, and a tee in a group", first: "-o out.ndjson", lock: ".out.ndjson.ohana-lock",
      second: "-o second.ndjson then all { tee out.ndjson } { skip 1 }", named: "out.ndjson"),
    Case(
      rule: "duplicates, and rejects", first: "-o first.ndjson then dedupe --by a --duplicates d.ndjson", lock: ".d.ndjson.ohana-lock",
      second: "--rejects d.ndjson", named: "d.ndjson"),
    Case(
      rule: "reports", first: "--report r.json", lock: ".r.json.ohana-lock", second: "-o second.ndjson --report r.json", named: "r.json"),
    Case(
      rule: "manifests", first: "-o first.ndjson --manifest m.json", lock: ".m.json.ohana-lock",
      second: "-o second.ndjson --manifest m.json", named: "m.json"),
    Case(
      rule: "chunk sets", first: "-o 'c-{n}.ndjson' --chunk-records 2", lock: ".c-{n}.ndjson.ohana-lock",
      second: "-o 'c-{n:3}.ndjson' --chunk-records 9", named: "c-{n:3}.ndjson"),
    Case(
      rule: "a chunk, and a file", first: "-o 'c-{n}.ndjson' --chunk-records 2", lock: ".c-{n}.ndjson.ohana-lock",
      second: "-o second.ndjson then tee c-12.ndjson", named: "c-12.ndjson"),
  ]

  @Test("refuses the second, naming the file, and harms neither", arguments: cases) func refuses(_ example: Case) throws {
    let workdir = try Workdir()
    try workdir.write("in.ndjson", "{\"a\":2}\n")
    // The first has its locks once it has written into them, and ends when its input does.
    let result = try workdir.run(
      [],
      shell: """
        mkfifo pipe; $OHANA run --from ndjson pipe \(example.first) >first.out 2>first.err & first=$!
        exec 3>pipe
        until [ -s '\(example.lock)' ] || ! kill -0 $first 2>/dev/null; do sleep 0.02; done
        $OHANA run in.ndjson \(example.second); echo "second $?"
        echo '{"a":1}' >&3; exec 3>&-
        wait $first; echo "first $?"
        """)
    #expect(result.lines == ["second 7", "first 0"], "\(result.err)")
    #expect(result.err.hasPrefix("ohana: \(example.named): "), "\(result.err)")
    #expect(result.err.contains("another run"))
    #expect(!workdir.names.contains { $0.hasPrefix("second") || $0.hasPrefix(".") }, "\(workdir.names)")
    #expect(workdir.isTemporaryEmpty)
  }

  @Test(
    "takes over the lock that a killed one held beside its main output",
    arguments: ["tee side.ndjson", "dedupe --by a --duplicates side.ndjson"])
  func takesOver(stage: String) throws {
    let workdir = try Workdir()
    try workdir.write("in.ndjson", "{\"a\":2}\n")
    let killed = try workdir.run(
      [],
      shell: """
        mkfifo pipe; $OHANA run --from ndjson pipe -o out.ndjson then \(stage) & first=$!
        exec 3>pipe
        until [ -s .side.ndjson.ohana-lock ] || ! kill -0 $first 2>/dev/null; do sleep 0.02; done
        kill -KILL $first; wait $first; exit 0
        """)
    #expect(killed.status == 0 && workdir.exists(".side.ndjson.ohana-lock"), "\(killed.err)")
    let result = try workdir.run(["run", "in.ndjson", "-o", "side.ndjson"])
    #expect(result.status == 0, "\(result.err)")
    #expect(try workdir.text("side.ndjson") == "{\"a\":2}\n")
    // The rest is the business of the next run to the other output.
    #expect(try workdir.run(["run", "in.ndjson", "-o", "out.ndjson", "then", "tee", "side.ndjson", "--overwrite"]).status != 0)
    #expect(try workdir.run(["run", "in.ndjson", "-o", "out.ndjson", "--overwrite", "then", "tee", "side.ndjson"]).status == 0)
    #expect(workdir.names == ["in.ndjson", "out.ndjson", "pipe", "side.ndjson", "tmp"])
    #expect(workdir.isTemporaryEmpty)
  }
}
