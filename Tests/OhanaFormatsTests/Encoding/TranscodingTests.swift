import FoundationEssentials
import OhanaCore
import OhanaFormats
import OhanaTestSupport
import Testing

/// Hands out bytes in pieces of random size.
private final class Pieces: ByteStream, @unchecked Sendable {
  private let bytes: [UInt8]
  private var taken = 0
  private var generator: SeededGenerator
  init(_ bytes: [UInt8], seed: UInt64) {
    self.bytes = bytes
    generator = SeededGenerator(seed: seed)
  }
  var inputBytesRead: Int { taken }
  func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
    let count = min(bytes.count - taken, buffer.count, Int.random(in: 1...7, using: &generator))
    buffer.copyBytes(from: bytes[taken..<(taken + count)])
    taken += count
    return count
  }
}

private func converted(_ bytes: [UInt8], from name: String, seed: UInt64) throws -> [UInt8] {
  let stream = TranscodingByteStream(Pieces(bytes, seed: seed), from: try #require(try InputEncoding.named(name)))
  var out: [UInt8] = []
  var generator = SeededGenerator(seed: seed &+ 1)
  var buffer = [UInt8](repeating: 0, count: 64)
  while true {
    let room = Int.random(in: 8...64, using: &generator)
    let count = try buffer.withUnsafeMutableBytes { try stream.read(into: UnsafeMutableRawBufferPointer(rebasing: $0[..<room])) }
    if count == 0 { return out }
    out += buffer[..<count]
  }
}

@Suite("Encodings") struct TranscodingTests {
  static let text = "name,city\nJosé,München\nK’ay,€ Street\n\u{1F468}\u{200D}\u{1F469}\u{200D}\u{1F467},東京\nŁódź,Ærø\n"

  @Test("any cut of UTF-16 gives the text, astral characters too", arguments: ["utf-16le", "utf-16be"], 0..<20 as Range<UInt64>)
  func utf16(name: String, seed: UInt64) throws {
    let units = Array(Self.text.utf16)
    let bytes = units.flatMap { name == "utf-16le" ? [UInt8($0 & 0xff), UInt8($0 >> 8)] : [UInt8($0 >> 8), UInt8($0 & 0xff)] }
    #expect(String(decoding: try converted(bytes, from: name, seed: seed), as: UTF8.self) == Self.text)
  }

  @Test("every byte of windows-1252 and Latin-1 is what Foundation says", arguments: [("windows-1252", true), ("latin1", false)])
  func singleBytes(name: String, isWindows: Bool) throws {
    // 81, 8D, 8F, 90 and 9D stand for nothing in windows-1252.
    let bytes = (0x20...0xff).map(UInt8.init).filter { !isWindows || ![0x81, 0x8d, 0x8f, 0x90, 0x9d].contains($0) }
    let expected = try #require(String(data: Data(bytes), encoding: isWindows ? .windowsCP1252 : .isoLatin1))
    #expect(String(decoding: try converted(bytes, from: name, seed: 1), as: UTF8.self) == expected)
  }

  @Test("a lone surrogate becomes FF, which no reader takes for text, and the rest goes on", arguments: 0..<10 as Range<UInt64>)
  func invalid(seed: UInt64) throws {
    let bytes: [UInt8] = [0x61, 0, 0x00, 0xd8, 0x62, 0, 0x0a, 0, 0x63, 0]
    let out = try converted(bytes, from: "utf-16le", seed: seed)
    #expect(out == [0x61, 0xff, 0x62, 0x0a, 0x63], "\(out)")
  }

  @Test("half a character at the end is told")
  func truncated() throws {
    #expect(try converted([0x61, 0, 0x62], from: "utf-16le", seed: 3) == [0x61, 0xff])
  }

  @Test("unknown names are a usage error, UTF-8 needs nothing")
  func names() throws {
    #expect(try InputEncoding.named("UTF-8") == nil)
    #expect(throws: OhanaError.self) { try InputEncoding.named("klingon-7") }
  }
}
