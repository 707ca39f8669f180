import OhanaCore
import OhanaTestSupport
import Synchronization
import Testing

@testable import OhanaStages

@Suite("match with a scorer of one's own") struct MatchStageTests {
  @Test("O-92, O-93 FUZZY: a contact keeps its best score; candidates that do not match are never scored") func scores() throws {
    let rows: [[TestValue]] = [
      ["W", "Test Contact", .json(#"[{"type":"phone","value":"+1 (555) 123-4567"}]"#)], ["X", "Another Test Contact", .missing],
      ["Y", "Third Test Contact", .missing],
      [
        "Z", nil,
        .json(
          #"[{"type":"email","value":"low-test@example.org"},{"type":"email","value":"high-test@example.org"},{"type":"email","value":"med-test@example.org"}]"#
        ),
      ],
    ]
    let scores = [
      "Test Contact": 3, "Another Test Contact": 0, "Third Test Contact": 50, "low-test@example.org": -10, "high-test@example.org": 75,
      "med-test@example.org": 20,
    ]
    let asked = Mutex<[String]>([])
    let stage = MatchStage("test") { query, candidate in
      asked.withLock { $0.append(candidate) }
      #expect(query == "test")
      return scores[candidate] ?? .max
    }
    let run = StageRun(names: ["id", "full_name", "fields"])
    #expect(try run.ids([stage], rows) == ["Z", "Y", "W", "X"])
    #expect(Set(asked.withLock { $0 }) == Set(scores.keys))
  }

  @Test("a query matches where a slow model says so", arguments: 0..<30 as Range<UInt64>) func model(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let alphabet = Array("aAbB.\n é")
    func text(_ length: ClosedRange<Int>) -> String {
      String((0..<Int.random(in: length, using: &generator)).map { _ in alphabet.randomElement(using: &generator)! })
    }
    let scratch = FuzzyQuery.Scratch()
    for _ in 0..<200 {
      let (query, candidate) = (text(1...3), text(0...9))
      let isMatch = candidate.uppercased().split(separator: "\n", omittingEmptySubsequences: false).contains { line in
        var rest = Array(query.uppercased())[...]
        for character in line where character == rest.first { rest.removeFirst() }
        return rest.isEmpty
      }
      var bytes = candidate
      let found = bytes.withUTF8 { FuzzyQuery(query).score($0, scratch) }
      #expect((found != nil) == isMatch, "\(query.debugDescription) in \(candidate.debugDescription)")
    }
  }

  /// All ways to match, one after the other.
  private func bestScore(_ query: [Character], _ line: [Character], from start: Int = 0, isFirst: Bool = true) -> Int? {
    guard let character = query.first else { return 0 }
    return line.indices.dropFirst(start).compactMap { index -> Int? in
      guard line[index] == character, let rest = bestScore(Array(query.dropFirst()), line, from: index + 1, isFirst: false) else {
        return nil
      }
      let begins = index == 0 || !(line[index - 1].isLetter || line[index - 1].isNumber)
      let gap = index - start
      return rest + 16 + (begins ? 8 : 0) + (isFirst ? 0 : gap == 0 ? 4 : -min(8, gap))
    }.max()
  }

  @Test("O-93 FUZZY: the score is that of the best way to match, characters counted as people do", arguments: 0..<8)
  func bestOfAllWays(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    let alphabet = Array("AAB7 -–É\u{a0}XXX")
    let scratch = FuzzyQuery.Scratch()
    var matches = 0
    for _ in 0..<400 {
      func text(_ length: ClosedRange<Int>) -> [Character] {
        (0..<Int.random(in: length, using: &generator)).map { _ in alphabet.randomElement(using: &generator)! }
      }
      let (query, line) = (text(1...4), text(1...24))
      var bytes = String(line)
      let found = bytes.withUTF8 { FuzzyQuery(String(query)).score($0, scratch) }
      #expect(found == bestScore(query, line), "\(String(query)) in \(String(line))")
      matches += found == nil ? 0 : 1
    }
    #expect(matches > 100)
  }

  @Test("O-93 FUZZY: in a very long value characters count where they occur first") func longValues() {
    var value = "xa b" + String(repeating: "x", count: 1 << 20) + " ab"
    let score = value.withUTF8 { FuzzyQuery("ab").score($0, FuzzyQuery.Scratch()) }
    #expect(score == 16 + 16 + 8 - 1)
  }
}
