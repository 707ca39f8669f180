import Dispatch
import Foundation
import OhanaCore
import Synchronization
import Testing

@testable import OhanaFormats

/// Real threads, `width` at once. Work is started late on purpose when `delay` says so.
final class TestPool: WorkPool {
  let width: Int
  private let queue = DispatchQueue(label: "test.pool", attributes: .concurrent)
  private let slots: DispatchSemaphore
  private let delay: UInt32
  init(width: Int, delay: UInt32 = 0) {
    self.width = width
    self.delay = delay
    slots = DispatchSemaphore(value: width)
  }
  func submit(_ work: @escaping @Sendable () -> Void) {
    queue.async { [slots, delay] in
      slots.wait()
      if delay > 0 { usleep(delay) }
      work()
      slots.signal()
    }
  }
}

/// Never runs anything: everything is left to the caller.
final class IdlePool: WorkPool {
  let width = 4
  func submit(_ work: @escaping @Sendable () -> Void) {}
}

extension OutputFile {
  func write(_ bytes: [UInt8]) throws { try bytes.withUnsafeBufferPointer { try write($0) } }
}

@Suite("output files", .timeLimit(.minutes(5))) struct OutputFileTests {
  let folder = TemporaryFolder()
  /// 5.3 blocks.
  static let text: [UInt8] = contactText(5_500_000)

  /// Writes `text` in pieces of random size.
  private func write(_ text: [UInt8], to file: OutputFile, seed: UInt64, largest: Int = 2_500_000) throws {
    var random = SeededRandom(seed)
    var position = 0
    while position < text.count {
      let size = min(text.count - position, Int.random(in: 1...largest, using: &random))
      try text.withUnsafeBufferPointer { try file.write(UnsafeBufferPointer(rebasing: $0[position..<(position + size)])) }
      position += size
    }
  }

  @Test("the same bytes for every pool, piece size and number of blocks under way", arguments: [1, 6, 12]) func same(level: Int) throws {
    let level = try CompressionLevel(level)
    let text = level.level > 6 ? Array(Self.text[..<2_200_000]) : Self.text
    var files: Set<[UInt8]> = []
    let pools: [any WorkPool] = [IdlePool(), TestPool(width: 1), TestPool(width: 2), TestPool(width: 8), TestPool(width: 3, delay: 2000)]
    for (index, pool) in pools.enumerated() {
      for limit in [nil, 1] {
        let file = OutputFile(
          try OutputTarget(folder.path.appending("out.gz"), overwrites: true),
          gzip: GzipWorkspace(level: level, pool: pool, blocksUnderWay: limit))
        try write(text, to: file, seed: UInt64(index))
        try file.finish()
        try file.publish()
        files.insert(try #require(folder.read("out.gz")))
      }
    }
    #expect(files.count == 1)
    let result = Zlib.gunzip(try #require(files.first))
    #expect(result.isWhole)
    #expect(result.bytes == text)
    #expect(folder.names == ["out.gz"])
  }

  @Test("is one member, also of nothing", arguments: [0, 1, 1 << 20, 1 << 20 + 1], DeflateCodec.allCases)
  func oneMember(size: Int, codec: DeflateCodec) throws {
    let text = Array(Self.text[..<size])
    let target = try OutputTarget(folder.path.appending("x.gz"), overwrites: false)
    let file = OutputFile(target, gzip: GzipWorkspace(level: try CompressionLevel(1, codec: codec), pool: TestPool(width: 2)))
    try file.write(text)
    try file.finish()
    try file.publish()
    let bytes = try #require(folder.read("x.gz"))
    let stream = GzipByteStream(BytesInPieces(bytes, piece: .max), name: "x")
    #expect(drain(stream) == Outcome(bytes: text))
    #expect(stream.memberCount == 1)
    #expect(Zlib.gunzip(bytes).isWhole)
    #expect(bytes[3...7].allSatisfy { $0 == 0 })
  }

  @Test("a completion is called once, on every pool") func completion() throws {
    for (index, pool) in ([IdlePool(), TestPool(width: 1), TestPool(width: 4, delay: 3000)] as [any WorkPool]).enumerated() {
      let file = OutputFile(
        try OutputTarget(folder.path.appending(FilePath("c\(index).gz")), overwrites: false),
        gzip: GzipWorkspace(level: .standard, pool: pool))
      try write(Self.text, to: file, seed: 1)
      if pool is IdlePool {
        // Nobody else would ever compress the last blocks: the waiting form is there for that.
        try file.finish()
      } else {
        let done = DispatchSemaphore(value: 0)
        let counter = Counter()
        file.finish { error in
          #expect(error == nil)
          counter.add()
          done.signal()
        }
        #expect(done.wait(timeout: .now() + 60) == .success)
        #expect(counter.value == 1)
      }
      try file.publish()
      #expect(Zlib.gunzip(try #require(folder.read(FilePath("c\(index).gz")))).bytes == Self.text)
    }
  }

  @Test(
    "a full disk is told, with what to do", .enabled(if: FileManager.default.fileExists(atPath: "/dev/full")),
    arguments: [nil, 1] as [Int?])
  func fullDisk(level: Int?) throws {
    let workspace = try level.map { GzipWorkspace(level: try CompressionLevel($0), pool: TestPool(width: 2)) }
    let file = OutputFile(try OutputTarget("/dev/full", overwrites: false), gzip: workspace)
    let error = #expect(throws: OhanaError.self) {
      for seed in 0..<4 { try write(Self.text, to: file, seed: UInt64(seed)) }
      try file.finish()
    }
    #expect(error?.code == "disk-full")
    #expect(error?.category == .io)
    #expect(error?.description.hasPrefix("/dev/full: ") == true)
    #expect(error?.fix.isEmpty == false)
    if level != nil { #expect(#expect(throws: OhanaError.self) { try file.finish() }?.code == "disk-full") }
    file.discard()
  }

  @Test("a write that fails in the middle fails everything behind it", arguments: [0, 1, 3]) func failingWrites(good: Int) throws {
    for pool in [IdlePool(), TestPool(width: 3)] as [any WorkPool] {
      let calls = Counter()
      let pipeline = GzipPipeline(GzipWorkspace(level: .standard, pool: pool)) { _ throws(OhanaError) in
        if calls.add() > good { throw OhanaError(.io, "disk-full", "injected") }
      }
      let error = #expect(throws: OhanaError.self) {
        for _ in 0..<3 { try Self.text.withUnsafeBufferPointer { try pipeline.append($0) } }
        try pipeline.finish()
      }
      #expect(error?.problem == "injected")
      #expect(calls.value == good + 1)
    }
  }

  @Test("what a checkpoint names stays when it is let go of while others still compress, whole up to there; what none names goes")
  func leaves() throws {
    for isNamed in [true, false] {
      for pool in [TestPool(width: 2), TestPool(width: 3, delay: 2000)] {
        let workspace = GzipWorkspace(level: try CompressionLevel(1), pool: pool, blocksUnderWay: 4)
        let file = OutputFile(try OutputTarget(folder.path.appending("left"), overwrites: true), gzip: workspace)
        try write(Self.text, to: file, seed: 1)
        var saved: [UInt8] = []
        if isNamed { try file.save(to: CheckpointWriter { saved += $0 }) }
        let size = folder.read(folder.names.first.map { FilePath($0) } ?? "")?.count ?? 0
        try write(Self.text, to: file, seed: 2)
        file.leave()
        // Behind all that was submitted.
        let isOver = DispatchSemaphore(value: 0)
        for _ in 0..<pool.width { pool.submit { isOver.signal() } }
        for _ in 0..<pool.width { isOver.wait() }
        #expect(folder.names.count == (isNamed ? 1 : 0))
        guard isNamed, let name = folder.names.first else { continue }
        #expect(try #require(folder.read(FilePath(name))).count >= size)
        folder.path.appending(FilePath(name)).unlinkFile()
      }
    }
  }

  @Test("a closed pipe has its own code", arguments: [nil, 1] as [Int?]) func closedPipe(level: Int?) throws {
    signal(SIGPIPE, SIG_IGN)
    let path = folder.path.appending("fifo")
    _ = path.withCString { mkfifo($0, 0o600) }
    let reader = path.withCString { open($0, O_RDONLY | O_NONBLOCK) }
    let workspace = try level.map { GzipWorkspace(level: try CompressionLevel($0), pool: TestPool(width: 2)) }
    let file = OutputFile(try OutputTarget(path, overwrites: false), gzip: workspace)
    close(reader)
    let error = #expect(throws: OhanaError.self) {
      try write(Self.text, to: file, seed: 1)
      try file.finish()
    }
    #expect(error?.code == "closed-pipe")
    file.discard()
    #expect(folder.names == ["fifo"])
  }

  @Test("nothing stays behind, whenever it is given up", arguments: [nil, 1] as [Int?]) func discards(level: Int?) throws {
    for pieces in 0..<4 {
      let workspace = try level.map { GzipWorkspace(level: try CompressionLevel($0), pool: TestPool(width: 2)) }
      let file = OutputFile(try OutputTarget(folder.path.appending("out"), overwrites: false), gzip: workspace)
      #expect(folder.names.count == 1)
      for seed in 0..<pieces { try write(Self.text, to: file, seed: UInt64(seed)) }
      if pieces == 3 { try file.finish() }
      file.discard()
      #expect(folder.names.isEmpty)
      file.discard()
    }
    do {
      _ = OutputFile(try OutputTarget(folder.path.appending("out"), overwrites: false))
    }
    #expect(folder.names.isEmpty)
  }
}

final class Counter: Sendable {
  private let count = Mutex(0)
  @discardableResult func add() -> Int {
    count.withLock {
      $0 += 1
      return $0
    }
  }
  var value: Int { count.withLock { $0 } }
}
