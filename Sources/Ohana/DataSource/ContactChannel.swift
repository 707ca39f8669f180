internal import OhanaCore

/// Carries text of records from a run to whoever iterates, one batch at a time: the run waits, without a thread, until a batch has been taken.
final class ContactChannel: RecordSink {
  private enum End { case finished, failed(any Error), abandoned }
  private struct State {
    var sources: [String] = []
    /// nil where each record is one contact at most.
    var rows: RowNumbers?
    var chunk: ContactChunk?
    var end: End?
    /// Waits for room.
    var sender: CheckedContinuation<Void, any Error>?
    /// Waits for a chunk.
    var taker: CheckedContinuation<ContactChunk?, any Error>?
  }
  private let state: Locked<State>

  init(_ rows: RowNumbers?) { state = Locked(State(rows: rows)) }

  // MARK: The run's side

  func begin(sources: [FilePath]) async throws { state.withLock { $0.sources = sources.map(\.description) } }

  func write(_ records: RenderedRecords) async throws {
    let chunk = state.withLock { ContactChunk(records, sources: $0.sources, rows: &$0.rows) }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
        let action = state.withLock { state -> (() -> Void) in
          if state.end != nil { return { continuation.resume(throwing: CancellationError()) } }
          if let taker = state.taker {
            state.taker = nil
            return {
              taker.resume(returning: chunk)
              continuation.resume()
            }
          }
          if state.chunk == nil {
            state.chunk = chunk
            return { continuation.resume() }
          }
          return { preconditionFailure("a batch is sent when the one before it was taken") }
        }
        action()
      }
      // The next batch is made room for only when this one has been taken.
      try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
        let resumes = state.withLock { state -> Result<Void, any Error>? in
          if state.end != nil || Task.isCancelled { return .failure(CancellationError()) }
          if state.chunk == nil { return .success(()) }
          state.sender = continuation
          return nil
        }
        if let resumes { continuation.resume(with: resumes) }
      }
    } onCancel: {
      wakeSender()
    }
  }

  /// The run is over.
  func end(_ error: (any Error)?) {
    let taker = state.withLock { state in
      if state.end == nil { state.end = error.map { .failed($0) } ?? .finished }
      defer { state.taker = nil }
      return state.taker
    }
    if let error { taker?.resume(throwing: error) } else { taker?.resume(returning: nil) }
  }

  // MARK: The iterator's side

  /// The next batch; nil at the end.
  func next() async throws -> ContactChunk? {
    try await withCheckedThrowingContinuation { continuation in
      let action = state.withLock { state -> (() -> Void)? in
        if let chunk = state.chunk {
          state.chunk = nil
          let sender = state.sender
          state.sender = nil
          return {
            sender?.resume()
            continuation.resume(returning: chunk)
          }
        }
        switch state.end {
        case .finished, .abandoned: return { continuation.resume(returning: nil) }
        case .failed(let error): return { continuation.resume(throwing: error) }
        case nil:
          state.taker = continuation
          return nil
        }
      }
      action?()
    }
  }

  /// Nobody wants any more.
  func abandon() {
    state.withLock { state in
      if state.end == nil { state.end = .abandoned }
      state.chunk = nil
    }
    wakeSender()
  }

  private func wakeSender() {
    let sender = state.withLock { state in
      defer { state.sender = nil }
      return state.sender
    }
    sender?.resume(throwing: CancellationError())
  }
}
