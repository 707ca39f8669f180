/// Takes the records that a run gives out, in place of a file: an extension point.
///
/// Called in stream order, one call at a time, once per batch. While a call is under way the run goes on until its batches are all in use; it
/// then waits, without holding a thread. So a slow sink slows the run down and never makes it swell.
public protocol RecordSink: AnyObject, Sendable {
  /// Called once, before the first record.
  ///
  /// - Parameter sources: names of the inputs; ``RenderedRecords/origin(of:)`` counts in them.
  func begin(sources: [FilePath]) async throws
  /// Takes the next records.
  ///
  /// - Throws: anything, which ends the run; an error that is no ``OhanaError`` is told as `sink-failed`.
  func write(_ records: RenderedRecords) async throws
  /// Called once behind the last record, when the books balance and the run is about to be published; what it throws still fails it.
  ///
  /// The task of any of these is cancelled if the run is.
  func finish() async throws
  /// The run has failed: nothing of what was written counts. Called at most once; behind `finish` only where that has thrown, or an output
  /// beside the sink could not be published.
  func abort() async
}

extension RecordSink {
  public func begin(sources: [FilePath]) async throws {}
  public func finish() async throws {}
  public func abort() async {}
}

/// Records in the form of NDJSON: one JSON object on each line, a line feed behind each. Lent to a sink for one call.
public struct RenderedRecords: Sendable {
  private let batch: RecordBatch

  package init(_ batch: RecordBatch) { self.batch = batch }

  /// Records.
  public var count: Int { batch.outputCount }
  /// Of the text.
  public var byteCount: Int { batch.output.count }

  /// Lends the text. It must not be used behind the call.
  public func withText<R, E: Error>(_ body: (UnsafeBufferPointer<UInt8>) throws(E) -> R) throws(E) -> R { try body(batch.output.bytes) }

  /// Where the record on line `index` was read. - Precondition: `index` is in `0 ..< count`.
  public func origin(of index: Int) -> RecordOrigin {
    precondition(index >= 0 && index < batch.selectedCount, "there is no record \(index)")
    return batch.origin(of: Int(batch.selection[index]))
  }
}
