internal import OhanaCore
internal import OhanaFormats

extension InputManager {
  /// Looks at the start of each input of a request. What providers give may be of different formats: CSV beside NDJSON is read as NDJSON then.
  ///
  /// - Throws: as ``probe(_:options:)``.
  func probe(_ items: [InputItem], of request: RunRequest) throws -> [ProbedInput] {
    guard !request.providers.isEmpty else { return try probe(items, options: request.options) }
    var inputs: [ProbedInput] = []
    for item in items { inputs.append(try probe(item.path, given: item.stream, options: request.options)) }
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
