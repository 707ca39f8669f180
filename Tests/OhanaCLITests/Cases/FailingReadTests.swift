import Foundation
import OhanaTestSupport
import Testing

/// Reads that fail, by a library between the tool and the system; see ``FailingFiles``.
@Suite(
  "A file that cannot be read for a moment",
  .enabled(if: FailingFiles.library != nil, "there is no C compiler to make the failing file layer with"))
struct FailingReadTests {
  private let workdir: Workdir
  init() throws {
    workdir = try Workdir()
    let made = try workdir.run(
      [], shell: "$OHANA generate --rows 3000 -o in.ndjson && $OHANA generate --rows 3000 -o in.csv && gzip -k in.ndjson")
    try #require(made.status == 0, "\(made.err)")
  }

  /// - Parameter call: the first read of the file that fails, from 1.
  private func run(
    _ shell: String, name: String, at call: Int, times: Int, _ number: Int32
  ) throws -> (result: Workdir.Result, retried: Int?) {
    for name in ["out.ndjson", "report.json"] { try? FileManager.default.removeItem(atPath: workdir.path(name)) }
    let result = try workdir.run(
      [],
      environment: [
        "FAULTS": FailingFiles.library!, "READ_NAME": name, "READ_AT": "\(call)", "READ_TIMES": "\(times)", "READ_ERRNO": "\(number)",
      ], shell: "run() { LD_PRELOAD=$FAULTS $OHANA \"$@\" -o out.ndjson --report report.json; }; " + shell)
    let report = try JSONSerialization.jsonObject(with: workdir.read("report.json")) as? [String: Any]
    let input = ((report?["books"] as? [String: Any])?["inputs"] as? [[String: Any]])?.first
    #expect(workdir.isTemporaryEmpty)
    return (result, (input?["warnings"] as? [String: Any])?["read-retried"] as? Int)
  }

  static let passing: [Int32] = [EIO, ESTALE, ETIMEDOUT, EAGAIN]

  @Test("K-07: is tried twice more, from where it failed, and each time is a warning in summary and report", arguments: passing)
  func isTriedAgain(number: Int32) throws {
    for name in ["in.ndjson", "in.csv", "in.ndjson.gz"] {
      let whole = try run("run convert \(name)", name: "/none", at: 1, times: 0, number)
      #expect(whole.result.status == 0 && whole.retried == nil, "\(whole.result.err)")
      let wanted = try workdir.read("out.ndjson")
      #expect(wanted.count > 100_000)
      // A look at its head reads it first, then the run itself.
      for (call, times) in [(2, 1), (2, 2), (3, 1), (3, 2)] {
        let (result, retried) = try run("run convert \(name)", name: "/\(name)", at: call, times: times, number)
        #expect(result.status == 0, "\(name) \(call): \(result.err)")
        #expect(try workdir.read("out.ndjson") == wanted, "\(name) \(call)")
        #expect(retried == times, "\(name) \(call): \(result.err)")
        #expect(result.err.contains("\(name): \(times) read-retried\n"), "\(result.err)")
      }
    }
  }

  @Test("K-07: failing a third time is the error it is, with the number of tries, in one line", arguments: passing)
  func isGivenUp(number: Int32) throws {
    let (result, retried) = try run("run convert in.ndjson", name: "/in.ndjson", at: 3, times: 3, number)
    #expect(result.status == 4)
    #expect(result.err == "ohana: in.ndjson: cannot read: \(String(cString: strerror(number))) (3 tries)\n", "\(result.err)")
    #expect(retried == 2)
    #expect(!workdir.exists("out.ndjson"))
  }

  @Test("K-07: what will not pass, and what stands in no file, is tried once")
  func isTriedOnce() throws {
    let cases: [(shell: String, name: String, number: Int32)] = [
      ("run convert in.ndjson", "/in.ndjson", EBADF), ("run convert in.ndjson", "/in.ndjson", EACCES),
      ("cat in.ndjson 2>/dev/null | run convert -", "pipe:", EIO), ("run convert - <in.ndjson", "/in.ndjson", EIO),
      ("run convert <(cat in.ndjson 2>/dev/null)", "pipe:", EIO),
    ]
    for (shell, name, number) in cases {
      let (result, retried) = try run(shell, name: name, at: 2, times: 1, number)
      #expect(result.status == 4, "\(shell): \(result.err)")
      #expect(result.err.contains("cannot read") && !result.err.contains("tries"), "\(shell): \(result.err)")
      #expect(result.err.split(separator: "\n").count == 1, "\(shell): \(result.err)")
      #expect(retried == nil && !workdir.exists("out.ndjson"), "\(shell)")
    }
  }
}
