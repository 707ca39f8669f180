internal import OhanaCore
internal import OhanaFormats

/// Sees to it that one output is written by one run at a time. Holds nothing.
struct LockManager: Sendable {
  /// Takes the lock of an output, that of a dead run too.
  ///
  /// - Returns: nil where locks are of no use: the folder is missing or closed, which opening the output will tell better.
  /// - Throws: `locked` while another run holds it.
  func acquire(_ output: FilePath) throws -> OutputLock? {
    guard let path = OutputLock.path(of: try resolvingLinks(output)) else { return nil }
    for _ in 0..<100 {
      let descriptor = openFile(path, O_RDWR | O_CREAT | O_NOFOLLOW, mode: 0o600)
      guard descriptor >= 0 else {
        if fileStatus(path, followsLinks: false) != nil { throw Self.locked(output, by: nil) }
        return nil
      }
      while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
        if errno == EINTR { continue }
        let number = errno
        let holder = read(descriptor).first
        close(descriptor)
        if number != EWOULDBLOCK { return nil }
        throw Self.locked(output, by: holder)
      }
      // The one before may have taken the name away between our two calls.
      if let mine = fileStatus(descriptor), let there = fileStatus(path, followsLinks: false), FileIdentity(mine) == FileIdentity(there) {
        return OutputLock(path, descriptor: descriptor)
      }
      close(descriptor)
    }
    throw Self.locked(output, by: nil)
  }

  /// Where the last run to this output left its state; nil if it left none.
  func stateFolder(of output: FilePath) throws -> FilePath? {
    guard let path = OutputLock.path(of: try resolvingLinks(output)) else { return nil }
    let descriptor = openFile(path, O_RDONLY | O_NOFOLLOW)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    let lines = read(descriptor)
    return lines.count > 1 && !lines[1].isEmpty ? FilePath(bytes: lines[1]) : nil
  }

  private func read(_ descriptor: Int32) -> [[UInt8]] {
    var text = [UInt8](repeating: 0, count: 8192)
    let count = text.withUnsafeMutableBytes { readFully(descriptor, at: 0, into: $0) }
    return text.prefix(max(0, count)).split(separator: 0x0a, omittingEmptySubsequences: false).map(Array.init)
  }

  private static func locked(_ output: FilePath, by holder: [UInt8]?) -> OhanaError {
    let process = holder.flatMap { $0.isEmpty ? nil : " (process \(String(decoding: $0, as: UTF8.self)))" } ?? ""
    return OhanaError(
      .locked, "output-locked", at: .init(output), "another run\(process) is writing this output",
      fix: "wait for its end, or write to another file")
  }
}
