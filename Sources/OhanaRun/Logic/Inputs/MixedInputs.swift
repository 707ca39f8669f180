internal import OhanaCore
internal import OhanaFormats

extension InputManager {
  /// Looks at the start of each input of a request. What providers give may be of different formats: CSV beside NDJSON is read as NDJSON then.
  ///
  /// - Throws: as ``probe(_:options:)``.
  func probe(_ items: [InputItem], of request: RunRequest) throws -> [ProbedInput] {
    let interleaves = request.options.interleave && items.contains(where: \.isLive)
    guard !request.providers.isEmpty || interleaves else { return try probe(items, options: request.options) }
    var inputs: [ProbedInput] = []
    for item in items {
      var input =
        try interleaves && mayPutOff(item, request.options)
        ? putOff(item, of: request) : probe(item.path, given: item.stream, options: request.options)
      input.isLive = item.isLive
      if let stream = item.stream as? any InterruptibleByteStream { input.interrupt = { stream.interrupt() } }
      inputs.append(input)
    }
    guard Set(inputs.map(\.format)).count > 1 else { return inputs }
    let options = request.options
    let allowsRejects = options.rejects != nil || options.maxRejects != .count(0)
    for index in inputs.indices {
      let input = inputs[index]
      guard input.format == .csv, let header = input.header else { continue }
      // Opened when its turn comes, so that no more than one file is open.
      inputs[index].open = CSVAsNDJSONStream(
        header: header, path: input.path, memoryLimit: max(1 << 20, options.memory / 4), allowsRejects: allowsRejects
      ) {
        try input.open ?? openText(input.path, options: options).stream
      }
      (inputs[index].format, inputs[index].header) = (.ndjson, nil)
      inputs[index].isResumable = false
    }
    return inputs
  }
}

extension InputManager {
  /// What looks at an input that has to be waited for would hold up the others. CSV, where that is known, is waited for as far as its header.
  private func mayPutOff(_ item: InputItem, _ options: RunOptions) -> Bool {
    guard item.isLive else { return false }
    switch options.from {
    case .ndjson?: return true
    case .csv?, .tsv?, .rejects?: return false
    case nil: return item.stream != nil || FormatSniffer.format(of: item.path) != .csv
    }
  }

  /// An input that is opened and looked at when its first bytes are wanted, and is read as NDJSON whatever it is.
  private func putOff(_ item: InputItem, of request: RunRequest) -> ProbedInput {
    let options = request.options
    let allowsRejects = options.rejects != nil || options.maxRejects != .count(0)
    var input = ProbedInput(path: item.path, format: .ndjson)
    input.open = DeferredStream { [self] in
      let probed = try probe(item.path, given: item.stream, options: options)
      let text = try probed.open ?? openText(item.path, options: options).stream
      guard probed.format == .csv, let header = probed.header else { return text }
      return CSVAsNDJSONStream(
        header: header, path: item.path, memoryLimit: max(1 << 20, options.memory / 4), allowsRejects: allowsRejects, isPrompt: true
      ) { text }
    }
    return input
  }
}

extension InputItem {
  /// It may have to be waited for.
  fileprivate var isLive: Bool {
    if stream != nil { return true }
    return !((path == "-" ? fileStatus(STDIN_FILENO) : fileStatus(path))?.isRegular ?? true)
  }
}

/// Is opened when its first bytes are wanted.
private final class DeferredStream: ByteStream, @unchecked Sendable {  // because one piece of work at a time uses it
  private let open: @Sendable () throws -> any ByteStream
  private var stream: (any ByteStream)?

  init(_ open: @escaping @Sendable () throws -> any ByteStream) { self.open = open }

  var inputBytesRead: Int { stream?.inputBytesRead ?? 0 }
  var fault: OhanaError? { stream?.fault }
  func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
    let stream = try self.stream ?? open()
    self.stream = stream
    return try stream.read(into: buffer)
  }
}
