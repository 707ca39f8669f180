public import OhanaCore

/// Brings rows that were written before all columns were known to the full width: the second pass over an output.
///
/// A row that was written provisionally has an empty cell for null even where it is the only one; if there is only one column in the end,
/// it becomes `""` here. Bytes come in order, in pieces of any size; records are told by line ends outside quotes, which is right for text of our own writer.
public struct CSVPadder {
  /// So many records in a row were written with so many columns.
  public struct Stretch: Sendable, Equatable {
    public var records: Int
    public var width: Int
    public init(records: Int, width: Int) { (self.records, self.width) = (records, width) }
  }

  private let options: CSVWriterOptions
  private let fullWidth: Int
  private var stretches: ArraySlice<Stretch>
  private var isQuoted = false
  private var left: Int
  /// Nothing of the row has been seen.
  private var isEmpty = true

  /// - Parameter stretches: of all records that will come, in order.
  public init(_ stretches: [Stretch], fullWidth: Int, options: CSVWriterOptions) {
    self.options = options
    self.fullWidth = fullWidth
    self.stretches = stretches.filter { $0.records > 0 }[...]
    left = self.stretches.first?.records ?? 0
  }

  /// Whether rows of these stretches need a second pass at all.
  public static func isNeeded(_ stretches: [Stretch], fullWidth: Int) -> Bool {
    fullWidth == 1 || stretches.contains { $0.records > 0 && $0.width < fullWidth }
  }

  /// Appends `text` with the missing delimiters to `out`.
  public mutating func pad(_ text: UnsafeBufferPointer<UInt8>, to out: ByteBuffer) {
    for byte in text {
      if byte == UInt8(ascii: "\"") {
        isQuoted.toggle()
      } else if !isQuoted, byte == 0x0d, options.endsWithCRLF {
        continue  // written with its LF
      } else if !isQuoted, byte == 0x0a {
        endRecord(out)
        continue
      }
      out.append(byte)
      isEmpty = false
    }
  }

  private mutating func endRecord(_ out: ByteBuffer) {
    if let stretch = stretches.first {
      for _ in stretch.width..<max(fullWidth, stretch.width) { out.append(options.delimiter) }
      left -= 1
      if left == 0 {
        stretches.removeFirst()
        left = stretches.first?.records ?? 0
      }
    }
    if fullWidth == 1, isEmpty { out.append("\"\"") }
    if options.endsWithCRLF { out.append(0x0d) }
    out.append(0x0a)
    isEmpty = true
  }
}
