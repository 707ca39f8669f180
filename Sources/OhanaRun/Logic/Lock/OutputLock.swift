internal import OhanaCore
internal import OhanaEngine

/// The right to write one output. The kernel gives it back when the process ends, however it ends; then the file stays, and tells the next
/// run where the state of the last one lies.
///
/// The file lies beside the output, is called `.NAME.ohana-lock`, has mode 0600, and holds two lines: the process, and its state folder.
final class OutputLock: Sendable {
  let path: FilePath
  private let descriptor: Int32
  private let isHeld = Locked(true)

  init(_ path: FilePath, descriptor: Int32) {
    self.path = path
    self.descriptor = descriptor
  }

  deinit { release(keepsFile: true) }

  static func path(of output: FilePath) -> FilePath? {
    guard let place = output.absolute else { return nil }
    let name = [UInt8(ascii: ".")] + place.lastComponent.bytes.prefix(200) + Array(".ohana-lock".utf8)
    return place.parent.appending(FilePath(bytes: name))
  }

  /// Notes where the state lies, for the next run.
  func note(_ folder: FilePath) throws {
    let text = Array("\(getpid())\n".utf8) + folder.bytes + [0x0a]
    guard ftruncate(descriptor, 0) == 0, lseek(descriptor, 0, SEEK_SET) == 0 else { throw OhanaError.system(errno, "write", path) }
    let number = text.withUnsafeBytes { writeFully(descriptor, $0) }
    guard number == 0 else { throw OhanaError.system(number, "write", path) }
  }

  /// Gives the right back. May be called again.
  ///
  /// - Parameter keepsFile: there is a state to find.
  func release(keepsFile: Bool) {
    let wasHeld = isHeld.withLock { isHeld in
      defer { isHeld = false }
      return isHeld
    }
    guard wasHeld else { return }
    if !keepsFile { path.unlinkFile() }
    close(descriptor)
  }
}
