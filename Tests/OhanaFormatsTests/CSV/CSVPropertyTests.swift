import OhanaCore
import OhanaTestSupport
import Testing

@testable import OhanaFormats

@Suite("CSV reader against slow models") struct CSVPropertyTests {
  /// Text that RFC 4180 allows, with the rows it means.
  static func legal(_ random: inout SeededGenerator, delimiter: UInt8 = 0x2c) -> (text: [UInt8], rows: [[String?]]) {
    let width = Int.random(in: 1...6, using: &random)
    let lineEnd: [UInt8] = Bool.random(using: &random) ? [10] : [13, 10]
    var text: [UInt8] = []
    var rows: [[String?]] = []
    for _ in 0..<Int.random(in: 1...40, using: &random) {
      var row: [String?] = []
      for column in 0..<width {
        if column > 0 { text.append(delimiter) }
        let cell = cell(&random, delimiter)
        let mustQuote = cell.contains { $0 == delimiter || $0 == 10 || $0 == 13 || $0 == 34 }
        if mustQuote || (width == 1 && cell.isEmpty) || Int.random(in: 0..<4, using: &random) == 0 {
          text.append(34)
          for byte in cell { text += byte == 34 ? [34, 34] : [byte] }
          text.append(34)
          row.append(String(decoding: cell, as: UTF8.self))
        } else {
          text += cell
          row.append(cell.isEmpty ? nil : String(decoding: cell, as: UTF8.self))
        }
      }
      rows.append(row)
      text += lineEnd
    }
    if Bool.random(using: &random) { text.removeLast(lineEnd.count) }
    return (text, rows)
  }

  static func cell(_ random: inout SeededGenerator, _ delimiter: UInt8) -> [UInt8] {
    let alphabet: [[UInt8]] = [
      [delimiter], [10], [13], [34], [34, 34], Array("x".utf8), Array("é".utf8), Array("日本".utf8), Array("😀".utf8), [0],
      Array("long text ".utf8), [92],
    ]
    let isPlain = Bool.random(using: &random)
    let length = Int.random(in: 0...Int.random(in: 0...12, using: &random), using: &random)
    return (0..<length).flatMap { _ in
      isPlain ? Array("abc def 123".utf8.shuffled(using: &random).prefix(2)) : alphabet.randomElement(using: &random)!
    }
  }

  static func dialect(_ change: (inout CSVDialect) -> Void = { _ in }) -> CSVDialect {
    var dialect = CSVDialect()
    dialect.delimiter = 0x2c
    dialect.header = .none
    dialect.lineEnd = .lineFeed
    change(&dialect)
    return dialect
  }

  @Test("reads what was meant, whatever the splits and batches", arguments: 0..<300) func means(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let (text, rows) = Self.legal(&random)
    for (pieces, batchBytes) in [
      ([Int.max], 1 << 20), ([7, 1, 64], 100), ([Int.random(in: 1...80, using: &random)], Int.random(in: 1...200, using: &random)),
    ] {
      let reading = try readCSV(text, Self.dialect(), pieces: pieces, batchBytes: batchBytes)
      #expect(reading.texts == rows)
      #expect(reading.rejects.isEmpty)
    }
  }

  /// Anything, legal or not.
  static func anything(_ random: inout SeededGenerator) -> [UInt8] {
    if Bool.random(using: &random) {
      var (text, _) = legal(&random)
      for _ in 0..<Int.random(in: 0...4, using: &random) where !text.isEmpty {
        let at = Int.random(in: 0..<text.count, using: &random)
        if Bool.random(using: &random) {
          text.remove(at: at)
        } else {
          text.insert([34, 44, 10, 13, 92, 0xff, 120].randomElement(using: &random)!, at: at)
        }
      }
      return text
    }
    let alphabet: [UInt8] = [34, 34, 44, 10, 13, 120, 121, 92]
    return (0..<Int.random(in: 0...300, using: &random)).map { _ in
      Int.random(in: 0..<3, using: &random) == 0 ? 122 : alphabet.randomElement(using: &random)!
    }
  }

  /// The same text read by the tolerant parser alone.
  static func tolerantly(_ text: [UInt8], _ dialect: CSVDialect) throws -> CSVReading {
    // Records and faults of the whole text in one piece, without kernels.
    let scanner = CSVRecordScanner(dialect)
    let cells = CSVCellList()
    var reading = CSVReading()
    try text.withUnsafeBufferPointer { buffer in
      guard let base = buffer.baseAddress else { return }
      var at = 0
      while at < text.count {
        let outcome = scanner.scan(base, from: at, to: text.count, isEnd: true, cells: cells)
        let line = scanner.countLines(base, from: 0, to: at)
        switch outcome.kind {
        case .record:
          if outcome.contentEnd == at, cells.count == 1 {
            reading.blankLines += 1
          } else {
            reading.rows.append(
              (0..<cells.count).map { index in
                let cell = cells.base[index]
                if cell.flags & CSVCell.quoted == 0, cell.start == cell.end { return nil }
                return .text(
                  String(decoding: CSVCellDecoding.text(cell, of: base, quote: scanner.quote, escape: scanner.escape), as: UTF8.self))
              })
            reading.lines.append(line)
          }
        default:
          try #require(outcome.next > at)
          reading.rejects.append(
            .init(
              reason: outcome.kind == .unclosedQuote ? .unclosedQuote : .textAfterQuote, line: line + 1, column: 0, offset: at,
              length: 0, raw: nil, before: reading.rows.count))
        }
        at = outcome.next
      }
    }
    return reading
  }

  @Test("kernels and tolerant parser agree on any text", arguments: 0..<1500) func agrees(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let text = Self.anything(&random)
    let escape: UInt8? = seed % 5 == 0 ? 92 : nil
    // As many columns as the widest record, so that nothing is too long.
    let probe = Self.dialect { $0.escape = escape }
    let slow = try Self.tolerantly(text, probe)
    let width = max(1, slow.rows.map(\.count).max() ?? 1)
    let dialect = Self.dialect {
      $0.escape = escape
      $0.header = .given((0..<width).map { Array("c\($0)".utf8) })
    }
    let isValid = String(validating: text, as: UTF8.self) != nil
    for (pieces, batchBytes) in [([Int.max], 1 << 20), ([Int.random(in: 1...80, using: &random)], Int.random(in: 1...100, using: &random))]
    {
      let fast = try readCSV(text, dialect, pieces: pieces, batchBytes: batchBytes)
      if isValid {
        #expect(fast.rows.map { $0.filter { $0 != .missing } } == slow.rows)
        #expect(fast.lines == slow.lines)
        #expect(fast.rejects.map(\.reason) == slow.rejects.map(\.reason))
        #expect(fast.rejects.map(\.offset) == slow.rejects.map(\.offset))
        #expect(fast.rejects.map(\.before) == slow.rejects.map(\.before))
        #expect(fast.blankLines == slow.blankLines)
      }
    }
  }

  @Test("splits and batch sizes change nothing a user sees", arguments: 0..<1000) func splits(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let text = Self.anything(&random)
    let dialect = Self.dialect {
      $0.maxRecordBytes = [3, 10, 40, 1000].randomElement(using: &random)!
      $0.escape = [nil, 92].randomElement(using: &random)!
      $0.lineEnd = [.lineFeed, .carriageReturn].randomElement(using: &random)!
      $0.header = .given([[97], [98]])
    }
    let whole = try readCSV(text, dialect)
    for batchBytes in [1, 2, 5, 17, 64, 100, 1000] {
      let pieces = [Int.random(in: 1...20, using: &random), Int.random(in: 1...100, using: &random)]
      let other = try readCSV(text, dialect, pieces: pieces, batchBytes: batchBytes, reopens: Bool.random(using: &random))
      #expect(other.differences(from: whole) == [], "batch \(batchBytes) pieces \(pieces) max \(dialect.maxRecordBytes)")
    }
  }

  @Test("every kernel this processor runs gives the scalar one's answers", arguments: 0..<300) func kernels(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let text = Self.anything(&random) + [UInt8](repeating: 10, count: Int.random(in: 0...70, using: &random))
    let padded = text + [UInt8](repeating: 34, count: 64)
    var bytes = Self.dialect().kernelBytes
    bytes.has_escape = seed % 3 == 0
    bytes.escape = 92
    var answers: [String] = []
    for kernel in CSVKernels.runnable {
      answers.append(CSVKernels.describe(kernel, padded, text.count, bytes))
    }
    #expect(answers.count >= 1)
    #expect(Set(answers).count == 1)
  }
}
