internal import OhanaCore

/// How CSV is written. The defaults are RFC 4180 with LF: comma, quotes only where needed, a header, no byte order mark.
public struct CSVWriterOptions: Sendable, Equatable {
  public var delimiter: UInt8
  /// Quote every cell that is not null.
  public var quotesAll = false
  /// End records with CR LF.
  public var endsWithCRLF = false
  public var hasByteOrderMark = false
  public var hasHeader = true

  public init(delimiter: UInt8 = UInt8(ascii: ",")) { self.delimiter = delimiter }

  /// What a file begins with: byte order mark and header.
  public func fileHead(_ columns: [[UInt8]]) -> [UInt8] {
    let out = ByteBuffer()
    if hasByteOrderMark { for byte in [0xef, 0xbb, 0xbf] as [UInt8] { out.append(byte) } }
    if hasHeader, !columns.isEmpty {
      var cells = CSVCellWriter(self, columnCount: columns.count, cursor: OutputCursor(out))
      let name = ByteBuffer()
      for (index, column) in columns.enumerated() {
        name.removeAll()
        column.withUnsafeBufferPointer { name.append($0) }
        cells.beginCell(index)
        cells.text(name.base, name.count)
      }
      cells.endRecord()
      cells.cursor.finish()
    }
    return Array(out.bytes)
  }
}
