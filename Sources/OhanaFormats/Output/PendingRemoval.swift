public import OhanaCore

/// A file of an earlier set that is to go when the new one has appeared: what is left to do when a run was killed between the two.
public struct PendingRemoval: Sendable, Equatable, Codable {
  /// From the root.
  public let path: FilePath
  private let device: UInt64
  private let inode: UInt64
  private let content: FileContent

  /// nil if there is no regular file of this name; a symbolic link is none.
  init?(of path: FilePath) {
    guard let status = fileStatus(path, followsLinks: false), status.isRegular, let absolute = path.absolute else { return nil }
    self.init(absolute, status)
  }

  private init(_ path: FilePath, _ status: stat) {
    self.path = path
    let identity = FileIdentity(status)
    (device, inode) = (identity.device, identity.inode)
    content = FileContent(status)
  }

  /// Takes the file away if it is the very one that was seen, unchanged. Can be done any number of times.
  ///
  /// - Throws: `io`.
  public func finish() throws(OhanaError) {
    guard let status = fileStatus(path, followsLinks: false), status.isRegular, Self(path, status) == self else { return }
    guard path.withCString({ unlink($0) }) == 0 || errno == ENOENT else { throw OhanaError.system(errno, "remove the old chunk", path) }
  }
}

/// Size and time of the last change: a file that has both has not been written to, whatever it is called and wherever it is mounted.
package struct FileContent: Sendable, Equatable, Codable {
  private let size: Int64
  private let seconds: Int64
  private let nanoseconds: Int64

  /// nil if there is no such file.
  package init?(of path: FilePath) {
    guard let status = fileStatus(path) else { return nil }
    self.init(status)
  }

  init(_ status: stat) {
    size = Int64(status.st_size)
    (seconds, nanoseconds) = (Int64(status.st_mtim.tv_sec), Int64(status.st_mtim.tv_nsec))
  }
}
