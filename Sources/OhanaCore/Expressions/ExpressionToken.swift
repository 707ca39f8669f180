/// A piece of an expression's text.
struct ExpressionToken {
  enum Kind: Equatable {
    case end
    /// A number as SQL spells it.
    case number
    /// Text in single quotes, decoded.
    case text([UInt8])
    /// A name in double quotes, decoded.
    case quotedName([UInt8])
    /// An unquoted name with its path, or a word of the language.
    case word
    /// An operator or a sign.
    case symbol
  }
  var kind: Kind
  /// Byte offsets in the expression's text.
  var start: Int
  var end: Int
}

/// Cuts the text of an expression into tokens.
struct ExpressionLexer {
  let text: [UInt8]

  init(_ text: String) { self.text = Array(text.utf8) }

  func string(_ token: ExpressionToken) -> String { String(decoding: text[token.start..<token.end], as: UTF8.self) }

  /// 1-based column in characters, which is what a person counts.
  func column(_ offset: Int) -> Int { String(decoding: text[..<min(offset, text.count)], as: UTF8.self).unicodeScalars.count + 1 }

  func problem(_ what: String, at offset: Int, fix: String = "") -> OhanaError {
    let shown = String(decoding: text, as: UTF8.self)
    return OhanaError(.usage, "bad-expression", "expression '\(shown)', column \(column(offset)): \(what)", fix: fix)
  }

  func tokens() throws(OhanaError) -> [ExpressionToken] {
    var tokens: [ExpressionToken] = []
    var index = 0
    while true {
      while index < text.count, isASCIISpace(text[index]) { index += 1 }
      guard index < text.count else { break }
      tokens.append(try token(at: &index))
    }
    tokens.append(ExpressionToken(kind: .end, start: text.count, end: text.count))
    return tokens
  }

  private func token(at index: inout Int) throws(OhanaError) -> ExpressionToken {
    let start = index
    let byte = text[index]
    switch byte {
    case UInt8(ascii: "'"):
      let bytes = try quoted(byte, &index, what: "a text")
      return ExpressionToken(kind: .text(bytes), start: start, end: index)
    case UInt8(ascii: "\""):
      let bytes = try quoted(byte, &index, what: "a name")
      if bytes.isEmpty { throw problem("a name is empty", at: start, fix: "text is written in single quotes: ''") }
      return ExpressionToken(kind: .quotedName(bytes), start: start, end: index)
    case UInt8(ascii: "0")...UInt8(ascii: "9"): return number(from: start, &index)
    case UInt8(ascii: "."):
      if start + 1 < text.count, isDigit(text[start + 1]) { return number(from: start, &index) }
      throw problem("a '.' belongs to nothing", at: start, fix: "write paths without blanks: address.city")
    case _ where isNameStart(byte):
      name(&index)
      return ExpressionToken(kind: .word, start: start, end: index)
    default: return try symbol(at: &index)
    }
  }

  private func quoted(_ quote: UInt8, _ index: inout Int, what: String) throws(OhanaError) -> [UInt8] {
    let start = index
    var bytes: [UInt8] = []
    index += 1
    while index < text.count {
      if text[index] == quote {
        index += 1
        if index == text.count || text[index] != quote { return bytes }
      }
      bytes.append(text[index])
      index += 1
    }
    throw problem("\(what) is never closed", at: start, fix: "close it with \(quote == 0x27 ? "'" : "\""); inside, double it")
  }

  private func number(from start: Int, _ index: inout Int) -> ExpressionToken {
    while index < text.count, isDigit(text[index]) { index += 1 }
    if index < text.count, text[index] == UInt8(ascii: ".") {
      index += 1
      while index < text.count, isDigit(text[index]) { index += 1 }
    }
    if index < text.count, text[index] | 0x20 == UInt8(ascii: "e") {
      var next = index + 1
      if next < text.count, text[next] == UInt8(ascii: "+") || text[next] == UInt8(ascii: "-") { next += 1 }
      if next < text.count, isDigit(text[next]) {
        index = next
        while index < text.count, isDigit(text[index]) { index += 1 }
      }
    }
    return ExpressionToken(kind: .number, start: start, end: index)
  }

  /// Letters of any script, digits, underscores; `.name` and `[n]` go on with the path.
  private func name(_ index: inout Int) {
    while index < text.count {
      let byte = text[index]
      if isNameStart(byte) || isDigit(byte) {
        index += 1
      } else if byte == UInt8(ascii: "."), index + 1 < text.count, isNameStart(text[index + 1]) || isDigit(text[index + 1]) {
        index += 1
      } else if byte == UInt8(ascii: "["), let close = closeOfIndex(index) {
        index = close + 1
      } else {
        return
      }
    }
  }

  private func closeOfIndex(_ open: Int) -> Int? {
    var next = open + 1
    while next < text.count, isDigit(text[next]) { next += 1 }
    return next > open + 1 && next < text.count && text[next] == UInt8(ascii: "]") ? next : nil
  }

  private func isNameStart(_ byte: UInt8) -> Bool {
    byte | 0x20 >= 0x61 && byte | 0x20 <= 0x7a && byte < 0x80 || byte == 0x5f || byte >= 0x80
  }

  private static let symbols = ["<>", "<=", ">=", "!=", "==", "!~", "||", "=", "<", ">", "~", "+", "-", "*", "/", "%", "(", ")", ","]

  private func symbol(at index: inout Int) throws(OhanaError) -> ExpressionToken {
    let start = index
    for symbol in Self.symbols where text[start...].starts(with: symbol.utf8) {
      index += symbol.utf8.count
      return ExpressionToken(kind: .symbol, start: start, end: index)
    }
    let scalar = UnicodeScalar(text[start])
    let shown = text[start] < 0x20 || text[start] == 0x7f ? "a control character" : "'\(scalar)'"
    let fix =
      switch text[start] {
      case UInt8(ascii: "["): "paths are written address.lines[0], without blanks"
      case UInt8(ascii: ";"): "an expression is one value, not a statement"
      case UInt8(ascii: "&"): "write AND"
      case UInt8(ascii: "|"): "write OR, or || to join texts"
      case UInt8(ascii: "!"): "write NOT"
      case UInt8(ascii: "`"): "names are quoted with \", texts with '"
      default: "names with such signs are written in double quotes"
      }
    throw problem("\(shown) means nothing here", at: start, fix: fix)
  }
}
