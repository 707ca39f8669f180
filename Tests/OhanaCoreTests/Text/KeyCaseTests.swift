import Foundation
import OhanaCore
import OhanaTestSupport
import Testing

/// Faults reported in other tools, by the kind of key that avoids them.
@Suite("Reported key faults", .enabled(if: TestData.cases != nil, "set OHANA_TEST_CASES to the file of reported faults"))
struct KeyCaseTests {
  private struct Case: Decodable {
    struct Input: Decodable { var text: String?, base64: String? }
    var id: String
    var input: Input
  }

  /// Cells of the case's CSV, which holds no quotes; the header is left out.
  private func rows(_ id: String) throws -> [[String]] {
    let file = try #require(TestData.cases)
    for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n") {
      guard let entry = try? JSONDecoder().decode(Case.self, from: Data(line.utf8)), entry.id == id else { continue }
      let data = entry.input.base64.flatMap { Data(base64Encoded: $0) } ?? Data((entry.input.text ?? "").utf8)
      return String(decoding: data, as: UTF8.self).split(separator: "\n").dropFirst().map {
        $0.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
      }
    }
    throw CocoaError(.fileNoSuchFile)
  }

  @Test(
    "survivors of the first occurrence",
    arguments: [
      ("dedupe-001", EqualityKind.email, ["Kim", "Lee", "Max", "Ann"]), ("dedupe-010", .emailProvider, ["1", "5", "6", "7"]),
      ("dedupe-010", .email, ["1", "2", "3", "4", "5", "6", "7"]), ("dedupe-011", .emailProvider, ["1", "2", "3", "4", "5"]),
      ("dedupe-013", .fold, ["1", "3", "5", "7"]), ("dedupe-014", .email, ["1", "3", "4"]),
    ])
  func survivors(id: String, kind: EqualityKind, expected: [String]) throws {
    var seen: Set<[UInt8]> = []
    var kept: [String] = []
    for row in try rows(id) {
      guard let key = keyText(kind, row[1]) else {
        kept.append(row[0])
        continue
      }
      if seen.insert(Array(key.utf8)).inserted { kept.append(row[0]) }
    }
    #expect(kept == expected)
  }

  @Test("dedupe-013: canonical equivalence only") func canonical() throws {
    var seen: Set<[UInt8]> = []
    var kept: [String] = []
    for row in try rows("dedupe-013") {
      let out = ByteBuffer()
      var name = row[1]
      _ = name.withUTF8 { NormalForm.nfc.append($0, to: out, scratch: TextScratch()) }
      if seen.insert(Array(out.bytes)).inserted { kept.append(row[0]) }
    }
    #expect(kept == ["1", "3", "4", "5", "7", "8"])
  }
}
