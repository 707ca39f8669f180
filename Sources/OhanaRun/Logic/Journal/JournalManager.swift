internal import OhanaCore

/// Makes, reads and removes state folders.
protocol JournalManaging: Sendable {
  /// A name for a state folder that nobody has.
  func newFolder(in folder: FilePath, for output: FilePath) -> FilePath?
  /// Makes a state folder; nil where that is not to be.
  func create(_ folder: FilePath) -> Journal?
  /// Opens the journal of an earlier run to go on with it. - Throws: `io`.
  func reopen(_ folder: FilePath, behind length: Int) throws -> Journal
  /// The changes of a journal, and how long it is without a torn end; nil where there is none.
  func read(_ folder: FilePath, kinds: [any DurableUpdater.Type]) -> (changes: [any DurableUpdater], length: Int)?
  /// Whether there is a checkpoint in a state folder.
  func holdsCheckpoint(_ folder: FilePath) -> Bool
  /// Removes a state folder and all in it.
  func remove(_ folder: FilePath)
}

/// Makes, reads and removes state folders. Holds nothing.
struct JournalManager: JournalManaging {
  /// A name for the state folder of a run that nobody has; nil if there is no such folder for temporary files.
  func newFolder(in folder: FilePath, for output: FilePath) -> FilePath? {
    guard let folder = folder.appending("x").absolute?.parent else { return nil }
    var random = SystemRandomNumberGenerator()
    while true {
      let name = Array("ohana-".utf8) + output.lastComponent.bytes.prefix(150) + Array(("-" + String(random.next(), radix: 36)).utf8)
      let path = folder.appending(FilePath(bytes: name))
      if fileStatus(path, followsLinks: false) == nil { return path }
    }
  }

  /// Makes a state folder.
  ///
  /// - Returns: nil where that is not to be; then the run has no journal and cannot be resumed.
  func create(_ folder: FilePath) -> Journal? {
    guard folder.withCString({ mkdir($0, 0o700) }) == 0 else { return nil }
    return open(folder, O_CREAT | O_EXCL)
  }

  /// Opens the journal of an earlier run to go on with it. - Throws: `io`.
  func reopen(_ folder: FilePath, behind length: Int) throws -> Journal {
    guard let journal = open(folder, 0, length: length) else { throw OhanaError.system(errno, "open the journal in", folder) }
    return journal
  }

  private func open(_ folder: FilePath, _ flags: Int32, length: Int? = nil) -> Journal? {
    let path = folder.appending(Journal.name)
    let descriptor = openFile(path, O_RDWR | O_APPEND | O_NOFOLLOW | flags, mode: 0o600)
    guard descriptor >= 0 else {
      let number = errno
      _ = folder.withCString { rmdir($0) }
      errno = number
      return nil
    }
    let isReady =
      if let length { ftruncate(descriptor, off_t(length)) == 0 } else { Journal.magic.withUnsafeBytes { writeFully(descriptor, $0) } == 0 }
    let journal = Journal(folder, descriptor: descriptor)
    if isReady { return journal }
    if length == nil { remove(folder) }
    return nil
  }

  /// The changes of a journal, and how long it is without a torn end.
  ///
  /// - Returns: nil if there is no such folder of ours, or nothing in it that can be read.
  func read(_ folder: FilePath, kinds: [any DurableUpdater.Type]) -> (changes: [any DurableUpdater], length: Int)? {
    guard isOurs(folder) else { return nil }
    let descriptor = openFile(folder.appending(Journal.name), O_RDONLY | O_NOFOLLOW)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var text = [UInt8](repeating: 0, count: Int(fileStatus(descriptor)?.st_size ?? 0))
    let count = text.withUnsafeMutableBytes { readFully(descriptor, at: 0, into: $0) }
    text.removeLast(text.count - max(0, count))
    return parse(text, kinds: kinds)
  }

  /// As ``read(_:kinds:)``, of a journal's bytes: nil for one that is damaged in front of its last entry.
  func parse(_ bytes: [UInt8], kinds: [any DurableUpdater.Type]) -> (changes: [any DurableUpdater], length: Int)? {
    guard bytes.starts(with: Journal.magic) else { return nil }
    var changes: [any DurableUpdater] = []
    var index = Journal.magic.count
    while bytes.count - index >= 12 {
      let (length, checksum) = bytes.withUnsafeBytes {
        (
          Int(UInt32(littleEndian: $0.loadUnaligned(fromByteOffset: index, as: UInt32.self))),
          UInt64(littleEndian: $0.loadUnaligned(fromByteOffset: index + 4, as: UInt64.self))
        )
      }
      guard length <= Journal.longestEntry, bytes.count - index - 12 >= length else { break }
      let text = Array(bytes[(index + 12)..<(index + 12 + length)])
      guard XXH3Digest.value(of: text) == checksum, let change = change(text, kinds) else {
        // Nothing is written behind an entry that was cut off; of one that grew before its bytes came to disk, all may be zero.
        if bytes[(index + 12 + length)...].contains(where: { $0 != 0 }) { return nil }
        break
      }
      changes.append(change)
      index += 12 + length
    }
    return (changes, index)
  }

  private struct Name: Decodable { var name: String }
  private struct Entry<Value: DurableUpdater>: Decodable { var value: Value }

  private func change(_ text: [UInt8], _ kinds: [any DurableUpdater.Type]) -> (any DurableUpdater)? {
    func decode<Kind: DurableUpdater>(_ kind: Kind.Type) -> (any DurableUpdater)? {
      try? JSONCoding.value(Entry<Kind>.self, from: text).value
    }
    guard let name = try? JSONCoding.value(Name.self, from: text).name, let kind = kinds.first(where: { $0.journalName == name }) else {
      return nil
    }
    return decode(kind)
  }

  /// A folder of this user's own that nobody else can write to.
  private func isOurs(_ folder: FilePath) -> Bool {
    guard let status = fileStatus(folder, followsLinks: false), status.isDirectory else { return false }
    return status.st_uid == geteuid() && status.st_mode & 0o077 == 0 && folder.lastComponent.bytes.starts(with: Array("ohana-".utf8))
  }

  /// Whether there is a checkpoint in a state folder, whatever its journal says.
  func holdsCheckpoint(_ folder: FilePath) -> Bool {
    isOurs(folder) && ((try? folder.folderNames()) ?? []).contains { $0.bytes.starts(with: Array("checkpoint-".utf8)) }
  }

  /// Removes a state folder and all in it, also while other threads of ours still make files there. What is no state folder of ours is left
  /// alone.
  func remove(_ folder: FilePath) {
    guard isOurs(folder) else { return }
    // Whoever is killed on the way leaves a journal of nothing, and no parts of a checkpoint without one.
    let journal = folder.appending(Journal.name)
    _ = journal.withCString { truncate($0, off_t(Journal.magic.count)) }
    let known = ["checkpoint-", "spill-"].map { Array($0.utf8) }
    // Listing a folder takes a descriptor, and there may be none.
    func guessed() -> [FilePath] { known.flatMap { kind in (1...1000).map { FilePath(bytes: kind + Array("\($0)".utf8)) } } }
    for _ in 0..<1000 {
      for name in (try? folder.folderNames()) ?? guessed() where known.contains(where: { name.bytes.starts(with: $0) }) {
        folder.appending(name).unlinkFile()
      }
      journal.unlinkFile()
      if folder.withCString({ rmdir($0) }) == 0 || errno != ENOTEMPTY { return }
    }
  }
}
