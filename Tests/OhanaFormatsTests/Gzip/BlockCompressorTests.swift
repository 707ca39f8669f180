import CZlib
import Foundation
import OhanaCore
import OhanaFormats
import Testing

/// A gzip file made of fragments, as a sink makes it, with the CRC that zlib computes.
func gzipFile(_ blocks: [[UInt8]], _ compressor: BlockCompressor) -> [UInt8] {
  var file: [UInt8] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255]
  for block in blocks {
    let fragment = ByteBuffer()
    let crc = block.withUnsafeBufferPointer { compressor.compress($0, into: fragment) }
    precondition(crc == Zlib.crc(block))
    file += fragment.bytes
  }
  let text = blocks.flatMap { $0 }
  return file + [3, 0] + Zlib.littleEndian(Zlib.crc(text), 4) + Zlib.littleEndian(UInt32(text.count), 4)
}

@Suite("compressing blocks") struct BlockCompressorTests {
  static let levels: [CompressionLevel] =
    (1...12).map { try! CompressionLevel($0) } + (1...9).map { try! CompressionLevel($0, codec: .zlib) }

  /// Made once: slow without optimisation.
  static let blocks: [[UInt8]] = {
    let seed: UInt64 = 7
    return [
      contactText(300_000, seed: seed), [65], randomBytes(70_000, seed: seed), [UInt8](repeating: 7, count: BlockCompressor.blockSize),
      Array(contactText(BlockCompressor.blockSize + 200, seed: seed)[..<BlockCompressor.blockSize]), Array("hello hello hello\n".utf8),
      randomBytes(300, seed: seed) + contactText(5_000, seed: seed), randomBytes(BlockCompressor.blockSize, seed: seed),
      (0..<200_000).map { UInt8(truncatingIfNeeded: $0 % 251) },
    ]
  }()

  @Test("fragments put end to end are what zlib inflates to the text", arguments: levels) func inflates(level: CompressionLevel) {
    let blocks = Self.blocks
    let file = gzipFile(blocks, BlockCompressor(level))
    let result = Zlib.gunzip(file)
    #expect(result.isWhole)
    #expect(result.bytes == blocks.flatMap { $0 })
    for codec in DeflateCodec.allCases {
      #expect(drain(GzipByteStream(BytesInPieces(file, piece: .max), name: "x", codec: codec)) == Outcome(bytes: result.bytes))
    }
  }

  @Test("small blocks of every size", arguments: levels) func sizes(level: CompressionLevel) {
    let text = contactText(700)
    let blocks = (1...300).map { Array(text[..<$0]) } + (1...100).map { randomBytes($0, seed: UInt64($0)) }
    let result = Zlib.gunzip(gzipFile(blocks, BlockCompressor(level)))
    #expect(result.isWhole)
    #expect(result.bytes == blocks.flatMap { $0 })
  }

  @Test("a fragment depends on its block alone", arguments: levels) func independent(level: CompressionLevel) {
    let used = BlockCompressor(level)
    for block in Self.blocks {
      let again = ByteBuffer()
      let fresh = ByteBuffer()
      // Another alignment of the text must not matter either.
      let shifted = [0] + block
      _ = shifted.withUnsafeBufferPointer { used.compress(UnsafeBufferPointer(rebasing: $0[1...]), into: again) }
      _ = block.withUnsafeBufferPointer { BlockCompressor(level).compress($0, into: fresh) }
      #expect(Array(again.bytes) == Array(fresh.bytes))
    }
  }

  @Test("no compressor's place in memory shows in its output", arguments: [1, 2]) func noAddresses(level: Int) throws {
    // Short text of few letters that repeats nearly: where ISA-L would let the address of its state decide about a match.
    let level = try CompressionLevel(level)
    let compressors = (0..<12).map { _ in BlockCompressor(level) }
    for seed in 0..<300 {
      var random = SeededRandom(UInt64(seed))
      var block: [UInt8] = []
      let period = Int.random(in: 4..<60, using: &random)
      let letters = UInt8.random(in: 2..<12, using: &random)
      for index in 0..<Int.random(in: 16..<400, using: &random) {
        let isNew = index < period || UInt8.random(in: 0..<letters, using: &random) == 0
        block.append(isNew ? 97 + UInt8.random(in: 0..<letters, using: &random) : block[index - period])
      }
      let fragments = compressors.map { compressor in
        let fragment = ByteBuffer()
        _ = block.withUnsafeBufferPointer { compressor.compress($0, into: fragment) }
        return Array(fragment.bytes)
      }
      #expect(Set(fragments).count == 1, "seed \(seed)")
    }
  }

  @Test("gunzip, igzip and python read every level", arguments: levels) func otherReaders(level: CompressionLevel) throws {
    let folder = TemporaryFolder()
    let blocks = Self.blocks
    let text = blocks.flatMap { $0 }
    let file = folder.write("x.gz", gzipFile(blocks, BlockCompressor(level))).description
    let python = "import gzip,sys; sys.stdout.buffer.write(gzip.open(sys.argv[1]).read())"
    for command in [["gzip", "-dc", file], ["igzip", "-dc", file], ["python3", "-c", python, file]] {
      let process = Process()
      process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
      process.arguments = command
      let pipe = Pipe()
      process.standardOutput = pipe
      process.standardError = Pipe()
      try process.run()
      let output = pipe.fileHandleForReading.readDataToEndOfFile()
      process.waitUntilExit()
      if process.terminationStatus == 127 { continue }  // not installed
      #expect(process.terminationStatus == 0)
      #expect([UInt8](output) == text, "\(command[0])")
    }
  }

  @Test("levels a codec lacks are usage errors") func unknownLevels() {
    for (level, codec) in [(0, DeflateCodec.fast), (13, .fast), (-1, .zlib), (10, .zlib)] {
      #expect(#expect(throws: OhanaError.self) { try CompressionLevel(level, codec: codec) }?.category == .usage)
    }
  }
}
