import Foundation
import OhanaTestSupport
import Testing

@Suite("What a checkpoint refers to") struct DurabilityTests {
  /// What the file layer told of one run.
  private struct Account {
    var checkpoints = 0
    /// Checkpoints before which something new was written to a spill file, or to the private file of an output.
    var (withSpill, withOutput) = (0, 0)
    /// What was not on disk when the journal's entry was written.
    var missing: [String] = []

    init(_ log: String) {
      var (written, made): (Set<String>, Set<String>) = ([], [])
      var (spilled, output) = (false, false)
      for line in log.split(separator: "\n") {
        let url = URL(filePath: String(line.dropFirst(2)))
        let name = url.lastPathComponent
        let isOutput = name.hasPrefix(".") && name.contains(".ohana-") && !name.hasSuffix("-lock")
        let isSpill = name.hasPrefix("spill-")
        switch line.first {
        case "c" where isSpill || isOutput || name.hasPrefix("checkpoint-"): made.insert(url.path)
        case "w" where isSpill || isOutput || name.hasPrefix("checkpoint-"):
          written.insert(url.path)
          spilled = spilled || isSpill
          output = output || isOutput
        case "s":
          written.remove(url.path)
          made = made.filter { URL(filePath: $0).deletingLastPathComponent().path != url.path }
        case "j":
          checkpoints += 1
          withSpill += spilled ? 1 : 0
          withOutput += output ? 1 : 0
          (spilled, output) = (false, false)
          missing += written.sorted() + made.sorted()
        default: break
        }
      }
    }
  }

  @Test(
    "is on disk, names and all, before the journal's entry makes the checkpoint valid",
    .enabled(if: FailingFiles.library != nil, "there is no C compiler to make the file layer with"),
    arguments: [
      (
        "-o out-{n}.ndjson.gz --chunk-records 3000 --rejects bad.ndjson then dedupe --by email:email then tee side.csv then sort last", true
      ),
      ("-o out.csv.gz then dedupe --by email:email --keep last --duplicates others.ndjson", false), ("-o out.ndjson then reverse", false),
    ])
  func isSyncedFirst(arguments: String, streamsOut: Bool) throws {
    var (checkpoints, withSpill, withOutput) = (0, 0, 0)
    // As many records as it takes this machine to be met by a checkpoint on the way.
    for rows in [20_000, 40_000, 80_000, 160_000, 320_000] {
      let workdir = try Workdir()
      #expect(try workdir.run(["generate", "--rows", "\(rows)", "-o", "in.ndjson"]).status == 0)
      let result = try workdir.run(
        ["run", "in.ndjson", "--memory", "16M"] + arguments.split(separator: " ").map(String.init),
        environment: ["LD_PRELOAD": FailingFiles.library!, "FAULT_LOG": workdir.path("log"), "OHANA_CHECKPOINT_SECONDS": "0.002"])
      #expect(result.status == 0, "\(result.err)")
      let account = Account(try workdir.text("log"))
      #expect(account.missing.isEmpty)
      checkpoints += account.checkpoints
      withSpill += account.withSpill
      withOutput += account.withOutput
      if checkpoints >= 3, withSpill >= 1, withOutput >= 1 || !streamsOut { return }
    }
    Issue.record("\(checkpoints) checkpoints, \(withSpill) with new spill, \(withOutput) with new output: this proves little")
  }
}
