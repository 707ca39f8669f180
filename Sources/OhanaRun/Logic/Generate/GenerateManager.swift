internal import OhanaCore
internal import OhanaEngine
internal import OhanaFormats

/// Writes generated contacts, and the truth about them, to outputs.
protocol GenerateManaging: Sendable {
  /// Opens what `request` names for them. - Throws: `usage`, `io`.
  func open(_ request: RunRequest, _ options: GenerateOptions, in outputs: OutputSet) throws -> GeneratedFiles
  /// Writes all of them, the truth behind the contacts.
  ///
  /// - Parameter tell: called every MiB with the contacts written so far; what it throws ends the work.
  func write(_ options: GenerateOptions, to files: GeneratedFiles, tell: (Int) throws -> Void) throws
}

/// Where generated contacts go.
struct GeneratedFiles: Sendable {
  let contacts: RunOutput
  let truth: RunOutput?
}

/// Writes generated contacts, and the truth about them, to outputs. Holds nothing.
struct GenerateManager: GenerateManaging {
  /// Opens what `request` names for them.
  ///
  /// - Throws: `usage` if there are more chunks than names, or an output exists without `--overwrite`; `io`.
  func open(_ request: RunRequest, _ options: GenerateOptions, in outputs: OutputSet) throws -> GeneratedFiles {
    try options.validate()
    let main = try SinkPlan(generated: options, request)
    let header = options.format == .csv ? Array(ContactWriting.csvHeader.utf8) : []
    let contacts = try outputs.open(main, role: .main) { header }
    guard let truth = options.truth else { return GeneratedFiles(contacts: contacts, truth: nil) }
    let sink = SinkPlan(csvBeside: main, at: truth)
    return GeneratedFiles(contacts: contacts, truth: try outputs.open(sink, role: .truth) { Array(ContactGenerator.truthHeader.utf8) })
  }

  /// Writes all of them, the truth behind the contacts.
  ///
  /// - Parameter tell: called every MiB with the contacts written so far; what it throws ends the work.
  func write(_ options: GenerateOptions, to files: GeneratedFiles, tell: (Int) throws -> Void) throws {
    let generator = try ContactGenerator(options)
    for chunk in 0..<options.chunks {
      if chunk > 0 { try files.contacts.beginChunk() }
      try generator.generateRecords(ofChunk: chunk) {
        try files.contacts.write($0, records: $1)
        try tell(files.contacts.records)
      }
    }
    try files.contacts.end()
    guard let truth = files.truth else { return }
    try generator.generateTruthRows {
      try truth.write($0, records: $1)
      try tell(files.contacts.records)
    }
    try truth.end()
  }
}

extension SinkPlan {
  /// Of generated contacts: chunks where the name has a number, whatever number of records is in each.
  fileprivate init(generated options: GenerateOptions, _ request: RunRequest) throws {
    var request = request
    let hasNumber = try request.output.flatMap { try ChunkName($0) } != nil
    guard hasNumber || options.chunks == 1 else {
      throw OhanaError(
        .usage, "missing-number", "\(options.chunks) chunks need {n} in the name of the output", fix: "for example -o 'part-{n}.ndjson.gz'")
    }
    request.options.to = options.format == .csv ? .csv : .ndjson
    request.options.chunkRecords = hasNumber ? .max : nil
    try self.init(request, firstInput: .ndjson)
    // Commas, whatever the name says.
    delimiter = UInt8(ascii: ",")
  }
}
