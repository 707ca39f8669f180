internal import OhanaCore
internal import OhanaFormats

/// One output of a run, the main one or one beside it. Written by one ordered step, finished when the pipeline is at rest.
final class RunOutput: @unchecked Sendable {  // because one ordered step writes it, and others look only when the pipeline is at rest
  enum Role: String, Sendable { case main, tee, duplicates, rejects }
  private enum Place { case file(OutputFile), chunks(ChunkedOutput) }

  let sink: SinkPlan
  let role: Role
  private(set) var records = 0
  private(set) var bytes = 0
  /// What a file begins with, known at the latest when its first record is written.
  private let header: @Sendable () -> [UInt8]
  private var hasHeader = false
  private var place: Place

  init(_ sink: SinkPlan, role: Role, file: OutputFile, header: @escaping @Sendable () -> [UInt8]) {
    self.sink = sink
    self.role = role
    self.header = header
    place = .file(file)
  }

  init(_ sink: SinkPlan, role: Role, chunks: ChunkedOutput) {
    self.sink = sink
    self.role = role
    header = { [] }
    place = .chunks(chunks)
  }

  /// Moves the batch's rendered records on.
  func write(_ batch: RecordBatch) throws { try write(batch.output.bytes, records: batch.outputCount) }

  func write(_ text: UnsafeBufferPointer<UInt8>, records count: Int) throws {
    guard count > 0 else { return }
    try writeHeader()
    records += count
    bytes += text.count
    switch place {
    case .file(let file): try file.write(text)
    case .chunks(let chunks):
      let isCSV = sink.format == .csv
      try chunks.write(text, records: count) { text, records in RecordEnds.length(of: records, in: text, isCSV: isCSV) }
    }
  }

  /// Behind the last record: an output without records still has its header.
  func end() throws { try writeHeader() }

  private func writeHeader() throws {
    guard !hasHeader else { return }
    hasHeader = true
    guard case .file(let file) = place else { return }
    let text = header()
    bytes += text.count
    if !text.isEmpty { try text.withUnsafeBufferPointer { bytes throws(OhanaError) in try file.write(bytes) } }
  }

  // MARK: When the pipeline is at rest

  /// Brings the last byte to disk. Nothing appears yet.
  func finish() async throws {
    switch place {
    case .chunks(let chunks): try chunks.finish()
    case .file(let file):
      let error = await withCheckedContinuation { continuation in file.finish { continuation.resume(returning: $0) } }
      if let error { throw error }
    }
  }

  /// What is to be published.
  func targets() throws -> [OutputTarget] {
    switch place {
    case .file(let file): [file.target]
    case .chunks(let chunks): try chunks.targets()
    }
  }

  /// Puts another file in the place of the finished one, which is thrown away.
  func replace(with file: OutputFile) {
    discard()
    place = .file(file)
  }

  func discard() {
    switch place {
    case .file(let file): file.discard()
    case .chunks(let chunks): chunks.discard()
    }
  }

  var name: FilePath {
    switch place {
    case .file(let file): file.path
    case .chunks(let chunks): chunks.paths.first ?? "-"
    }
  }
}

/// Where records end in text of our own writing.
enum RecordEnds {
  /// Bytes that the first `records` records of `text` take.
  static func length(of records: Int, in text: UnsafeBufferPointer<UInt8>, isCSV: Bool) -> Int {
    var left = records
    var isQuoted = false
    for (index, byte) in text.enumerated() {
      if byte == UInt8(ascii: "\"") {
        isQuoted.toggle()
      } else if byte == 0x0a, !isCSV || !isQuoted {
        left -= 1
        if left == 0 { return index + 1 }
      }
    }
    return text.count
  }
}
