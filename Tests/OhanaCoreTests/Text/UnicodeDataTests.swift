import Foundation
import OhanaCore
import OhanaTestSupport
import Testing

/// Unicode's own tables and lists of real names.
@Suite("Unicode data", .enabled(if: TestData.folder != nil, "set OHANA_TEST_DATA to the folder of third-party suites"))
struct UnicodeDataTests {
  private func text(_ path: String) throws -> String {
    try String(contentsOf: try #require(TestData.folder).appending(path: path), encoding: .utf8)
  }

  private func scalars(_ column: Substring) -> String {
    var text = ""
    for code in column.split(separator: " ") { text.unicodeScalars.append(UnicodeScalar(UInt32(code, radix: 16)!)!) }
    return text
  }

  /// Bytes of the form, since Swift's strings are equal under canonical equivalence.
  private func normal(_ form: NormalForm, _ text: String) -> [UInt8] {
    let out = ByteBuffer()
    var text = text
    _ = text.withUTF8 { form.append($0, to: out, scratch: TextScratch()) }
    return Array(out.bytes)
  }

  @Test("NormalizationTest: NFC and NFKC of every column") func normalization() throws {
    let folder = try #require(TestData.folder).appending(path: "unicode-normalization")
    let process = Process()
    process.executableURL = URL(filePath: "/bin/gzip")
    process.arguments = ["-dc", folder.appending(path: "NormalizationTest-3.2.0.txt.gz").path]
    let pipe = Pipe()
    process.standardOutput = pipe
    try process.run()
    let data = pipe.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    var checked = 0
    for line in String(decoding: data, as: UTF8.self).split(separator: "\n") where !line.hasPrefix("#") && !line.hasPrefix("@") {
      let columns = line.split(separator: "#")[0].split(separator: ";").prefix(5).map(scalars)
      guard columns.count == 5 else { continue }
      for column in columns {
        #expect(normal(.nfkc, column) == Array(columns[3].utf8))
      }
      for column in columns.prefix(3) { #expect(normal(.nfc, column) == Array(columns[1].utf8)) }
      for column in columns.suffix(2) { #expect(normal(.nfc, column) == Array(columns[3].utf8)) }
      checked += 1
    }
    #expect(checked > 10_000)
  }

  @Test("CaseFolding: a character and its full folding have one fold") func caseFolding() throws {
    var checked = 0
    for line in try text("unicode-casefolding/CaseFolding.txt").split(separator: "\n") where !line.hasPrefix("#") {
      let cells = line.split(separator: ";").map { $0.trimmingCharacters(in: .whitespaces) }
      guard cells.count > 2, cells[1] == "C" || cells[1] == "F" else { continue }
      let from = scalars(Substring(cells[0]))
      let to = scalars(Substring(cells[2]))
      #expect(keyText(.fold, from) == keyText(.fold, to), "\(line)")
      checked += 1
    }
    #expect(checked > 1400)
  }

  @Test("popular names: folding is idempotent and tells names apart that differ by more than case and accents") func popularNames() throws {
    var names: Set<String> = []
    for line in try text("popular-names/common-forenames-by-country.csv").split(whereSeparator: \.isNewline).dropFirst() {
      let cells = line.split(separator: ",", omittingEmptySubsequences: false)
      if cells.count >= 12 { names.formUnion([String(cells[10]), String(cells[11])]) }
    }
    names.remove("")
    #expect(names.count > 1000)
    for name in names {
      let key = try #require(keyText(.fold, name), "\(name)")
      #expect(keyText(.fold, key) == key)
      #expect(keyText(.fold, " " + name.uppercased() + " ") == keyText(.fold, name.uppercased()))
      // Foundation's folding is another implementation of about the same idea.
      if name.unicodeScalars.allSatisfy({ $0.value < 0x250 }) {
        #expect(
          key.compare(name, options: [.caseInsensitive, .diacriticInsensitive]) == .orderedSame || name.contains("ß"), "\(name) \(key)")
      }
    }
  }

  @Test("names of people: key of 'Last, First' is that of 'First Last'") func turnedNames() throws {
    struct Person: Decodable { var text: String, tokens: [[String]] }
    let people = try JSONDecoder().decode([Person].self, from: Data(try text("probablepeople/person.json").utf8))
    var turned = 0
    for person in people {
      guard let key = keyText(.name, person.text) else { continue }
      #expect(!key.isEmpty && !key.contains(",") && !key.contains("  ") && !key.hasPrefix(" ") && !key.hasSuffix(" "))
      let kinds = person.tokens.map { $0[0] }
      if kinds == ["Surname", "GivenName"], person.tokens[0][1].hasSuffix(",") {
        let straight = person.tokens[1][1] + " " + person.tokens[0][1].dropLast()
        #expect(keyText(.name, straight) == key, "\(person.text)")
        turned += 1
      }
    }
    #expect(turned > 20)
  }

  @Test("western names: titles are no part of the key") func titles() throws {
    struct Name: Decodable { var input: String, parts: [String: String] }
    let names = try JSONDecoder().decode([Name].self, from: Data(try text("theiconic-names/cases.json").utf8))
    var checked = 0
    for name in names
    where name.parts["salutation"] != nil && !name.input.contains("\\") && !name.input.contains("The ") && !name.input.contains("Her ") {
      let words = try #require(keyText(.name, name.input)).split(separator: " ").map(String.init)
      for title in ["mr", "mrs", "ms", "miss", "mister", "dr", "prof", "sir", "rev"] { #expect(!words.contains(title), "\(name.input)") }
      if let last = name.parts["lastname"], let folded = keyText(.name, last) {
        #expect(words.joined(separator: " ").contains(folded), "\(name.input)")
      }
      checked += 1
    }
    #expect(checked >= 10)
  }
}
