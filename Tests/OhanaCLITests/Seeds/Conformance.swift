import Foundation
import OhanaTestSupport
import Testing

/// One of the exact behaviours inherited from Ohana, checked from outside: streamed with 1, 2 and 8 threads, with as little memory as a run
/// takes, and with so little for each stage that whatever may spill does (`SpillForcingTests` proves that ten records do).
enum Conformance {
  static let settings: [[String]] = [
    ["--threads", "1"], ["--threads", "2"], ["--threads", "8"], ["--threads", "1", "--memory", "16M"],
    ["--threads", "8", "--memory", "20M"],
  ]
  /// What each stage may hold where spilling is forced.
  static let stageBytes = 1024

  /// Runs a chain over `input` in every setting and compares what comes out, byte for byte.
  ///
  /// - Parameter stageBytes: what each stage may hold where spilling is forced; nil: it is not, since `--memory` does it.
  static func expect(
    _ input: String, _ chain: [String], gives output: String, file: String = "in.ndjson", options: [String] = [],
    stageBytes: Int? = stageBytes, _ location: SourceLocation = #_sourceLocation
  ) throws {
    let folder = try Workdir()
    try folder.write(file, input)
    let forced = stageBytes.map { ["OHANA_STAGE_BYTES": "\($0)"] }
    let runs = settings.map { ($0, [:]) } + ["1", "8"].compactMap { threads in forced.map { (["--threads", threads], $0) } }
    for run in runs {
      let result = try folder.run(["run", file] + options + run.0 + ["then"] + chain, environment: run.1)
      #expect(result.status == 0, "\(run): \(result.err)", sourceLocation: location)
      #expect(result.text == output, "\(run)", sourceLocation: location)
      #expect(folder.isTemporaryEmpty, sourceLocation: location)
    }
  }

  /// The same for the values of one field, in order.
  static func expect(
    _ input: String, _ chain: [String], gives ids: [String], of field: String = "id", stageBytes: Int? = stageBytes,
    _ location: SourceLocation = #_sourceLocation
  ) throws {
    let lines = ids.map { "{\"\(field)\":\"\($0)\"}\n" }
    try expect(input, chain + ["then", "keep", field], gives: lines.joined(), stageBytes: stageBytes, location)
  }
}
