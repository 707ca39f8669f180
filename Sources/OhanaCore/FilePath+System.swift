extension FilePath {
  /// From the root, links of the folder followed. The file itself need not exist; nil if its folder does not.
  package var absolute: FilePath? {
    let folder = parent
    guard let resolved = folder.withCString({ realpath($0, nil) }) else { return nil }
    defer { free(resolved) }
    let bytes = UnsafeBufferPointer(start: resolved, count: strlen(resolved)).map { UInt8(bitPattern: $0) }
    return FilePath(bytes: bytes).appending(lastComponent)
  }

  /// Names of all that is in the folder, hidden ones too, in no order. - Throws: `io`.
  package func folderNames() throws(OhanaError) -> [FilePath] {
    guard let handle = withCString({ opendir($0) }) else { throw OhanaError.system(errno, "read the folder", self) }
    defer { closedir(handle) }
    var names: [FilePath] = []
    while true {
      errno = 0
      guard let entry = readdir(handle) else { break }
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { FilePath(bytes: Array($0.prefix { $0 != 0 })) }
      if name != "." && name != ".." { names.append(name) }
    }
    guard errno == 0 else { throw OhanaError.system(errno, "read the folder", self) }
    return names
  }

  /// The text of a file of a few KiB, such as the system's own; nil if it cannot be read.
  package var smallText: String? {
    let descriptor = openFile(self, O_RDONLY)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var text = [UInt8](repeating: 0, count: 16 << 10)
    let count = text.withUnsafeMutableBytes { readSome(descriptor, into: $0) }
    return count >= 0 ? String(decoding: text.prefix(count), as: UTF8.self) : nil
  }

  /// Removes a file; false with `errno` set.
  @discardableResult
  package func unlinkFile() -> Bool { withCString { unlink($0) } == 0 }
}

/// Brings the names in a folder to disk. A folder that may be written but not read cannot be synced; that is no fault.
package func syncFolder(_ folder: FilePath) {
  let descriptor = openFile(folder, O_RDONLY | O_DIRECTORY)
  guard descriptor >= 0 else { return }
  fsync(descriptor)
  close(descriptor)
}
