internal import OhanaCore
internal import OhanaFormats

/// An input that was looked at: what it is, and how it is read.
struct ProbedInput: Sendable {
  var path: FilePath
  var format: RecordFormat
  /// CSV only: dialect, columns, where the data begins.
  var header: CSVHeader?
  /// In bytes, on disk; nil for pipes.
  var size: Int?
  /// Pipes can be opened only once: the stream, with the bytes looked at still in it.
  var open: (any ByteStream)?
  /// Standard input that has to be read twice, put aside.
  var spooled: (any SpillFile)?
  /// There is no byte in it, so it may pass for either format.
  var isEmpty = false
}
