package import OhanaCore

/// A CSV input as the NDJSON that a conversion makes of it, for runs whose other inputs are NDJSON: a line for each record, with a member for
/// each cell, null where it is one.
///
/// A record that cannot be read becomes a line that is no object, with its text as a string, so that it is rejected and counted like one of
/// NDJSON; the first such record is an error where none is allowed.
package final class CSVAsNDJSONStream: ByteStream, @unchecked Sendable {  // because one piece of work at a time uses it
  private struct Reader {
    let source: any ByteStream
    let framer: CSVFramer
    let parser: CSVParser
    let renderer: NDJSONRenderer
    let slotCount: Int
  }

  private let header: CSVHeader
  private let path: FilePath
  private let memoryLimit: Int
  private let allowsRejects: Bool
  private let isPrompt: Bool
  private let open: @Sendable () throws -> any ByteStream
  private var reader: Reader?
  private let batch = RecordBatch()
  private let text = ByteBuffer()
  private var taken = 0
  private var line = 0
  private var failure: OhanaError?
  private var isOver = false

  private static let batchBytes = 256 << 10

  /// - Parameters:
  ///   - memoryLimit: bytes that a record may take.
  ///   - allowsRejects: a record that cannot be read is left to the reader behind; otherwise it is a fault of the stream.
  ///   - isPrompt: as ``CSVFramer`` has it.
  ///   - open: the text, where the header says that it is read from; called once, when the first byte is wanted.
  package init(
    header: CSVHeader, path: FilePath, memoryLimit: Int, allowsRejects: Bool, isPrompt: Bool = false,
    open: @escaping @Sendable () throws -> any ByteStream
  ) {
    self.header = header
    self.path = path
    self.memoryLimit = memoryLimit
    self.allowsRejects = allowsRejects
    self.isPrompt = isPrompt
    self.open = open
  }

  private func begin() throws -> Reader {
    if let reader { return reader }
    let source = try open()
    var schema = RecordSchema(columns: header.columns)
    try schema.makeExplicitIfColumnar()
    let reader = Reader(
      source: source,
      framer: CSVFramer(stream: source, header: header, batchBytes: Self.batchBytes, memoryLimit: memoryLimit, isPrompt: isPrompt),
      parser: CSVParser(fields: schema.sourceFields, slotCount: schema.slotCount, marksVerbatim: false),
      renderer: try NDJSONRenderer(layout: schema.layout, source: .columns), slotCount: schema.slotCount)
    self.reader = reader
    return reader
  }

  package var inputBytesRead: Int { reader?.source.inputBytesRead ?? 0 }
  package var fault: OhanaError? { failure ?? reader?.source.fault }

  package func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
    while taken == text.count {
      if isOver { return 0 }
      try fill()
    }
    let count = min(buffer.count, text.count - taken)
    buffer.copyMemory(from: UnsafeRawBufferPointer(start: text.base + taken, count: count))
    taken += count
    return count
  }

  private func fill() throws {
    let reader = try begin()
    text.recycle(limit: 1 << 20)
    taken = 0
    batch.recycle(limit: 1 << 20)
    batch.slotCount = reader.slotCount
    guard try reader.framer.next(into: batch) else {
      isOver = true
      return
    }
    _ = try reader.parser.process(batch)
    if let reject = batch.rejects.first, !allowsRejects {
      // What lies before it is whole, and is told of first.
      failure = OhanaError(
        .badInput, reject.reason.rawValue, at: .init(path, line: line + reject.line + 1, byte: reject.column), reject.detail,
        fix: "--max-rejects N lets the run go on without such records, --rejects FILE keeps them")
      isOver = true
      _ = batch.filterSelection { $0 < reject.before }
      batch.rejects = []
    }
    line += batch.lineCount
    _ = try reader.renderer.process(batch)
    appendLines()
  }

  /// The records' lines, with those of what could not be read between them.
  private func appendLines() {
    if batch.rejects.isEmpty { return text.append(batch.output.bytes) }
    var start = 0
    var record = 0
    func append(upTo end: Int) {
      let from = start
      while record < end, start < batch.output.count {
        let rest = batch.output.bytes[start...]
        start = (rest.firstIndex(of: 0x0a) ?? batch.output.count - 1) + 1
        record += 1
      }
      text.append(batch.output.base + from, count: start - from)
    }
    for reject in batch.rejects {
      append(upTo: reject.before)
      let raw = String(decoding: reject.raw ?? [], as: UTF8.self)
      Array(raw.utf8).withUnsafeBufferPointer { JSONEscaping.appendQuoted($0, to: text) }
      text.append(0x0a)
    }
    append(upTo: .max)
  }
}
