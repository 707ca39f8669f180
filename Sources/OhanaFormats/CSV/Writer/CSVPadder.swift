public import OhanaCore

/// Brings rows that were written before all columns were known to the full width: the second pass over an output.
///
/// A row that was written provisionally is a blank line where its only cell is null; if there is only one column in the end, it becomes
/// `""` here. Bytes come in order, in pieces of any size; rows are told by line ends outside quotes, which is right for text of our own
/// writer. Rows of full width are copied as they are.
public struct CSVPadder {
  /// So many records in a row were written with so many columns.
  public struct Stretch: Sendable, Equatable {
    /// Records of this width.
    public var records: Int
    public var width: Int
    /// - Parameter width: in columns.
    public init(records: Int, width: Int) { (self.records, self.width) = (records, width) }
  }

  private let options: CSVWriterOptions
  private let fullWidth: Int
  private var stretches: ArraySlice<Stretch>
  private var isQuoted = false
  /// Records left of the first stretch.
  private var left: Int
  /// Nothing of the row has been seen.
  private var isEmpty = true
  /// The byte before is a CR that waits for its LF.
  private var holdsCR = false

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
    guard let base = text.baseAddress else { return }
    var start = 0
    var at = 0
    while at < text.count {
      if fullWidth != 1, stretches.count == 1, stretches.first!.width >= fullWidth, !isQuoted, !holdsCR {
        break  // nothing more to do: widths never shrink
      }
      let byte = base[at]
      at += 1
      if byte == 0x22 { isQuoted.toggle() }
      if isQuoted || byte != 0x0a {
        if byte == 0x0d, !isQuoted, options.endsWithCRLF {
          out.append(base + start, count: at - 1 - start)
          start = at
          holdsCR = true
        } else {
          isEmpty = false
        }
        continue
      }
      out.append(base + start, count: max(0, at - 1 - start))
      start = at
      endRecord(out)
    }
    out.append(base + start, count: text.count - start)
  }

  private mutating func endRecord(_ out: ByteBuffer) {
    if let stretch = stretches.first {
      // A row of no columns yet has as many delimiters as one of a single column.
      for _ in 0..<max(0, fullWidth - max(stretch.width, 1)) { out.append(options.delimiter) }
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
    holdsCR = false
  }
}
