import OhanaCore
import OhanaTestSupport
import Testing

@testable import OhanaStages

@Suite("suppress") struct SuppressTests {
  static let rows: [[TestValue]] = [
    [1, "ann@example.org"], [2, "Bob@Example.org"], [3, nil], [4, "cy@example.org"], [5, ""], [6, "bob@example.org "], [7, "no address"],
  ]

  @Test("drops what the list holds, by the key's column or the only one", arguments: ["email", "address"]) func drops(name: String) throws {
    for memory in [1 << 20, 600] {
      var run = StageRun(names: ["id", "email"], memory: memory)
      run.list = ["BOB@example.org", "cy@example.org", nil, "no address"]
      run.listName = name
      let stage = try SuppressStage.parse(arguments: ["--list", "list.csv", "--by", "email:email"])
      #expect(try run.ids([stage], Self.rows) == [1, 3, 5, 7])
      let exact = try SuppressStage.parse(arguments: ["--list", "list.csv", "--by", "email"])
      #expect(try run.ids([exact], Self.rows) == [1, 2, 3, 5, 6])
    }
  }

  @Test("looks up SHA-256 of the key's text, in either case of letters") func hashed() throws {
    var run = StageRun(names: ["id", "email"])
    // printf %s bob@example.org | sha256sum, and of ann@example.org
    run.list = [
      "27b5fdb4a0d4f8c5c9d6f3d6a6f0a5c0d9f1a2b3c4d5e6f708192a3b4c5d6e7f",
      .text(Self.bob.uppercased()), .text(" " + Self.ann + " "), "not hex",
    ]
    run.listName = "hash"
    let stage = try SuppressStage.parse(arguments: ["--list", "l", "--by", "email:email", "--hashed", "sha256"])
    #expect(try run.ids([stage], Self.rows) == [3, 4, 5, 7])
  }

  static let bob = "686b5e4cf4f963adf8f51468a48028ef8d15bd02fa335f821279a3d1678c9615"
  static let ann = "438c4c7afe600cdf1e455c369bec76dc970fc8ca463447c7b387a347f3c79331"

  @Test("equals a slow anti-join for any memory", arguments: 0..<12) func property(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let alphabet: [Character] = ["a", "b", "c", "d"]
    let rows: [[TestValue]] = (0..<400).map { [.number("\($0)"), SortTests.someText(&generator, alphabet, 5)] }
    let list = (0..<Int.random(in: 0...400, using: &generator)).map { _ in SortTests.someText(&generator, alphabet, 5) }
    let listed = Set(list.compactMap(SortTests.text))
    let expected = rows.filter { row in SortTests.text(row[1]).map { !listed.contains($0) } ?? true }.map { $0[0] }
    for memory in [1 << 20, 4000, 500] {
      var run = StageRun(names: ["id", "k"], batchSizes: 30, memory: memory, seed: seed)
      run.list = list
      run.listName = "k"
      #expect(try run.ids([SuppressStage.parse(arguments: ["--list", "l", "--by", "k"])], rows) == expected)
      #expect(run.spill.filesInUse == 0)
      #expect(memory > 500 || listed.count < 60 || run.spill.bytesSpilled > 0, "nothing was spilled, so this proves little")
    }
  }

  @Test(
    "refuses what it does not understand",
    arguments: [
      ["--by", "k"], ["--list", "l"], ["--list", "l", "--by", "k", "--hashed", "md5"],
      ["--list", "l", "--by", "a,b", "--hashed", "sha256"],
    ])
  func refuses(_ words: [String]) { #expect(throws: OhanaError.self) { try SuppressStage.parse(arguments: words) } }
}
