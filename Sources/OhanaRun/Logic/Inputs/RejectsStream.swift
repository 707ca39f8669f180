#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif
internal import OhanaCore
internal import OhanaFormats

/// The records that an earlier run wrote to `--rejects`, as the text they were: `--from rejects`.
///
/// All rejects of a file have to be of one format, dialect and header, which the first one tells.
final class RejectsStream: ByteStream, @unchecked Sendable {  // because one piece of work at a time uses it
  /// How the rejected records are to be read.
  struct Kind: Sendable, Equatable {
    var format: RecordFormat
    var delimiter: UInt8?
    var quote: UInt8?
    var escape: UInt8?
    var columns: [[UInt8]] = []
  }

  let kind: Kind
  private let path: FilePath
  private let stream: any ByteStream
  private let framer: NDJSONFramer
  private let parser: NDJSONParser
  private let batch = RecordBatch()
  private let text = ByteBuffer()
  private var taken = 0
  /// Lines in front of the batch.
  private var line = 0
  private static let fields = ["raw", "raw_base64", "format", "columns", "dialect.delimiter", "dialect.quote", "dialect.escape"]
  private enum Slot { static let raw = 0, base64 = 1, format = 2, columns = 3, delimiter = 4, quote = 5, escape = 6 }

  /// Reads the first rejects; an empty file holds NDJSON.
  ///
  /// - Throws: `badInput` for text that is no reject of ours.
  init(_ stream: any ByteStream, path: FilePath) throws {
    self.stream = stream
    self.path = path
    framer = NDJSONFramer(stream)
    let fields = Self.fields.enumerated().map { slot, name in
      RecordSchema.SourceField(name: FieldName(name), slot: slot, mustExist: false)
    }
    parser = NDJSONParser(fields: fields)
    let hasRecords = try Self.fill(batch, framer, parser, path: path)
    kind = hasRecords && batch.recordCount > 0 ? try Self.kind(of: 0, batch, path: path) : Kind(format: .ndjson)
    if hasRecords { try append() }
  }

  var inputBytesRead: Int { stream.inputBytesRead }
  var fault: OhanaError? { stream.fault }

  func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
    while taken == text.count {
      text.removeAll()
      taken = 0
      line += batch.lineCount
      guard try Self.fill(batch, framer, parser, path: path) else { return 0 }
      try append()
    }
    let count = min(buffer.count, text.count - taken)
    buffer.copyMemory(from: UnsafeRawBufferPointer(start: text.base + taken, count: count))
    taken += count
    return count
  }

  private static func fill(_ batch: RecordBatch, _ framer: NDJSONFramer, _ parser: NDJSONParser, path: FilePath) throws -> Bool {
    batch.recycle(limit: 1 << 20)
    batch.slotCount = fields.count
    guard try framer.next(into: batch) else { return false }
    _ = try parser.process(batch)
    if let reject = batch.rejects.first {
      throw OhanaError(
        .badInput, reject.reason.rawValue, at: .init(path, line: reject.line + 1, byte: reject.column),
        "this is no file of rejects: \(reject.detail)")
    }
    return true
  }

  private static func kind(of record: Int, _ batch: RecordBatch, path: FilePath) throws -> Kind {
    let scratch = ByteBuffer()
    func text(_ slot: Int) -> [UInt8] { Array(batch.text(of: batch.field(slot, of: record), scratch: scratch)) }
    switch text(Slot.format) {
    case Array("ndjson".utf8): return Kind(format: .ndjson)
    case Array("csv".utf8):
      var kind = Kind(format: .csv)
      kind.delimiter = text(Slot.delimiter).first
      kind.quote = text(Slot.quote).first
      kind.escape = text(Slot.escape).first
      let span = batch.field(Slot.columns, of: record)
      if span.kind == .array {
        var elements = JSONElements(of: span, in: batch.arena.base)
        while let element = elements.next() { kind.columns.append(Array(batch.text(of: element, scratch: scratch))) }
      }
      return kind
    default:
      throw OhanaError(
        .badInput, "no-rejects", at: .init(path), "this is no file of rejects: a record lacks its format", fix: "leave --from out")
    }
  }

  private func append() throws {
    let scratch = ByteBuffer()
    for record in 0..<batch.recordCount {
      guard try Self.kind(of: record, batch, path: path) == kind else {
        throw OhanaError(
          .badInput, "mixed-rejects", at: .init(path, line: line + record + 1),
          "the rejects come from inputs of different formats, dialects or headers",
          fix: "feed them back one source at a time")
      }
      let raw = batch.field(Slot.raw, of: record)
      let base64 = batch.field(Slot.base64, of: record)
      if raw.kind == .string {
        text.append(batch.text(of: raw, scratch: scratch))
      } else if base64.kind == .string, let data = Data(base64Encoded: Data(batch.text(of: base64, scratch: scratch))) {
        data.withUnsafeBytes { text.append($0.bindMemory(to: UInt8.self)) }
      } else {
        throw OhanaError(
          .badInput, "no-raw", at: .init(path, line: line + record + 1), "a record was too long to be kept when it was rejected",
          fix: "take this line out, and read the record from its source")
      }
      text.append(0x0a)
    }
  }
}
