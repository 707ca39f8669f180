internal import OhanaCore
internal import OhanaFormats

/// Makes manifests, and holds published sets against them. Holds nothing.
struct ManifestManager: Sendable {
  /// Reads a complete file that waits for its name.
  ///
  /// - Parameter folder: the manifest's own; files in it are named without it.
  func describe(_ file: FinishedFile, beside folder: FilePath) throws -> Manifest.File {
    guard let temporary = file.target.temporaryPath, let final = file.target.pendingRename?.final else {
      throw OhanaError(
        .usage, "no-manifest", at: .init(file.target.path), "--manifest is for outputs that are regular files", fix: "name a file with -o")
    }
    let (size, digest) = try digest(of: temporary)
    let path = final.parent == folder ? final.lastComponent : final
    return Manifest.File(path: path, role: file.role, records: file.records, size: size, sha256: digest)
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

  /// What is wrong with a file of a set; nil if nothing is.
  func fault(_ file: Manifest.File, beside folder: FilePath) throws -> String? {
    let path = file.path.bytes.first == UInt8(ascii: "/") ? file.path : folder.appending(file.path)
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
