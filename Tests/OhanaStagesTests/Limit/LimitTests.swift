import OhanaCore
import OhanaTestSupport
import Testing

@testable import OhanaStages

@Suite("skip, limit, sample, tee") struct LimitTests {
  static let rows: [[TestValue]] = (0..<200).map { [.number("\($0)")] }
  static func numbers(_ range: some Sequence<Int>) -> [TestValue] { range.map { .number("\($0)") } }

  @Test("skip and limit count records, not batches", arguments: [0, 1, 5, 199, 200, 500], [1, 3, 64])
  func counts(count: Int, batchSizes: Int) throws {
    let run = StageRun(names: ["id"], batchSizes: batchSizes)
    #expect(try run.ids([SkipStage(count: count)], Self.rows) == Self.numbers(min(count, 200)..<200))
    #expect(try run.ids([LimitStage(count: count)], Self.rows) == Self.numbers(0..<min(count, 200)))
    let window = [SkipStage(count: 10), LimitStage(count: count)] as [any PlannedStage]
    #expect(try run.ids(window, Self.rows) == Self.numbers(10..<min(10 + count, 200)))
  }

  @Test("limit stops at the batch that fills it, and drops what still comes") func stops() throws {
    var schema = RecordSchema(columns: nil)
    guard case .ordered(let stage) = try LimitStage(count: 5).bind(&schema, .forTests())[0] else {
      Issue.record("no ordered step")
      return
    }
    func batch() -> RecordBatch { .make([[1], [2], [3]], slotCount: 1) }
    let outcomes = try (0..<3).map { _ in try stage.process(batch()) }
    #expect(outcomes.map { if case .passAndStop = $0 { true } else { false } } == [false, true, true])
    #expect(stage.tally == StageTally(dropped: 4))
  }

  @Test("a share of records is the same for any batches and about as large as asked", arguments: [0.0, 0.1, 0.5, 1.0])
  func share(_ share: Double) throws {
    let rows: [[TestValue]] = (0..<4000).map { [.number("\($0)")] }
    let all = try StageRun(names: ["id"], batchSizes: 500).ids([SampleStage(.share(share))], rows)
    #expect(try StageRun(names: ["id"], batchSizes: 3, seed: 9).ids([SampleStage(.share(share))], rows) == all)
    #expect(abs(Double(all.count) - share * 4000) <= (share == 0 || share == 1 ? 0 : 150))
    var settings = StageSettings()
    settings.seed = 1
    let other = try StageRun(names: ["id"], settings: settings).ids([SampleStage(.share(share))], rows)
    #expect((other == all) == (share == 0 || share == 1))
  }

  @Test("a number of records: exactly so many, in order, whatever batches and memory", arguments: [0, 1, 20, 150, 199, 200, 300])
  func number(_ count: Int) throws {
    let first = try StageRun(names: ["id"]).ids([SampleStage(.count(count))], Self.rows)
    #expect(first.count == min(count, 200))
    let numbers = first.map { Int(SortTests.text($0)!)! }
    #expect(numbers == numbers.sorted() && Set(numbers).count == numbers.count)
    for (batchSizes, memory) in [(1, 32 << 20), (77, 4000), (200, 1500), (5, 1500)] {
      let run = StageRun(names: ["id"], batchSizes: batchSizes, memory: memory)
      #expect(try run.ids([SampleStage(.count(count))], Self.rows) == first)
      #expect(run.spill.filesInUse == 0)
    }
  }

  @Test("every record is as likely as any other to be sampled") func uniform() throws {
    var hits = [Int](repeating: 0, count: 40)
    for seed in 0..<600 {
      var settings = StageSettings()
      settings.seed = UInt64(seed)
      for id in try StageRun(names: ["id"], settings: settings).ids([SampleStage(.count(10))], Array(Self.rows.prefix(40))) {
        hits[Int(SortTests.text(id)!)!] += 1
      }
    }
    // 150 expected, standard deviation 10.6: five of them.
    #expect(hits.allSatisfy { abs($0 - 150) < 53 })
  }

  @Test("tee hands over what passes, and passes it on") func tee() throws {
    let run = StageRun(names: ["id"])
    #expect(try run.ids([SkipStage(count: 2), TeeStage(path: "x.ndjson"), SkipStage(count: 3)], Self.rows) == Self.numbers(5..<200))
    #expect(run.side.records.withLock { $0.map { $0[0] } } == Self.numbers(2..<200))
  }

  @Test("refuses what it does not understand", arguments: [["x"], ["-1"], [], ["1", "2"], ["1.5"]])
  func refuses(_ words: [String]) {
    #expect(throws: OhanaError.self) { try LimitStage.parse(arguments: words) }
    #expect(throws: OhanaError.self) { try SkipStage.parse(arguments: words) }
    #expect(throws: OhanaError.self) { try SampleStage.parse(arguments: words + (words.isEmpty ? [] : ["%%"])) }
  }

  @Test("understands percentages", arguments: [("2.5%", 0.025), ("100%", 1), ("0%", 0)])
  func percentages(_ text: String, _ share: Double) throws {
    #expect(try SampleStage.parse(arguments: [text]).size == .share(share))
    #expect(throws: OhanaError.self) { try SampleStage.parse(arguments: ["101%"]) }
  }
}
