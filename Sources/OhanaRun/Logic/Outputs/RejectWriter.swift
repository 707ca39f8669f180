#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif
internal import OhanaCore
internal import OhanaFormats
internal import Synchronization

/// Writes rejects as NDJSON: `source`, `line`, `byte` (offset of the record in the decompressed input), `column` (1-based, of the byte at
/// fault), `reason`, `detail`, `length`, and `raw` or, where it is no UTF-8, `raw_base64`; then `format`, and for CSV `dialect` and `columns`.
/// With these, `--from rejects` can read the records again.
final class RejectWriter: @unchecked Sendable {  // because one ordered step uses it
  private let output: RunOutput
  private let text = ByteBuffer()

  init(_ output: RunOutput) { self.output = output }

  func write(_ source: FilePath, _ batch: RecordBatch, _ reject: Reject, header: CSVHeader?) throws {
    text.removeAll()
    text.append("{\"source\":")
    append(string: source.description)
    text.append(
      string: ",\"line\":\(batch.firstLine + reject.line + 1),\"byte\":\(batch.firstByte + reject.offset),\"column\":\(reject.column)")
    text.append(string: ",\"reason\":\"\(reject.reason.rawValue)\",\"detail\":")
    append(string: reject.detail)
    text.append(string: ",\"length\":\(reject.length)")
    if let raw = reject.raw {
      if String(validating: raw, as: UTF8.self) != nil {
        text.append(",\"raw\":")
        raw.withUnsafeBufferPointer { JSONEscaping.appendQuoted($0, to: text) }
      } else {
        text.append(string: ",\"raw_base64\":\"" + Data(raw).base64EncodedString() + "\"")
      }
    }
    if let header {
      let dialect = header.dialect
      text.append(",\"format\":\"csv\",\"dialect\":{\"delimiter\":")
      append(string: dialect.delimiter.map { String(UnicodeScalar($0)) } ?? ",")
      text.append(",\"quote\":")
      append(string: dialect.quote.map { String(UnicodeScalar($0)) } ?? "")
      text.append(",\"escape\":")
      append(string: dialect.escape.map { String(UnicodeScalar($0)) } ?? "")
      text.append("},\"columns\":[")
      for (index, column) in header.columns.enumerated() {
        if index > 0 { text.append(UInt8(ascii: ",")) }
        column.withUnsafeBufferPointer { JSONEscaping.appendQuoted($0, to: text) }
      }
      text.append("]")
    } else {
      text.append(",\"format\":\"ndjson\"")
    }
    text.append("}\n")
    try output.write(text.bytes, records: 1)
  }

  private func append(string: String) {
    var string = string
    string.withUTF8 { JSONEscaping.appendQuoted($0, to: text) }
  }
}
