import Foundation
import OhanaCore
import OhanaFormats
import OhanaTestSupport

/// Gives out its bytes in pieces of changing size.
final class PiecesStream: ByteStream, @unchecked Sendable {  // because a test uses it on one thread
  private let bytes: [UInt8]
  private let pieceSizes: [Int]
  private var at = 0
  private var turn = 0
  var inputBytesRead: Int { at }

  init(_ bytes: [UInt8], pieceSizes: [Int] = [Int.max]) {
    self.bytes = bytes
    self.pieceSizes = pieceSizes
  }

  func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
    let size = min(buffer.count, bytes.count - at, pieceSizes[turn % pieceSizes.count])
    turn += 1
    buffer.copyBytes(from: bytes[at..<(at + size)])
    at += size
    return size
  }
}

/// All that reading one input gives.
struct CSVReading: Equatable {
  var columns: [String] = []
  /// One value a column.
  var rows: [[TestValue]] = []
  /// 0-based line of each record.
  var lines: [Int] = []
  /// The records' own bytes.
  var raw: [String] = []
  var verbatim: [Bool] = []
  /// Reason, 1-based line and column, offset, raw bytes.
  var rejects: [RejectSeen] = []
  /// 1-based lines.
  var warnings: [Int] = []
  var blankLines = 0
  var lineCount = 0

  struct RejectSeen: Equatable {
    var reason: Reject.Reason
    var line: Int
    var column: Int
    var offset: Int
    var length: Int
    var raw: String?
    /// Records before it.
    var before: Int
  }

  /// Names of the parts in which two readings differ, with what they hold. The flag `verbatim` may: it only saves work.
  func differences(from other: CSVReading) -> [String] {
    var found: [String] = []
    func compare<T: Equatable>(_ name: String, _ a: T, _ b: T) { if a != b { found.append("\(name): \(a) | \(b)") } }
    compare("rows", rows, other.rows)
    compare("lines", lines, other.lines)
    compare("raw", raw, other.raw)
    compare("rejects", rejects, other.rejects)
    compare("warnings", warnings, other.warnings)
    compare("blank lines", blankLines, other.blankLines)
    compare("line count", lineCount, other.lineCount)
    return found
  }

  /// The rows as texts: null reads as nothing.
  var texts: [[String?]] {
    rows.map { row in
      row.map { value in
        switch value {
        case .missing, .null: nil
        case .text(let text), .number(let text), .json(let text): text
        case .bool(let flag): flag ? "true" : "false"
        }
      }
    }
  }
}

func readCSV(
  _ bytes: [UInt8], _ dialect: CSVDialect = CSVDialect(), pieces: [Int] = [Int.max], batchBytes: Int = 1 << 20, reopens: Bool = false,
  columnsOf other: CSVHeader? = nil
) throws -> CSVReading {
  var stream = PiecesStream(bytes, pieceSizes: pieces)
  let (header, head) = try CSVHeader.scan(stream, dialect: dialect, source: "test.csv")
  if reopens { stream = PiecesStream(bytes, pieceSizes: pieces) }
  let framer = CSVFramer(stream: stream, header: header, head: reopens ? nil : head, batchBytes: batchBytes)
  let columns = (other ?? header).columns
  let parser = try CSVParser(fields: fields(columns), slotCount: columns.count)
  var reading = CSVReading(columns: columns.map { String(decoding: $0, as: UTF8.self) })
  let batch = RecordBatch()
  while true {
    batch.recycle(limit: 1 << 20)
    batch.slotCount = columns.count
    guard try framer.next(into: batch) else { break }
    _ = try parser.process(batch)
    precondition(batch.selectedCount == batch.recordCount)
    for reject in batch.rejects {
      reading.rejects.append(
        .init(
          reason: reject.reason, line: reading.lineCount + reject.line + 1, column: reject.column, offset: batch.firstByte + reject.offset,
          length: reject.length, raw: reject.raw.map { String(decoding: $0, as: UTF8.self) }, before: reading.rows.count + reject.before))
    }
    reading.warnings += batch.warnings.map { reading.lineCount + $0.line + 1 }
    for record in 0..<batch.recordCount {
      reading.rows.append((0..<columns.count).map { batch.value($0, of: record) })
      reading.lines.append(reading.lineCount + Int(batch.records[record].line))
      reading.raw.append(String(decoding: batch.bytes(ofRecord: record), as: UTF8.self))
      reading.verbatim.append(batch.records[record].flags.contains(.verbatim))
    }
    reading.blankLines += batch.blankLines
    reading.lineCount += batch.lineCount
  }
  return reading
}

/// Each column into the slot of its place.
func fields(_ columns: [[UInt8]]) throws -> [RecordSchema.SourceField] {
  var schema = RecordSchema(columns: columns)
  try schema.makeExplicitIfColumnar()
  precondition(schema.layout.entries.map(\.slot) == Array(0..<columns.count))
  return schema.sourceFields
}

func readCSV(_ text: String, _ change: (inout CSVDialect) -> Void = { _ in }) throws -> CSVReading {
  var dialect = CSVDialect()
  change(&dialect)
  return try readCSV(Array(text.utf8), dialect)
}

/// A folder of third-party data, laid out as `SOURCES.md` there says; nil without `OHANA_TEST_DATA`.
let testData = ProcessInfo.processInfo.environment["OHANA_TEST_DATA"]
let testCases = ProcessInfo.processInfo.environment["OHANA_TEST_CASES"]
