internal import OhanaCore

/// The text of a cell.
enum CSVCellDecoding {
  /// Appends the text of `cell` to `out`: doubled quotes become one, an escape byte goes and makes the next one text.
  static func append(_ cell: CSVCell, of base: UnsafePointer<UInt8>, quote: UInt16, escape: UInt16, to out: ByteBuffer) {
    let start = Int(cell.start), end = Int(cell.end)
    guard cell.flags & (CSVCell.doubled | CSVCell.escaped) != 0 else {
      out.append(base + start, count: end - start)
      return
    }
    out.reserve(end - start)
    var next = start
    while next < end {
      let byte = base[next]
      let isPair = UInt16(byte) == escape || (UInt16(byte) == quote && cell.flags & CSVCell.quoted != 0)
      if isPair, next + 1 < end { next += 1 }
      out.append(base[next])
      next += 1
    }
  }

  static func text(_ cell: CSVCell, of base: UnsafePointer<UInt8>, quote: UInt16, escape: UInt16) -> [UInt8] {
    let out = ByteBuffer()
    append(cell, of: base, quote: quote, escape: escape, to: out)
    return Array(out.bytes)
  }
}
