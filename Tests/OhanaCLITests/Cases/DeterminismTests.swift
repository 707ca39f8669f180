import Foundation
import OhanaTestSupport
import Testing

/// The same input gives the same bytes for any number of threads and any memory (DESIGN 1).
@Suite("Determinism") struct DeterminismTests {
  struct Job: Sendable, CustomTestStringConvertible {
    let name: String, input: String, output: String
    let chain: [String]
    var testDescription: String { name }
  }
  static let jobs = [
    Job(name: "dedupe by e-mail, NDJSON", input: "ndjson", output: "ndjson", chain: ["then", "dedupe", "--by", "lower(trim(email))"]),
    Job(
      name: "require, sort, full name, NDJSON", input: "ndjson", output: "ndjson",
      chain: ["then", "require", "first,last", "then", "sort", "last,first", "then", "set", "full_name = first || ' ' || last"]),
    Job(name: "NDJSON to CSV", input: "ndjson", output: "csv", chain: []),
    Job(name: "CSV to NDJSON", input: "csv", output: "ndjson", chain: []),
    Job(
      name: "dedupe, sort, CSV", input: "csv", output: "csv",
      chain: ["then", "dedupe", "--by", "email:email", "then", "sort", "last,first"]),
  ]
  static let exports = URL(filePath: #filePath).appending(path: "../../../../Data/exports").standardized.path

  @Test("each job, plain and compressed", arguments: jobs) func same(_ job: Job) throws {
    let folder = try Workdir()
    try #require(FileManager.default.fileExists(atPath: Self.exports))
    var seen: [String: Data] = [:]
    for threads in ["1", "2", "8"] {
      for memory in ["16M", "32M", "256M"] {
        for (kind, options) in [
          ("plain", []), ("gz level 1", ["--compress", "gz"]), ("gz level 6", ["--compress", "gz", "--level", "6"]),
        ] {
          var words =
            [
              String(job.chain.isEmpty ? "convert" : "run"), Self.exports + "/*.\(job.input).gz", "--to", job.output, "--threads", threads,
              "--memory", memory,
            ] + options
          words += job.chain
          let result = try folder.run(words)
          #expect(result.status == 0, "\(result.err)")
          #expect(result.out.count > 10_000)
          if let first = seen[kind] {
            #expect(result.out == first, "\(kind), threads \(threads), memory \(memory)")
          } else {
            seen[kind] = result.out
          }
        }
      }
    }
    for kind in ["gz level 1", "gz level 6"] {
      try folder.write("x.gz", try #require(seen[kind]))
      #expect(try folder.run([], shell: "gzip -dc x.gz").out == seen["plain"], "\(kind) holds the same text")
    }
    #expect(folder.isTemporaryEmpty)
  }
}
