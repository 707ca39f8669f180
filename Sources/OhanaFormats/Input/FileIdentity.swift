public import OhanaCore

/// Which file it is, whatever its names: device and inode.
public struct FileIdentity: Hashable, Sendable {
  /// `st_dev`.
  public let device: UInt64
  /// `st_ino`.
  public let inode: UInt64

  /// - Parameter status: of the file itself, links followed.
  package init(_ status: stat) {
    device = UInt64(status.st_dev)
    inode = UInt64(status.st_ino)
  }

  /// nil if there is no such file, or it cannot be looked at.
  public init?(of path: FilePath) {
    guard let status = fileStatus(path) else { return nil }
    self.init(status)
  }
}
