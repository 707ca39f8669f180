public import OhanaCore
internal import OhanaEngine
internal import OhanaFormats

/// Writes generated contacts, and the truth about them, to files. Holds nothing.
public struct GenerateManager: Sendable {
  /// Holds nothing, so any number of them are one.
  public init() {}

  /// - Parameters:
  ///   - output: `{n}` in the name is the chunk's number; `-` and nil are standard output, for one chunk.
  ///   - truth: a CSV of record id and person id.
  ///   - interrupted: called on SIGINT, SIGTERM or SIGHUP before the first output appears, when everything temporary is gone; ends the process.
  /// - Throws: `usage` if there are more chunks than names, or an output exists without `--overwrite`; `locked` while another run writes one
  ///   of them; `io`.
  public func generate(
    _ options: GenerateOptions, to output: FilePath?, truth: FilePath?, run: RunOptions, interrupted: @escaping @Sendable (Int32) -> Void
  ) throws {
    let names = TemporaryNames.random()
    let manager = LockManager()
    let locks = try manager.acquire([output, truth].compactMap { $0 })
    let clearUp: @Sendable () -> Void = {
      names.removeAll()
      for lock in locks { lock.release(keepsFile: lock.earlier != nil) }
    }
    defer { clearUp() }
    manager.clearUp(locks)
    let lastWord = LastWord()
    let observer = SignalObserver { event in
      guard let interruption = InterruptActions.Interrupt(event) else { return }
      lastWord.interrupt {
        clearUp()
        interrupted(interruption.signal)
      }
    }
    defer { withExtendedLifetime(observer) {} }
    for lock in locks where lock.earlier == nil { try lock.note(nil, mark: names.mark) }
    let generator = try ContactGenerator(options)
    let scheduler = WorkScheduler(width: run.threads ?? ProcessorManager().usableCount)
    let checks = OutputChecks(inputs: [], overwrites: run.overwrite)
    let gzip = GzipWorkspace(level: try CompressionLevel(run.level, codec: run.useZlib ? .zlib : .fast), pool: scheduler)
    func open(_ path: FilePath) throws -> OutputFile {
      try checks.check(path)
      let isCompressed = run.compression.map { $0 == .gz } ?? SinkPlan.isCompressed(path)
      return OutputFile(try OutputTarget(path, overwrites: run.overwrite, names: names), gzip: isCompressed ? gzip : nil)
    }
    let pattern = output ?? "-"
    let name = try ChunkName(pattern)
    guard name != nil || options.chunks == 1 else {
      throw OhanaError(
        .usage, "missing-number", "\(options.chunks) chunks need {n} in the name of the output", fix: "for example -o 'part-{n}.ndjson.gz'")
    }
    var files: [OutputFile] = []
    do {
      for chunk in 0..<options.chunks {
        let file = try open(name?.path(chunk + 1) ?? pattern)
        files.append(file)
        try generator.generate(chunk: chunk) { try file.write($0) }
        try file.finish()
      }
      if let truth {
        let file = try open(truth)
        files.append(file)
        try generator.generateTruth { try file.write($0) }
        try file.finish()
      }
      lastWord.take()
      try OutputTarget.publish(files.map(\.target))
    } catch {
      lastWord.take()
      for file in files { file.discard() }
      throw error
    }
  }
}
