internal import OhanaCore
internal import OhanaFormats

/// Makes manifests, and holds published sets against them.
protocol ManifestManaging: Sendable {
  /// Reads a complete file that waits for its name.
  func describe(_ file: FinishedFile, beside folder: FilePath) throws -> Manifest.File
  /// The pattern of a set of chunks; nil for other outputs.
  func chunks(_ sink: SinkPlan, beside folder: FilePath) -> FilePath?
  /// Writes a manifest, complete but for its name.
  func write(_ manifest: Manifest, to target: OutputTarget) throws
  /// - Throws: `io`, or `badInput` for what is no manifest.
  func read(_ path: FilePath) throws -> Manifest
  /// Files with names of the set's chunks that are none of it.
  func surplus(_ manifest: Manifest, beside folder: FilePath) -> [FilePath]
  /// What is wrong with a file of a set; nil if nothing is.
  func fault(_ file: Manifest.File, beside folder: FilePath) throws -> String?
}

/// Makes manifests, and holds published sets against them. Holds nothing.
struct ManifestManager: ManifestManaging {
  /// Reads a complete file that waits for its name.
  ///
  /// - Parameter folder: the manifest's own; files in it are named without it.
  func describe(_ file: FinishedFile, beside folder: FilePath) throws -> Manifest.File {
    guard let temporary = file.target.temporaryPath, let final = file.target.pendingRename?.final else {
      throw Manifest.inPlace(file.target.path)
    }
    let (size, digest) = try digest(of: temporary)
    return Manifest.File(path: Self.path(final, beside: folder), role: file.role, records: file.records, size: size, sha256: digest)
  }

  /// The pattern of a set of chunks as a manifest in `folder` names it; nil for other outputs, and where `{n}` stands in the name of a folder.
  func chunks(_ sink: SinkPlan, beside folder: FilePath) -> FilePath? {
    guard case .chunks(let pattern, _) = sink.place else { return nil }
    return pattern.absolute.map { Self.path($0, beside: folder) }
  }

  private static func path(_ final: FilePath, beside folder: FilePath) -> FilePath {
    final.parent == folder ? final.lastComponent : final
  }

  /// Writes a manifest, complete but for its name.
  func write(_ manifest: Manifest, to target: OutputTarget) throws {
    try JSONCoding.page(manifest).withUnsafeBytes { try target.write($0) }
    try target.complete()
  }

  /// - Throws: `io`, or `badInput` for what is no manifest.
  func read(_ path: FilePath) throws -> Manifest {
    let stream = try FileByteStream(path)
    var text: [UInt8] = []
    var block = [UInt8](repeating: 0, count: 1 << 16)
    while case let count = try block.withUnsafeMutableBytes({ try stream.read(into: $0) }), count > 0, text.count < 1 << 30 {
      text += block[..<count]
    }
    guard let manifest = try? JSONCoding.value(Manifest.self, from: text), manifest.format == 1 else {
      throw OhanaError(.badInput, "no-manifest", at: .init(path), "this is no manifest of ohana", fix: "name the FILE of --manifest FILE")
    }
    return manifest
  }

  /// Files with names of the set's chunks that are none of it: whoever reads the set by a pattern would read them too.
  func surplus(_ manifest: Manifest, beside folder: FilePath) -> [FilePath] {
    guard let pattern = manifest.chunks, let name = try? ChunkName(pattern) else { return [] }
    // A name of the set may be a link to its file.
    let known = Set(manifest.files.compactMap { FileIdentity(of: Self.place($0.path, folder)) })
    let isBeside = !pattern.bytes.contains(UInt8(ascii: "/"))
    let names = (try? (isBeside ? folder : pattern.parent).folderNames()) ?? []
    return names.filter { name.number(of: $0) != nil }.sorted().map { isBeside ? $0 : pattern.parent.appending($0) }.filter { path in
      FileIdentity(of: Self.place(path, folder)).map { !known.contains($0) } ?? false
    }
  }

  private static func place(_ path: FilePath, _ folder: FilePath) -> FilePath {
    path.bytes.first == UInt8(ascii: "/") ? path : folder.appending(path)
  }

  /// What is wrong with a file of a set; nil if nothing is.
  func fault(_ file: Manifest.File, beside folder: FilePath) throws -> String? {
    let path = Self.place(file.path, folder)
    guard let status = fileStatus(path), status.isRegular else { return "missing" }
    if Int(status.st_size) != file.size { return "\(status.st_size) bytes instead of \(file.size)" }
    return try digest(of: path).sha256 == file.sha256 ? nil : "its bytes are others (SHA-256)"
  }

  private func digest(of path: FilePath) throws -> (size: Int, sha256: String) {
    let stream = try FileByteStream(path)
    let digest = SHA256Digest()
    let block = ByteBuffer(capacity: 1 << 18)
    var size = 0
    while true {
      let bytes = UnsafeMutableRawBufferPointer(start: block.base, count: block.capacity)
      let count = try stream.read(into: bytes)
      if count == 0 { return (size, digest.finish()) }
      digest.update(UnsafeRawBufferPointer(rebasing: bytes[..<count]))
      size += count
    }
  }
}
