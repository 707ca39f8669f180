import OhanaCore
import OhanaTestSupport
import Testing

@testable import OhanaFormats

/// Framers that give out what there is instead of waiting for more.
@Suite("prompt framing") struct PromptFramingTests {
  /// Gives a piece for each read, and traps where one would have to wait before all that was given whole has been handed out.
  private final class Pieces: ByteStream, @unchecked Sendable {  // because one test at a time uses it
    var pieces: [[UInt8]]
    private(set) var inputBytesRead = 0
    init(_ pieces: [[UInt8]]) { self.pieces = pieces }
    func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
      guard let first = pieces.first else { return 0 }
      let count = min(first.count, buffer.count)
      buffer.copyBytes(from: first[..<count])
      pieces[0].removeFirst(count)
      if pieces[0].isEmpty { pieces.removeFirst() }
      inputBytesRead += count
      return count
    }
  }

  private func cut(_ text: [UInt8], _ random: inout SeededGenerator) -> [[UInt8]] {
    var pieces: [[UInt8]] = []
    var rest = text[...]
    while !rest.isEmpty {
      let count = Int.random(in: 1...min(rest.count, 40), using: &random)
      pieces.append(Array(rest.prefix(count)))
      rest = rest.dropFirst(count)
    }
    return pieces
  }

  private func frames(_ framer: any RecordFramer) throws -> [[UInt8]] {
    var frames: [[UInt8]] = []
    let batch = RecordBatch()
    while true {
      batch.recycle(limit: 1 << 20)
      guard try framer.next(into: batch) else { return frames }
      #expect(batch.arena.count > 0)
      frames.append(Array(batch.arena.bytes))
    }
  }

  @Test("O-31: batches of whole records, however a stream is cut, which put together are the input", arguments: 0..<100)
  func whole(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let count = Int.random(in: 1...60, using: &random)
    let lines = (0..<count).map { number in
      "{\"id\":\(number),\"x\":\"\(String(repeating: "y", count: Int.random(in: 0...30, using: &random)))\"}\n"
    }
    let text = Array(lines.joined().utf8)
    let ndjson = try frames(NDJSONFramer(Pieces(cut(text, &random)), isPrompt: true))
    #expect(Array(ndjson.joined()) == text && ndjson.allSatisfy { $0.last == 0x0a })
    if count > 30 { #expect(ndjson.count > 1, "they are not waited for") }

    let rows = (0..<count).map { number in Bool.random(using: &random) ? "\(number),plain\n" : "\(number),\"two\nlines, \"\"quoted\"\"\"\n"
    }
    let csv = Array(("id,x\n" + rows.joined()).utf8)
    let (header, head) = try CSVHeader.scan(Pieces([csv]), dialect: CSVDialect(), source: "a.csv")
    _ = head
    let cells = try frames(CSVFramer(stream: Pieces(cut(csv, &random)), header: header, isPrompt: true))
    #expect(Array(cells.joined()) == csv)
    // Quotes are balanced wherever a batch ends.
    #expect(cells.allSatisfy { $0.count { $0 == 0x22 } % 2 == 0 })
  }

  @Test("O-31: a record is given out before the next is there") func prompt() throws {
    let stream = Pieces([Array("{\"a\":1}\n".utf8), Array("{\"a\":2}\n".utf8), Array("{\"a\":3}\n".utf8)])
    let framer = NDJSONFramer(stream, isPrompt: true)
    let batch = RecordBatch()
    for left in [2, 1, 0] {
      batch.recycle(limit: 1 << 20)
      #expect(try framer.next(into: batch))
      #expect(stream.pieces.count == left)
    }
    batch.recycle(limit: 1 << 20)
    #expect(try !framer.next(into: batch))
  }
}
