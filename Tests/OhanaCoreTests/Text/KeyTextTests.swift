import Foundation
import OhanaCore
import Testing

/// Key text of `text`; nil where it has none.
func keyText(_ kind: EqualityKind, _ text: String) -> String? {
  let out = ByteBuffer()
  out.append("before")
  var text = text
  let hasKey = text.withUTF8 { appendKeyText(kind, $0, to: out, scratch: TextScratch()) }
  let result = String(decoding: out.bytes.dropFirst(6), as: UTF8.self)
  #expect(hasKey == !result.isEmpty)
  return hasKey ? result : nil
}

struct SmallRandom: RandomNumberGenerator {
  var state: UInt64
  init(_ seed: Int) { state = UInt64(seed) &* 0x9e37_79b9_7f4a_7c15 | 1 }
  mutating func next() -> UInt64 {
    state ^= state << 13
    state ^= state >> 7
    state ^= state << 17
    return state &* 0x2545_f491_4f6c_dd1d
  }
}

@Suite("Key text") struct KeyTextTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let rule: String, kind: EqualityKind, text: String, key: String?
    var testDescription: String { rule }
    init(_ rule: String, _ kind: EqualityKind, _ text: String, _ key: String?) {
      (self.rule, self.kind, self.text, self.key) = (rule, kind, text, key)
    }
  }

  static let cases = [
    Case("exact leaves text alone", .exact, " Kim\u{301} ", " Kim\u{301} "),
    Case("exact: nothing is no key", .exact, "", nil),
    Case("fold lowers and collapses blanks", .fold, " \tKim \r\n  ALDER ", "kim alder"),
    Case("fold drops accents, composed or not", .fold, "José Nu\u{301}ñez", "jose nunez"),
    Case("fold expands ß and ligatures", .fold, "Straße ﬁn", "strasse fin"),
    Case("fold: full width is compatible", .fold, "Ｋｉｍ\u{3000}Ａ", "kim a"),
    Case("fold drops zero-width characters", .fold, "Ki\u{200b}m\u{feff}", "kim"),
    Case("fold: no-break spaces are blanks", .fold, "Kim\u{a0}\u{202f}A", "kim a"),
    Case("fold knows final sigma", .fold, "ΟΔΥΣΣΕΥΣ", "οδυσσευσ"),
    Case("fold: İ loses its dot", .fold, "KİMİ", "kimi"),
    Case("fold keeps dotless ı", .fold, "kımı", "kımı"),
    Case("fold keeps voiced kana apart", .fold, "が", "が"),
    Case("fold keeps Indic vowel signs", .fold, "कुमल", "कुमल"),
    Case("fold drops Hebrew and Arabic points", .fold, "שָׁלוֹם مُحَمَّد", "שלום محمد"),
    Case("fold keeps Hangul", .fold, "김", "김"),
    Case("fold: marks alone are no key", .fold, "\u{301} \u{200b}", nil),
    Case("email trims and lowers", .email, " KIM@Example.COM\u{a0}", "kim@example.com"),
    Case("email without @ is no key", .email, "kim.example.com", nil),
    Case("email keeps dots and tags", .email, "a.b+c@gmail.com", "a.b+c@gmail.com"),
    Case("email: İ becomes i with a dot, never i", .email, "KİMİ@example.com", "ki\u{307}mi\u{307}@example.com"),
    Case("email keeps dotless ı", .email, "kımı@example.com", "kımı@example.com"),
    Case("provider: dots and tags go at gmail", .emailProvider, "Z.z.A+news@GMail.com", "zza@gmail.com"),
    Case("provider: googlemail is gmail", .emailProvider, "zza@googlemail.com", "zza@gmail.com"),
    Case("provider: other domains keep theirs", .emailProvider, "z.a+t@outlook.com", "z.a+t@outlook.com"),
    Case("provider: a longer domain is another", .emailProvider, "z.z@mail.gmail.com.example.com", "z.z@mail.gmail.com.example.com"),
    Case("provider: an empty local part is left alone", .emailProvider, ".+x@gmail.com", ".+x@gmail.com"),
    Case("provider: the last @ counts", .emailProvider, "\"a@b.c\"@gmail.com", "\"a@bc\"@gmail.com"),
    Case("name turns last and first", .name, "Alder, Kim", "kim alder"),
    Case("name drops punctuation", .name, "O'Brien, J.R.", "jr obrien"),
    Case("name: any apostrophe", .name, "O’Brien O´Brien Oʼbrien O`Brien", "obrien obrien obrien obrien"),
    Case("name: dashes part words", .name, "Anne-Marie  Elm‐Oak", "anne marie elm oak"),
    Case("name: dots part long words", .name, "St.John Dr.Kim", "st john dr kim"),
    Case("name drops titles at the start", .name, "Prof. Dr. med. Kim Alder", "kim alder"),
    Case("name drops a title run into the name", .name, "Dr.Kim Alder", "kim alder"),
    Case("name drops degrees at the end", .name, "Kim Alder, Ph.D., M.D.", "kim alder"),
    Case("name keeps generations", .name, "Kim Alder, Jr.", "kim alder jr"),
    Case("name puts a late generation last", .name, "Alder, Jr., Kim", "kim alder jr"),
    Case("name: generation within the last name", .name, "Alder III, Mr. Kim", "kim alder iii"),
    Case("name: Sr at the start is a title", .name, "Sr. Pérez", "perez"),
    Case("name: Sr behind a comma is a generation", .name, "Kim Alder, Sr", "kim alder sr"),
    Case("name: generation behind the first name goes last", .name, "Tiptree, James Jr.", "james tiptree jr"),
    Case("name: a generation before a degree", .name, "Alder, Kim Jr., MD", "kim alder jr"),
    Case("name drops a title behind the name", .name, "KIM M ALDER MR", "kim m alder"),
    Case("name: titles alone stay", .name, "Dr", "dr"),
    Case("name: a comma without a first name", .name, "Alder,", "alder"),
    Case("name: punctuation alone is no key", .name, " -- ,.", nil),
    Case("name: katakana middle dot parts", .name, "キム・アルダー", "キム アルダー"),
    Case("name: full-width comma", .name, "Ａlder，Kim", "kim alder"),
  ]

  @Test("table", arguments: cases) func table(_ c: Case) { #expect(keyText(c.kind, c.text) == c.key) }

  @Test("ASCII fast paths equal ICU's path", arguments: 0..<400) func fastPaths(seed: Int) {
    var random = SmallRandom(seed + 1)
    for _ in 0..<50 {
      let text = String(
        decoding: (0..<Int.random(in: 0...24, using: &random)).map { _ -> UInt8 in
          Bool.random(using: &random)
            ? UInt8.random(in: 0...127, using: &random) : Array(" \t,.@+-JjRrSsDdGgmail'".utf8).randomElement(using: &random)!
        }, as: UTF8.self)
      // A zero-width space vanishes in folding, a wide one in trimming: only the path is another.
      #expect(keyText(.fold, text) == keyText(.fold, text + "\u{200b}"))
      #expect(keyText(.name, text) == keyText(.name, text + "\u{200b}"))
      #expect(keyText(.email, text) == keyText(.email, text + "\u{3000}"))
      #expect(keyText(.emailProvider, text) == keyText(.emailProvider, "\u{3000}" + text))
    }
  }

  @Test("the path for Latin letters equals ICU's path", arguments: 0..<100) func latinPath(seed: Int) {
    var random = SmallRandom(seed + 11)
    for _ in 0..<200 {
      var text = ""
      for _ in 0..<Int.random(in: 1...6, using: &random) {
        let ranges: [ClosedRange<UInt32>] = [0x20...0x7f, 0x80...0x24f, 0xa0...0x17f, 0x250...0x36f, 0x300...0x36f]
        text.unicodeScalars.append(UnicodeScalar(UInt32.random(in: ranges.randomElement(using: &random)!, using: &random))!)
      }
      #expect(keyText(.fold, text) == keyText(.fold, text + "\u{200b}"), "\(text.unicodeScalars.map { String($0.value, radix: 16) })")
      #expect(keyText(.name, text) == keyText(.name, text + "\u{200b}"))
    }
  }

  @Test("kinds are idempotent over every scalar", arguments: [EqualityKind.fold, .email, .emailProvider, .name])
  func idempotent(kind: EqualityKind) {
    var checked = 0
    let scratch = TextScratch()
    let once = ByteBuffer()
    let twice = ByteBuffer()
    // Where case, compatibility, marks, punctuation and ignorable characters are; the rest is unassigned, Han and Hangul.
    let ranges: [ClosedRange<UInt32>] = [
      0...0x33ff, 0xa000...0xacff, 0xd700...0xd7ff, 0xf900...0xffff, 0x10000...0x12fff, 0x1d000...0x1ffff, 0xe0000...0xe0fff,
    ]
    for value in ranges.joined() {
      guard let scalar = UnicodeScalar(value) else { continue }
      var text = "x@\(scalar)y"
      once.removeAll()
      twice.removeAll()
      guard text.withUTF8({ appendKeyText(kind, $0, to: once, scratch: scratch) }) else { continue }
      let isKey = appendKeyText(kind, once.bytes, to: twice, scratch: scratch)
      if !isKey || !once.bytes.elementsEqual(twice.bytes) { Issue.record("U+\(String(value, radix: 16))") }
      checked += 1
    }
    #expect(checked > 40_000)
  }

  @Test("names are idempotent", arguments: 0..<200) func idempotentNames(seed: Int) {
    var random = SmallRandom(seed + 7)
    let pieces = [
      "Kim", "Alder", "Dr.", "Jr.", "Sr", ",", ", ", " ", "Ph.D.", "med", "III", "O'Brien", "J.R.", "St.John", "-", "é", ".", "Mrs",
    ]
    for _ in 0..<50 {
      let text = (0..<Int.random(in: 1...9, using: &random)).map { _ in
        pieces.randomElement(using: &random)! + (Bool.random(using: &random) ? " " : "")
      }
      .joined()
      // A name keeps its generation behind it; read again, a leading "sr" would be the title.
      guard let key = keyText(.name, text), !key.hasPrefix("sr ") else { continue }
      #expect(keyText(.name, key) == key, "\(text)")
    }
  }

  @Test("long and expanding text") func expanding() {
    let text = String(repeating: "\u{fdfa}", count: 5000)  // one scalar that folds to 18
    #expect(keyText(.fold, text)?.utf8.count ?? 0 > 100_000)
  }

  @Test("bytes that are not UTF-8 are folded as U+FFFD") func invalidUTF8() {
    let out = ByteBuffer()
    let bytes: [UInt8] = [0x41, 0xff, 0xc3]
    #expect(bytes.withUnsafeBufferPointer { appendKeyText(.fold, $0, to: out, scratch: TextScratch()) })
    #expect(String(decoding: out.bytes, as: UTF8.self) == "a\u{fffd}\u{fffd}")
  }

  @Test("values of a batch") func values() {
    let rows: [(FieldSpan, String, String?)] = [
      (.missing, "", nil), (FieldSpan(kind: .null), "", nil), (FieldSpan(kind: .true), "", "true"),
      (FieldSpan(length: 4, kind: .number), "1.10", "1.10"), (FieldSpan(length: 2, kind: .array), "[]", nil),
      (FieldSpan(length: 4, kind: .object), "{  }", nil),
      (FieldSpan(length: 26, kind: .object), #"{ "a" : [1.0, "\u00e9\"" ]}"#, #"{"a":[1.0,"é\""]}"#),
      (FieldSpan(length: 6, kind: .string, encoding: .json), #"\u0041"#, "A"),
      (FieldSpan(length: 4, kind: .string, encoding: .csv), #"a""b"#, #"a"b"#),
    ]
    for (span, text, key) in rows {
      let batch = RecordBatch()
      batch.arena.append(string: text)
      var span = span
      span.length = UInt32(text.utf8.count)
      let out = ByteBuffer()
      #expect(appendKeyText(.exact, of: span, in: batch, to: out, scratch: TextScratch()) == (key != nil))
      #expect(String(decoding: out.bytes, as: UTF8.self) == key ?? "")
    }
  }

  @Test("kinds are read from their names, near misses suggested") func parsing() throws {
    #expect(try EqualityKind(parsing: "email/provider") == .emailProvider)
    let error = #expect(throws: OhanaError.self) { try EqualityKind(parsing: "emial") }
    #expect(error?.category == .usage)
    #expect(error?.description.contains("did you mean email?") == true)
  }
}
