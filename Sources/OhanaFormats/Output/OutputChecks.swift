public import OhanaCore
internal import Synchronization

/// Refuses outputs that would destroy something: an input, another output, or an existing file without `--overwrite`.
///
/// Ask for each output before it is opened; outputs are remembered. Devices such as `/dev/null` and terminals may be used any number of
/// times.
public final class OutputChecks: Sendable {
  private enum Place: Hashable {
    case file(FileIdentity)
    /// A file that does not exist yet: its folder and its name.
    case name(FileIdentity, FilePath)
  }

  private let overwrites: Bool
  private let inputs: [FileIdentity: FilePath]
  private let outputs = Mutex<[Place: FilePath]>([:])

  /// - Parameter inputs: files that are read; `-` is standard input. Looked at now.
  public init(inputs: [FilePath], overwrites: Bool) {
    self.overwrites = overwrites
    var identities: [FileIdentity: FilePath] = [:]
    for path in inputs {
      guard let status = path == "-" ? fileStatus(STDIN_FILENO) : fileStatus(path), !status.isCharacterDevice else { continue }
      identities[FileIdentity(status)] = path
    }
    self.inputs = identities
  }

  /// - Throws: `usage`: `output-is-input`, `output-twice` or `output-exists`.
  public func check(_ path: FilePath) throws(OhanaError) {
    let final = try resolvingLinks(path)
    let descriptor = OutputTarget.descriptor(final)
    let status = descriptor.map { fileStatus($0) } ?? fileStatus(final)
    let place: Place
    if let status {
      if status.isCharacterDevice { return }
      let identity = FileIdentity(status)
      if let input = inputs[identity] {
        throw OhanaError(
          .usage, "output-is-input", at: .init(path), "the output is also the input \(input)", fix: "write to another file")
      }
      place = .file(identity)
    } else {
      // A missing folder is found out, and named, when the output is opened.
      guard let folder = FileIdentity(of: final.parent) else { return }
      place = .name(folder, final.lastComponent)
    }
    let earlier = outputs.withLock { outputs -> FilePath? in
      defer { outputs[place] = outputs[place] ?? path }
      return outputs[place]
    }
    if let earlier {
      throw OhanaError(
        .usage, "output-twice", at: .init(path), "two outputs are the same file, the other is \(earlier)", fix: "name another file")
    }
    if let status, status.isRegular, descriptor == nil, !overwrites { throw Self.exists(path) }
  }

  /// Whether a file of this name is an input, or an output that was asked for.
  func isKnown(_ path: FilePath) -> Bool {
    guard let identity = FileIdentity(of: path) else { return false }
    if inputs[identity] != nil { return true }
    let name = FileIdentity(of: path.parent).map { Place.name($0, path.lastComponent) }
    return outputs.withLock { outputs in outputs[.file(identity)] != nil || name.flatMap { outputs[$0] } != nil }
  }

  static func exists(_ path: FilePath) -> OhanaError {
    OhanaError(
      .usage, "output-exists", at: .init(path), "the output exists already", fix: "use --overwrite to replace it, or name another file")
  }
}
