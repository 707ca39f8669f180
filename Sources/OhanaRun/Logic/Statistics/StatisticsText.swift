public import OhanaStages

/// What `stats` shows on a terminal; a pure function of what it found out.
///
/// ```
/// 1,000 records
///
/// field  present  missing  null  empty  distinct  length  most frequent
/// id       1,000        0     0      0     1,000    1–4   1 × 1, 2 × 1, …
/// ```
public enum StatisticsText {
  /// The table's lines.
  ///
  /// - Parameters:
  ///   - fields: one row each, in this order.
  ///   - records: what was looked at.
  ///   - width: columns of the terminal. Frequent values are left out where they would go beyond it, but one is always shown.
  public static func table(_ fields: [FieldStatistics], records: Int, width: Int = 120) -> [String] {
    var lines = ["\(Quantity.grouped(records)) \(records == 1 ? "record" : "records")"]
    guard !fields.isEmpty else { return lines }
    let head = ["field", "present", "missing", "null", "empty", "distinct", "length"]
    let rows = fields.map(cells)
    let widths = head.indices.map { column in rows.reduce(head[column].count) { max($0, displayWidth($1[column])) } }
    func line(_ cells: [String], _ last: String) -> String {
      var line = ""
      for (column, cell) in cells.enumerated() {
        let blanks = String(repeating: " ", count: max(0, widths[column] - displayWidth(cell)))
        line += column == 0 ? cell + blanks : blanks + cell
        line += "  "
      }
      line += last
      while line.last == " " { line.removeLast() }
      return line
    }
    lines += ["", line(head, "most frequent")]
    let used = widths.reduce(0) { $0 + $1 + 2 }
    for (row, field) in zip(rows, fields) { lines.append(line(row, frequent(field, width: width - used))) }
    if fields.contains(where: \.isDistinctEstimate) { lines += ["", "~ estimated, standard error 1.6 %"] }
    if fields.contains(where: \.isTopEstimate) { lines += ["", "≥ at least so often; another value may be more frequent"] }
    return lines
  }

  private static func cells(_ field: FieldStatistics) -> [String] {
    var length = "–"
    if let least = field.minLength, let most = field.maxLength {
      length = least == most ? Quantity.grouped(least) : "\(Quantity.grouped(least))–\(Quantity.grouped(most))"
    }
    return [
      shown(field.name, limit: 40), Quantity.grouped(field.present), Quantity.grouped(field.missing), Quantity.grouped(field.null),
      Quantity.grouped(field.empty), (field.isDistinctEstimate ? "~" : "") + Quantity.grouped(field.distinct), length,
    ]
  }

  private static func frequent(_ field: FieldStatistics, width: Int) -> String {
    var text = ""
    let isText = field.top.allSatisfy { $0.json.first == "\"" }
    for value in field.top {
      let count = field.isTopEstimate ? "≥ \(Quantity.grouped(value.count))" : "× \(Quantity.grouped(value.count))"
      let item = "\(shown(plain(value, isAmongText: isText), limit: 24)) \(count)"
      if !text.isEmpty, displayWidth(text) + displayWidth(item) + 2 > width { return text + ", …" }
      text += (text.isEmpty ? "" : ", ") + item
    }
    return text
  }

  /// A string without its quotes where that leaves no doubt, anything else as JSON. Among strings only, a number can be none.
  private static func plain(_ value: FieldStatistics.Frequent, isAmongText: Bool) -> String {
    let inner = value.json.dropFirst().dropLast()
    guard value.json.first == "\"", let first = inner.unicodeScalars.first, let last = inner.unicodeScalars.last else { return value.json }
    let isNumberLike = first.value >= 0x30 && first.value <= 0x39 || first == "-"
    let isJSONLike = ["[", "{"].contains(first) || ["true", "false", "null"].contains(inner)
    let isUnclear = inner.contains("\\") || inner.contains(",") || first == " " || last == " "
    let isDoubtful = isUnclear || !isAmongText && (isNumberLike || isJSONLike)
    return (isDoubtful ? value.json : String(inner)) + (value.isCut ? "…" : "")
  }

  /// Text that can do no harm on a terminal, cut to at most `limit` columns.
  private static func shown(_ text: String, limit: Int) -> String {
    let pieces = text.unicodeScalars.lazy.map { isHarmful($0) ? "\\u{\(String($0.value, radix: 16))}" : String($0) }
    var result = ""
    var width = 0
    var whole = 0
    for piece in pieces {
      whole += displayWidth(piece)
      if whole < limit {
        result += piece
        width = whole
      }
      if whole > limit { return result + "…" }
    }
    return width == whole ? result : pieces.joined()
  }

  /// Control characters, which a terminal obeys, and marks that turn the direction of the text behind them.
  private static func isHarmful(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0..<0x20, 0x7f...0x9f, 0x200e, 0x200f, 0x2028...0x202e, 0x2066...0x2069: true
    default: false
    }
  }

  /// Columns that terminals give the text: two for East Asian wide characters and emoji, none for combining marks.
  static func displayWidth(_ text: String) -> Int {
    text.unicodeScalars.reduce(0) { $0 + displayWidth($1) }
  }

  private static func displayWidth(_ scalar: Unicode.Scalar) -> Int {
    if scalar.value < 0x300 { return 1 }
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .format: return 0
    default: break
    }
    switch scalar.value {
    case 0x1100...0x115f, 0x2e80...0x303e, 0x3041...0xa4cf, 0xac00...0xd7a3, 0xf900...0xfaff, 0xfe30...0xfe6f, 0xff00...0xff60,
      0xffe0...0xffe6, 0x1f300...0x1f64f, 0x1f680...0x1f6ff, 0x1f900...0x1f9ff, 0x20000...0x3fffd:
      return 2
    default: return 1
    }
  }
}
