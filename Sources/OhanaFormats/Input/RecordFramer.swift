public import OhanaCore

/// Cuts one input into batches of whole records. The serial half of a reader; the row-local half is a ``RowStage``.
public protocol RecordFramer: AnyObject, Sendable {
  /// Fills an empty batch with the bytes of whole records (about 1 MiB, more only for a longer record) and sets `firstByte`,
  /// `inputBytesRead`, `readerState`; `source` is set by the caller. Returns false at the end of the input.
  func next(into batch: RecordBatch) throws -> Bool
}
