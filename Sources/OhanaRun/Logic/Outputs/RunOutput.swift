internal import OhanaCore
internal import OhanaFormats

/// One output of a run, the main one or one beside it. Written by one ordered step, finished when the pipeline is at rest.
final class RunOutput: @unchecked Sendable {  // because one ordered step writes it, and others look only when the pipeline is at rest
  enum Role: String, Sendable { case main, tee, duplicates, rejects, truth }
  private enum Place { case file(OutputFile), chunks(ChunkedOutput) }

  let sink: SinkPlan
  let role: Role
  /// The columns of CSV that grow while it is written.
  var table: CSVColumnTable?
  private(set) var records = 0
  private(set) var bytes = 0
  /// CSV whose columns grew while it was written: how many rows have how many cells.
  private(set) var stretches: [CSVPadder.Stretch] = []
  /// What a file begins with, known at the latest when its first record is written.
  private let header: @Sendable () throws -> [UInt8]
  private var hasHeader = false
  private var writtenHeader: [UInt8] = []
  private var place: Place
  /// What was written before its rows got their full width: a checkpoint may refer to it.
  private var replaced: OutputTarget?
  private var isFinished = false

  init(_ sink: SinkPlan, role: Role, file: OutputFile, header: @escaping @Sendable () throws -> [UInt8]) {
    self.sink = sink
    self.role = role
    self.header = header
    place = .file(file)
  }

  init(_ sink: SinkPlan, role: Role, chunks: ChunkedOutput, header: @escaping @Sendable () throws -> [UInt8]) {
    self.sink = sink
    self.role = role
    self.header = header
    place = .chunks(chunks)
  }

  /// Moves the batch's rendered records on.
  func write(_ batch: RecordBatch) throws {
    if table != nil, batch.outputCount > 0 {
      if stretches.last?.width == batch.outputWidth {
        stretches[stretches.count - 1].records += batch.outputCount
      } else {
        stretches.append(.init(records: batch.outputCount, width: batch.outputWidth))
      }
    }
    try write(batch.output.bytes, records: batch.outputCount)
  }

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

  /// What follows goes to the next chunk, however many records are in this one.
  func beginChunk() throws {
    guard case .chunks(let chunks) = place else { preconditionFailure("only chunked outputs have a next chunk") }
    try chunks.beginNext()
  }

  /// Behind the last record: an output without records still has its header.
  func end() throws { try writeHeader() }

  private func writeHeader() throws {
    guard !hasHeader else { return }
    hasHeader = true
    guard case .file(let file) = place else { return }
    let text = try header()
    bytes += text.count
    writtenHeader = text
    if !text.isEmpty { try text.withUnsafeBufferPointer { bytes throws(OhanaError) in try file.write(bytes) } }
  }

  // MARK: When the pipeline is at rest

  var canCheckpoint: Bool {
    switch place {
    case .file(let file): file.canCheckpoint
    case .chunks(let chunks): chunks.canCheckpoint
    }
  }

  func save(to writer: CheckpointWriter) throws {
    for number in [records, bytes, stretches.count] { try writer.put(number) }
    try writer.put(writtenHeader)
    for stretch in stretches {
      try writer.put(stretch.records)
      try writer.put(stretch.width)
    }
    try writer.put(hasHeader)
    switch place {
    case .file(let file): try file.save(to: writer)
    case .chunks(let chunks): try chunks.save(to: writer)
    }
  }

  func restore(from reader: CheckpointReader) throws {
    records = try reader.count()
    bytes = try reader.count()
    let count = try reader.count()
    writtenHeader = try reader.bytes()
    for _ in 0..<count { stretches.append(.init(records: try reader.count(), width: try reader.count())) }
    hasHeader = try reader.bool()
    switch place {
    case .file(let file): try file.restore(from: reader)
    case .chunks(let chunks): try chunks.restore(from: reader)
    }
  }

  /// Of all files made so far, finished or not.
  var openTargets: [OutputTarget] {
    switch place {
    case .file(let file): [file.target] + (replaced.map { [$0] } ?? [])
    case .chunks(let chunks): chunks.allTargets
    }
  }

  /// Brings the last byte to disk, unless that is done. Nothing appears yet.
  func finish() async throws {
    guard !isFinished else { return }
    isFinished = true
    switch place {
    case .chunks(let chunks): try chunks.finish()
    case .file(let file):
      let error = await withCheckedContinuation { continuation in file.finish { continuation.resume(returning: $0) } }
      if let error { throw error }
    }
  }

  /// Brings rows, and a header, written before it was known which columns there are to the full width: reads the finished file and writes
  /// another in its place.
  ///
  /// - Parameters:
  ///   - head: what the file begins with now.
  ///   - open: makes the other file.
  func widen(to width: Int, head: [UInt8], options: CSVWriterOptions, useZlib: Bool, open: () throws -> OutputFile) async throws {
    guard CSVPadder.isNeeded(stretches, fullWidth: width) || head != writtenHeader, case .file(let old) = place,
      let finished = old.target.temporaryPath
    else { return }
    let stream = try openByteStream(finished, codec: useZlib ? .zlib : .fast).stream
    let file = try open()
    do {
      try head.withUnsafeBufferPointer { bytes throws(OhanaError) in try file.write(bytes) }
      var padder = CSVPadder(stretches, fullWidth: width, options: options)
      let text = ByteBuffer(capacity: 1 << 18)
      let out = ByteBuffer(capacity: 1 << 19)
      var toSkip = writtenHeader.count
      bytes = head.count
      while true {
        let count = try stream.read(into: UnsafeMutableRawBufferPointer(start: text.base, count: text.capacity))
        if count == 0 { break }
        let skipped = min(toSkip, count)
        toSkip -= skipped
        out.removeAll()
        padder.pad(UnsafeBufferPointer(start: text.base + skipped, count: count - skipped), to: out)
        bytes += out.count
        try file.write(out.bytes)
      }
    } catch {
      file.discard()
      throw error
    }
    replace(with: file, old)
    isFinished = false
    try await finish()
  }

  /// Puts another file in the place of the finished one, which stays as long as the run may have to be gone on with.
  private func replace(with file: OutputFile, _ old: OutputFile) {
    replaced = old.target
    place = .file(file)
  }

  /// All its files, when it is finished.
  func files() throws -> [FinishedFile] {
    switch place {
    case .file(let file): [FinishedFile(target: file.target, role: role.rawValue, records: records)]
    case .chunks(let chunks):
      zip(try chunks.targets(), chunks.recordCounts).map { FinishedFile(target: $0, role: role.rawValue, records: $1) }
    }
  }

  /// A row for each file, when it is finished.
  var books: [RunBooks.Output] {
    guard case .chunks(let chunks) = place else {
      return [.init(name: name.description, records: records, bytes: bytes, role: role.rawValue)]
    }
    let head = (try? header().count) ?? 0
    return zip(chunks.paths, zip(chunks.recordCounts, chunks.byteCounts)).map { path, counts in
      .init(name: path.description, records: counts.0, bytes: counts.1 + head, role: role.rawValue)
    }
  }

  /// Chunks of an earlier set behind the last one.
  func surplus() throws -> [PendingRemoval] {
    if case .chunks(let chunks) = place { try chunks.surplus() } else { [] }
  }

  func discard() {
    replaced?.discard()
    switch place {
    case .file(let file): file.discard()
    case .chunks(let chunks): chunks.discard()
    }
  }

  /// Leaves what a checkpoint names, and nothing else.
  func leave() {
    replaced?.leave()
    switch place {
    case .file(let file): file.leave()
    case .chunks(let chunks): chunks.leave()
    }
  }

  var name: FilePath {
    switch place {
    case .file(let file): file.path
    case .chunks(let chunks): chunks.paths.first ?? "-"
    }
  }
}

/// A file that is complete but for its name.
struct FinishedFile: Sendable {
  let target: OutputTarget
  let role: String
  let records: Int
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
