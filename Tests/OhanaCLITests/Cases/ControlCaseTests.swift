import Foundation
import OhanaTestSupport
import Testing

/// Where things go, what is said of them, and what is left of what was there before.
@Suite("Outputs, temporary files and messages") struct ControlCaseTests {
  private static let people = "{\"id\":1}\n{\"id\":2}\n"
  private static let short = "a,b\n1\n2,3\n4\n"

  static let cases: [ToolCase] = [
    ToolCase(
      "fewer chunks than before: those behind the last new one go, and nothing else does",
      [
        "in.ndjson": people, "s-1.csv": "1", "s-2.csv": "2", "s-3.csv": "3", "s-4.csv": "4", "s-6.csv": "6", "s-03.csv": "z",
        "s-x.csv": "x",
        "s-3.csv.gz": "g", "t-3.csv": "t",
      ], ["convert", "in.ndjson", "-o", "s-{n}.csv", "--chunk-records", "1", "--overwrite"],
      says: ["s-3.csv to s-4.csv are removed (2 files)"],
      leaves: [
        "s-1.csv": "id\n1\n", "s-2.csv": "id\n2\n", "s-6.csv": "6", "s-03.csv": "z", "s-x.csv": "x", "s-3.csv.gz": "g", "t-3.csv": "t",
      ], leavesNot: ["s-3.csv", "s-4.csv"]),
    ToolCase(
      "an input and another output are no old chunks", ["s-3.ndjson": people, "s-4.ndjson": "4"],
      ["run", "s-3.ndjson", "-o", "s-{n}.ndjson", "--chunk-records", "1", "--overwrite", "then", "tee", "s-4.ndjson"],
      leaves: ["s-1.ndjson": "{\"id\":1}\n", "s-2.ndjson": "{\"id\":2}\n", "s-3.ndjson": people, "s-4.ndjson": people]),
    ToolCase(
      "without --overwrite a chunk of the set that exists is in the way, whatever its number", ["in.ndjson": people, "s-007.csv": "7"],
      ["convert", "in.ndjson", "-o", "s-{n:3}.csv", "--chunk-records", "1"], status: 2,
      error: "s-007.csv: the output exists already; use --overwrite to replace it, or name another file", leaves: ["s-007.csv": "7"],
      leavesNot: ["s-001.csv"]),
    ToolCase(
      "--temp-dir that is missing", ["in.ndjson": people], ["sort", "id", "in.ndjson", "--temp-dir", "none", "-o", "o.ndjson"], status: 4,
      error: "none: cannot use --temp-dir: no such file or folder; make the folder, or name another", leavesNot: ["o.ndjson"]),
    ToolCase(
      "--temp-dir that is a file", ["in.ndjson": people], ["count", "in.ndjson", "--temp-dir", "in.ndjson"], status: 4,
      error: "in.ndjson: cannot use --temp-dir: it is no folder; name another folder"),
    ToolCase(
      "TMPDIR that is missing, where something may spill", ["in.ndjson": people], ["sort", "id", "in.ndjson", "-o", "o.ndjson"], status: 4,
      error: "none: cannot use TMPDIR: no such file or folder; make the folder, or name another with --temp-dir",
      leavesNot: ["o.ndjson"], environment: ["TMPDIR": "none"]),
    ToolCase(
      "TMPDIR that is a file, where something may spill", ["in.ndjson": people], ["dedupe", "--by", "id", "in.ndjson", "-o", "o.ndjson"],
      status: 4, error: "in.ndjson: cannot use TMPDIR: it is no folder; name another folder with --temp-dir",
      leavesNot: ["o.ndjson"],
      environment: ["TMPDIR": "in.ndjson"]),
    ToolCase(
      "TMPDIR that is missing, where nothing spills", ["in.ndjson": people], ["convert", "in.ndjson", "--to", "ndjson"], out: people,
      environment: ["TMPDIR": "none"]),
    ToolCase(
      "TMPDIR that is missing, where --temp-dir names another", ["in.ndjson": people],
      ["sort", "id", "in.ndjson", "--to", "ndjson", "--temp-dir", "tmp"], out: people, environment: ["TMPDIR": "none"]),
    ToolCase(
      "{n} in the name of the output without --chunk-records", ["in.ndjson": people], ["convert", "in.ndjson", "-o", "o-{n}.csv"],
      status: 2, error: "o-{n}.csv: {n} in the name of the output needs --chunk-records N; say how many, or take {n} out of the name",
      leavesNot: ["o-{n}.csv", "o-1.csv"]),
    ToolCase(
      "with a width too", ["in.ndjson": people], ["sort", "id", "in.ndjson", "-o", "o-{n:3}.csv"], status: 2, says: ["--chunk-records"],
      leavesNot: ["o-{n:3}.csv"]),
    ToolCase(
      "and in a plan", ["in.ndjson": people], ["plan", "convert", "in.ndjson", "-o", "o-{n}.csv"], status: 2, says: ["--chunk-records"]),
    ToolCase(
      "--show-values shows the beginning of rejects", ["in.ndjson": "{\"id\":1}\n{bad\tguy\(String(repeating: "x", count: 100))\n"],
      ["convert", "in.ndjson", "-o", "o.ndjson", "--show-values"], status: 3,
      says: ["double quotes: '{bad guy\(String(repeating: "x", count: 72))…'"]),
    ToolCase(
      "without it they do not", ["in.ndjson": "{\"id\":1}\n{bad guy\n"], ["convert", "in.ndjson", "-o", "o.ndjson"], status: 3,
      neverSays: ["guy"]),
    ToolCase(
      "--show-values shows a repeated key", ["a.ndjson": "{\"k\":\"Ann\"}\n{\"k\":\"Ann\"}\n", "b.ndjson": "{\"k\":\"Bo\"}\n"],
      ["diff", "a.ndjson", "b.ndjson", "--by", "k", "--show-values"], status: 3, says: ["has the same key as record 1: Ann; choose"]),
    ToolCase(
      "without it it does not", ["a.ndjson": "{\"k\":\"Ann\"}\n{\"k\":\"Ann\"}\n", "b.ndjson": "{\"k\":\"Bo\"}\n"],
      ["diff", "a.ndjson", "b.ndjson", "--by", "k"], status: 3, neverSays: ["Ann"]),
    ToolCase(
      "a warning has its first line", ["s.csv": short], ["convert", "s.csv", "-o", "o.csv"], says: ["s.csv: 2 short-row, first in line 2"],
      leaves: ["o.csv": "a,b\n1,\n2,3\n4,\n"]),
    ToolCase(
      "and in check", ["s.csv": short], ["check", "s.csv"], out: "s.csv: 3 records, 2 short-row (first in line 2)\n"),
    ToolCase(
      "--report of an unknown form", ["in.ndjson": people], ["convert", "in.ndjson", "-o", "o.ndjson", "--report", "r.weird"], status: 2,
      error: "--report cannot be told its form by the name 'r.weird'; end it in .json, .md, .html or .prom"),
    ToolCase(
      "count takes no -o", ["in.ndjson": people], ["count", "in.ndjson", "-o", "c.txt"], status: 2, says: ["writes no records"],
      leavesNot: ["c.txt"]),
    ToolCase(
      "check takes no -o", ["in.ndjson": people], ["check", "in.ndjson", "-o", "c.txt"], status: 2, says: ["writes no records"],
      leavesNot: ["c.txt"]),
    ToolCase(
      "what is on standard output is there", ["in.ndjson": people], ["select", "--min", "9", "in.ndjson"], status: 8, out: people,
      says: ["2 records are already on standard output"], neverSays: ["nothing is published"]),
    ToolCase(
      "by --min-records too", ["in.ndjson": people], ["convert", "in.ndjson", "--to", "ndjson", "--min-records", "9"], status: 8,
      out: people,
      says: ["2 records are already on standard output"], neverSays: ["nothing is published"]),
    ToolCase(
      "a file is not published", ["in.ndjson": people], ["convert", "in.ndjson", "-o", "o.ndjson", "--min-records", "9"], status: 8,
      says: ["nothing is published"], leavesNot: ["o.ndjson"]),
    ToolCase(
      "a name that is too long is refused first", ["in.ndjson": "{bad\n"],
      ["convert", "in.ndjson", "-o", String(repeating: "x", count: 256)], status: 4, says: ["the name is too long"]),
    ToolCase(
      "no writer for bzip2", ["in.ndjson": people], ["convert", "in.ndjson", "-o", "o.csv.bz2"], status: 2,
      error: "o.csv.bz2: there is no writer for bzip2; end the name in .gz, or write to - and compress with another tool",
      leavesNot: ["o.csv.bz2"]),
    ToolCase(
      "nor Zstandard, beside the main output", ["in.ndjson": people], ["run", "in.ndjson", "-o", "o.csv", "then", "tee", "o.ZST"],
      status: 2,
      says: ["no writer for Zstandard"], leavesNot: ["o.csv"]),
    ToolCase(
      "endings in capitals", ["in.CSV": "id\n1\n2\n"], ["convert", "in.CSV", "-o", "o.NDJSON"],
      leaves: ["o.NDJSON": "{\"id\":\"1\"}\n{\"id\":\"2\"}\n"]),
    ToolCase(
      "a NDJSON record over the memory", ["in.ndjson": "{\"a\":1}\n{\"a\":\"\(String(repeating: "x", count: 9_000_000))\"}\n"],
      ["convert", "in.ndjson", "-o", "o.ndjson", "--memory", "16M"], status: 5,
      says: ["ohana: in.ndjson: a record of 9000008 bytes at byte 9 "]
    ),
    ToolCase(
      "a CSV record over the memory", ["in.csv": "a,b\n1,2\n\(String(repeating: "x", count: 9_000_000)),1\n"],
      ["convert", "in.csv", "-o", "o.csv", "--memory", "16M"], status: 5, says: ["ohana: in.csv: a record of more than ", " at byte 9 "]),
  ]
  @Test("say and leave what is right", arguments: cases) func check(_ c: ToolCase) throws { try c.check() }

  struct Script: Sendable, CustomTestStringConvertible {
    let name: String
    let line: String
    var out = ""
    var err: String?
    var files: [String: String] = [:]
    var testDescription: String { name }
  }

  private static let reject =
    "{\"source\":\"bad.ndjson\",\"line\":1,\"byte\":0,\"column\":2,\"reason\":\"invalid-json\",\"detail\":\"expected a key in double quotes\",\"length\":4,\"raw\":\"{bad\",\"format\":\"ndjson\"}\n"
  static let scripts = [
    Script(name: "a process substitution", line: "$OHANA convert in.ndjson --to ndjson -q -o >(cat > f); wait $!", files: ["f": people]),
    Script(name: "a descriptor of the shell's", line: "$OHANA convert in.ndjson --to ndjson -q -o /dev/fd/3 3>&1 | cat", out: people),
    Script(name: "by the other name", line: "$OHANA convert in.ndjson --to ndjson -q -o /proc/self/fd/3 3>&1 | cat", out: people),
    Script(
      name: "standard error that is a pipe",
      line: "$OHANA run bad.ndjson in.ndjson -q -o f --to ndjson --max-rejects 1 --rejects /dev/stderr 2>&1 | cat", out: reject,
      files: ["f": people]),
    Script(
      name: "standard error that is a file is written on",
      line: "echo old > log; $OHANA run bad.ndjson in.ndjson -q -o f --overwrite --max-rejects 1 --rejects /dev/stderr 2>> log",
      files: ["log": "old\n" + reject]),
    Script(
      name: "standard output that is a file is written on",
      line: "(echo old; $OHANA convert in.ndjson --to ndjson -q --overwrite -o /dev/stdout) > log", files: ["log": "old\n" + people]),
    Script(
      name: "a tmpfs is told of where something may spill",
      line: "d=$(mktemp -d -p /dev/shm); $OHANA sort id in.ndjson -o f --temp-dir $d 2>&1 | grep -c 'lies in memory'; rm -r $d", out: "1\n"),
    Script(
      name: "and not where nothing does",
      line: "d=$(mktemp -d -p /dev/shm); $OHANA convert in.ndjson -o f --temp-dir $d 2>&1 | grep -c 'lies in memory'; rm -r $d", out: "0\n"),
    Script(
      name: "a spill over ulimit -f",
      line: "(ulimit -f 8; OHANA_STAGE_BYTES=20000 $OHANA sort id many.ndjson --to ndjson -q); echo $?", out: "4\n",
      err: "ohana: $TMP: cannot write a temporary file: the file would be larger than allowed; raise the limit (ulimit -f)\n"),
    Script(
      name: "a full device has no free space to be told of", line: "$OHANA convert in.ndjson --to ndjson -q -o /dev/full; echo $?",
      out: "4\n",
      err: "ohana: /dev/full: cannot write: no space left on the device; free some space or choose another folder\n"),
    Script(
      name: "too little address space is said at once",
      line: "(ulimit -v 150000; $OHANA count in.ndjson --memory 64M); echo $?", out: "5\n",
      err: "ohana: the address space is limited to 146 MiB"),
  ]
  @Test("descriptors are written in place", arguments: scripts) func descriptors(_ script: Script) throws {
    let folder = try Workdir()
    try folder.write("in.ndjson", Self.people)
    try folder.write("bad.ndjson", "{bad\n")
    try folder.write("many.ndjson", (0..<3000).map { "{\"id\":\($0 &* 7919 % 3001)}\n" }.joined())
    let result = try folder.run([], shell: script.line)
    #expect(result.text == script.out, "\(result.err)")
    if let err = script.err { #expect(result.err.hasPrefix(err.replacing("$TMP", with: folder.path("tmp"))), "\(result.err)") }
    for (name, text) in script.files { #expect(try folder.text(name) == text, "\(name): \(result.err)") }
    #expect(folder.isTemporaryEmpty && !folder.names.contains { $0.hasPrefix(".") }, "\(folder.names)")
  }

  @Test("books have a row for each chunk, and the manifest its seconds") func chunks() throws {
    let folder = try Workdir()
    try folder.write("in.ndjson", Self.people + "{\"id\":3}\n")
    let result = try folder.run(
      ["convert", "in.ndjson", "-o", "c-{n}.csv", "--chunk-records", "2", "--report", "r.prom", "--manifest", "m.json"])
    #expect(result.status == 0, "\(result.err)")
    let report = try folder.text("r.prom")
    #expect(report.contains("ohana_output_records{output=\"c-1.csv\",role=\"main\"} 2\n"))
    #expect(report.contains("ohana_output_records{output=\"c-2.csv\",role=\"main\"} 1\n"))
    let manifest = try #require(try JSONSerialization.jsonObject(with: folder.read("m.json")) as? [String: Any])
    let books = try #require(manifest["books"] as? [String: Any])
    #expect((books["seconds"] as? Double ?? 0) > 0)
    let outputs = try #require(books["outputs"] as? [[String: Any]])
    #expect(outputs.map { $0["bytes"] as? Int } == [7, 5])
  }

  @Test("count and check do not list -o") func help() throws {
    let folder = try Workdir()
    for verb in ["count", "check"] { #expect(try !folder.run(["help", verb]).text.contains("--output")) }
    #expect(try folder.run(["help", "stats"]).text.contains("--output"))
  }
}
