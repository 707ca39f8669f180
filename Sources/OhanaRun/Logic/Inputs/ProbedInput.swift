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
  var spooled: SpooledInput?
  /// It may have to be waited for: a pipe, a program, what a provider gives.
  var isLive = false
  /// Ends a wait for its next bytes, from any thread.
  var interrupt: (@Sendable () -> Void)?
  /// A run can be gone on with from within it; known where `--resume` asks for that.
  var isResumable = true
  /// There is no byte in it, so it may pass for either format.
  var isEmpty = false
  /// Its name says another format than its text, which won.
  var isMisnamed = false
}

extension [ProbedInput] {
  /// Says that text overruled names, by the first such input.
  var misnamedNote: String? {
    let misnamed = filter(\.isMisnamed)
    guard let first = misnamed.first else { return nil }
    let others = misnamed.count > 1 ? " (and \(Quantity.grouped(misnamed.count - 1)) more)" : ""
    let (text, name): (RecordFormat, RecordFormat) = first.format == .csv ? (.csv, .ndjson) : (.ndjson, .csv)
    return "\(first.path)\(others): read as the \(text.rawValue.uppercased()) that its text is; --from \(name.rawValue) goes by the name"
  }
}
