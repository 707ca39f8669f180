import Foundation
import OhanaCore
import OhanaTestSupport
import Testing

private func fault(_ text: [UInt8], depth: Int = 1_024, lone: Bool = false) -> JSONFault? {
  text.withUnsafeBufferPointer { JSONValidator(maxDepth: depth, allowsLoneSurrogates: lone).firstFault(in: $0) }
}

private let dataFolder = ProcessInfo.processInfo.environment["OHANA_TEST_DATA"]

@Suite("JSON validator") struct JSONValidatorTests {
  struct Verdict: Decodable {
    let verdict: String
    let byte: Int?
    let max_depth: Int?
    let reason: String?
  }

  @Test("agrees with JSONTestSuite on every text, and on the first wrong byte", .enabled(if: dataFolder != nil))
  func suite() throws {
    let folder = URL(fileURLWithPath: dataFolder!).appendingPathComponent("json-test-suite")
    let expected = try JSONDecoder().decode([String: Verdict].self, from: Data(contentsOf: folder.appendingPathComponent("expected.json")))
    #expect(expected.count > 200)
    for (name, verdict) in expected {
      var file = folder.appendingPathComponent("test_parsing").appendingPathComponent(name)
      if !FileManager.default.fileExists(atPath: file.path) {
        file = folder.appendingPathComponent("test_transform").appendingPathComponent(name)
      }
      let text = [UInt8](try Data(contentsOf: file))
      let found = fault(text, depth: .max, lone: true)
      if verdict.verdict == "ok" {
        #expect(found == nil, "\(name): \(String(describing: found))")
      } else {
        #expect(found?.offset == verdict.byte, "\(name): \(String(describing: found))")
        #expect((found?.reason == .invalidUTF8) == (verdict.reason == "invalid UTF-8"), "\(name): \(String(describing: found))")
      }
    }
  }

  struct Case: Sendable, CustomTestStringConvertible {
    let text: String
    let offset: Int?
    var reason = JSONFault.Reason.syntax
    var testDescription: String { text }
  }
  static let cases = [
    Case(text: #""\ud83d\ude00""#, offset: nil),
    Case(text: #""a\ud83d""#, offset: 2, reason: .loneSurrogate),
    Case(text: #""\ude00\ud83d""#, offset: 1, reason: .loneSurrogate),
    Case(text: #""\ud83d\ud83d\ude00""#, offset: 1, reason: .loneSurrogate),
    Case(text: #""\ud83dx""#, offset: 1, reason: .loneSurrogate),
    Case(text: #""\ud83d\u00zz""#, offset: 11),
    Case(text: "NaN", offset: 0), Case(text: "[-Infinity]", offset: 2), Case(text: "01", offset: 1, reason: .textAfterValue),
    Case(text: "{\"a\":1,}", offset: 7), Case(text: "{} {}", offset: 3, reason: .textAfterValue), Case(text: "", offset: 0),
    Case(text: "[1,]", offset: 3),
    Case(text: "-", offset: 1), Case(text: "1.", offset: 2), Case(text: "1e+", offset: 3), Case(text: "\u{feff}{}", offset: 0),
  ]
  @Test("places the first fault", arguments: cases) func places(_ c: Case) {
    let found = fault(Array(c.text.utf8))
    #expect(found?.offset == c.offset)
    if found != nil { #expect(found?.reason == c.reason) }
  }

  @Test("allows 1,024 levels of nesting and refuses the one beyond") func depth() {
    func nested(_ levels: Int) -> [UInt8] { Array((String(repeating: "[", count: levels) + String(repeating: "]", count: levels)).utf8) }
    #expect(fault(nested(1_024)) == nil)
    #expect(fault(nested(1_025)) == JSONFault(reason: .tooDeep, offset: 1_024, detail: ""))
    #expect(fault(nested(100_000)) == JSONFault(reason: .tooDeep, offset: 1_024, detail: ""))
  }
}

@Suite("JSON scanner") struct JSONScannerTests {
  @Test("walks members and elements with their spans") func walks() {
    let text = Array(#"{ "a" : 1.10 ,"b\n":"x\"y" , "c":[true,null,"z",{"q":[]}],"d":{"e":"}"}, "f":false}"#.utf8)
    text.withUnsafeBufferPointer { buffer in
      let base = buffer.baseAddress!
      func string(_ span: FieldSpan) -> String {
        String(decoding: UnsafeBufferPointer(start: base + Int(span.offset), count: Int(span.length)), as: UTF8.self)
      }
      var members = JSONMembers(in: base, at: 0)
      var seen: [String] = []
      let scratch = ByteBuffer()
      while let member = members.next() {
        #expect(base[Int(member.value.key)] == UInt8(ascii: "\""))
        seen.append(
          "\(String(decoding: member.key(in: base, scratch: scratch), as: UTF8.self)) \(member.value.kind) \(string(member.value))")
        if member.value.kind == .array {
          var elements = JSONElements(of: member.value, in: base)
          var kinds: [ValueKind] = []
          while let element = elements.next() { kinds.append(element.kind) }
          #expect(kinds == [.true, .null, .string, .object])
        }
      }
      #expect(members.position == text.count - 1)
      #expect(
        seen == [
          "a number 1.10", "b\n string x\\\"y", "c array [true,null,\"z\",{\"q\":[]}]", "d object {\"e\":\"}\"}", "f false ",
        ])
    }
  }

  @Test("compacts outside strings only") func compacts() {
    let out = ByteBuffer()
    Array(" { \"a b\" : [ 1 ,\t2 ] }\r\n".utf8).withUnsafeBufferPointer { JSONScanner.appendCompact($0, to: out) }
    #expect(String(decoding: out.bytes, as: UTF8.self) == #"{"a b":[1,2]}"#)
  }
}

@Suite("JSON escaping") struct JSONEscapingTests {
  @Test("round-trips through Foundation, with minimal escapes", arguments: 0..<300 as Range<UInt64>) func roundTrips(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    var text = ""
    for _ in 0..<Int.random(in: 0..<60, using: &generator) {
      let pool: [Unicode.Scalar] = ["a", "\"", "\\", "\n", "\u{0}", "\u{1f}", "\u{7f}", "é", "\u{2028}", "😀", "/", " "]
      text.unicodeScalars.append(Bool.random(using: &generator) ? "k" : pool.randomElement(using: &generator)!)
    }
    let out = ByteBuffer()
    Array(text.utf8).withUnsafeBufferPointer { JSONEscaping.appendQuoted($0, to: out) }
    let decoded = try JSONSerialization.jsonObject(with: Data(out.bytes), options: .fragmentsAllowed)
    #expect(decoded as? String == text)
    let escaped = text.unicodeScalars.reduce(2) { count, scalar in
      switch scalar {
      case "\"", "\\", "\n", "\u{8}", "\u{9}", "\u{c}", "\r": count + 2
      case "\u{0}"..<"\u{20}": count + 6
      default: count + String(scalar).utf8.count
      }
    }
    #expect(out.count == escaped)
  }
}
