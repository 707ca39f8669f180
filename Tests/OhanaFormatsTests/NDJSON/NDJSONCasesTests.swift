import Foundation
import OhanaCore
import OhanaFormats
import Testing

private let casesFile = ProcessInfo.processInfo.environment["OHANA_TEST_CASES"]

/// Faults reported in other tools, read and passed through by ours.
@Suite("NDJSON faults of other tools", .enabled(if: casesFile != nil)) struct NDJSONCasesTests {
  struct Fault: Decodable {
    struct Input: Decodable {
      let text: String?
      let base64: String?
      let make: String?
      let files: [String: String]?
    }
    let id: String
    let area: String
    let input: Input
  }

  /// By case: lines of the records and of the rejects, 1-based.
  static let expected: [String: (records: [Int], rejects: [Int])] = [
    "json-001": ([1, 2, 3], []), "json-002": ([1, 2, 3], []), "json-004": ([1, 2], []), "json-005": ([1, 3], [2]),
    "json-007": ([1, 2], []), "json-008": ([1, 2, 4], [3]), "json-010": ([1, 2], []), "json-011": ([1, 2], []),
    "json-013": ([1, 3], []), "json-014": ([1, 2], []), "json-016": ([2], [1, 3]), "json-017": ([3], [1, 2]), "json-020": ([1, 2], []),
  ]

  private func faults() throws -> [Fault] {
    try String(contentsOfFile: casesFile!, encoding: .utf8).split(separator: "\n").compactMap { line in
      guard line.contains("\"area\": \"json\"") else { return nil }
      return try JSONDecoder().decode(Fault.self, from: Data(line.utf8))
    }
  }

  /// What the writer makes of the records of `bytes`.
  private func passThrough(_ bytes: [UInt8]) throws -> String {
    var output: [UInt8] = []
    let renderer = try NDJSONRenderer(layout: RecordLayout(followsSource: true), source: .ndjson)
    _ = try Reading().read(bytes) { batch in
      _ = try renderer.process(batch)
      output += batch.output.bytes
    }
    return String(decoding: output, as: UTF8.self)
  }

  @Test("every record is read or rejected with its line, and the others pass unchanged") func passes() throws {
    var seen: Set<String> = []
    for fault in try faults() where fault.input.files == nil {
      let bytes: [UInt8]
      if let text = fault.input.text {
        bytes = Array(text.utf8)
      } else if let encoded = fault.input.base64 {
        bytes = [UInt8](Data(base64Encoded: encoded)!)
      } else {
        func nest(_ open: String, _ inner: String, _ close: String) -> String {
          "{\"n\":" + String(repeating: open, count: 100_000) + inner + String(repeating: close, count: 100_000) + "}\n"
        }
        #expect(fault.id == "json-016")
        bytes = Array((nest("[", "", "]") + "{\"n\":\"Kim\"}\n" + nest("{\"a\":", "1", "}")).utf8)
      }
      let expected = try #require(Self.expected[fault.id], "\(fault.id) is new")
      let result = try Reading().read(bytes)
      #expect(result.records.map { $0.line + 1 } == expected.records, "\(fault.id)")
      #expect(result.rejects.map { $0.line + 1 } == expected.rejects, "\(fault.id)")
      // The input's own lines, without mark and CR.
      let lines = String(decoding: bytes, as: UTF8.self).drop { $0 == "\u{feff}" }.unicodeScalars.split(
        separator: "\n", omittingEmptySubsequences: false
      ).map { String(String.UnicodeScalarView($0)).replacingOccurrences(of: "\r", with: "") }
      #expect(try passThrough(bytes) == expected.records.map { lines[$0 - 1] + "\n" }.joined(), "\(fault.id)")
      seen.insert(fault.id)
    }
    #expect(seen == Set(Self.expected.keys))
  }

  @Test("an array and spread objects are read as two records each (json-019)") func arrays() throws {
    let files = try #require(try faults().first { $0.id == "json-019" }?.input.files)
    #expect(files.count == 2)
    for (_, text) in files { #expect(try passThrough(Array(text.utf8)) == "{\"n\":\"a\"}\n{\"n\":\"b\"}\n") }
  }
}
