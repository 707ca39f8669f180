import OhanaCore
import OhanaEngine
import Testing

/// Hands out `count` records, one per batch, numbered in their bytes.
private final class Numbers: BatchSource {
  private let next = Locked(0)
  private let count: Int
  let failsAt: Int?
  init(_ count: Int, failsAt: Int? = nil) {
    self.count = count
    self.failsAt = failsAt
  }
  func next(into batch: RecordBatch) throws -> Bool {
    let number = next.withLock { next in
      defer { next += 1 }
      return next
    }
    guard number < count else { return false }
    if number == failsAt { throw OhanaError(.io, "test", "source broke") }
    batch.arena.append(string: "\(number)")
    batch.select(batch.appendRecord(RecordSpan(offset: 0, length: UInt32(batch.arena.count))))
    return true
  }
}

/// Busy for a time that depends on the record, so that batches overtake each other.
private struct Dawdle: RowStage {
  func process(_ batch: RecordBatch) throws -> StageTally {
    for record in 0..<batch.selectedCount where batch.bytes(ofRecord: record).last == UInt8(ascii: "7") { usleep(200) }
    return StageTally()
  }
}

private final class Collect: OrderedStage {
  private let collected = Locked<[String]>([])
  let isLast: Bool
  let stopsAfter: Int?
  init(isLast: Bool = true, stopsAfter: Int? = nil) {
    self.isLast = isLast
    self.stopsAfter = stopsAfter
  }
  var values: [String] { collected.withLock { $0 } }
  func process(_ batch: RecordBatch) throws -> OrderedOutcome {
    collected.withLock { collected in
      for index in 0..<batch.selectedCount {
        collected.append(String(decoding: batch.bytes(ofRecord: Int(batch.selection[index])), as: UTF8.self))
      }
      return isLast ? .consumed : collected.count == stopsAfter ? .passAndStop : .pass
    }
  }
  func finish() throws -> (any BatchSource)? { nil }
  var tally: StageTally { StageTally() }
}

@Suite("Pipeline runner") struct PipelineRunnerTests {
  @Test("order is kept for any number of threads and batches", arguments: [1, 2, 8], [1, 3, 16])
  func keepsOrder(threads: Int, batches: Int) async throws {
    let sink = Collect()
    let middle = (0..<62).map { _ in Pipeline.Step(.ordered(Collect(isLast: false)), stopsReading: false) }
    let pipeline = Pipeline(
      source: Numbers(300), steps: [.init(.row(Dawdle()))] + middle + [.init(.row(Dawdle())), .init(.ordered(sink))], slotCount: 0)
    let counts = try await PipelineRunner(
      pipeline, batchCount: batches, batchBytes: 4096, scheduler: WorkScheduler(width: threads)
    ).run()
    #expect(sink.values == (0..<300).map(String.init))
    #expect(counts.batches == 300)
    #expect(counts.steps.first?.input == 300 && counts.steps.last?.input == 300)
  }

  @Test("comes to rest whenever it is asked to, and is not confused by being asked at rest", arguments: [1, 2, 8])
  func rests(threads: Int) async throws {
    let sink = Collect()
    let pipeline = Pipeline(source: Numbers(20_000), steps: [.init(.row(Dawdle())), .init(.ordered(sink))], slotCount: 0)
    let runner = PipelineRunner(pipeline, batchCount: 4, batchBytes: 1 << 16, scheduler: WorkScheduler(width: threads))
    let rests = Locked<[Int]>([])
    @Sendable func pause(_ left: Int) {
      runner.pause { isAtRest in
        guard isAtRest else { return }
        rests.withLock { $0.append(sink.values.count) }
        runner.pause { _ in Issue.record("it is at rest already") }
        runner.proceed()
        if left > 1 { pause(left - 1) }
      }
    }
    pause(5)
    let counts = try await runner.run()
    #expect(counts.batches == 20_000)
    #expect(rests.withLock { $0.count } == 5)
    #expect(rests.withLock { $0 == $0.sorted() })
  }

  @Test("the first error wins and the run ends", arguments: [1, 2, 8])
  func failsOnce(threads: Int) async throws {
    let pipeline = Pipeline(
      source: Numbers(300, failsAt: 77), steps: [.init(.row(Dawdle())), .init(.ordered(Collect()))], slotCount: 0)
    await #expect(throws: OhanaError.self) {
      try await PipelineRunner(pipeline, batchCount: 5, batchBytes: 4096, scheduler: WorkScheduler(width: threads)).run()
    }
  }

  @Test("an early stop ends the run with what was let through", arguments: [1, 2, 8])
  func stops(threads: Int) async throws {
    let sink = Collect()
    let pipeline = Pipeline(
      source: Numbers(1_000_000),
      steps: [
        .init(.row(Dawdle())), .init(.ordered(Collect(isLast: false, stopsAfter: 10)), stage: 0), .init(.row(Dawdle())),
        .init(.ordered(sink)),
      ], slotCount: 0)
    let counts = try await PipelineRunner(pipeline, batchCount: 5, batchBytes: 4096, scheduler: WorkScheduler(width: threads)).run()
    #expect(sink.values == (0..<10).map(String.init))
    #expect(counts.batches == 10 && counts.stoppedEarly)
  }

  @Test("a stop tells where: behind the record that filled it, in the order of the input", arguments: [1, 2, 8])
  func tellsOfStops(threads: Int) async throws {
    for (held, expected) in [(Held.nothing, [10]), (.withOrigins, [1010]), (.withoutOrigins, [])] as [(Held, [UInt64])] {
      let bounds = Locked<[UInt64]>([])
      var stop = Pipeline.Step(.ordered(Collect(isLast: false, stopsAfter: 10)), stage: 1)
      stop.onStop = { bound in bounds.withLock { $0.append(bound.ordinal) } }
      let pipeline = Pipeline(
        source: Numbers(30),
        steps: [.init(.row(Ordinals()), stopsReading: false), .init(.ordered(Holder(held)), stage: 0), stop, .init(.ordered(Collect()))],
        slotCount: 0)
      _ = try await PipelineRunner(pipeline, batchCount: 5, batchBytes: 4096, scheduler: WorkScheduler(width: threads)).run()
      #expect(bounds.withLock { $0 } == expected, "\(held)")
    }
  }
}

/// Numbers the batches of ``Numbers`` by what they hold.
private struct Ordinals: RowStage {
  func process(_ batch: RecordBatch) throws -> StageTally {
    batch.firstOrdinal = Int(String(decoding: batch.bytes(ofRecord: 0), as: UTF8.self))!
    return StageTally()
  }
}

private enum Held { case nothing, withOrigins, withoutOrigins }

/// Passes its batches on, or takes them all and gives other records at the end, with origins a thousand further on, or with none.
private final class Holder: OrderedStage {
  private let held: Held
  init(_ held: Held) { self.held = held }
  func process(_ batch: RecordBatch) throws -> OrderedOutcome { held == .nothing ? .pass : .consumed }
  func finish() throws -> (any BatchSource)? { held == .nothing ? nil : HeldNumbers(hasOrigins: held == .withOrigins) }
  var tally: StageTally { held == .nothing ? StageTally() : StageTally(dropped: 30, made: 30) }
}

private final class HeldNumbers: BatchSource {
  private let numbers = Numbers(30)
  private let hasOrigins: Bool
  init(hasOrigins: Bool) { self.hasOrigins = hasOrigins }
  func next(into batch: RecordBatch) throws -> Bool {
    guard try numbers.next(into: batch) else { return false }
    if hasOrigins {
      batch.reserveOrigins(1, used: 0)
      batch.origins[0] = RecordOrigin(source: 0, ordinal: 1000 + UInt64(String(decoding: batch.bytes(ofRecord: 0), as: UTF8.self))!)
      batch.hasOrigins = true
    }
    return true
  }
}
