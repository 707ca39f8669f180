import Foundation
import OhanaCore
import OhanaFormats
import OhanaTestSupport
import Testing

/// Third-party files, read as RFC 4180 text: each verdict, position and row that `expected.json` knows.
@Suite("CSV suites of other projects", .enabled(if: testData != nil, "needs OHANA_TEST_DATA")) struct CSVSuiteTests {
  static let suites = ["fastcsv-checks", "csvkit", "duckdb-csv", "miller", "commons-csv", "rust-csv", "univocity-correctness", "w3c-csvw"]

  /// Rows as texts, the first record too, each as wide as it is.
  static func rows(_ bytes: [UInt8], _ delimiter: UInt8, width: Int) throws -> (rows: [[String]], reading: CSVReading) {
    var dialect = CSVDialect()
    dialect.delimiter = delimiter
    dialect.lineEnd = .lineFeed
    dialect.header = .given((0..<width).map { Array("c\($0)".utf8) })
    let reading = try readCSV(bytes, dialect)
    let rows = reading.rows.map { row in
      row.prefix { $0 != .missing }.map { value -> String in
        switch value {
        case .text(let text): text
        default: ""
        }
      }
    }
    return (rows, reading)
  }

  @Test("gives the rows and faults expected", arguments: suites) func suite(name: String) throws {
    let folder = URL(fileURLWithPath: testData!).appendingPathComponent(name)
    let expected = try #require(
      JSONSerialization.jsonObject(with: Data(contentsOf: folder.appendingPathComponent("expected.json"))) as? [String: [String: Any]])
    var checked = 0
    for (file, facts) in expected.sorted(by: { $0.key < $1.key }) {
      guard let verdict = facts["verdict"] as? String, verdict != "not-judged", !file.hasSuffix(".gz") else { continue }
      let raw = [UInt8](try Data(contentsOf: folder.appendingPathComponent(file)))
      let named = facts["encoding"] as? String
      let encoding = named.flatMap { $0.lowercased().hasPrefix("utf-") ? nil : $0 }  // those have a byte order mark
      let bytes = drain(try openText(raw, encoding).stream).bytes
      guard String(validating: bytes, as: UTF8.self) != nil else { continue }  // rows are given with bytes escaped
      let delimiter: UInt8 = file == "smallpop-colon.csv" ? UInt8(ascii: ":") : file.hasSuffix(".tsv") ? 9 : UInt8(ascii: ",")
      let (rows, reading) = try Self.rows(bytes, delimiter, width: (facts["fields"] as? [String: Int])?["max"] ?? 100)
      checked += 1
      if verdict == "ok" {
        #expect(reading.rejects.isEmpty, "\(file)")
        #expect(rows.count + reading.blankLines == facts["records"] as? Int, "\(file)")
        if let wanted = facts["rows"] as? [[String]] {
          #expect(rows == wanted.filter { $0 != [""] && $0 != [] }, "\(file)")
        } else {
          #expect(rows.first == facts["first_row"] as? [String], "\(file)")
          #expect(rows.last == facts["last_row"] as? [String], "\(file)")
        }
        if let ragged = facts["ragged_record_lines"] as? [Int], let width = rows.first?.count {
          let lines = zip(reading.lines, rows).filter { $0.1.count != width }.map { $0.0 + 1 }
          // Blank lines count as ragged there, and are skipped here.
          #expect(Set(lines).isSubset(of: ragged) || ragged.count >= 50, "\(file)")
        }
      } else if verdict == "error", let fault = facts["error"] as? [String: Any] {
        let first = reading.rejects.first
        // In a bare cell a quote is text here, so that such files have fewer faults or later ones.
        let reason = fault["reason"] as? String ?? ""
        if reason.contains("after the closing quote") {
          #expect(first?.reason == .textAfterQuote, "\(file)")
        } else if reason.contains("never closed") {
          #expect(first?.reason == .unclosedQuote, "\(file)")
        } else {
          continue
        }
        #expect(first?.line == fault["line"] as? Int && first?.column == fault["column"] as? Int, "\(file)")
      }
    }
    #expect(checked > 0)
  }

  @Test("csv-spectrum, as objects by header") func spectrum() throws {
    let folder = URL(fileURLWithPath: testData!).appendingPathComponent("csv-spectrum")
    let files = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".csv") }
    #expect(files.count >= 10)
    for file in files {
      let bytes = [UInt8](try Data(contentsOf: folder.appendingPathComponent(file)))
      let wanted = try #require(
        JSONSerialization.jsonObject(
          with: Data(contentsOf: folder.appendingPathComponent(String(file.dropLast(4)) + ".expected.json"))) as? [[String: String]])
      let reading = try readCSV(bytes)
      #expect(reading.texts.map { Dictionary(uniqueKeysWithValues: zip(reading.columns, $0.map { $0 ?? "" })) } == wanted, "\(file)")
    }
  }

  @Test(
    "contact exports: dialect, encoding and header are found",
    arguments: ["google-2024.csv", "google-legacy-utf16le.csv", "google-legacy.csv", "outlook.csv"])
  func contactDialects(file: String) throws {
    let raw = [UInt8](try Data(contentsOf: URL(fileURLWithPath: testData!).appendingPathComponent("contact-csv-dialects/\(file)")))
    let (stream, _) = try openText(raw, nil)
    let reading = try readCSV(drain(stream).bytes)
    #expect(reading.rejects.isEmpty && reading.warnings.isEmpty)
    #expect(reading.columns.count > 10 && !reading.rows.isEmpty)
    #expect(Set(reading.columns).count == reading.columns.count)
  }
}
