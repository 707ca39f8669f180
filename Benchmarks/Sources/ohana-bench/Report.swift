import Glibc

/// A case with its times.
struct Row {
  var name: String
  var input: Case.Input
  var seconds: Double
  var cpu: Double
  var peakInMiB: Double
  /// Megabytes (10⁶) of uncompressed input a second.
  var megabytesPerSecond: Double
  var recordsPerSecond: Double
  /// Times the floor of the same input.
  var timesFloor: Double?
}

enum Report {
  static func table(_ rows: [Row]) -> [String] {
    var cells = [["case", "input", "median s", "CPU s", "peak MiB", "records/s", "MB/s", "÷ floor"]]
    for row in rows {
      cells.append([
        row.name.replacing("|", with: "\\|"), row.input.rawValue, fixed(row.seconds, 3), fixed(row.cpu, 3), fixed(row.peakInMiB, 0),
        fixed(row.recordsPerSecond, 0), fixed(row.megabytesPerSecond, 0), row.timesFloor.map { fixed($0, 2) } ?? "",
      ])
    }
    let widths = cells[0].indices.map { column in cells.map { $0[column].count }.max()! }
    var lines = cells.map { line in
      "| "
        + line.indices.map { column in
          let fill = String(repeating: " ", count: widths[column] - line[column].count)
          return column < 2 ? line[column] + fill : fill + line[column]
        }.joined(separator: " | ") + " |"
    }
    lines.insert(
      "|" + widths.indices.map { String(repeating: "-", count: widths[$0] + 1) + ($0 < 2 ? "-" : ":") }.joined(separator: "|") + "|", at: 1)
    return lines
  }

  private static func fixed(_ value: Double, _ digits: Int) -> String {
    var scale = 1.0
    for _ in 0..<digits { scale *= 10 }
    let scaled = Int((value * scale).rounded())
    guard digits > 0 else { return "\(scaled)" }
    let fraction = "\(scaled % Int(scale))"
    return "\(scaled / Int(scale))." + String(repeating: "0", count: digits - fraction.count) + fraction
  }

  /// Replaces the section between the markers, or adds it to the end.
  static func write(_ lines: [String], to path: String) throws {
    let (begin, end) = ("<!-- stages:begin -->", "<!-- stages:end -->")
    var text = (try? readFile(path)) ?? "# Results\n"
    let section = begin + "\n\n" + lines.joined(separator: "\n") + "\n\n" + end
    if let first = text.firstRange(of: begin), let last = text.firstRange(of: end), first.lowerBound < last.lowerBound {
      text.replaceSubrange(first.lowerBound..<last.upperBound, with: section)
    } else {
      text += "\n" + section + "\n"
    }
    guard let file = fopen(path, "w") else { throw BenchmarkError(description: "cannot write \(path)") }
    defer { fclose(file) }
    guard fputs(text, file) >= 0 else { throw BenchmarkError(description: "cannot write \(path)") }
  }

  private static func readFile(_ path: String) throws -> String {
    guard let file = fopen(path, "r") else { throw BenchmarkError(description: "cannot read \(path)") }
    defer { fclose(file) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65536)
    while case let count = fread(&buffer, 1, buffer.count, file), count > 0 { bytes += buffer[..<count] }
    return String(decoding: bytes, as: UTF8.self)
  }
}
