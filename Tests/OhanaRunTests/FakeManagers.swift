import OhanaCore
import OhanaFormats
import Synchronization

@testable import OhanaRun

// A stand-in for each manager of the container: what it is about is made up, the rest is the manager's own.

/// Inputs are texts, and no files.
struct FakeInputManager: InputManaging {
  let texts: [FilePath: String]
  private let real = InputManager()

  init(_ texts: [FilePath: String]) { self.texts = texts }

  func list(_ request: RunRequest, leavingOut leavesOut: (OhanaError) -> Bool) throws -> InputListing {
    InputListing(files: request.inputs)
  }
  func open(_ listing: InputListing, of request: RunRequest, leavingOut leavesOut: (OhanaError) -> Bool) throws -> FoundInputs {
    FoundInputs(
      items: try listing.files.map { path in
        guard let text = texts[path] else { throw OhanaError.system(ENOENT, "open", path) }
        return InputItem(path: path, stream: TextStream(text))
      })
  }
  func probe(_ items: [InputItem], of request: RunRequest) throws -> [ProbedInput] { try real.probe(items, of: request) }
  func probe(_ path: FilePath, given stream: (any ByteStream)?, options: RunOptions) throws -> ProbedInput {
    try real.probe(path, given: stream ?? texts[path].map { TextStream($0) }, options: options)
  }
  func openText(_ path: FilePath, given stream: (any ByteStream)?, options: RunOptions) throws -> (stream: any ByteStream, size: Int?) {
    try real.openText(path, given: stream ?? texts[path].map { TextStream($0) }, options: options)
  }
  func spooling(_ input: ProbedInput, to spill: any SpillStore) throws -> ProbedInput { try real.spooling(input, to: spill) }
  func widen(_ inputs: [ProbedInput], options: RunOptions, spill: any SpillStore) throws -> [ProbedInput] {
    try real.widen(inputs, options: options, spill: spill)
  }
}

/// A text, a few bytes at a time.
private final class TextStream: ByteStream {
  private let bytes: [UInt8]
  private let place = Mutex(0)

  init(_ text: String) { bytes = Array(text.utf8) }

  var inputBytesRead: Int { place.withLock { $0 } }
  func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
    place.withLock { place in
      let count = min(buffer.count, bytes.count - place, 7)
      bytes.withUnsafeBytes { buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[place..<(place + count)])) }
      place += count
      return count
    }
  }
}

/// Any number of processors.
struct FakeProcessorManager: ProcessorManaging {
  let usableCount: Int
}

/// Reports go nowhere, for the reason given.
struct FakeReportManager: ReportManaging {
  let number: Int32
  func write(_ text: [UInt8], to path: FilePath, overwrites: Bool, names: TemporaryNames) throws {
    throw OhanaError.system(number, "write", path)
  }
}

/// All outputs are somebody else's.
struct FakeLockManager: LockManaging {
  func acquire(_ outputs: [FilePath]) throws -> [OutputLock] {
    throw OhanaError(.locked, "output-locked", at: outputs.first.map { .init($0) }, "another run is writing this output")
  }
  func stateFolder(of output: FilePath) throws -> FilePath? { nil }
  func forget(_ folder: FilePath, in lock: FilePath) {}
  func clearUp(_ locks: [OutputLock]) {}
  func deadNeighbours(of locks: [OutputLock]) throws -> [OutputLock] { [] }
}

/// There is no room for a state folder.
struct FakeJournalManager: JournalManaging {
  func newFolder(in folder: FilePath, for output: FilePath) -> FilePath? { folder.appending("ohana-none") }
  func create(_ folder: FilePath) -> Journal? { nil }
  func reopen(_ folder: FilePath, behind length: Int) throws -> Journal { throw OhanaError.system(ENOENT, "open the journal in", folder) }
  func read(_ folder: FilePath, kinds: [any DurableUpdater.Type]) -> (changes: [any DurableUpdater], length: Int)? { nil }
  func holdsCheckpoint(_ folder: FilePath) -> Bool { false }
  func remove(_ folder: FilePath) {}
}

/// All contacts are the same one, and after some of them nothing more can be made.
struct FakeGenerateManager: GenerateManaging {
  let most: Int
  private let real = GenerateManager()

  init(most: Int) { self.most = most }

  func open(_ request: RunRequest, _ options: GenerateOptions, in outputs: OutputSet) throws -> GeneratedFiles {
    try real.open(request, options, in: outputs)
  }
  func write(_ options: GenerateOptions, to files: GeneratedFiles, tell: (Int) throws -> Void) throws {
    for number in 1...options.rows {
      if number > most { throw OhanaError(.io, "unknown", "there are no more contacts") }
      try Array("{}\n".utf8).withUnsafeBufferPointer { try files.contacts.write($0, records: 1) }
      try tell(number)
    }
    try files.contacts.end()
  }
}

/// Checkpoints find no room, however often they are tried.
final class FakeCheckpointManager: CheckpointManaging {
  private let count = Mutex(0)
  var tries: Int { count.withLock { $0 } }

  func write(_ parts: [Part], number: Int, in folder: FilePath) throws -> (size: Int, checksum: UInt64, files: Set<Int>) {
    count.withLock { $0 += 1 }
    throw OhanaError.system(ENOSPC, "write a checkpoint in", folder)
  }
  func read(_ parts: [Part], _ checkpoint: CheckpointMark, in folder: FilePath, spill: any SpillStore) throws {
    throw CheckpointReader.damaged
  }
  func removeAll(but number: Int, in folder: FilePath) {}
}

/// Finds the digest of nothing.
struct FakeManifestManager: ManifestManaging {
  private let real = ManifestManager()

  func describe(_ file: FinishedFile, beside folder: FilePath) throws -> Manifest.File {
    throw OhanaError.system(EIO, "read", file.target.path)
  }
  func chunks(_ sink: SinkPlan, beside folder: FilePath) -> FilePath? { real.chunks(sink, beside: folder) }
  func write(_ manifest: Manifest, to target: OutputTarget) throws { try real.write(manifest, to: target) }
  func read(_ path: FilePath) throws -> Manifest { try real.read(path) }
  func surplus(_ manifest: Manifest, beside folder: FilePath) -> [FilePath] { real.surplus(manifest, beside: folder) }
  func fault(_ file: Manifest.File, beside folder: FilePath) throws -> String? { "its bytes are others (SHA-256)" }
}
