internal import CSimdJSON
internal import OhanaCore

/// Rejects with their places, made off the hot path.
enum CSVRejects {
  static let textAfterQuote = "text follows a closing quote"
  static let unclosedQuote = "the quote is never closed"

  /// - Parameters:
  ///   - start, contentEnd: the record in the arena; its line end is not part of it.
  ///   - fault: the byte at fault.
  ///   - line: of the record's first byte, from 0.
  static func make(
    _ reason: Reject.Reason, _ detail: String, _ batch: RecordBatch, _ scanner: CSVRecordScanner, start: Int, contentEnd: Int, fault: Int,
    line: Int
  ) -> Reject {
    let base = UnsafePointer(batch.arena.base)
    var lineStart = min(fault, batch.arena.count)
    while lineStart > 0, base[lineStart - 1] != 0x0a, base[lineStart - 1] != 0x0d || !scanner.endsWithCR { lineStart -= 1 }
    return Reject(
      reason: reason, detail: detail, line: line + scanner.countLines(base, from: start, to: max(start, fault)),
      column: fault - lineStart + 1,
      offset: start, length: contentEnd - start, raw: Array(UnsafeBufferPointer(start: base + start, count: contentEnd - start)),
      before: batch.recordCount)
  }
}
