internal import OhanaCore
internal import OhanaFormats

/// What the main output, or one beside it, is: format, compression, place.
struct SinkPlan: Sendable {
  enum Place: Sendable, Equatable {
    case file(FilePath)
    /// `{n}` in the name: a new file every so many records.
    case chunks(pattern: FilePath, records: Int)
    case standardOutput
    /// A sink of the caller's takes the records.
    case sink
    /// Nothing is written (`count`, `check`).
    case nowhere
  }
  var place: Place
  var format: RecordFormat
  var delimiter: UInt8
  var isCompressed: Bool

  /// The place of the main output, from the request and the first input.
  ///
  /// - Throws: `usage` where the format cannot be told, or a chunked name and `--chunk-records` do not go together.
  init(_ request: RunRequest, firstInput: RecordFormat) throws {
    let options = request.options
    if request.sink != nil {
      (place, format, delimiter, isCompressed) = (.sink, .ndjson, UInt8(ascii: ","), false)
      return
    }
    let name = request.output
    let isStandard = name == nil || name == "-"
    var format = firstInput
    var delimiter = UInt8(ascii: ",")
    if let to = options.to {
      switch to {
      case .ndjson: format = .ndjson
      case .csv: format = .csv
      case .tsv: (format, delimiter) = (.csv, UInt8(ascii: "\t"))
      case .rejects: throw OhanaError(.usage, "bad-value", "--to cannot be 'rejects'", fix: "there are ndjson, csv, tsv")
      }
    } else if let name, !isStandard {
      (format, delimiter) = try Self.format(ofOutput: name, else: firstInput)
    }
    self.format = format
    self.delimiter = options.outDelimiter ?? delimiter
    isCompressed =
      if let compression = options.compression { compression == .gz } else { !isStandard && Self.isCompressed(name!) }
    if let name, !isStandard, options.compression == nil { try Self.refuseOtherCompression(name) }
    let hasNumber = name?.bytes.firstRange(of: Array("{n".utf8)) != nil
    if let records = options.chunkRecords {
      guard let name, !isStandard, hasNumber else {
        throw OhanaError(
          .usage, "missing-number", "--chunk-records needs {n} in the name of the output", fix: "for example -o 'part-{n:3}.ndjson.gz'")
      }
      place = .chunks(pattern: name, records: records)
    } else if let name, !isStandard {
      if try ChunkName(name) != nil {
        throw OhanaError(
          .usage, "missing-chunk-records", at: .init(name), "{n} in the name of the output needs --chunk-records N",
          fix: "say how many, or take {n} out of the name")
      }
      place = .file(name)
    } else {
      place = .standardOutput
    }
  }

  /// An output beside the main one: by its name, else like `other`.
  init(beside other: SinkPlan, at path: FilePath) throws {
    place = path == "-" ? .standardOutput : .file(path)
    (format, delimiter) = try Self.format(ofOutput: path, else: other.format)
    isCompressed = Self.isCompressed(path)
    try Self.refuseOtherCompression(path)
  }

  /// CSV beside the main output, whatever its name says.
  init(csvBeside main: SinkPlan, at path: FilePath) {
    place = path == "-" ? .standardOutput : .file(path)
    (format, delimiter, isCompressed) = (.csv, UInt8(ascii: ","), Self.isCompressed(path))
  }

  /// Rejects are NDJSON, whatever their name says.
  init(rejects path: FilePath) throws {
    place = path == "-" ? .standardOutput : .file(path)
    format = .ndjson
    delimiter = UInt8(ascii: ",")
    isCompressed = Self.isCompressed(path)
    try Self.refuseOtherCompression(path)
  }

  init(nowhere format: RecordFormat) {
    place = .nowhere
    self.format = format
    delimiter = UInt8(ascii: ",")
    isCompressed = false
  }

  /// Endings count in any case.
  static func isCompressed(_ name: FilePath) -> Bool { lowercased(name).hasSuffix(".gz") || lowercased(name).hasSuffix(".gzip") }

  private static func lowercased(_ name: FilePath) -> String { String(decoding: name.lastComponent.bytes, as: UTF8.self).lowercased() }

  private static func refuseOtherCompression(_ name: FilePath) throws {
    for (ending, kind) in [
      (".bz2", "bzip2"), (".zst", "Zstandard"), (".zstd", "Zstandard"), (".xz", "xz"), (".lz4", "LZ4"), (".br", "Brotli"), (".zip", "zip"),
      (".7z", "7-Zip"),
    ] where lowercased(name).hasSuffix(ending) {
      throw OhanaError(
        .usage, "unknown-compression", at: .init(name), "there is no writer for \(kind)",
        fix: "end the name in .gz, or write to - and compress with another tool")
    }
  }

  private static func format(ofOutput name: FilePath, else fallback: RecordFormat) throws -> (RecordFormat, UInt8) {
    let text = lowercased(name)
    let bare = text.hasSuffix(".gz") ? String(text.dropLast(3)) : text.hasSuffix(".gzip") ? String(text.dropLast(5)) : text
    for (ending, kind) in [(".vcf", "vCard"), (".ldif", "LDIF"), (".parquet", "Parquet"), (".xlsx", "Excel")] where bare.hasSuffix(ending) {
      throw OhanaError(
        .usage, "unknown-format", at: .init(name), "there is no writer for \(kind)", fix: "name a .ndjson or .csv file, or say --to")
    }
    if bare.hasSuffix(".tsv") || bare.hasSuffix(".tab") { return (.csv, UInt8(ascii: "\t")) }
    return (FormatSniffer.format(of: name) ?? fallback, UInt8(ascii: ","))
  }
}
