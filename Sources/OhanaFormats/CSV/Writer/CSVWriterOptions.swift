/// How CSV is written. The defaults are RFC 4180 with LF: comma, quotes only where needed, a header, no byte order mark.
public struct CSVWriterOptions: Sendable, Equatable {
  /// Between cells; one ASCII character.
  public var delimiter: UInt8
  /// Quote every cell that is not null.
  public var quotesAll = false
  /// End records with CR LF.
  public var endsWithCRLF = false
  /// Each file begins with U+FEFF, for programs that tell UTF-8 by it.
  public var hasByteOrderMark = false
  /// Each file begins with the names of the columns.
  public var hasHeader = true

  /// - Parameter delimiter: one ASCII character, neither quote nor line end.
  public init(delimiter: UInt8 = UInt8(ascii: ",")) { self.delimiter = delimiter }

  /// A record's own bytes may be its output, as far as these options go.
  public var passesOwnBytes: Bool { delimiter == UInt8(ascii: ",") && !quotesAll && !endsWithCRLF }

  /// What a file begins with: byte order mark and header.
  public func fileHead(_ columns: [[UInt8]]) -> [UInt8] {
    var bytes: [UInt8] = hasByteOrderMark ? [0xef, 0xbb, 0xbf] : []
    guard hasHeader, !columns.isEmpty else { return bytes }
    for (index, column) in columns.enumerated() {
      if index > 0 { bytes.append(delimiter) }
      // A name that begins like a byte order mark would lose it when it is read again; one that is empty might be a blank line.
      let mustQuote =
        quotesAll || column.isEmpty || column.starts(with: [0xef, 0xbb, 0xbf])
        || column.contains { $0 == delimiter || $0 == 0x22 || $0 == 0x0a || $0 == 0x0d }
      if !mustQuote {
        bytes += column
        continue
      }
      bytes.append(0x22)
      for byte in column { bytes += byte == 0x22 ? [0x22, 0x22] : [byte] }
      bytes.append(0x22)
    }
    return bytes + (endsWithCRLF ? [0x0d, 0x0a] : [0x0a])
  }
}
