import Foundation
import OhanaCore
import OhanaFormats
import OhanaTestSupport
import Testing

/// An input's text in UTF-8, as a run opens it.
func openText(_ bytes: [UInt8], _ encoding: String?, piece: Int = .max) throws -> (stream: any ByteStream, isConverted: Bool) {
  let (head, stream) = try PrefixedByteStream.peek(PiecesStream(bytes, pieceSizes: [piece]), count: 4)
  guard let known = try InputEncoding.of(head.bytes, named: encoding) else { return (stream, false) }
  return (TranscodingByteStream(stream, from: known), true)
}

@Suite("input encodings") struct InputEncodingTests {
  static let text = "a,b\nJosé,K’ay €\n日本,😀\n"

  /// Foundation is the oracle.
  static func encoded(_ text: String, _ encoding: String.Encoding) -> [UInt8] { Array(text.data(using: encoding)!) }

  func decoded(_ bytes: [UInt8], _ encoding: String?, piece: Int = .max) throws -> [UInt8] {
    try drain(openText(bytes, encoding, piece: piece).stream, readSize: min(piece, 1 << 16)).bytes
  }

  @Test("reads UTF-16 and UTF-32 by their byte order mark, whatever the pieces", arguments: [1, 2, 3, 5, 1000]) func byteOrderMarks(
    piece: Int
  ) throws {
    let marked = "\u{feff}" + Self.text + String(repeating: "x😀é", count: 5000)
    for encoding: String.Encoding in [.utf16LittleEndian, .utf16BigEndian, .utf32LittleEndian, .utf32BigEndian] {
      #expect(try decoded(Self.encoded(marked, encoding), nil, piece: piece) == Array(marked.utf8))
    }
    #expect(try decoded(Array(marked.utf8), nil, piece: piece) == Array(marked.utf8))
    #expect(try decoded(Array(marked.utf8), "windows-1252", piece: piece) == Array(marked.utf8))
  }

  @Test("reads a named encoding", arguments: ["windows-1252", "Windows-1252", "cp1252", "CP1252"]) func windows(name: String) throws {
    let text = "José,K’ay € Müñchen\n"
    #expect(try decoded(Self.encoded(text, .windowsCP1252), name) == Array(text.utf8))
  }

  @Test("reads Latin-1 and unmarked UTF-16") func others() throws {
    let latin = String(String.UnicodeScalarView((0..<256).map { Unicode.Scalar(UInt8($0)) }))
    for name in ["latin1", "latin-1", "ISO-8859-1"] { #expect(try decoded((0..<256).map { UInt8($0) }, name) == Array(latin.utf8)) }
    #expect(try decoded(Self.encoded(Self.text, .utf16LittleEndian), "utf-16le") == Array(Self.text.utf8))
    #expect(try decoded(Self.encoded(Self.text, .utf16BigEndian), "utf-16be") == Array(Self.text.utf8))
    #expect(try decoded(Array(Self.text.utf8), nil) == Array(Self.text.utf8))
    #expect(try decoded(Array(Self.text.utf8), "UTF-8") == Array(Self.text.utf8))
    #expect(try decoded([], "latin1").isEmpty)
    #expect(try decoded([0xff], nil) == [0xff])
  }

  @Test("what means nothing is a reject with its place, never U+FFFD") func invalid() throws {
    // A lone half of a pair in the third line, and half a unit at the end.
    var bytes = Self.encoded("\u{feff}a,b\n1,2\n3,4x\n5,6\n", .utf16LittleEndian)
    let at = bytes.firstIndex(of: UInt8(ascii: "x"))!
    (bytes[at], bytes[at + 1]) = (0x3d, 0xd8)
    bytes += [0x37]
    for piece in [1, 3, 100] {
      let (stream, isConverted) = try openText(bytes, nil, piece: piece)
      var dialect = CSVDialect()
      dialect.isTranscoded = isConverted
      let reading = try readCSV(drain(stream).bytes, dialect)
      #expect(reading.rows == [["1", "2"], ["5", "6"]])
      #expect(reading.rejects.map(\.reason) == [.invalidEncoding, .invalidEncoding])
      #expect(reading.rejects.map { [$0.line, $0.column] } == [[3, 4], [5, 1]])
    }
  }

  @Test("an unknown encoding is a usage error that names some") func unknown() {
    for name in ["windows-12520", "", "klingon"] {
      let error = #expect(throws: OhanaError.self) { try decoded([65], name) }
      #expect(error?.code == "unknown-encoding" && error?.fix.contains("windows-1252") == true)
    }
  }
}
