import Foundation
import OhanaTestSupport
import Testing

/// One of the exact behaviours inherited from Ohana, checked from outside: streamed with 1, 2 and 8 threads, and with so little memory that
/// whatever may spill does.
enum Conformance {
  static let settings: [[String]] = [
    ["--threads", "1"], ["--threads", "2"], ["--threads", "8"], ["--threads", "1", "--memory", "16M"],
    ["--threads", "8", "--memory", "20M"],
  ]

  /// Runs a chain over `input` in every setting and compares what comes out, byte for byte.
  static func expect(
    _ input: String, _ chain: [String], gives output: String, file: String = "in.ndjson", options: [String] = [],
    _ location: SourceLocation = #_sourceLocation
  ) throws {
    let folder = try Workdir()
    try folder.write(file, input)
    for setting in settings {
      let result = try folder.run(["run", file] + options + setting + ["then"] + chain)
      #expect(result.status == 0, "\(setting): \(result.err)", sourceLocation: location)
      #expect(result.text == output, "\(setting)", sourceLocation: location)
      #expect(folder.isTemporaryEmpty, sourceLocation: location)
    }
  }

  /// The same for the values of one field, in order.
  static func expect(
    _ input: String, _ chain: [String], gives ids: [String], of field: String = "id", _ location: SourceLocation = #_sourceLocation
  ) throws {
    try expect(input, chain + ["then", "keep", field], gives: ids.map { "{\"\(field)\":\"\($0)\"}\n" }.joined(), location)
  }
}
