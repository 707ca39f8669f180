import Foundation
import OhanaTestSupport
import Testing

/// Inputs side by side, in the order of arrival.
@Suite("--interleave") struct InterleaveTests {
  private func lines(_ ids: [String]) -> String { ids.map { "{\"id\":\"\($0)\"}\n" }.joined() }

  /// The second input gives what it has when all others are written, and not before: a run that waited for it would never end.
  struct Slow: Sendable, CustomTestStringConvertible {
    let name: String
    /// Starts what writes to the pipes, and defines `inputs`; `gate` opens when everything else is there.
    let script: String
    var testDescription: String { name }
  }
  static let slow = [
    Slow(name: "a pipe that nobody has opened", script: "(read x <gate; cat s >p) & cat q.txt >q & inputs=(p q)"),
    Slow(name: "a pipe that is open and silent", script: "(exec 3>p; read x <gate; cat s >&3) & cat q.txt >q & inputs=(p q)"),
    Slow(
      name: "a pipe in the middle of a record",
      script: "(exec 3>p; head -c 5 s >&3; read x <gate; tail -c +6 s >&3) & cat q.txt >q & inputs=(p q)"),
    Slow(
      name: "a pipe in the middle of an array",
      script: "(exec 3>p; echo '[' >&3; read x <gate; sed '$!s/$/,/' s >&3; echo ']' >&3) & cat q.txt >q & inputs=(p q)"),
    Slow(
      name: "a pipe in the middle of a CSV cell, of a name that says nothing",
      script: "(exec 3>p; printf 'id\\n\"s' >&3; read x <gate; printf '1\"\\ns2\\n' >&3) & cat q.txt >q & inputs=(p q)"),
    Slow(name: "programs", script: "inputs=(--from 'cmd: read x <gate; cat s' --from 'cmd: cat q.txt')"),
    Slow(name: "compressed pipes", script: "(exec 3>p; read x <gate; gzip <s >&3) & gzip <q.txt >q & inputs=(p q)"),
  ]

  @Test("MULTI O-31: an input that has to be waited for holds up no other", arguments: slow, [1, 2, 8])
  func holdsUpNobody(_ slow: Slow, threads: Int) throws {
    let folder = try Workdir()
    try folder.write("file.ndjson", lines(["f1", "f2"]))
    try folder.write("s", lines(["s1", "s2"]))
    try folder.write("q.txt", lines(["q1", "q2"]))
    let script = """
      mkfifo p q gate; \(slow.script)
      "$OHANA" run "${inputs[@]}" file.ndjson --interleave --threads \(threads) >out 2>err & run=$!
      until [ "$(wc -l <out)" -ge 4 ] || ! kill -0 $run; do :; done 2>/dev/null
      cp out before; echo go >gate; wait $run; s=$?; cat err >&2; cat out; exit $s
      """
    let result = try folder.run([], shell: script)
    #expect(result.status == 0, "\(result.err)")
    let before = try folder.text("before").split(separator: "\n").map(String.init)
    #expect(before.sorted() == lines(["f1", "f2", "q1", "q2"]).split(separator: "\n").map(String.init), "\(result.err)")
    #expect(result.lines == before + ["{\"id\":\"s1\"}", "{\"id\":\"s2\"}"])
    for (first, second) in [("f1", "f2"), ("q1", "q2")] {
      #expect(before.firstIndex { $0.contains(first) }! < before.firstIndex { $0.contains(second) }!)
    }
  }

  @Test("MULTI O-31: nothing is lost, records of one input keep their order, and books are those of each input", arguments: [1, 2, 8])
  func complete(threads: Int) throws {
    let folder = try Workdir()
    let ids = ["a", "b", "c", "d"].map { name in (0..<20_000).map { "\(name)\($0)" } }
    for (name, ids) in zip(["a", "b", "c", "d"], ids) { try folder.write("\(name).ndjson", lines(ids)) }
    try folder.write("d.csv", "id\n" + ids[3].joined(separator: "\n") + "\n")
    let words = [
      "run", "c.ndjson", "d.csv", "--interleave", "--from", "cmd: cat a.ndjson", "--from", "cmd: cat b.ndjson", "-o", "out.ndjson",
      "--report",
      "r.json", "--manifest", "m.json", "--threads", "\(threads)", "--memory", "16M",
    ]
    let result = try folder.run(words + ["then", "filter", "id <> 'a7'"])
    #expect(result.status == 0, "\(result.err)")
    let out = try folder.text("out.ndjson").split(separator: "\n")
    #expect(out.count == 79_999)
    for (index, name) in ["a", "b", "c", "d"].enumerated() {
      let own = out.filter { $0.hasPrefix("{\"id\":\"\(name)") }.map { String($0.dropFirst(7).dropLast(2)) }
      #expect(own == ids[index].filter { $0 != "a7" })
    }
    let report = try folder.text("r.json")
    #expect(report.matches(of: /"read" : 20000,/).count == 4 && report.matches(of: /"status" : "loaded"/).count == 4)
    // It says that another run may give another order.
    for text in [report, try folder.text("m.json")] { #expect(text.contains("of arrival, not the same every time")) }
    #expect(report.contains("--interleave: records come in the order in which they arrive") && result.err.contains("note: --interleave"))
    let plan = try folder.run(["plan", "run", "c.ndjson", "--interleave", "--from", "cmd: cat a.ndjson"])
    #expect(plan.text.contains("order     of arrival, not the same every time: 1 to be waited for, 1 that are at hand"), "\(plan.err)")
    #expect(
      try folder.run(["help", "run"]).text.replacing(/\s+/, with: " ").contains("another run may give another result: not deterministic"))
  }

  @Test("MULTI O-31: sorted, deduplicated or counted, it is what it is without") func sorted() throws {
    let folder = try Workdir()
    for name in ["a", "b", "c"] { try folder.write("\(name).ndjson", lines((0..<500).map { "\($0 * ($0 % 3 + 1))" })) }
    let from = ["--from", "cmd: cat a.ndjson", "--from", "cmd: cat b.ndjson"]
    for chain in [["sort", "id:number"], ["distinct", "then", "sort", "id"], ["count-by", "id", "then", "sort", "id"]] {
      let inOrder = try folder.run(["run", "c.ndjson"] + from + ["then"] + chain)
      for environment in [[:], ["OHANA_STAGE_BYTES": "4096"]] {
        let arrived = try folder.run(["run", "c.ndjson", "--interleave"] + from + ["then"] + chain, environment: environment)
        #expect(arrived.status == 0 && arrived.text == inOrder.text && !arrived.text.isEmpty, "\(arrived.err)")
      }
    }
  }

  @Test("MULTI O-31: thousands of files beside a pipe need no more open files than a few") func manyFiles() throws {
    let folder = try Workdir()
    for number in 0..<3000 { try folder.write("in/\(number).ndjson", "{\"id\":\(number)}\n") }
    let script = "ulimit -n 256; \"$OHANA\" count in --from 'cmd: cat in/1.ndjson in/2.ndjson' --interleave"
    let result = try folder.run([], shell: script)
    #expect(result.text == "3002\n", "\(result.err)")
  }

  @Test("MULTI O-31: more pipes than are open at once have their turns") func manyPipes() throws {
    let folder = try Workdir()
    try folder.write("a.ndjson", "{\"id\":1}\n")
    let from = (0..<150).flatMap { ["--from", "cmd: echo '{\"id\":\($0)}'"] }
    let result = try folder.run(["count", "a.ndjson", "--interleave", "--memory", "16M"] + from)
    #expect(result.text == "151\n", "\(result.err)")
  }

  @Test("MULTI O-23 O-31: what goes wrong with one is told of it, with its line, and the others are read where that is asked for")
  func faults() throws {
    let folder = try Workdir()
    try folder.write("a.ndjson", lines(["a"]))
    try folder.write("bad.ndjson", "{\"id\":1}\n\nnonsense\n")
    let words = ["run", "a.ndjson", "--interleave", "--report", "r.json", "--overwrite", "--from"]
    let bad = try folder.run(words + ["cmd: cat bad.ndjson"])
    #expect(bad.status == 3 && bad.err.contains("cmd: cat bad.ndjson:3:"), "\(bad.err)")
    #expect(try folder.text("r.json").contains("\"name\" : \"cmd: cat bad.ndjson\",\n      \"status\" : \"error\""))
    let failed = try folder.run(words + ["cmd: exit 3"])
    #expect(failed.status == 4 && failed.err.contains("it ended with status 3"), "\(failed.err)")
    let skipped = try folder.run(words + ["cmd: cat a.ndjson; exit 3", "--on-provider-error", "skip"])
    #expect(skipped.status == 4 && skipped.text == lines(["a", "a"]), "\(skipped.err)")
  }

  @Test(
    "MULTI O-31: what cannot hold in another order is refused, with the reason",
    arguments: [
      ("run a.ndjson --interleave --resume -o out.ndjson", "another order than before"),
      ("run a.csv --interleave --ragged pad", "read to its end first"), ("convert a.ndjson --to csv --interleave", "--columns"),
      ("plan convert a.ndjson --to csv --interleave", "--columns"), ("diff a.ndjson a.ndjson --by id --interleave", "by their order"),
    ])
  func refusals(line: String, reason: String) throws {
    let folder = try Workdir()
    try folder.write("a.ndjson", lines(["a"]))
    try folder.write("a.csv", "id\na\n")
    let result = try folder.run(line.split(separator: " ").map(String.init))
    #expect(result.status == 2 && result.err.contains(reason) && !folder.exists("out.ndjson"), "\(result.err)")
    let columns = try folder.run(["convert", "a.ndjson", "--to", "csv", "--interleave", "--columns", "id"])
    #expect(columns.text == "id\na\n", "\(columns.err)")
  }

  @Test("MULTI O-31: a run that has enough ends, and so do programs that nobody listens to any more") func limit() throws {
    let folder = try Workdir()
    let script = """
      "$OHANA" run --interleave --from "cmd: yes '{\\"id\\":1}'" --from 'cmd: echo $$ >silent; exec sleep 1000' then limit 5
      s=$?; [ ! -s silent ] || while kill -0 $(cat silent); do :; done 2>/dev/null; exit $s
      """
    let result = try folder.run([], shell: script)
    #expect(result.status == 0 && result.lines.count == 5, "\(result.err)")
  }
}
