public import OhanaCore

/// Brings rows that were written before it was known which columns there are to the full width: the second pass over an output.
///
/// Narrower rows get the delimiters they lack. Wider ones, written before a stage stopped reading, lose those at their end: the cells there
/// are of columns that no record written has, and empty. A row that was written provisionally is a blank line where its only cell is null;
/// if there is only one column in the end, it becomes `""` here.
///
/// Bytes come in order, in pieces of any size; rows are told by line ends outside quotes, which is right for text of our own writer. Rows
/// of full width are copied as they are. Memory: a number for each stretch.
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
  /// Delimiters that came last in a row too wide: it shows at the row's end whether they stay.
  private var held = 0

  /// - Parameter stretches: of all records that will come, in order.
  public init(_ stretches: [Stretch], fullWidth: Int, options: CSVWriterOptions) {
    self.options = options
    self.fullWidth = fullWidth
    self.stretches = stretches.filter { $0.records > 0 }[...]
    left = self.stretches.first?.records ?? 0
  }

  /// Whether rows of these stretches need a second pass at all.
  public static func isNeeded(_ stretches: [Stretch], fullWidth: Int) -> Bool {
    fullWidth == 1 || stretches.contains { $0.records > 0 && delimiters($0.width) != delimiters(fullWidth) }
  }

  /// Delimiters of a row. One without columns has as many as one with a single one.
  private static func delimiters(_ width: Int) -> Int { max(width, 1) - 1 }

  /// Delimiters that the row at hand lacks, or, below 0, has too many.
  private var lacking: Int { stretches.first.map { Self.delimiters(fullWidth) - Self.delimiters($0.width) } ?? 0 }

  /// Appends `text` with the right number of delimiters a row to `out`.
  public mutating func pad(_ text: UnsafeBufferPointer<UInt8>, to out: ByteBuffer) {
    guard let base = text.baseAddress else { return }
    var start = 0
    var at = 0
    var isTooWide = lacking < 0
    while at < text.count {
      if fullWidth != 1, stretches.count <= 1, lacking == 0, !isQuoted, !holdsCR {
        break  // all that follows is as it should be
      }
      let byte = base[at]
      at += 1
      if isTooWide, !isQuoted {
        if byte == options.delimiter {
          out.append(base + start, count: at - 1 - start)
          start = at
          held += 1
          continue
        }
        if held > 0, byte != 0x0a, byte != 0x0d || !options.endsWithCRLF { release(held, out) }
      }
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
      isTooWide = lacking < 0
    }
    out.append(base + start, count: text.count - start)
  }

  private mutating func endRecord(_ out: ByteBuffer) {
    release(max(0, held + lacking), out)
    if !stretches.isEmpty {
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

  private mutating func release(_ count: Int, _ out: ByteBuffer) {
    for _ in 0..<count { out.append(options.delimiter) }
    held = 0
  }
}
