public import OhanaCore
internal import Synchronization

/// Spill files in memory, for tests; counts what was asked of it.
public final class MemorySpillStore: SpillStore {
  private struct Counts {
    var made = 0
    var removed = 0
    var bytesAppended = 0
    var mostInUse = 0
  }
  private struct WeakFile {
    weak var file: File?
  }
  private let counts = Mutex(Counts())
  private let named = Mutex<[Int: WeakFile]>([:])
  public let maxOpenFiles: Int
  /// Appends beyond this many bytes in all fail like a full disk.
  public let capacityInBytes: Int

  public init(maxOpenFiles: Int = 16, capacityInBytes: Int = .max) {
    self.maxOpenFiles = maxOpenFiles
    self.capacityInBytes = capacityInBytes
  }

  public func makeFile() throws -> any SpillFile {
    make([])
  }

  private func make(_ bytes: [UInt8]) -> any SpillFile {
    let number = counts.withLock { counts in
      counts.made += 1
      counts.mostInUse = max(counts.mostInUse, counts.made - counts.removed)
      return counts.made
    }
    let file = File(self, number, bytes)
    named.withLock { $0[number] = WeakFile(file: file) }
    return file
  }

  /// A copy of a file that is still there.
  public func reopen(_ number: Int, size: Int) throws -> any SpillFile {
    guard let bytes = named.withLock({ $0[number]?.file?.content }), bytes.count >= size else { throw CheckpointReader.damaged }
    return make(Array(bytes.prefix(size)))
  }

  public var filesMade: Int { counts.withLock { $0.made } }
  public var filesInUse: Int { counts.withLock { $0.made - $0.removed } }
  /// Files there were at once, at most.
  public var mostFilesInUse: Int { counts.withLock { $0.mostInUse } }
  /// Bytes appended over the store's life.
  public var bytesSpilled: Int { counts.withLock { $0.bytesAppended } }

  private final class File: SpillFile {
    private let store: MemorySpillStore
    private let bytes: Mutex<[UInt8]?>
    let number: Int?

    init(_ store: MemorySpillStore, _ number: Int, _ bytes: [UInt8]) {
      self.store = store
      self.number = number
      self.bytes = Mutex(bytes)
    }

    var content: [UInt8]? { bytes.withLock { $0 } }

    var size: Int { bytes.withLock { $0?.count ?? 0 } }

    func append(_ buffer: UnsafeRawBufferPointer) throws {
      let total = store.counts.withLock { counts in
        counts.bytesAppended += buffer.count
        return counts.bytesAppended
      }
      if total > store.capacityInBytes { throw OhanaError(.io, "disk-full", "no space left on the test's disk", fix: "use --temp-dir") }
      nonisolated(unsafe) let buffer = buffer
      bytes.withLock { bytes in
        precondition(bytes != nil, "append to a removed spill file")
        bytes!.append(contentsOf: buffer)
      }
    }

    func read(at offset: Int, into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
      nonisolated(unsafe) let buffer = buffer
      return bytes.withLock { bytes in
        precondition(bytes != nil, "read of a removed spill file")
        let count = max(0, min(buffer.count, bytes!.count - offset))
        guard count > 0 else { return 0 }
        bytes!.withUnsafeBytes { buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[offset..<(offset + count)])) }
        return count
      }
    }

    func remove() {
      bytes.withLock { bytes in
        precondition(bytes != nil, "a spill file is removed once")
        bytes = nil
      }
      store.counts.withLock { $0.removed += 1 }
    }
  }
}

/// Runs work at once, on the caller's thread.
public final class InlineWorkPool: WorkPool {
  public init() {}
  public var width: Int { 1 }
  public func submit(_ work: @escaping @Sendable () -> Void) { work() }
}
