import Foundation
import OhanaCore
import OhanaEngine
import Testing

@Suite("spill files") struct FileSpillStoreTests {
  private let folder: String = {
    let name = NSTemporaryDirectory() + "/ohana-spill-\(UUID().uuidString)"
    precondition(mkdir(name, 0o700) == 0)
    return name
  }()

  private var names: [String] { (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? ["?"] }

  @Test("what was appended is read anywhere, also while it grows") func readsBack() throws {
    defer { rmdir(folder) }
    let store = FileSpillStore(folder: FilePath(folder))
    let file = try store.makeFile()
    let other = try store.makeFile()
    var expected: [UInt8] = []
    for round in 0..<50 {
      let bytes = (0..<(round * 997)).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ round) }
      try bytes.withUnsafeBytes { try file.append($0) }
      try bytes.prefix(3).withUnsafeBytes { try other.append($0) }
      expected += bytes
      #expect(file.size == expected.count)
      var back = [UInt8](repeating: 0, count: 5000)
      let offset = expected.count * round / 50
      let got = try back.withUnsafeMutableBytes { try file.read(at: offset, into: $0) }
      #expect(got == min(5000, expected.count - offset))
      #expect(Array(back[..<got]) == Array(expected[offset..<(offset + got)]))
    }
    #expect(other.size == 49 * 3)
    var back = [UInt8](repeating: 0, count: 10)
    #expect(try back.withUnsafeMutableBytes { try file.read(at: expected.count, into: $0) } == 0)
    #expect(try back.withUnsafeMutableBytes { try file.read(at: expected.count + 7, into: $0) } == 0)
    file.remove()
  }

  @Test("files have no names, at no time") func unnamed() throws {
    defer { rmdir(folder) }
    let store = FileSpillStore(folder: FilePath(folder))
    let file = try store.makeFile()
    #expect(names.isEmpty)
    file.remove()
    store.close()
    #expect(names.isEmpty)
  }

  @Test("removing and forgetting give descriptors back") func descriptors() throws {
    defer { rmdir(folder) }
    let store = FileSpillStore(folder: FilePath(folder))
    func open() throws -> Int { try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count }
    let before = try open()
    for index in 0..<5000 {
      let file = try store.makeFile()
      if index % 2 == 0 { file.remove() }
    }
    // Other tests open files, too.
    #expect(try open() < before + 500)
    #expect(store.maxOpenFiles >= 2 && store.maxOpenFiles <= 256)
  }

  @Test("a folder that cannot be used is named, with --temp-dir") func badFolder() throws {
    defer { rmdir(folder) }
    for path in [folder + "/no", "/proc"] {
      let error = #expect(throws: OhanaError.self) { try FileSpillStore(folder: FilePath(path)).makeFile() }
      #expect(error?.category == .io)
      #expect(error?.location?.source == FilePath(path))
      #expect(error?.fix.contains("--temp-dir") == true)
    }
  }

  @Test("a memory-backed folder is recognised", .enabled(if: FileManager.default.fileExists(atPath: "/dev/shm"))) func memoryBacked() {
    defer { rmdir(folder) }
    #expect(FileSpillStore(folder: "/dev/shm").isMemoryBacked)
    #expect(!FileSpillStore(folder: "/proc").isMemoryBacked)
  }
}
