import FoundationEssentials
import OhanaCore
import OhanaRun
import OhanaTestSupport
import Testing

@Suite("Contact generator") struct ContactGeneratorTests {
  static let fields = [
    "id", "first", "last", "email", "phone", "company", "street", "city", "region", "postal", "country", "image", "tags", "verified",
    "updated_at",
  ]

  static func whole(_ options: GenerateOptions) throws -> [[UInt8]] {
    var chunks = [[UInt8]](repeating: [], count: options.chunks)
    try ContactGenerator(options).generate { chunk, bytes in chunks[chunk] += bytes }
    return chunks
  }

  /// A value as Foundation reads it: the oracle.
  enum Value: Decodable, Equatable {
    case null, bool(Bool), number(Int), text(String), list([String])

    init(from decoder: any Decoder) throws {
      let container = try decoder.singleValueContainer()
      if container.decodeNil() {
        self = .null
      } else if let value = try? container.decode(String.self) {
        self = .text(value)
      } else if let value = try? container.decode(Bool.self) {
        self = .bool(value)
      } else if let value = try? container.decode(Int.self) {
        self = .number(value)
      } else {
        self = .list(try container.decode([String].self))
      }
    }

    var text: String? { if case .text(let text) = self { text } else { nil } }
  }
  typealias Record = [String: Value]

  static func record(_ line: some Collection<UInt8>) throws -> Record { try JSONDecoder().decode(Record.self, from: Data(line)) }
  static func records(_ options: GenerateOptions) throws -> [Record] {
    try whole(options).joined().split(separator: 0x0A).map(record)
  }
  /// What several tests look at; decoding it is most of their time.
  static let sample = GenerateOptions(rows: 12_000, seed: 2)
  static let sampleRecords = Result { try records(sample) }
  static func trimmed(_ text: String) -> String { String(text.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed()) }

  // MARK: Determinism

  @Test("the same seed gives the same bytes, another seed does not", arguments: GenerateOptions.Format.allCases)
  func isReproducible(format: GenerateOptions.Format) throws {
    let options = GenerateOptions(rows: 500, seed: 7, format: format)
    let first = try Self.whole(options)
    #expect(try Self.whole(options) == first)
    var other = options
    other.seed = 8
    #expect(try Self.whole(other) != first)
  }

  @Test("chunks put end to end do not depend on their number", arguments: [1, 2, 3, 8, 97, 1000])
  func chunksAreCuts(chunks: Int) throws {
    let one = try Self.whole(GenerateOptions(rows: 900, chunks: 1, seed: 3))
    let many = try Self.whole(GenerateOptions(rows: 900, chunks: chunks, seed: 3))
    #expect(Array(many.joined()) == one[0])
    #expect(one[0].count > 900 * 200)
  }

  @Test(
    "chunks differ by one row at most and cover all rows in order", arguments: [(0, 1), (1, 1), (7, 3), (10, 10), (3, 8), (1_000_003, 64)])
  func chunksAreEven(rows: Int, chunks: Int) {
    let options = GenerateOptions(rows: rows, chunks: chunks)
    let ranges = (0..<chunks).map { options.rows(ofChunk: $0) }
    #expect(ranges.map(\.count).reduce(0, +) == rows)
    #expect(ranges.map(\.count).max()! - ranges.map(\.count).min()! <= 1)
    #expect(ranges.first!.lowerBound == 0)
    #expect(zip(ranges, ranges.dropFirst()).allSatisfy { $0.upperBound == $1.lowerBound })
  }

  @Test("any cut into ranges, made in any order, gives the same bytes", arguments: GenerateOptions.Format.allCases)
  func rangesAreIndependent(format: GenerateOptions.Format) throws {
    let generator = try ContactGenerator(GenerateOptions(rows: 700, seed: 11, format: format))
    let whole = ByteBuffer()
    generator.fill(whole, rows: 0..<700)
    var random = SeededGenerator(seed: 1)
    for _ in 0..<10 {
      let cuts = [0] + (0..<5).map { _ in Int.random(in: 0...700, using: &random) }.sorted() + [700]
      let pieces = zip(cuts, cuts.dropFirst()).map { $0..<$1 }
      let made = pieces.enumerated().reversed().map { index, rows in
        let buffer = ByteBuffer()
        generator.fill(buffer, rows: rows)
        return (index, Array(buffer.bytes))
      }
      #expect(Array(made.sorted { $0.0 < $1.0 }.flatMap(\.1)) == Array(whole.bytes))
    }
  }

  @Test("more rows keep the rows before them") func growing() throws {
    let short = try Self.whole(GenerateOptions(rows: 300, seed: 5))[0]
    let long = try Self.whole(GenerateOptions(rows: 600, seed: 5))[0]
    #expect(long.starts(with: short))
    #expect(long.count > short.count)
  }

  // MARK: Form

  @Test("NDJSON: one object a line, fields in order, each of its own kind") func isNDJSON() throws {
    let options = GenerateOptions(rows: 2500, seed: 1)
    let records = try Self.records(options)
    #expect(records.count == 2500)
    for (row, record) in records.enumerated() {
      #expect(record["id"] == .number(row + 1))
      #expect(Set(record.keys).isSubset(of: Self.fields))
      for (name, value) in record {
        switch (name, value) {
        case ("id", .number), ("tags", .list), ("verified", .bool): break
        case ("id", _), ("verified", _): Issue.record("\(name): \(value)")
        case (_, .null),
          (_, .text) where name != "tags":
          break
        case ("tags", .null): break
        default: Issue.record("\(name): \(value)")
        }
      }
    }
    for name in Self.fields.dropFirst() where name != "verified" {
      #expect(records.contains { $0[name] == nil }, "\(name) is missing somewhere")
      #expect(records.contains { $0[name] == .null }, "\(name) is null somewhere")
      #expect(
        records.contains { $0[name] == .text("") || $0[name] == .list([]) },
        "\(name) is empty somewhere")
    }
  }

  @Test("CSV holds the records of the NDJSON of the same seed, with a header in each chunk") func isCSV() throws {
    var options = GenerateOptions(rows: 2500, chunks: 3, seed: 1)
    let records = try Self.records(options)
    options.format = .csv
    var row = 0
    for chunk in try Self.whole(options) {
      let lines = try #require(Self.parseCSV(chunk))
      #expect(lines.first?.map(\.text) == Self.fields)
      for cells in lines.dropFirst() {
        try #require(cells.count == Self.fields.count)
        for (name, cell) in zip(Self.fields, cells) {
          let expected: (text: String, isQuoted: Bool?)
          switch records[row][name] {
          case nil, .null?: expected = ("", false)
          case .text(let text)?: expected = (text, text.isEmpty ? true : nil)
          case .list(let tags)?: expected = (tags.joined(separator: ";"), false)
          case .bool(let flag)?: expected = (flag ? "true" : "false", false)
          case .number(let number)?: expected = ("\(number)", false)
          }
          #expect(cell.text == expected.text, "row \(row), \(name)")
          if let isQuoted = expected.isQuoted { #expect(cell.isQuoted == isQuoted, "row \(row), \(name)") }
        }
        row += 1
      }
    }
    #expect(row == 2500)
  }

  /// RFC 4180, character by character, of scalars, since "\r\n" would be one character. Nil where the text is not allowed.
  static func parseCSV(_ bytes: [UInt8]) -> [[(text: String, isQuoted: Bool)]]? {
    var lines: [[(text: String, isQuoted: Bool)]] = []
    var line: [(text: String, isQuoted: Bool)] = []
    var text = String.UnicodeScalarView()
    var isQuoted = false
    var isOpen = false
    var wasClosed = false
    func cell() -> (text: String, isQuoted: Bool) { (String(text), isQuoted) }
    for scalar in String(decoding: bytes, as: UTF8.self).unicodeScalars {
      if isOpen {
        if scalar == "\"" { (isOpen, wasClosed) = (false, true) } else { text.append(scalar) }
      } else if scalar == "\"" {
        if wasClosed { text.append(scalar) } else if !text.isEmpty { return nil }
        (isOpen, isQuoted, wasClosed) = (true, true, false)
      } else if scalar == "," || scalar == "\n" {
        line.append(cell())
        (text, isQuoted, wasClosed) = (.init(), false, false)
        if scalar == "\n" {
          lines.append(line)
          line = []
        }
      } else {
        if wasClosed { return nil }
        text.append(scalar)
      }
    }
    return isOpen || !line.isEmpty || !text.isEmpty ? nil : lines
  }

  // MARK: Content

  @Test("the troubles of real exports are all there") func troubles() throws {
    let text = String(decoding: try Self.whole(Self.sample)[0], as: UTF8.self)
    let records = try Self.sampleRecords.get()
    func some(_ field: String, _ test: (String) -> Bool) -> Bool { records.contains { $0[field]?.text.map(test) ?? false } }
    #expect(some("street") { $0.contains("\n") })
    #expect(some("street") { $0.contains("\"") })
    #expect(some("company") { $0.contains(",") })
    #expect(some("company") { $0.contains("\\") })
    #expect(some("postal") { $0.hasPrefix("0") })
    #expect(
      some("email") { $0.hasPrefix(" ") } && some("email") { $0.hasSuffix(" ") } && some("email") { $0 == $0.uppercased() && !$0.isEmpty })
    #expect(some("first") { $0.contains(", ") } && some("first") { $0.hasSuffix(".") })
    #expect(
      some("last") { $0.unicodeScalars.contains("\u{308}") })
    #expect(text.contains(#"\u00e9"#) && text.contains(#"\/"#))
    #expect(text.contains(#"\ud842\udfb7"#) || text.contains("𠮷"))
    for script: ClosedRange<Unicode.Scalar> in ["α"..."ω", "а"..."я", "א"..."ת", "ا"..."ي", "अ"..."ह", "一"..."龥", "ァ"..."ヶ", "가"..."힣"] {
      #expect(some("first") { $0.unicodeScalars.contains(where: script.contains) }, "\(script)")
    }
    let names = Dictionary(grouping: records.compactMap { $0["last"]?.text }, by: { $0 }).values.map(\.count).sorted(by: >)
    #expect(names[1] > 150 && names.filter { $0 == 1 }.count > 300, "a few names are frequent, many are rare")
  }

  @Test("nobody can be reached") func fictional() throws {
    for record in try Self.sampleRecords.get() {
      if let email = record["email"]?.text, !email.isEmpty {
        let domain = try #require(Self.trimmed(email.lowercased()).split(separator: "@").last)
        #expect(["com", "org", "net"].contains { domain == "example.\($0)" || domain.hasSuffix(".example.\($0)") })
      }
      if let phone = record["phone"]?.text {
        let digits = String(phone.filter(\.isASCII).filter(\.isNumber))
        let ranges = [
          "55501", "7700900", "79460", "4960", "23125", "90009", "66969", "4710", "99998", "63998", "19900", "26191", "35301", "46571",
          "53649", "5550", "7010",
        ]
        #expect(digits.isEmpty || ranges.contains { digits.contains($0) })
      }
    }
  }

  @Test("sizes stay near those the benchmarks are stated for") func size() throws {
    let ndjson = try Self.whole(GenerateOptions(rows: 20_000, seed: 9))[0].count / 20_000
    let csv = try Self.whole(GenerateOptions(rows: 20_000, seed: 9, format: .csv))[0].count / 20_000
    #expect((335...370).contains(ndjson), "357 is the aim, got \(ndjson)")
    #expect((180...200).contains(csv), "189 is the aim, got \(csv)")
  }

  // MARK: Truth

  @Test("the share of later records of a person is as asked for", arguments: [0.0, 5, 28, 50, 100])
  func share(percent: Double) throws {
    let rows = 20_000
    let generator = try ContactGenerator(GenerateOptions(rows: rows, seed: 6, duplicatesInPercent: percent))
    let later = (0..<rows).filter { generator.person(ofRow: $0) != $0 }.count
    #expect(abs(Double(later) / Double(rows) * 100 - percent) < 1.2)
  }

  @Test("a person is named by their first record") func personIsFirst() throws {
    let generator = try ContactGenerator(GenerateOptions(rows: 5000, seed: 6, duplicatesInPercent: 60))
    for row in 0..<5000 {
      let person = generator.person(ofRow: row)
      #expect(person <= row && generator.person(ofRow: person) == person)
    }
  }

  @Test("the truth lists every record once, and agrees with the records") func truth() throws {
    let rows = Self.sample.rows
    let generator = try ContactGenerator(Self.sample)
    var bytes: [UInt8] = []
    try generator.generateTruth { bytes += $0 }
    let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
    #expect(lines.first == "id,person")
    let pairs = lines.dropFirst().map { $0.split(separator: ",").map { Int($0)! } }
    #expect(pairs.map { $0[0] } == Array(1...rows))
    let records = try Self.sampleRecords.get()
    var mailboxes: [Int: Set<String>] = [:]
    var people: [String: Set<Int>] = [:]
    var removed = 0
    var seen: Set<String> = []
    for (record, pair) in zip(records, pairs) {
      let email = Self.trimmed(record["email"]?.text ?? "").lowercased()
      guard !email.isEmpty else { continue }
      mailboxes[pair[1], default: []].insert(email)
      people[email, default: []].insert(pair[1])
      if !seen.insert(email).inserted { removed += 1 }
    }
    #expect(mailboxes.values.allSatisfy { $0.count <= 2 }, "a person has one mailbox, at times a second")
    #expect(mailboxes.values.contains { $0.count == 2 })
    let shared = people.filter { $0.value.count > 1 }
    #expect(
      !shared.isEmpty && shared.keys.allSatisfy { $0.hasPrefix("office@") || $0.hasPrefix("hello@") }, "only office addresses are shared")
    #expect((0.25...0.30).contains(Double(removed) / Double(rows)), "an e-mail dedupe finds most later records, not all")
  }

  // MARK: Options

  @Test(
    "options that cannot be met are usage errors that name the option",
    arguments: [
      (GenerateOptions(rows: -1), "--rows"), (GenerateOptions(rows: GenerateOptions.maxRows + 1), "--rows"),
      (GenerateOptions(rows: 1, chunks: 0), "--chunks"), (GenerateOptions(rows: 1, chunks: GenerateOptions.maxChunks + 1), "--chunks"),
      (GenerateOptions(rows: 1, duplicatesInPercent: -0.1), "--duplicates"),
      (GenerateOptions(rows: 1, duplicatesInPercent: 100.5), "--duplicates"),
      (GenerateOptions(rows: 1, duplicatesInPercent: .nan), "--duplicates"),
    ])
  func refuses(options: GenerateOptions, option: String) {
    let error = #expect(throws: OhanaError.self) { try ContactGenerator(options) }
    #expect(error?.category == .usage)
    #expect(error?.description.contains(option) == true)
  }

  @Test("no rows: empty chunks, with a header where the format has one") func noRows() throws {
    #expect(try Self.whole(GenerateOptions(rows: 0, chunks: 2)) == [[], []])
    let csv = try Self.whole(GenerateOptions(rows: 0, chunks: 2, format: .csv))
    #expect(csv.map { String(decoding: $0, as: UTF8.self) } == Array(repeating: Self.fields.joined(separator: ",") + "\n", count: 2))
  }

  @Test("the last possible row is made like any other") func hugeRow() throws {
    let generator = try ContactGenerator(GenerateOptions(rows: GenerateOptions.maxRows))
    let buffer = ByteBuffer()
    generator.fill(buffer, rows: GenerateOptions.maxRows - 1..<GenerateOptions.maxRows)
    #expect(try Self.record(buffer.bytes.dropLast())["id"] == .number(GenerateOptions.maxRows))
  }
}
