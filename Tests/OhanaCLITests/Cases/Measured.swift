import Foundation
import OhanaTestSupport

/// A run of the tool of which GNU time tells how much memory it took.
enum Measured {
  /// A process that the test itself starts would be billed for the test's own memory (it is shared until `exec`).
  static let canMeasure = FileManager.default.isExecutableFile(atPath: "/usr/bin/time")

  struct Result {
    var status: Int32
    /// Largest resident set.
    var peakMiB: Int
    var out: String
    var err: String
  }

  static func run(_ words: [String], in folder: Workdir) throws -> Result {
    let quoted = words.map { "'" + $0.replacing("'", with: "'\\''") + "'" }.joined(separator: " ")
    let result = try folder.run([], shell: "/usr/bin/time -q -f %M -o peak.txt \"$OHANA\" \(quoted)")
    let peak = Int(try folder.text("peak.txt").split(separator: "\n").last ?? "") ?? 0
    return Result(status: result.status, peakMiB: peak / 1024, out: result.text, err: result.err)
  }
}
