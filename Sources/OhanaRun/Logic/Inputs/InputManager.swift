internal import OhanaCore
internal import OhanaFormats

/// Finds out what inputs are, and opens them.
protocol InputManaging: Sendable {
  /// Files that a request names, in order.
  func list(_ request: RunRequest, leavingOut leavesOut: (OhanaError) -> Bool) throws -> InputListing
  /// All that is read, in order.
  func open(_ listing: InputListing, of request: RunRequest, leavingOut leavesOut: (OhanaError) -> Bool) throws -> FoundInputs
  /// Looks at the start of each input of a request.
  func probe(_ items: [InputItem], of request: RunRequest) throws -> [ProbedInput]
  /// Looks at the start of one.
  func probe(_ path: FilePath, given stream: (any ByteStream)?, options: RunOptions) throws -> ProbedInput
  /// Opens an input's text.
  func openText(_ path: FilePath, given stream: (any ByteStream)?, options: RunOptions) throws -> (stream: any ByteStream, size: Int?)
  /// The same input for two passes, one after the other.
  func spooling(_ input: ProbedInput, to spill: any SpillStore) throws -> ProbedInput
  /// Looks for the widest record of each CSV input.
  func widen(_ inputs: [ProbedInput], options: RunOptions, spill: any SpillStore) throws -> [ProbedInput]
}

extension InputManaging {
  func probe(_ path: FilePath, options: RunOptions) throws -> ProbedInput { try probe(path, given: nil, options: options) }
  func openText(_ path: FilePath, options: RunOptions) throws -> (stream: any ByteStream, size: Int?) {
    try openText(path, given: nil, options: options)
  }
}

/// Finds out what inputs are, and opens them. Holds nothing.
struct InputManager: InputManaging {
  /// Bytes looked at to tell the format.
  static let headBytes = 64 << 10

  /// Opens an input's text: decompressed, converted to UTF-8, faults turned into ends.
  func openText(_ path: FilePath, given stream: (any ByteStream)?, options: RunOptions) throws -> (stream: any ByteStream, size: Int?) {
    let opened = stream == nil ? try openByteStream(path, codec: options.useZlib ? .zlib : .fast, retries: options.readRetries) : nil
    let forgives = options.onProviderError == .skip
    var recording = FaultRecordingStream(stream ?? opened!.stream, forgivesIO: forgives)
    var (head, text) = try PrefixedByteStream.peek(recording, count: 4)
    if stream != nil, head.bytes.starts(with: GzipByteStream.magic) {
      // What a program or provider gives may be gzip data, as a file may.
      let inflated = GzipByteStream(text, name: path, codec: options.useZlib ? .zlib : .fast)
      recording = FaultRecordingStream(inflated, forgivesIO: forgives)
      (head, text) = try PrefixedByteStream.peek(recording, count: 4)
    }
    // A byte order mark knows better than an option for all inputs.
    let encoding = try InputEncoding.of(head.bytes, named: options.encoding)
    let whole: any ByteStream = encoding.map { TranscodingByteStream(text, from: $0) } ?? text
    return (options.from == .rejects ? try RejectsStream(whole, path: path) : whole, opened?.fileSize)
  }

  /// The same for an input that is then read twice, one pass after the other: what the first one takes is put aside while it is read.
  func spooling(_ input: ProbedInput, to spill: any SpillStore) throws -> ProbedInput {
    guard let stream = input.open else { return input }
    var spooled = input
    spooled.open = nil
    spooled.spooled = SpooledInput(try spill.makeFile(), then: stream)
    return spooled
  }

  /// Puts standard input aside, so that it can be read twice.
  func spool(_ input: ProbedInput, to spill: any SpillStore) throws -> ProbedInput {
    guard let stream = input.open else { return input }
    let file = try spill.makeFile()
    let buffer = ByteBuffer(capacity: 1 << 18)
    while true {
      let count = try stream.read(into: UnsafeMutableRawBufferPointer(start: buffer.base, count: buffer.capacity))
      if count == 0 { break }
      try file.append(UnsafeRawBufferPointer(start: buffer.base, count: count))
    }
    if let fault = stream.fault { throw fault }
    var spooled = input
    spooled.open = nil
    spooled.spooled = SpooledInput(file)
    return spooled
  }

  /// Looks at the start of each input. For CSV, columns are known then.
  ///
  /// - Throws: `badInput` for formats nobody can read here, `usage` where inputs of different formats are mixed.
  func probe(_ items: [InputItem], options: RunOptions) throws -> [ProbedInput] {
    if options.header != nil, options.hasHeader {
      throw OhanaError(
        .usage, "unused-option", "--header names the columns of files that have no header", fix: "add --no-header, or leave it out")
    }
    var inputs: [ProbedInput] = []
    for item in items {
      var input = try probe(item.path, given: item.stream, options: options)
      if let last = inputs.last?.header { input.header?.share(with: last) }
      inputs.append(input)
    }
    // Empty chunks are of the others' format, whatever their names say.
    if let common = inputs.first(where: { !$0.isEmpty })?.format {
      for index in inputs.indices where inputs[index].isEmpty && inputs[index].format != common {
        let columns = common == .csv ? CSVHeader.empty(Self.dialect(options, inputs[index].path, nil)) : nil
        (inputs[index].format, inputs[index].header) = (common, columns)
      }
    }
    guard let first = inputs.first(where: { $0.format == .csv }), let other = inputs.first(where: { $0.format == .ndjson }) else {
      return inputs
    }
    throw OhanaError(
      .usage, "mixed-formats", at: .init(other.path), "this input is NDJSON, and \(first.path) is CSV",
      fix: "convert one of them first, or say --from")
  }

  /// Looks for the widest record of each CSV input, for `--ragged pad`: reads them all once more, pipes from `spill`.
  func widen(_ inputs: [ProbedInput], options: RunOptions, spill: any SpillStore) throws -> [ProbedInput] {
    try inputs.map { input in
      guard var header = input.header else { return input }
      var widened = try spool(input, to: spill)
      let stream = try widened.spooled?.makeStream() ?? openText(input.path, options: options).stream
      try header.widen(byReading: stream, head: nil)
      widened.header = header
      return widened
    }
  }

  func probe(_ path: FilePath, given stream: (any ByteStream)?, options: RunOptions) throws -> ProbedInput {
    let (text, size) = try openText(path, given: stream, options: options)
    let rejects = (text as? RejectsStream)?.kind
    let (head, stream) = try PrefixedByteStream.peek(text, count: Self.headBytes, isPrompt: options.interleave)
    let format = try rejects?.format ?? format(of: path, head: head, options: options)
    var input = ProbedInput(path: path, format: format, size: size)
    let isOnce = path == "-" || size == nil
    input.isEmpty = head.count == 0 && stream.fault == nil
    input.isMisnamed = options.from == nil && (FormatSniffer.format(of: path) ?? format) != format
    switch format {
    case .ndjson: if isOnce { input.open = stream }
    case .csv:
      var dialect = Self.dialect(options, path, rejects)
      dialect.isTranscoded = text is TranscodingByteStream
      let (header, bytes) = try CSVHeader.scan(stream, dialect: dialect, source: path, memoryLimit: options.memory / 4)
      input.header = header
      if isOnce { input.open = PrefixedByteStream(bytes, then: stream) }
    }
    return input
  }

  private func format(of path: FilePath, head: ByteBuffer, options: RunOptions) throws -> RecordFormat {
    switch options.from {
    case .ndjson?, .rejects?: return .ndjson
    case .csv?, .tsv?: return .csv
    case nil: break
    }
    switch FormatSniffer.verdict(head: head.bytes, name: path) {
    case .format(let format): return format
    case .empty: return .ndjson
    case .unreadable(let kind):
      throw OhanaError(
        .badInput, "unknown-format", at: .init(path), "this looks like \(kind.rawValue), which there is no reader for",
        fix: "convert it to NDJSON or CSV first, or say --from if it is one of them")
    }
  }

  static func dialect(_ options: RunOptions, _ path: FilePath, _ rejects: RejectsStream.Kind?) -> CSVDialect {
    var dialect = CSVDialect()
    if let rejects {
      (dialect.delimiter, dialect.quote, dialect.escape) = (rejects.delimiter, rejects.quote, rejects.escape)
      dialect.header = .given(rejects.columns)
      dialect.nulls = options.nulls
      dialect.maxRecordBytes = options.maxRecord
      dialect.ragged = options.ragged == .pad ? .pad : .strict
      return dialect
    }
    dialect.delimiter = options.delimiter ?? (options.from == .tsv || Self.isTSV(path) ? UInt8(ascii: "\t") : nil)
    if let quote = options.quote { dialect.quote = quote }
    dialect.escape = options.escape
    dialect.nulls = options.nulls
    dialect.infersKinds = options.infer
    if let names = options.header, !options.hasHeader {
      dialect.header = .given(names)
    } else if !options.hasHeader {
      dialect.header = .none
    }
    dialect.ragged = options.ragged == .pad ? .pad : .strict
    dialect.maxRecordBytes = options.maxRecord
    return dialect
  }

  private static func isTSV(_ path: FilePath) -> Bool {
    let name = String(decoding: path.lastComponent.bytes, as: UTF8.self).lowercased()
    return name.hasSuffix(".tsv") || name.hasSuffix(".tsv.gz") || name.hasSuffix(".tab") || name.hasSuffix(".tab.gz")
  }
}
