internal import OhanaCore

extension InputManager {
  /// Looks at the start of each input of a request. What providers give may be of different formats: CSV beside NDJSON is read as NDJSON then.
  ///
  /// - Throws: as ``probe(_:options:)``.
  func probe(_ items: [InputItem], of request: RunRequest) throws -> [ProbedInput] {
    guard !request.providers.isEmpty else { return try probe(items, options: request.options) }
    var inputs: [ProbedInput] = []
    for item in items { inputs.append(try probe(item.path, given: item.stream, options: request.options)) }
    guard Set(inputs.map(\.format)).count > 1 else { return inputs }
    for index in inputs.indices where inputs[index].format == .csv {
      inputs[index].converted = inputs[index].header
      (inputs[index].format, inputs[index].header) = (.ndjson, nil)
      inputs[index].isResumable = false
    }
    return inputs
  }
}
