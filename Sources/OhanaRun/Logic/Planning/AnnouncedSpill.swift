internal import OhanaCore

/// Tells of bytes that go to temporary files: the first at once, then ten times a second at most.
final class AnnouncedSpill: SpillStore {
  private let store: any SpillStore
  private let announce: @Sendable (Int) -> Void
  private let told = Locked((bytes: 0, pace: Pace()))

  init(_ store: any SpillStore, _ announce: @escaping @Sendable (Int) -> Void) {
    self.store = store
    self.announce = announce
  }

  var maxOpenFiles: Int { store.maxOpenFiles }
  func makeFile() throws -> any SpillFile { File(try store.makeFile(), self) }
  func reopen(_ number: Int, size: Int) throws -> any SpillFile { File(try store.reopen(number, size: size), self) }

  private func count(_ bytes: Int) {
    let now = monotonicNanoseconds()
    let total = told.withLock { told -> Int? in
      told.bytes += bytes
      return told.pace.isDue(at: now) ? told.bytes : nil
    }
    if let total { announce(total) }
  }

  private final class File: SpillFile {
    private let file: any SpillFile
    private let owner: AnnouncedSpill

    init(_ file: any SpillFile, _ owner: AnnouncedSpill) {
      self.file = file
      self.owner = owner
    }

    var size: Int { file.size }
    var number: Int? { file.number }
    var digest: UInt64 { file.digest }
    func sync() throws { try file.sync() }
    func append(_ bytes: UnsafeRawBufferPointer) throws {
      try file.append(bytes)
      owner.count(bytes.count)
    }
    func read(at offset: Int, into buffer: UnsafeMutableRawBufferPointer) throws -> Int { try file.read(at: offset, into: buffer) }
    func remove() { file.remove() }
  }
}
