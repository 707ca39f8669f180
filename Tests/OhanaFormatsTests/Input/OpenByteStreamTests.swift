import Foundation
import OhanaCore
import OhanaFormats
import Testing

@Suite("opening inputs") struct OpenByteStreamTests {
  let folder = TemporaryFolder()

  private func contents(_ path: FilePath, codec: DeflateCodec = .fast, readSize: Int = 1 << 16) throws -> Outcome {
    drain(try openByteStream(path, codec: codec).stream, readSize: readSize)
  }

  @Test("content decides, not the name", arguments: DeflateCodec.allCases) func sniffs(codec: DeflateCodec) throws {
    let text = contactText(100_000)
    let packed = Zlib.gzip(text)
    for (name, bytes, compression) in [("a.gz", text, ByteCompression.none), ("a.ndjson", packed, .gzip), ("a.ndjson.gz", packed, .gzip)] {
      let file = folder.write(FilePath(name), bytes)
      let opened = try openByteStream(file, codec: codec)
      #expect(opened.compression == compression)
      #expect(opened.fileSize == bytes.count)
      #expect(drain(opened.stream) == Outcome(bytes: text))
      #expect(opened.stream.inputBytesRead == bytes.count)
    }
  }

  @Test("no byte is lost by looking, whatever the size", arguments: [0, 1, 2, 3, 4, 4095, 4096, 4097, 10_000]) func peeks(size: Int) throws
  {
    let bytes = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 7 + 32) }
    let file = folder.write("x", bytes)
    for readSize in [1, 3, 4096, 1 << 16] { #expect(try contents(file, readSize: readSize) == Outcome(bytes: bytes)) }
  }

  @Test("a gzip file cut within its magic is truncated, not text", arguments: 1...5) func cutMagic(size: Int) throws {
    let file = folder.write("x.gz", Array(Zlib.gzip([1]).prefix(size)))
    #expect(try contents(file).error?.code == "gzip-truncated")
  }

  @Test("a file that is shorter at its end than at its beginning is an error, one that has grown is read to its end")
  func changes() throws {
    let bytes = [UInt8](repeating: UInt8(ascii: "x"), count: 100_000)
    for size in [40_000, 65_536, 99_999, 100_000, 130_000] {
      let file = folder.write("changing-\(size)", bytes)
      let stream = try FileByteStream(file)
      var block = [UInt8](repeating: 0, count: 10_000)
      var count = try block.withUnsafeMutableBytes { try stream.read(into: $0) }
      #expect(file.withCString { truncate($0, size) } == 0)
      var error: OhanaError?
      do {
        while case let got = try block.withUnsafeMutableBytes({ try stream.read(into: $0) }), got > 0 { count += got }
      } catch let found as OhanaError { error = found }
      #expect(count == size)
      #expect(error?.code == (size < 100_000 ? "input-shrank" : nil))
    }
  }

  @Test("a pipe that trickles is sniffed too") func pipe() throws {
    let text = contactText(50_000)
    let packed = Zlib.gzip(text)
    let path = folder.path.appending("fifo")
    #expect(path.withCString { mkfifo($0, 0o600) } == 0)
    let writer = Thread {
      let descriptor = path.withCString { open($0, O_WRONLY) }
      for byte in packed[..<20] { withUnsafeBytes(of: byte) { _ = write(descriptor, $0.baseAddress, 1) } }
      var rest = packed[20...]
      while !rest.isEmpty {
        let sent = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
        rest = rest.dropFirst(sent)
      }
      close(descriptor)
    }
    writer.start()
    let opened = try openByteStream(path)
    #expect(opened.compression == .gzip)
    #expect(opened.fileSize == nil)
    #expect(drain(opened.stream) == Outcome(bytes: text))
  }

  @Test("what cannot be opened is named") func failures() throws {
    let missing = folder.path.appending("missing.gz")
    let error = #expect(throws: OhanaError.self) { try openByteStream(missing) }
    #expect(error?.code == "not-found")
    #expect(error?.category == .io)
    #expect(error?.description.hasPrefix(missing.description) == true)
    #expect(#expect(throws: OhanaError.self) { try openByteStream(folder.path) }?.code == "is-directory")
    let closed = folder.write("closed", [1])
    _ = closed.withCString { chmod($0, 0) }
    if geteuid() != 0 {
      #expect(#expect(throws: OhanaError.self) { try openByteStream(closed) }?.code == "auth")
    }
  }

  @Test("sample files of other projects", .enabled(if: outside("OHANA_TEST_DATA") != nil), arguments: DeflateCodec.allCases)
  func samples(codec: DeflateCodec) throws {
    let base = outside("OHANA_TEST_DATA")! + "/gzip-members/"
    let facts = try Data(contentsOf: URL(fileURLWithPath: base + "expected.json"))
    let expected = try JSONSerialization.jsonObject(with: facts) as! [String: [String: Any]]
    #expect(expected.count == 5)
    for (name, facts) in expected {
      let opened = try openByteStream(FilePath(base + name), codec: codec)
      let outcome = drain(opened.stream)
      #expect(outcome.error == nil, "\(name)")
      #expect(outcome.bytes.count == facts["output_bytes"] as? Int, "\(name)")
      #expect(outcome.bytes == Zlib.gunzip([UInt8](try Data(contentsOf: URL(fileURLWithPath: base + name)))).bytes)
      #expect((opened.stream as? GzipByteStream)?.memberCount == facts["members"] as? Int)
    }
  }

  @Test("reported gzip faults of other tools", .enabled(if: outside("OHANA_TEST_CASES") != nil), arguments: DeflateCodec.allCases)
  func cases(codec: DeflateCodec) throws {
    let lines = try String(contentsOfFile: outside("OHANA_TEST_CASES")!, encoding: .utf8).split(separator: "\n")
    // Lines that come out, and the error behind them.
    let expected: [String: (lines: Int, code: String?)] = [
      "gz-001": (3, nil), "gz-002": (3, nil), "gz-004": (3, nil), "gz-005": (3, "gzip-garbage"), "gz-008": (3, "gzip-truncated"),
      "gz-010": (-1, "gzip-crc"), "gz-011": (-1, "gzip-length"), "gz-013": (1, nil), "gz-017": (2, nil), "gz-019": (2, nil),
    ]
    var seen = 0
    for line in lines {
      let record = try JSONSerialization.jsonObject(with: Data(line.utf8)) as! [String: Any]
      guard let wanted = expected[record["id"] as! String], let input = record["input"] as? [String: Any] else { continue }
      let data = (input["base64"] as? String).flatMap { Data(base64Encoded: $0) } ?? Data((input["text"] as! String).utf8)
      let outcome = try contents(folder.write(FilePath(record["id"] as! String), [UInt8](data)), codec: codec)
      #expect(outcome.error?.code == wanted.code, "\(record["id"]!)")
      #expect(!outcome.bytes.isEmpty)
      if wanted.lines >= 0 { #expect(outcome.bytes.count { $0 == 10 } == wanted.lines, "\(record["id"]!)") }
      seen += 1
    }
    #expect(seen == expected.count)
  }
}
