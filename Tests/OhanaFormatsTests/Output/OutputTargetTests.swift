import Foundation
import OhanaCore
import OhanaFormats
import Testing

@Suite("publishing outputs", .serialized) struct OutputTargetTests {
  let folder = TemporaryFolder()

  private func mode(_ name: FilePath) -> mode_t {
    var status = stat()
    _ = folder.path.appending(name).withCString { lstat($0, &status) }
    return status.st_mode & 0o777
  }

  private func target(_ name: FilePath, _ text: String, overwrites: Bool = false) throws -> OutputTarget {
    let target = try OutputTarget(folder.path.appending(name), overwrites: overwrites)
    try Array(text.utf8).withUnsafeBytes { try target.write($0) }
    return target
  }

  @Test("nothing is visible before it is published, and private until then") func privacy() throws {
    let out = try target("out", "new")
    #expect(folder.names.count == 1)
    #expect(folder.names.allSatisfy { $0.hasPrefix(".out.ohana-") && mode(FilePath($0)) == 0o600 })
    try out.complete()
    #expect(folder.read("out") == nil)
    try OutputTarget.publish([out])
    #expect(folder.names == ["out"])
    #expect(folder.read("out") == Array("new".utf8))
    let mask = umask(0)
    umask(mask)
    #expect(mode("out") == 0o666 & ~mask)
    out.discard()
    #expect(folder.names == ["out"])
  }

  @Test("a replaced file gives its mode to the new one", arguments: [0o600, 0o640, 0o755] as [mode_t])
  func keepsMode(mode wanted: mode_t) throws {
    let old = folder.write("out", Array("old".utf8))
    _ = old.withCString { chmod($0, wanted) }
    let out = try target("out", "new", overwrites: true)
    #expect(folder.read("out") == Array("old".utf8))
    try out.complete()
    try out.publish()
    #expect(folder.read("out") == Array("new".utf8))
    #expect(mode("out") == wanted)
  }

  @Test("a file that appears meanwhile is not replaced unless it may be") func race() throws {
    let out = try target("out", "new")
    folder.write("out", Array("other".utf8))
    try out.complete()
    #expect(#expect(throws: OhanaError.self) { try out.publish() }?.code == "output-exists")
    #expect(folder.read("out") == Array("other".utf8))
    // What was written is not lost with the name: it is the caller's to keep or to throw away.
    let temporary = try #require(out.temporaryPath).lastComponent
    #expect(folder.read(temporary) == Array("new".utf8))
    out.discard()
    #expect(folder.names == ["out"])
  }

  @Test("links are followed, also to a file that does not exist yet") func links() throws {
    folder.write("real", Array("old".utf8))
    for (link, to) in [("a", "real"), ("b", "missing")] {
      _ = folder.path.appending(FilePath(link)).withCString { symlink(to, $0) }
      let out = try target(FilePath(link), "new", overwrites: true)
      try out.complete()
      try out.publish()
      #expect(folder.read(FilePath(to)) == Array("new".utf8))
      #expect(try FileManager.default.destinationOfSymbolicLink(atPath: folder.path.appending(FilePath(link)).description) == to)
    }
  }

  @Test("devices and FIFOs are written in place") func inPlace() throws {
    let path = folder.path.appending("fifo")
    _ = path.withCString { mkfifo($0, 0o600) }
    let reader = path.withCString { open($0, O_RDONLY | O_NONBLOCK) }
    defer { close(reader) }
    let out = try target("fifo", "new")
    var bytes = [UInt8](repeating: 0, count: 10)
    #expect(read(reader, &bytes, 10) == 3)
    try out.complete()
    try OutputTarget.publish([out])
    #expect(folder.names == ["fifo"])
    let null = try OutputTarget("/dev/null", overwrites: false)
    try null.complete()
    try null.publish()
    var status = stat()
    #expect(stat("/dev/null", &status) == 0 && status.st_mode & S_IFMT == S_IFCHR)
  }

  @Test("names of 255 bytes, and of bytes that are no text, work") func names() throws {
    let long = FilePath(bytes: [UInt8](repeating: 120, count: 255))
    let odd = FilePath(bytes: [0xff, 0x0a, 0x80])
    for name in [long, odd] {
      let out = try target(name, "new")
      try out.complete()
      try out.publish()
      var status = stat()
      #expect(folder.path.appending(name).withCString { stat($0, &status) } == 0)
    }
  }

  @Test("folders that cannot be written to are named") func folders() throws {
    let missing = #expect(throws: OhanaError.self) { try OutputTarget(folder.path.appending("no/out"), overwrites: false) }
    #expect(missing?.code == "not-found")
    #expect(missing?.location?.source == folder.path.appending("no"))
    #expect(#expect(throws: OhanaError.self) { try OutputTarget(folder.path, overwrites: true) }?.category == .usage)
    let closed = #expect(throws: OhanaError.self) { try OutputTarget("/proc/out", overwrites: false) }
    #expect(closed?.category == .io)
    #expect(closed?.location?.source == "/proc")
    if geteuid() != 0 {
      _ = folder.path.withCString { chmod($0, 0o500) }
      let error = #expect(throws: OhanaError.self) { try OutputTarget(folder.path.appending("out"), overwrites: false) }
      _ = folder.path.withCString { chmod($0, 0o700) }
      #expect(error?.code == "auth")
      #expect(error?.location?.source == folder.path)
    }
  }

  @Test("an output that would destroy something is refused") func checks() throws {
    let input = folder.write("in", [1])
    folder.write("other", [2])
    _ = folder.path.appending("link").withCString { symlink("in", $0) }
    _ = folder.path.appending("hard").withCString { name in input.withCString { link($0, name) } }
    func code(_ checks: OutputChecks, _ name: FilePath) -> String? {
      do {
        try checks.check(name.bytes.first == 47 ? name : folder.path.appending(name))
        return nil
      } catch {
        #expect(error.category == .usage)
        return error.code
      }
    }
    for name in ["in", "link", "hard", "./in"] as [FilePath] {
      #expect(code(OutputChecks(inputs: [input], overwrites: true), name) == "output-is-input")
    }
    #expect(code(OutputChecks(inputs: [input], overwrites: false), "other") == "output-exists")
    let checks = OutputChecks(inputs: [input], overwrites: true)
    #expect(code(checks, "other") == nil)
    #expect(code(checks, "./other") == "output-twice")
    #expect(code(checks, "new") == nil)
    #expect(code(checks, "./new") == "output-twice")
    #expect(code(checks, "/dev/null") == nil)
    #expect(code(checks, "/dev/null") == nil)
  }

  @Test("chunk names count from 1 and pad") func chunkNames() throws {
    #expect(try ChunkName("out.csv") == nil)
    #expect(try ChunkName("a-{n}.csv")?.path(12) == "a-12.csv")
    #expect(try ChunkName("{n:5}")?.path(12) == "00012")
    #expect(try ChunkName("{n:2}.gz")?.path(123) == "123.gz")
    #expect(try ChunkName("{x}{n}{")?.path(1) == "{x}1{")
    for wrong in ["{n}{n}", "{n:0}", "{n:}", "{n:x}", "{n:19}", "{n:99999999999999999999999}"] as [FilePath] {
      #expect(#expect(throws: OhanaError.self) { try ChunkName(wrong) }?.category == .usage)
    }
  }

  @Test("chunks hold so many records each and appear together", arguments: [0, 1, 6, 7, 20, 140], [1, 3, 1000])
  func chunks(records: Int, perChunk: Int) throws {
    let lines = (0..<records).map { Array("record \($0)\n".utf8) }
    for isCompressed in [false, true] {
      let workspace = isCompressed ? GzipWorkspace(level: .standard, pool: TestPool(width: 2)) : nil
      let output = try ChunkedOutput(
        try #require(try ChunkName(folder.path.appending("c{n:3}"))), recordsPerChunk: perChunk,
        checks: OutputChecks(inputs: [], overwrites: true), overwrites: true, gzip: workspace, begin: { try $0.write(Array("head\n".utf8)) }
      )
      var random = SeededRandom(UInt64(records))
      var next = 0
      while next < records {
        let count = min(records - next, Int.random(in: 1...9, using: &random))
        let bytes = lines[next..<(next + count)].flatMap { $0 }
        try bytes.withUnsafeBufferPointer {
          try output.write($0, records: count) { bytes, wanted in
            var left = wanted
            return bytes.firstIndex { byte in
              if byte == 10 { left -= 1 }
              return left == 0
            }! + 1
          }
        }
        next += count
      }
      try output.finish()
      #expect(folder.names.allSatisfy { $0.hasPrefix(".") })
      try output.publish()
      let expected = max(1, (records + perChunk - 1) / perChunk)
      #expect(folder.names == (1...expected).map { "c" + String(repeating: "0", count: 3 - String($0).count) + String($0) })
      for chunk in 0..<expected {
        let bytes = try #require(folder.read(FilePath(folder.names[chunk])))
        let wanted = Array("head\n".utf8) + lines[min(records, chunk * perChunk)..<min(records, (chunk + 1) * perChunk)].flatMap { $0 }
        #expect((isCompressed ? Zlib.gunzip(bytes).bytes : bytes) == wanted)
      }
      for name in folder.names { _ = folder.path.appending(FilePath(name)).withCString { unlink($0) } }
    }
  }
}
