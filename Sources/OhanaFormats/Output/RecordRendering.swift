public import OhanaCore

/// Writes the selected records of a batch to `batch.output` in a format's form and sets `batch.outputCount`. Row-local: the parallel
/// half of a writer; the ordered half moves the bytes on.
///
/// A renderer is made from a ``RecordLayout`` and the source's format, and never changes the batch's records or selection.
public protocol RecordRenderer: RowStage {}
