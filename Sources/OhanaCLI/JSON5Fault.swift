/// The first place at which a text is no JSON5 object (json5.org, 1.0.0), for messages: the decoder says only that there is one.
struct JSON5Fault {
  /// 1-based.
  let line: Int
  /// 1-based byte in the line.
  let byte: Int
  /// What is wrong, as a sentence behind "and here".
  let expected: String

  /// nil where nothing is found.
  init?(in text: [UInt8]) {
    var scan = JSON5Scan(text)
    guard let expected = scan.firstFault() else { return nil }
    let before = text[..<scan.index]
    line = before.count { $0 == 0x0a } + 1
    byte = scan.index - (before.lastIndex(of: 0x0a).map { $0 + 1 } ?? 0) + 1
    self.expected = expected
  }
}

/// Goes over the tokens of a JSON5 text; what is open is kept in a list, so that no nesting is too deep.
private struct JSON5Scan {
  private enum Wanted { case value, valueOrEnd, nameOrEnd, colon, commaOrEnd }

  private let text: [UInt8]
  private(set) var index = 0
  /// Opening brackets.
  private var open: [UInt8] = []

  init(_ text: [UInt8]) { self.text = text }

  mutating func firstFault() -> String? {
    if let fault = skipBlanks() { return fault }
    guard take("{") else { return "it does not begin with {" }
    open = [UInt8(ascii: "{")]
    var wanted = Wanted.nameOrEnd
    while let bracket = open.last {
      if let fault = skipBlanks() { return fault }
      guard index < text.count else { return "it ends with \(bracket == UInt8(ascii: "{") ? "{" : "[") still open" }
      if wanted != .value, wanted != .colon, text[index] == bracket + 2 {  // } is { + 2, ] is [ + 2
        index += 1
        open.removeLast()
        wanted = .commaOrEnd
        continue
      }
      switch wanted {
      case .colon:
        guard take(":") else { return "a colon is missing behind a name" }
        wanted = .value
      case .commaOrEnd:
        guard take(",") else { return "a comma or a closing bracket is missing" }
        wanted = bracket == UInt8(ascii: "{") ? .nameOrEnd : .valueOrEnd
      case .nameOrEnd:
        if let fault = isQuote ? string() : name() { return fault }
        wanted = .colon
      case .value, .valueOrEnd:
        if text[index] == UInt8(ascii: "{") || text[index] == UInt8(ascii: "[") {
          open.append(text[index])
          wanted = text[index] == UInt8(ascii: "{") ? .nameOrEnd : .valueOrEnd
          index += 1
        } else {
          if let fault = isQuote ? string() : bareValue() { return fault }
          wanted = .commaOrEnd
        }
      }
    }
    if let fault = skipBlanks() { return fault }
    return index == text.count ? nil : "something follows the closing }"
  }

  private var isQuote: Bool { text[index] == UInt8(ascii: "\"") || text[index] == UInt8(ascii: "'") }

  private mutating func take(_ token: String) -> Bool {
    guard text[index...].starts(with: token.utf8) else { return false }
    index += token.utf8.count
    return true
  }

  private mutating func skipBlanks() -> String? {
    while index < text.count {
      let start = index
      if text[index] <= 0x20 || take("\u{feff}") || take("\u{a0}") {
        if index == start { index += 1 }
      } else if take("//") {
        while index < text.count, text[index] != 0x0a { index += 1 }
      } else if take("/*") {
        while !take("*/") {
          index += 1
          if index >= text.count {
            index = start
            return "a comment is not closed"
          }
        }
      } else {
        return nil
      }
    }
    return nil
  }

  private mutating func string() -> String? {
    let start = index
    index += 1
    while index < text.count, text[index] != 0x0a, text[index] != text[start] { index += text[index] == UInt8(ascii: "\\") ? 2 : 1 }
    guard index < text.count, text[index] == text[start] else {
      index = start
      return "a quote is not closed in its line"
    }
    index += 1
    return nil
  }

  /// A run of letters, digits and the like.
  private mutating func word() -> ArraySlice<UInt8> {
    let start = index
    while index < text.count {
      let byte = text[index]
      let isLetter = byte | 0x20 >= 0x61 && byte | 0x20 <= 0x7a || byte >= 0x80 || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "$")
      guard isLetter || byte >= 0x30 && byte <= 0x39 || "+-.\\".utf8.contains(byte) else { break }
      index += 1
    }
    return text[start..<index]
  }

  private mutating func name() -> String? {
    let start = index
    let name = word()
    guard let first = name.first, !(first >= 0x30 && first <= 0x39), !name.contains(where: { "+-.".utf8.contains($0) }) else {
      index = start
      return "a name is missing, or needs quotes"
    }
    return nil
  }

  private mutating func bareValue() -> String? {
    let start = index
    let value = word()
    let isNumber = value.first.map { $0 >= 0x30 && $0 <= 0x39 || "+-.".utf8.contains($0) } ?? false
    guard isNumber || ["true", "false", "null", "Infinity", "NaN"].contains(String(decoding: value, as: UTF8.self)) else {
      index = start
      return "a value is missing, or a text has no quotes"
    }
    return nil
  }
}
