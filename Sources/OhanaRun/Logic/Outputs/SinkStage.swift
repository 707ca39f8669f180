internal import OhanaCore
internal import OhanaEngine

/// The ordered half of a sink that is not ours: hands it one batch after the other.
final class SinkStage: DeferredStage {
  private struct State {
    var work: Task<Void, Never>?
    var isCancelled = false
  }
  private let sink: any RecordSink
  private let state = Locked(State())

  init(_ sink: any RecordSink) { self.sink = sink }

  func process(_ batch: RecordBatch, done: @escaping @Sendable (Result<OrderedOutcome, any Error>) -> Void) {
    guard batch.outputCount > 0 else { return done(.success(.consumed)) }
    let sink = self.sink
    state.withLock { state in
      let work = Task {
        do {
          try await Self.named { try await sink.write(RenderedRecords(batch)) }
          done(.success(.consumed))
        } catch { done(.failure(error)) }
      }
      state.work = work
      if state.isCancelled { work.cancel() }
    }
  }

  func process(_ batch: RecordBatch) throws -> OrderedOutcome { preconditionFailure("a sink's work ends later") }
  func finish() throws -> (any BatchSource)? { nil }
  var tally: StageTally { StageTally() }

  func cancel() {
    state.withLock { state in
      state.isCancelled = true
      state.work?.cancel()
    }
  }

  /// Errors that only the sink knows become ours.
  static func named<Value: Sendable>(_ body: @Sendable () async throws -> Value) async throws -> Value {
    do { return try await body() } catch let error as OhanaError { throw error } catch is CancellationError {
      throw OhanaError.cancelled
    } catch {
      throw OhanaError(.io, "sink-failed", "the sink failed: \(error)")
    }
  }
}
