import Foundation
import Testing

/// Every public declaration says what it is, held against the sources by reading their lines: in the machine's format a declaration begins
/// a line, and its documentation stands right above it.
@Suite("Public documentation") struct PublicDocumentationTests {
  struct Target: Sendable, CustomTestStringConvertible {
    let name: String
    var testDescription: String { name }
    var files: [URL] {
      let folder = PublicDocumentationTests.sources.appending(path: name)
      let paths = FileManager.default.enumerator(atPath: folder.path)!.compactMap { $0 as? String }.filter { $0.hasSuffix(".swift") }
      return paths.sorted().map { folder.appending(path: $0) }
    }
  }
  static let sources = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Sources").standardized
  static let targets = ["OhanaCore", "OhanaFormats", "OhanaStages", "OhanaEngine", "OhanaRun", "Ohana"].map { Target(name: $0) }

  @Test("is there for every declaration but witnesses of documented requirements", arguments: targets) func isThere(target: Target) throws {
    var declarations: [Declaration] = []
    for file in target.files {
      declarations += Declaration.all(in: try String(contentsOf: file, encoding: .utf8), file.lastPathComponent)
    }
    #expect(declarations.count > 10)
    for declaration in declarations where !declaration.isDocumented && !Self.witnesses.contains(declaration.name) {
      Issue.record("\(declaration.place): '\(declaration.name)' is public and undocumented")
    }
  }

  @Test("finds what lacks it") func finds() {
    let text = """
      /// Documented.
      public struct A: Sendable {
        public var b: Int
        /// Documented.
        @inlinable
        public func c() { if true { public } }
        var d = "public var e"
        public static func f<T>(_ t: T) {}
      }
      public protocol G {
        func h()
      }
      struct I {
        public var j = 0
      }
      extension A {
        public init(k: Int) {}
      }
      """
    let found = Declaration.all(in: text, "t").filter { !$0.isDocumented }.map(\.name)
    #expect(found == ["b", "f", "G", "h", "init"])
  }

  /// Names of documented requirements of our protocols, and those of the standard library's that need no words.
  static let witnesses: Set<String> = {
    var names: Set<String> = ["description", "==", "<", "hash", "encode", "rawValue", "help", "parse", "memoryClass", "next", "tally"]
    for target in targets {
      for file in target.files {
        let all = Declaration.all(in: (try? String(contentsOf: file, encoding: .utf8)) ?? "", "")
        names.formUnion(all.filter { $0.isRequirement && $0.isDocumented }.map(\.name))
      }
    }
    return names
  }()

  struct Declaration {
    var name: String
    var place: String
    var isDocumented: Bool
    var isRequirement: Bool

    private enum Scope { case publicType, protocolType, other }
    private static let modifiers: Set<Substring> = [
      "public", "open", "package", "internal", "private", "fileprivate", "static", "class", "final", "mutating", "nonmutating", "override",
      "convenience", "required", "indirect", "consuming", "borrowing", "nonisolated", "lazy", "weak", "unowned", "prefix", "infix",
    ]
    private static let types: Set<Substring> = ["struct", "class", "enum", "protocol", "actor", "extension"]
    private static let members: Set<Substring> = ["func", "var", "let", "init", "typealias", "subscript", "associatedtype"]

    /// The public declarations of a file, cases of enumerations and witnesses of literals and raw values left out.
    static func all(in text: String, _ file: String) -> [Declaration] {
      var found: [Declaration] = []
      var scopes: [Scope] = []
      var isDocumented = false
      var isInText = false
      for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
        var code = line.drop { $0 == " " }
        let quotes = code.utf8.count { $0 == UInt8(ascii: "\"") } >= 3 ? code.ranges(of: "\"\"\"").count : 0
        if isInText {
          if quotes > 0 { isInText = false }
          isDocumented = false
          continue
        }
        if code.hasPrefix("///") {
          isDocumented = true
          continue
        }
        if code.hasPrefix("//") || code.hasPrefix("#") { continue }
        var attributes = false
        while code.hasPrefix("@") {
          attributes = true
          code = code.drop { $0 != " " && $0 != "(" }
          if code.hasPrefix("(") { code = code.drop { $0 != ")" }.dropFirst() }
          code = code.drop { $0 == " " }
        }
        if code.isEmpty, attributes { continue }
        let bare = withoutTexts(code)
        var words = bare.split(separator: " ")[...]
        var isPublic = false
        while let word = words.first, modifiers.contains(word.prefix { $0 != "(" }), words.count > 1,
          !(word == "class" && !types.union(members).union(modifiers).contains(words.dropFirst().first!))
        {
          isPublic = isPublic || word == "public" || word == "open"
          words = words.dropFirst()
        }
        let keyword = words.first.map { $0.prefix { $0.isLetter } } ?? ""
        let isType = types.contains(keyword)
        let scope = scopes.last
        if isType || members.contains(keyword) {
          let isRequirement = scope == .protocolType
          isPublic = isRequirement || isPublic && (scope == nil || scope == .publicType)
          if isPublic, keyword != "extension" {
            let rest = words.dropFirst().joined(separator: " ")
            let name =
              keyword == "init" ? "init" : String(rest.prefix { !"(:{<=,! ".contains($0) || "=<".contains($0) && rest.first == $0 })
            let isLiteral = keyword == "init" && (bare.contains("(rawValue:") || bare.contains("(stringLiteral "))
            if !isLiteral {
              found.append(
                Declaration(
                  name: name.replacing("`", with: ""), place: "\(file):\(index + 1)", isDocumented: isDocumented,
                  isRequirement: isRequirement))
            }
          }
        }
        var isFirst = true
        for byte in bare.utf8 {
          if byte == UInt8(ascii: "{") {
            let opened: Scope =
              !isFirst || !isType
              ? .other : keyword == "extension" ? .publicType : !isPublic ? .other : keyword == "protocol" ? .protocolType : .publicType
            scopes.append(opened)
            isFirst = false
          } else if byte == UInt8(ascii: "}") {
            _ = scopes.popLast()
          }
        }
        if quotes % 2 == 1 { isInText = true }
        isDocumented = false
      }
      return found
    }

    /// A line without what its quotes hold, and without a comment behind it.
    private static func withoutTexts(_ line: Substring) -> String {
      var bytes: [UInt8] = []
      var isText = false
      var last: UInt8 = 0
      for byte in line.utf8 {
        if byte == UInt8(ascii: "\""), last != UInt8(ascii: "\\") { isText.toggle() } else if !isText { bytes.append(byte) }
        if !isText, byte == UInt8(ascii: "/"), last == byte { return String(decoding: bytes.dropLast(2), as: UTF8.self) }
        last = last == UInt8(ascii: "\\") && byte == last ? 0 : byte
      }
      return String(decoding: bytes, as: UTF8.self)
    }
  }
}
