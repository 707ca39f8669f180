public import OhanaCore

/// A record format by name.
public enum RecordFormat: String, Sendable, Codable, CaseIterable {
  /// JSON objects, a line each or in an array; cells with any delimiter.
  case ndjson, csv
}

/// Tells an input's format: by its first bytes where they speak, else by its name.
public enum FormatSniffer {
  /// Why an input cannot be read as any format there is a reader for.
  public enum Unreadable: String, Sendable {
    /// The raw value is what messages call it.
    case vCard = "vCard", ldif = "LDIF", xml = "XML", parquet = "Parquet", zip = "a zip archive", zstd = "Zstandard", bzip2 = "bzip2", xz =
      "xz"
  }
  /// What the first bytes and the name say.
  public enum Verdict: Sendable, Equatable {
    /// There is a reader for it.
    case format(RecordFormat)
    /// Nothing but white space, and a name that says nothing.
    case empty
    /// It is plainly something else.
    case unreadable(Unreadable)
  }

  /// - Parameters:
  ///   - head: the first bytes of the decompressed, converted text; some KiB do.
  ///   - name: the file's name.
  public static func verdict(head: UnsafeBufferPointer<UInt8>, name: FilePath) -> Verdict {
    var bytes = head[...]
    if bytes.starts(with: [0xef, 0xbb, 0xbf]) { bytes = bytes.dropFirst(3) }
    if let unreadable = foreign(bytes) { return .unreadable(unreadable) }
    let text = bytes.drop { $0 == 0x20 || $0 == 0x09 || $0 == 0x0a || $0 == 0x0d }
    let byName = format(of: name)
    guard let first = text.first else { return byName.map { .format($0) } ?? .empty }
    // `{` and `[` open JSON if what follows can; a CSV header may begin with either.
    let next = text.dropFirst().first { $0 != 0x20 && $0 != 0x09 && $0 != 0x0a && $0 != 0x0d }
    switch (first, next) {
    case (UInt8(ascii: "{"), UInt8(ascii: "\"")?), (UInt8(ascii: "{"), UInt8(ascii: "}")?), (UInt8(ascii: "["), UInt8(ascii: "{")?):
      return .format(.ndjson)
    case (UInt8(ascii: "["), _), (UInt8(ascii: "{"), _): return .format(byName ?? .csv)
    default:
      // A broken record is no reason to take NDJSON for CSV; a table under NDJSON's name is.
      if byName == .ndjson, CSVSniffer.isTable(UnsafeBufferPointer(rebasing: text)) { return .format(.csv) }
      return .format(byName ?? .csv)
    }
  }

  /// The format a name stands for, `.gz` aside; nil if it says nothing.
  public static func format(of name: FilePath) -> RecordFormat? {
    var parts = String(decoding: name.lastComponent.bytes, as: UTF8.self).lowercased().split(
      separator: ".", omittingEmptySubsequences: true)
    if parts.last == "gz" || parts.last == "gzip" { parts.removeLast() }
    guard parts.count > 1 else { return nil }
    switch parts.last {
    case "ndjson", "jsonl", "json", "ldjson": return .ndjson
    case "csv", "tsv", "tab", "psv", "txt": return .csv
    default: return nil
    }
  }

  private static func foreign(_ bytes: Slice<UnsafeBufferPointer<UInt8>>) -> Unreadable? {
    func begins(_ text: StaticString) -> Bool {
      text.withUTF8Buffer { prefix in
        bytes.count >= prefix.count && zip(bytes, prefix).allSatisfy { $0 == $1 || ($0 | 0x20 == $1 | 0x20 && $1 >= 0x41 && $1 <= 0x5a) }
      }
    }
    if begins("BEGIN:VCARD") { return .vCard }
    if begins("dn: ") || begins("dn:: ") || begins("version: 1\ndn:") || begins("version: 1\r\ndn:") { return .ldif }
    if begins("<?xml") { return .xml }
    if begins("PAR1") { return .parquet }
    if bytes.starts(with: [0x50, 0x4b, 3, 4]) { return .zip }
    if bytes.starts(with: [0x28, 0xb5, 0x2f, 0xfd]) { return .zstd }
    if begins("BZh"), bytes.dropFirst(4).starts(with: [0x31, 0x41, 0x59]) { return .bzip2 }
    if bytes.starts(with: [0xfd, 0x37, 0x7a, 0x58, 0x5a]) { return .xz }
    return nil
  }
}
