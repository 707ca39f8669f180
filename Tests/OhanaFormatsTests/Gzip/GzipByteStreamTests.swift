import CZlib
import Foundation
import OhanaCore
import OhanaFormats
import Testing

private func gunzip(
  _ bytes: [UInt8], _ codec: DeflateCodec, piece: Int = .max, readSize: Int = 1 << 16, inputCapacity: Int = 128 << 10
) -> Outcome {
  drain(
    GzipByteStream(BytesInPieces(bytes, piece: piece), name: "x.gz", codec: codec, inputCapacity: inputCapacity), readSize: readSize)
}

@Suite("gzip input") struct GzipByteStreamTests {
  static let codecs = DeflateCodec.allCases

  @Test("gives what zlib gives, however the bytes are cut", arguments: 0..<60, codecs)
  func roundTrips(seed: UInt64, codec: DeflateCodec) {
    var random = SeededRandom(seed)
    var expected: [UInt8] = []
    var file: [UInt8] = []
    for _ in 0..<Int.random(in: 1...4, using: &random) {
      let size = [0, 1, 7, 300, 40_000, 200_000].randomElement(using: &random)!
      let text = Bool.random(using: &random) ? contactText(size, seed: seed) : randomBytes(size, seed: seed)
      let strategy = [Z_DEFAULT_STRATEGY, Z_FIXED, Z_HUFFMAN_ONLY, Z_RLE].randomElement(using: &random)!
      expected += text
      file += Zlib.gzip(text, level: Int32.random(in: 0...9, using: &random), strategy: strategy)
    }
    let piece = [1, 2, 3, 17, 1000, Int.max].randomElement(using: &random)!
    let readSize = [1, 5, 100, 4096, 33_000, 1 << 20].randomElement(using: &random)!
    let capacity = [1, 13, 4096, 128 << 10].randomElement(using: &random)!
    let outcome = gunzip(file, codec, piece: piece, readSize: readSize, inputCapacity: capacity)
    #expect(outcome.error == nil)
    #expect(outcome.bytes == expected)
  }

  @Test("large members come out whole", arguments: codecs) func large(codec: DeflateCodec) {
    let text = contactText(5_000_000)
    let outcome = gunzip(Zlib.gzip(text, level: 1), codec, readSize: 1 << 20)
    #expect(outcome == Outcome(bytes: text))
  }

  @Test(
    "a cut anywhere is an error behind the bytes that zlib still gives", arguments: codecs, [Z_DEFAULT_STRATEGY, Z_FIXED, Z_HUFFMAN_ONLY])
  func cuts(codec: DeflateCodec, strategy: Int32) {
    // More than 4 KiB compressed: ISA-L decodes shorter ends symbol by symbol.
    let first = contactText(600, seed: 3) + (strategy == Z_DEFAULT_STRATEGY ? randomBytes(6000, seed: 3).map { $0 & 0x3f } : [])
    let second = Zlib.gzip(contactText(500, seed: 4), strategy: strategy, flags: 8, extras: [65, 66, 0])
    let file = Zlib.gzip(first, strategy: strategy) + second
    let firstSize = Zlib.gzip(first, strategy: strategy).count
    for cut in 1..<file.count where cut != firstSize {
      let outcome = gunzip(Array(file[..<cut]), codec)
      #expect(outcome.error?.code == "gzip-truncated", "cut at \(cut)")
      #expect(outcome.error?.category == .badInput)
      #expect(outcome.error?.description.contains("unexpected end of compressed data after byte \(cut)") == true)
      #expect(outcome.bytes == Zlib.gunzip(Array(file[..<cut])).bytes, "cut at \(cut)")
    }
    #expect(gunzip(file, codec).error == nil)
  }

  @Test("no flipped bit goes unnoticed", arguments: codecs) func flips(codec: DeflateCodec) {
    let text = contactText(400, seed: 5)
    let file = Zlib.gzip(text)
    var harmless = 0
    var noticed = 0
    var asZlib = 0
    for offset in 0..<file.count {
      for bit in 0..<8 {
        var damaged = file
        damaged[offset] ^= 1 << UInt8(bit)
        let outcome = gunzip(damaged, codec)
        if outcome.error == nil {
          // Time, hints and the system's number carry nothing; so does padding behind the last block.
          #expect(outcome.bytes == text)
          harmless += 1
        } else {
          #expect(outcome.error?.isBrokenChunk == true)
          noticed += 1
          asZlib += outcome.bytes == Zlib.gunzip(damaged).bytes ? 1 : 0
        }
      }
    }
    #expect(harmless <= 6 * 8 + 8)
    // ISA-L takes some incomplete Huffman codes that zlib refuses at once; the checksum tells a moment later.
    #expect(codec == .zlib ? asZlib == noticed : asZlib > noticed * 3 / 4, "\(asZlib) of \(noticed)")
  }

  @Test("wrong CRC, wrong length, garbage: named, with the byte", arguments: codecs) func faults(codec: DeflateCodec) {
    let text = contactText(1000)
    let good = Zlib.gzip(text)
    var badCRC = good
    badCRC[good.count - 8] ^= 1
    var badLength = good
    badLength[good.count - 1] ^= 1
    let cases: [([UInt8], String, Int)] = [
      (badCRC, "gzip-crc", good.count - 7),
      (badLength, "gzip-length", good.count - 3),
      (good + Array("JUNK".utf8), "gzip-garbage", good.count + 1),
      (good + [0, 0, 0] + Array("JUNK".utf8), "gzip-garbage", good.count + 4),
      (good + [0x1f, 0x8b, 7, 0], "gzip-garbage", good.count + 1),
      (good + [0x1f, 0x1f], "gzip-garbage", good.count + 1),
    ]
    for (file, code, byte) in cases {
      for readSize in [1, 1000, text.count, 1 << 20] {
        let outcome = gunzip(file, codec, readSize: readSize)
        #expect(outcome.bytes == text)
        #expect(outcome.error?.code == code)
        #expect(outcome.error?.description.contains("compressed byte \(byte);") == true, "\(outcome.error?.description ?? "-")")
      }
    }
  }

  @Test("the error is thrown again on every further read") func repeats() throws {
    let stream = GzipByteStream(BytesInPieces(Array(Zlib.gzip([1, 2, 3]).dropLast()), piece: .max), name: "x.gz")
    #expect(drain(stream).error?.code == "gzip-truncated")
    #expect(drain(stream) == Outcome(bytes: [], error: drain(stream).error))
  }

  @Test("zeros behind a member are padding, also between members", arguments: codecs) func padding(codec: DeflateCodec) {
    let member = Zlib.gzip([1, 2, 3])
    let zeros = [UInt8](repeating: 0, count: 1000)
    #expect(gunzip(member + zeros, codec) == Outcome(bytes: [1, 2, 3]))
    #expect(gunzip(member + zeros + member, codec, piece: 7) == Outcome(bytes: [1, 2, 3, 1, 2, 3]))
  }

  @Test("every header field is passed over, in every piece size", arguments: codecs, 0..<32)
  func headerFields(codec: DeflateCodec, flags: Int) {
    var extras: [UInt8] = []
    if flags & 4 != 0 { extras += [4, 0, 65, 66, 0, 0] }
    if flags & 8 != 0 { extras += [0x7a, 0xe9, 0] }
    if flags & 16 != 0 { extras += [1, 0] }
    let file = Zlib.gzip([1, 2, 3], flags: UInt8(flags), extras: extras)
    #expect(Zlib.gunzip(file).isWhole)
    for piece in 1...9 { #expect(gunzip(file, codec, piece: piece) == Outcome(bytes: [1, 2, 3])) }
    if flags & 2 != 0 {
      var damaged = file
      damaged[4] ^= 1
      #expect(gunzip(damaged, codec).error?.code == "gzip-header")
    }
  }

  @Test("a name of megabytes is neither held nor slow", arguments: codecs) func longName(codec: DeflateCodec) {
    let file = Zlib.gzip([1, 2, 3], flags: 8, extras: [UInt8](repeating: 110, count: 4 << 20) + [0])
    #expect(gunzip(file, codec) == Outcome(bytes: [1, 2, 3]))
  }

  @Test("a bomb streams in small pieces", arguments: codecs) func bomb(codec: DeflateCodec) throws {
    let file = Zlib.gzip([UInt8](repeating: 0, count: 64 << 20), level: 9)
    let stream = GzipByteStream(BytesInPieces(file, piece: .max), name: "bomb.gz", codec: codec)
    var buffer = [UInt8](repeating: 1, count: 1 << 20)
    var total = 0
    while case let got = try buffer.withUnsafeMutableBytes({ try stream.read(into: $0) }), got > 0 { total += got }
    #expect(total == 64 << 20)
  }

  @Test("lengths beyond 4 GiB count modulo 2^32", .enabled(if: ProcessInfo.processInfo.environment["OHANA_TEST_SLOW"] != nil))
  func beyond4GiB() throws {
    // 4 GiB + 5 bytes of zeros, as one member made of repeated empty-dictionary fragments.
    let pieceSize = 64 << 20
    let zeros = [UInt8](repeating: 0, count: pieceSize)
    var crc: UInt = 0
    var fragments: [UInt8] = []
    var stream = z_stream()
    deflateInit2_(&stream, 1, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
    defer { deflateEnd(&stream) }
    var out = [UInt8](repeating: 0, count: 1 << 20)
    for _ in 0..<64 {
      var input = zeros
      input.withUnsafeMutableBufferPointer { source in
        out.withUnsafeMutableBufferPointer { target in
          stream.next_in = source.baseAddress
          stream.avail_in = UInt32(source.count)
          stream.next_out = target.baseAddress
          stream.avail_out = UInt32(target.count)
          deflate(&stream, Z_FULL_FLUSH)
          fragments += target[..<(target.count - Int(stream.avail_out))]
        }
      }
      crc = crc32_z(crc, zeros, pieceSize)
    }
    crc = crc32_z(crc, zeros, 5)
    let file =
      [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255] + fragments + Zlib.deflate([0, 0, 0, 0, 0]) + Zlib.littleEndian(UInt32(crc), 4)
      + Zlib.littleEndian(5, 4)
    let gzip = GzipByteStream(BytesInPieces(file, piece: .max), name: "x.gz")
    var buffer = [UInt8](repeating: 1, count: 1 << 20)
    var total = 0
    while case let got = try buffer.withUnsafeMutableBytes({ try gzip.read(into: $0) }), got > 0 { total += got }
    #expect(total == 4 << 30 + 5)
  }
}
