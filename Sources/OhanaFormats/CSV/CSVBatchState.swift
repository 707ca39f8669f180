/// What the serial half of the reader tells the parallel half about a batch.
final class CSVBatchState: Sendable {
  /// A record that the kernels cannot read.
  struct Irregular: Sendable {
    /// Offsets in the arena: the record's first byte, behind its last cell, behind its line end (or, for a fault, its line).
    var start: Int
    var contentEnd: Int
    var next: Int
    var kind: CSVRecordScanner.Outcome.Kind
    var fault: Int
  }

  let header: CSVHeader
  /// Offset in the arena of the first record; before it are byte order mark, blank lines and header.
  let dataStart: Int
  /// Blank lines before `dataStart`.
  let blankLines: Int
  /// In order of place.
  let irregular: [Irregular]
  /// No kernel may be used: all records are the tolerant parser's.
  let isTolerant: Bool

  init(header: CSVHeader, dataStart: Int = 0, blankLines: Int = 0, irregular: [Irregular] = [], isTolerant: Bool) {
    self.header = header
    self.dataStart = dataStart
    self.blankLines = blankLines
    self.irregular = irregular
    self.isTolerant = isTolerant
  }
}
