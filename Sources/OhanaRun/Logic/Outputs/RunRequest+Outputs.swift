internal import OhanaCore
internal import OhanaFormats

extension RunRequest {
  /// All files that a run of this request writes under their names, the main output first.
  func writtenPaths(_ purpose: RunPurpose) -> [FilePath] {
    let main = purpose.publishes ? output : nil
    return [main, options.rejects, options.report, options.trace].compactMap { $0 } + pathsBeside(purpose)
  }

  /// What appears with the main output or not at all.
  private func pathsBeside(_ purpose: RunPurpose) -> [FilePath] {
    var truth: FilePath?
    if case .generate(let options) = purpose { truth = options.truth }
    return [truth, options.manifest].compactMap { $0 } + stages.flatMap(\.sideOutputs)
  }

  /// - Throws: `usage` where an output that a manifest would tell of is a pipe or a device.
  func checkManifest() throws {
    guard options.manifest != nil else { return }
    let outputs = (sink == nil ? [output ?? "-"] : []) + [options.rejects].compactMap { $0 } + stages.flatMap(\.sideOutputs)
    if let path = outputs.first(where: OutputTarget.isWrittenInPlace) { throw Manifest.inPlace(path) }
  }

  /// Whoever reads the main output from a pipe may have had enough of it, and that is no failure. It is one where files were to appear beside
  /// it, and where the pipe is another output's.
  func judged(_ error: any Error, _ purpose: RunPurpose) -> any Error {
    guard var error = error as? OhanaError, error.code == "closed-pipe" else { return error }
    let unpublished = pathsBeside(purpose).first { !OutputTarget.isWrittenInPlace($0) }
    let isMain = error.location?.source == (output == nil || output == "-" ? "standard output" : output)
    if isMain, unpublished == nil { return error }
    error.code = "lost-reader"
    error.fix = unpublished.map { "\($0) is not published" } ?? "nothing is published"
    return error
  }
}
