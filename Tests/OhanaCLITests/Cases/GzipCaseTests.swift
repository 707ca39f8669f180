import Foundation
import OhanaTestSupport
import Testing

/// gzip files, made by the tool that everybody has.
enum Gzip {
  static func member(_ text: String, level: Int = 6) throws -> [UInt8] {
    let process = Process()
    let (input, output) = (Pipe(), Pipe())
    process.executableURL = URL(filePath: "/bin/gzip")
    process.arguments = ["-n", "-c", "-\(level)"]
    process.standardInput = input
    process.standardOutput = output
    try process.run()
    let writer = Thread {
      input.fileHandleForWriting.write(Data(text.utf8)); try? input.fileHandleForWriting.close()
    }
    writer.start()
    let bytes = [UInt8](output.fileHandleForReading.readDataToEndOfFile())
    process.waitUntilExit()
    return bytes
  }

  /// A member whose header has what `fields` says: flags, and the bytes behind the fixed header.
  static func member(_ text: String, flags: UInt8, fields: [UInt8]) throws -> [UInt8] {
    var bytes = try member(text)
    bytes[3] = flags
    bytes.insert(contentsOf: fields, at: 10)
    return bytes
  }

  static let lines = (0..<1000).map { "{\"n\":\"user\($0)\",\"p\":\"555-\($0 * 7919 % 10000)\"}\n" }.joined()
}

/// Faults that users met in other readers of gzip, as the tool shows them to have been avoided.
@Suite("Gzip cases") struct GzipCaseTests {
  static let abc = ["a", "b", "c"].map { "{\"n\":\"\($0)\"}\n" }
  static let csv = "n\na\nb\nc\n"
  static let members = { try! abc.flatMap { try Gzip.member($0) } }()
  static let junk = { members + Array("JUNK\r\n".utf8) }()
  static let cutHeader = { members + [0x1f, 0x8b, 8, 0, 0] }()
  static let all: [UInt8] = [7, 0, 0x41, 0x42, 3, 0, 1, 2, 3] + Array("kontakte\u{0}".utf8) + Array("night\u{0}".utf8)

  static let cases: [ToolCase] = [
    ToolCase("gz-001: all members are read", bytes: ["m.ndjson.gz": members], ["convert", "m.ndjson.gz", "--to", "csv"], out: csv),
    ToolCase(
      "gz-002: a record may begin in one member and end in another",
      bytes: ["s.gz": try! ["{\"n\":\"a\"}\n{\"n\":\"b", "eta\"}\n{\"n\":", "\"c\"", "", "}\n"].flatMap { try Gzip.member($0) }],
      ["convert", "s.gz", "--to", "csv"], out: "n\na\nbeta\nc\n"),
    ToolCase(
      "gz-004: zeros behind the last member are padding", bytes: ["p.gz": members + [UInt8](repeating: 0, count: 100_000)],
      ["count", "p.gz"], out: "3\n"),
    ToolCase(
      "gz-005: other bytes there are a broken chunk", bytes: ["j.ndjson.gz": junk], ["convert", "j.ndjson.gz", "-o", "o.csv"], status: 3,
      error:
        "j.ndjson.gz: bytes after the last gzip member are neither a member nor zeros, at compressed byte \(members.count + 1) (3 records before it are whole); get the file again, or keep the whole records before that with --on-bad-chunk skip",
      leavesNot: ["o.csv"]),
    ToolCase(
      "gz-005: whose whole records can be had", bytes: ["j.ndjson.gz": junk],
      ["convert", "j.ndjson.gz", "-o", "o.csv", "--on-bad-chunk", "skip"], status: 3,
      says: ["3 records before it are whole", "what was whole before it is published"], leaves: ["o.csv": csv]),
    ToolCase(
      "gz-005: and the chunks behind it", bytes: ["a.gz": junk, "b.gz": members],
      ["convert", "a.gz", "b.gz", "-o", "o.csv", "--on-bad-chunk", "skip"], status: 3,
      leaves: ["o.csv": csv + "a\nb\nc\n"]),
    ToolCase(
      "gz-008: a file cut inside a header", bytes: ["c.gz": cutHeader], ["convert", "c.gz", "-o", "o.csv"], status: 3,
      says: ["ohana: c.gz: unexpected end of compressed data after byte \(cutHeader.count) (3 records before it are whole)"],
      leavesNot: ["o.csv"]),
    ToolCase(
      "gz-008: a file of five bytes", bytes: ["c.gz": [0x1f, 0x8b, 8, 0, 0]], ["count", "c.gz"], status: 3, out: "",
      says: ["ohana: c.gz: unexpected end of compressed data after byte 5 (0 records"]),
    ToolCase(
      "gz-013: all header fields at once", bytes: ["f.gz": try! Gzip.member("{\"n\":\"a\"}\n", flags: 0x1c, fields: all)],
      ["count", "f.gz"], out: "1\n"),
    ToolCase(
      "gz-014: a name of 4 MiB",
      bytes: ["f.gz": try! Gzip.member("{\"n\":\"a\"}\n", flags: 8, fields: [UInt8](repeating: 0x6e, count: 4 << 20) + [0])],
      ["count", "f.gz"], out: "1\n"),
    ToolCase(
      "gz-017: plain text called .gz is read as what it is", ["p.ndjson.gz": "{\"n\":\"a\"}\n{\"n\":\"b\"}\n"],
      ["convert", "p.ndjson.gz", "-o", "o.csv"],
      leaves: ["o.csv": "n\na\nb\n"]),
    ToolCase(
      "gz-017: and gzip that is not called .gz", bytes: ["p.ndjson": members], ["convert", "p.ndjson", "-o", "o.csv"],
      leaves: ["o.csv": csv]),
    ToolCase(
      "gz-019: the content tells the format inside", bytes: ["contacts.gz": members], ["convert", "contacts.gz", "--to", "csv"], out: csv),
    ToolCase("gz-019: json.gz is no CSV", bytes: ["contacts.json.gz": members], ["convert", "contacts.json.gz", "--to", "csv"], out: csv),
    ToolCase(
      "gz-019: a name that says NDJSON is believed where the content does not speak, and refused with its line",
      bytes: ["a.ndjson.gz": try! Gzip.member("name\na\n")],
      ["convert", "a.ndjson.gz", "--to", "csv"], status: 3, out: "", says: ["ohana: a.ndjson.gz:1:2: ", "--from csv"]),
    ToolCase(
      "gz-019: --from overrules it", bytes: ["a.ndjson.gz": try! Gzip.member("name\na\n")],
      ["convert", "a.ndjson.gz", "--from", "csv", "--to", "csv"], out: "name\na\n"),
    ToolCase(
      "an empty member is 0 records", bytes: ["e.gz": try! Gzip.member("")], ["convert", "e.gz", "--to", "ndjson"], out: "",
      says: ["note: e.gz: "]),
  ]

  @Test("give what is written", arguments: cases) func given(_ c: ToolCase) throws { try c.check() }

  /// gz-007, gz-010, gz-011: cut anywhere, a flipped byte of the checksum or the length.
  @Test(
    "gz-007, gz-010, gz-011: damage is told, and nothing is published", arguments: ["half", "last byte", "crc", "length", "data"],
    ["fast", "zlib"])
  func damage(kind: String, codec: String) throws {
    let folder = try Workdir()
    var bytes = try Gzip.member(Gzip.lines)
    let expected: String
    switch kind {
    case "half":
      (bytes, expected) = (Array(bytes.prefix(bytes.count / 2)), "unexpected end of compressed data after byte \(bytes.count / 2)")
    case "last byte": (bytes, expected) = (bytes.dropLast(), "unexpected end of compressed data")
    case "crc":
      bytes[bytes.count - 8] ^= 1
      expected = "checksum"
    case "length":
      bytes[bytes.count - 1] ^= 1
      expected = "length"
    default:
      for index in stride(from: bytes.count / 3, to: bytes.count - 40, by: 97) { bytes[index] ^= 0x55 }
      expected = "a.ndjson.gz: "
    }
    try folder.write("a.ndjson.gz", Data(bytes))
    try folder.write("o.csv", "old\n")
    for words in [["convert"], ["sort", "n:binary"], ["dedupe", "--by", "n"]] {
      let result = try folder.run(words + ["a.ndjson.gz", "-o", "o.csv", "--overwrite", "--codec", codec])
      #expect(result.status == 3)
      #expect(result.err.hasPrefix("ohana: a.ndjson.gz: ") && result.err.contains(expected), "\(result.err)")
      #expect(result.err.split(separator: "\n").count == 1)
      #expect(try folder.text("o.csv") == "old\n")
      #expect(folder.names == ["a.ndjson.gz", "o.csv", "tmp"])
    }
    let check = try folder.run(["check", "a.ndjson.gz"])
    #expect(check.status == 1)
    let skip = try folder.run(["convert", "a.ndjson.gz", "-o", "s.ndjson", "--on-bad-chunk", "skip"])
    #expect(skip.status == 3)
    let whole = try folder.text("s.ndjson")
    #expect(kind == "data" || Gzip.lines.hasPrefix(whole) && whole.hasSuffix("}\n") && whole.count > 100)
    #expect(
      skip.err.contains(
        "(\(kind == "data" ? "" : String(whole.split(separator: "\n").count).count == 4 ? "1,000" : String(whole.split(separator: "\n").count))"
      ) || kind == "data")
  }

  @Test("gz-016: the first records of a large file come without the rest") func head() throws {
    let folder = try Workdir()
    // A member that lasts for ever: the reader must stop by itself.
    let result = try folder.run(
      [],
      shell:
        "( echo name,email; yes 'Kim,kim@example.com' ) | gzip -1 | timeout 20 \"$OHANA\" head -n 3 - ; s=(${PIPESTATUS[@]}); echo $((s[1] != 0)) ${s[2]}"
    )
    // gzip ended because nobody read on: by SIGPIPE, or with an error where that is ignored.
    #expect(result.text == "name,email\nKim,kim@example.com\nKim,kim@example.com\nKim,kim@example.com\n1 0\n", "\(result.err)")
  }

  @Test("gz-016: all of a large file is counted in little memory", .enabled(if: Measured.canMeasure, "needs GNU time")) func count() throws
  {
    let folder = try Workdir()
    // 300 MB of text; its end is damaged in a copy, so that who reads on to it fails.
    let made = try folder.run(
      [],
      shell: """
        { echo name,email,phone; yes 'Kim Alder,kim.alder.of.the.town@example.com,+1 555 010 0100' | head -n 5000000; } | gzip -1 >a.csv.gz
        { head -c -2000 a.csv.gz; head -c 2000 /dev/zero; } >b.csv.gz
        """)
    #expect(made.status == 0)
    let all = try Measured.run(["count", "a.csv.gz", "--memory", "64M"], in: folder)
    #expect(all.status == 0 && all.out == "5000000\n", "\(all.err)")
    #expect((5...150).contains(all.peakMiB), "\(all.peakMiB) MiB")
    #expect(try folder.run(["count", "b.csv.gz"]).status == 3)
    let head = try folder.run(["head", "-n", "3", "b.csv.gz"])
    #expect(head.status == 0 && head.lines.count == 4, "\(head.err)")
  }

  @Test("a bomb is read in bounded memory", .enabled(if: Measured.canMeasure, "needs GNU time")) func bomb() throws {
    let folder = try Workdir()
    // 150 MB of one record out of 0.7 MB; too long for --max-record, so it is rejected without being held.
    try folder.run(
      [], shell: #"( printf '{"n":"a"}\n{"n":"'; head -c 150000000 /dev/zero | tr '\0' x; printf '"}\n{"n":"b"}\n' ) | gzip -1 > bomb.gz"#)
    let result = try Measured.run(
      ["convert", "bomb.gz", "--to", "ndjson", "--max-rejects", "1", "--memory", "64M", "--max-record", "8M"], in: folder)
    #expect(result.status == 0, "\(result.err)")
    #expect(result.out == "{\"n\":\"a\"}\n{\"n\":\"b\"}\n")
    #expect((5...150).contains(result.peakMiB), "\(result.peakMiB) MiB")
    #expect(result.err.contains("1 record-too-long"), "\(result.err)")
  }
}
