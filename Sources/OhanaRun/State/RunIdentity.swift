internal import CICU
public import OhanaCore
internal import OhanaFormats

/// What two runs must have in common for one to go on with the other.
public struct RunIdentity: Sendable, Equatable, Codable {
  /// A file that is read.
  public struct Input: Sendable, Equatable, Codable {
    /// As given.
    public var path: FilePath
    public var size: Int
    /// Last change, in nanoseconds since 1970.
    public var changed: Int

    /// nil for what is no regular file: it cannot be read again.
    init?(_ path: FilePath) {
      guard path != "-", let status = fileStatus(path), status.isRegular else { return nil }
      self.path = path
      size = Int(status.st_size)
      #if canImport(Darwin)
        let time = status.st_mtimespec
      #else
        let time = status.st_mtim
      #endif
      changed = Int(time.tv_sec) * 1_000_000_000 + Int(time.tv_nsec)
    }
  }

  /// Of this tool and the libraries that results depend on, by name.
  public var versions: [String: String]
  /// Options that results depend on, and the stages, as text.
  public var plan: [String]
  /// In the order of reading.
  public var inputs: [Input]

  static var versions: [String: String] {
    ["ohana": Version.current, "ICU": String(cString: ohana_icu_version()), "ISA-L": DeflateCodec.libraryVersion]
  }

  /// nil where an input cannot be read again.
  init?(_ request: RunRequest, inputs paths: [FilePath]) {
    inputs = []
    // Nobody knows in which order records came.
    if request.options.interleave { return nil }
    for path in paths {
      guard let input = Input(path) else { return nil }
      inputs.append(input)
    }
    versions = Self.versions
    // Asked for where it counts only, since the answer takes the loading of the metadata.
    if request.stages.contains(where: { $0.text.contains("phone") }) { versions["phone metadata"] = PhoneNumbers.metadataVersion }
    // How it runs, and what it tells, does not change what comes out.
    var options = request.options
    let usual = RunOptions()
    (options.memory, options.threads, options.tempDir) = (usual.memory, usual.threads, usual.tempDir)
    (options.report, options.progress, options.quiet, options.showValues) = (usual.report, usual.progress, usual.quiet, usual.showValues)
    (options.logFormat, options.traceSignals, options.readRetries) = (usual.logFormat, usual.traceSignals, usual.readRetries)
    (options.resume, options.overwrite, options.trace) = (usual.resume, usual.overwrite, usual.trace)
    // A set has another order in each process.
    if case .names(let names) = options.optional {
      options.optional = usual.optional
      plan = ["optional \(names.sorted { $0.lexicographicallyPrecedes($1) })"]
    } else {
      plan = []
    }
    plan += ["to \(request.output?.description ?? "-")", "\(options)"] + request.stages.map(\.text)
  }

  static func conflict(_ reason: String) -> OhanaError {
    OhanaError(
      .locked, "state-conflict", "the run that was ended before cannot be gone on with: \(reason)",
      fix: "run without --resume to start anew")
  }

  /// Why a run of this identity cannot go on with one of `earlier`; nil if it can.
  func conflict(with earlier: RunIdentity) -> String? {
    func other(_ name: String) -> String? {
      guard let version = versions[name], version != earlier.versions[name] else { return nil }
      return "it was made by \(name) \(earlier.versions[name] ?? "of no version"), and this is \(version)"
    }
    // Another version of ours may spell a plan in another way; which libraries matter depends on the plan.
    if let reason = other("ohana") { return reason }
    if plan != earlier.plan { return "options or stages are others" }
    for name in versions.keys.sorted() { if let reason = other(name) { return reason } }
    if inputs.map(\.path) != earlier.inputs.map(\.path) { return "its inputs were others" }
    for (input, before) in zip(inputs, earlier.inputs) where input != before {
      return "the input \(input.path) has changed \(input.size == before.size ? "" : "in size ")since"
    }
    return nil
  }
}
