import Foundation
import OhanaCore
import OhanaTestSupport
import Testing

@testable import OhanaStages

let testData = ProcessInfo.processInfo.environment["OHANA_TEST_DATA"]

@Suite("order keys") struct OrderKeyTests {
  /// The sort keys of single values.
  static func keys(_ kind: OrderKind, _ values: [String], isDescending: Bool = false) throws -> [[UInt8]] {
    let key = OrderKey(.field(FieldName("k")), kind: kind, isDescending: isDescending)
    let writer = OrderKeyWriter([try BoundOrderKey(key, slot: 0, locale: nil)])
    let batch = RecordBatch.make(values.map { [.text($0)] }, slotCount: 1)
    return values.indices.map { index in
      let out = ByteBuffer()
      writer.append(index, of: batch, to: out)
      return Array(out.bytes)
    }
  }

  static func order(_ a: [UInt8], _ b: [UInt8]) -> Int { a == b ? 0 : a.lexicographicallyPrecedes(b) ? -1 : 1 }

  // MARK: Numbers

  static func someNumber(_ generator: inout SeededGenerator) -> String {
    func digits(_ longest: Int) -> String {
      String((0..<Int.random(in: 1...longest, using: &generator)).map { _ in "0123456789".randomElement(using: &generator)! })
    }
    var text = ["", "", "-", "+"].randomElement(using: &generator)!
    text += digits([1, 3, 12].randomElement(using: &generator)!)
    if Bool.random(using: &generator) { text += "." + digits([1, 3, 12].randomElement(using: &generator)!) }
    if Int.random(in: 0..<3, using: &generator) == 0 {
      text += ["e", "E", "e+", "e-"].randomElement(using: &generator)! + String(Int.random(in: 0...40, using: &generator))
    }
    return text
  }

  @Test("numbers compare as Foundation's decimals do", arguments: 0..<20) func decimals(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let texts = (0..<150).map { _ in Self.someNumber(&generator) } + ["0", "-0", "00.00", "1", "1.0", "01", "1e0", "0.1e1", "10e-1"]
    let keys = try Self.keys(.number, texts)
    let values = try texts.map {
      try #require(Decimal(string: $0.hasPrefix("+") ? String($0.dropFirst()) : $0, locale: Locale(identifier: "en_US_POSIX")))
    }
    for a in texts.indices {
      for b in texts.indices {
        let expected = values[a] == values[b] ? 0 : values[a] < values[b] ? -1 : 1
        if Self.order(keys[a], keys[b]) != expected { Issue.record("\(texts[a]) against \(texts[b])") }
      }
    }
  }

  @Test("numbers beyond any machine type stay exact, and text sorts behind them") func longNumbers() throws {
    let ascending = [
      "-1e400", "-123456789012345678901234567891", "-123456789012345678901234567890.5", "-123456789012345678901234567890", "-1e-400", "0",
      "1e-400",
      "1e-65", "1e-64", "1e-63", "0.5", "18446744073709551615", "18446744073709551616",
      "18446744073709551616.000000000000000000000000000001",
      "9e62", "1e63", "1e64", "1e65", "1e400", "1e1000000000", "", "-", ".", "0x10", "1 2", "1.2.3", "1e", "1e+", "NaN", "infinity", "１",
    ]
    let keys = try Self.keys(.number, ascending.filter { !$0.isEmpty })
    let numbers = ascending.firstIndex(of: "")!
    for index in 1..<numbers { #expect(Self.order(keys[index - 1], keys[index]) < 0, "\(ascending[index - 1]) before \(ascending[index])") }
    #expect(keys[numbers...].allSatisfy { Self.order(keys[numbers - 1], $0) < 0 })
    let descending = try Self.keys(.number, ascending.filter { !$0.isEmpty }, isDescending: true)
    for index in 1..<numbers { #expect(Self.order(descending[index - 1], descending[index]) > 0) }
    #expect(descending[numbers...].allSatisfy { Self.order(descending[0], $0) < 0 && Self.order(descending[numbers - 1], $0) < 0 })
  }

  @Test(
    "blanks around a number, a bare point at either end", arguments: [(" 7 ", "7"), ("7.", "7"), (".5", "0.5"), ("+7", "7"), ("\t7", "7")])
  func spellings(_ a: String, _ b: String) throws {
    let keys = try Self.keys(.number, [a, b])
    #expect(keys[0] == keys[1])
  }

  // MARK: Texts

  @Test("no key is a proper prefix of another", arguments: [OrderKind.binary, .number, .ohana, .locale(nil), .natural(nil)])
  func prefixFree(kind: OrderKind) throws {
    var generator = SeededGenerator(seed: 3)
    let alphabet: [Character] = ["a", "A", "\u{0}", "\u{1}", "\u{2}", "1", "0", ".", "é", "\u{301}", " "]
    let texts = (0..<300).map { _ in
      String((0..<Int.random(in: 1...5, using: &generator)).map { _ in alphabet.randomElement(using: &generator)! })
    }
    for isDescending in [false, true] {
      let keys = Set(try Self.keys(kind, texts, isDescending: isDescending)).sorted { Self.order($0, $1) < 0 }
      for index in 1..<keys.count { #expect(!keys[index].starts(with: keys[index - 1])) }
    }
  }

  @Test("ohana is code point order of the decomposed text, as Foundation decomposes it", arguments: 0..<10) func decomposed(seed: UInt64)
    throws
  {
    var generator = SeededGenerator(seed: seed)
    let alphabet = "aAzZeéÉE\u{301}\u{327}Ååöß中가ﬁ😀𝒜 -'\u{1E69}".unicodeScalars.map { Character($0) }
    let texts = (0..<120).map { _ in
      String((0..<Int.random(in: 1...4, using: &generator)).map { _ in alphabet.randomElement(using: &generator)! })
    }
    let keys = try Self.keys(.ohana, texts)
    let forms = texts.map { Array($0.decomposedStringWithCanonicalMapping.unicodeScalars.map(\.value)) }
    for a in texts.indices {
      for b in texts.indices {
        let expected = forms[a] == forms[b] ? 0 : forms[a].lexicographicallyPrecedes(forms[b]) ? -1 : 1
        if Self.order(keys[a], keys[b]) != expected { Issue.record("\(texts[a]) against \(texts[b])") }
      }
    }
  }

  @Test(
    "locale keys compare as ICU itself does", arguments: [nil, "sv", "de-u-co-phonebk", "da", "es", "lt", "tr", "ja", "zh", "th"],
    [false, true])
  func collation(tag: String?, isNumeric: Bool) throws {
    var generator = SeededGenerator(seed: UInt64(tag?.hashValue.magnitude ?? 0) & 0xffff)
    let alphabet = "aAbzZåäöÅßæœøéèÉ\u{301}\u{308}ñlLjJyY0129 -'.ıIiİ中文あアฉเ😀\u{FFFD}".unicodeScalars.map { Character($0) }
    let texts = (0..<120).map { _ in
      String((0..<Int.random(in: 1...30, using: &generator)).map { _ in alphabet.randomElement(using: &generator)! })
    }
    // Twice, so that keys come from the cache too.
    let keys = try Self.keys(isNumeric ? .natural(tag) : .locale(tag), texts + texts)
    #expect(Array(keys[..<texts.count]) == Array(keys[texts.count...]))
    let collation = try Collation(tag: tag, isNumeric: isNumeric)
    for a in texts.indices {
      for b in texts.indices where Self.order(keys[a], keys[b]) != collation.compare(texts[a], texts[b]).signum() {
        Issue.record("\(texts[a]) against \(texts[b])")
      }
    }
  }

  @Test(
    "the CLDR root list of Unicode 15 is in order (CollationTest_CLDR_NON_IGNORABLE)",
    .enabled(if: testData != nil, "OHANA_TEST_DATA names no folder"))
  func conformance() throws {
    let file = try #require(testData) + "/uca-collation/CollationTest_CLDR_NON_IGNORABLE_SHORT.txt.gz"
    let gunzip = Process()
    gunzip.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    gunzip.arguments = ["gzip", "-dc", file]
    let pipe = Pipe()
    gunzip.standardOutput = pipe
    try gunzip.run()
    let text = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    var values: [String] = []
    for line in text.split(separator: "\n") where !line.hasPrefix("#") {
      var value = ""
      let codes = line.split(separator: ";")[0].split(separator: " ").compactMap { UInt32($0, radix: 16) }
      let scalars = codes.compactMap(Unicode.Scalar.init)
      if scalars.count < codes.count { continue }  // surrogates, which are no UTF-8
      for scalar in scalars { value.unicodeScalars.append(scalar) }
      values.append(value)
    }
    try #require(values.count > 100_000)
    let keys = try Self.keys(.locale(nil), values)
    var faults = 0
    for index in 1..<keys.count where Self.order(keys[index - 1], keys[index]) > 0 { faults += 1 }
    #expect(faults == 0)
  }

  @Test(
    "ICU's own collation tests for root and languages hold for our keys (collationtest.txt)",
    .enabled(if: testData != nil, "OHANA_TEST_DATA names no folder"))
  func collationTest() throws {
    let file = try #require(testData) + "/icu-collationtest/collationtest.part.txt"
    var tag: String?
    var isUsable = false
    var previous: String?
    var compared = 0
    for line in try String(contentsOfFile: file, encoding: .utf8).components(separatedBy: "\n") {
      let words = line.prefix { $0 != "#" }.split(separator: " ").map(String.init)
      guard let first = words.first else { continue }
      switch first {
      case "@":
        tag = words.count > 2 ? words[2] : nil
        // Rules of its own and attributes are nothing a KEY can ask for, nor are variants that a language lacks.
        isUsable = words.count > 1 && (words[1] == "root" || words[1] == "locale") && (try? Collation(tag: tag, isNumeric: false)) != nil
      case "%": isUsable = false
      case "*": previous = nil
      case "<", "<1", "<2", "<3", "<4", "<c", "<i", "=":
        guard isUsable, words.count == 2, let value = unescaped(words[1]) else {
          previous = nil
          continue
        }
        if let previous, first != "<4", first != "<i" {
          let keys = try Self.keys(.locale(tag), [previous, value])
          let order = Self.order(keys[0], keys[1])
          #expect(first == "=" ? order == 0 : order < 0, "\(tag ?? "root"): \(line)")
          compared += 1
        }
        previous = value
      default: break
      }
    }
    #expect(compared > 50)
  }

  /// Resolves `\uXXXX`, `\UXXXXXXXX` and `\xXX`; nil for what is no text.
  private func unescaped(_ text: String) -> String? {
    var result = ""
    var rest = Substring(text)
    while let first = rest.first {
      rest = rest.dropFirst()
      guard first == "\\" else {
        result.append(first)
        continue
      }
      guard let kind = rest.first, let length = ["u": 4, "U": 8, "x": 2][kind] else { return nil }
      rest = rest.dropFirst()
      guard let scalar = UInt32(rest.prefix(length), radix: 16).flatMap(Unicode.Scalar.init) else { return nil }
      result.unicodeScalars.append(scalar)
      rest = rest.dropFirst(length)
    }
    return result
  }
}

@Suite("keys as arguments") struct KeyArgumentTests {
  @Test(
    "a field where it can be one, otherwise an expression",
    arguments: [
      ("email", true), ("First Name", true), ("\"a, b\"", true), ("E-mail 1 - Value", true), ("address.city", true),
      ("fields[0].value", true),
      ("Straße", true), ("lower(email)", false), ("first || last", false), ("\"a\" || \"b\"", false), ("a + 1", false),
      ("a IS NULL", false),
      ("CASE WHEN a = 1 THEN 2 END", false), ("Date of Birth", true),
    ])
  func sources(_ text: String, _ isField: Bool) throws {
    let source = try KeySource(parsing: text, what: "test")
    #expect({ if case .field = source { true } else { false } }() == isField)
  }

  @Test("commas and colons within quotes and parentheses belong to the key") func lists() throws {
    let keys = try OrderKey.parse(list: "\"a:b, c\":desc,substr(x, 1, 2):binary,last:locale/sv:nulls-first:desc", what: "sort")
    #expect(
      keys == [
        OrderKey(.field(FieldName(whole: Array("a:b, c".utf8))), isDescending: true),
        OrderKey(.expression("substr(x, 1, 2)"), kind: .binary),
        OrderKey(.field(FieldName("last")), kind: .locale("sv"), isDescending: true, blanksFirst: true),
      ])
    let equality = try EqualityKey.parse(list: "email:email/provider,name", what: "dedupe")
    #expect(equality == [EqualityKey(.field(FieldName("email")), kind: .emailProvider), EqualityKey(.field(FieldName("name")))])
  }

  @Test("an expression sorts, dedupes and counts by its value") func expressions() throws {
    let rows: [[TestValue]] = [["b2"], ["A1"], ["a1"], ["c"], [nil]]
    let run = StageRun(names: ["k"])
    #expect(try run.ids([SortStage.parse(arguments: ["lower(k):binary:desc"])], rows) == ["c", "b2", "A1", "a1", nil])
    #expect(try run.ids([DedupeStage.parse(arguments: ["--by", "lower(k)"])], rows) == ["b2", "A1", "c", nil])
    #expect(throws: OhanaError.self) { try SortStage.parse(arguments: ["lower(k"]) }
  }
}
