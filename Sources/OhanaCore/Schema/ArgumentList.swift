/// Lists in arguments: `F,…`, `KEY,…`. Commas and colons count only outside quotes, parentheses and brackets; names may hold blanks.
public enum ArgumentList {
  /// The items between commas, trimmed of blanks.
  ///
  /// - Throws: `usage` for an empty item, an unclosed quote and an unbalanced parenthesis; `what` names the list in the message.
  public static func split(_ text: String, what: String) throws(OhanaError) -> [String] {
    let bytes = Array(text.utf8)
    let commas = try separators(UInt8(ascii: ","), in: bytes, what: what)
    var items: [String] = []
    var start = 0
    for comma in commas + [bytes.count] {
      let item = trimmed(bytes[start..<comma])
      if item.isEmpty {
        throw OhanaError(
          .usage, "bad-list", "\(what): item \(items.count + 1) of '\(text)' is empty",
          fix: "take the surplus comma away, or put a name that holds a comma in double quotes")
      }
      items.append(String(decoding: item, as: UTF8.self))
      start = comma + 1
    }
    return items
  }

  /// Field names of one or more list arguments, in order.
  public static func fields(_ texts: [String], what: String) throws(OhanaError) -> [FieldName] {
    var names: [FieldName] = []
    for text in texts {
      for item in try split(text, what: what) { names.append(try field(item, what: what)) }
    }
    return names
  }

  /// One field name, whole in double quotes or without any.
  public static func field(_ text: String, what: String) throws(OhanaError) -> FieldName {
    let name = FieldName(text)
    let isQuoted = text.hasPrefix("\"")
    if name.whole.isEmpty || isQuoted && !isOneQuoted(Array(text.utf8)) || !isQuoted && text.contains("\"") {
      throw OhanaError(
        .usage, "bad-name", "\(what): '\(text)' is no field name",
        fix: "write a name with quotes in it in double quotes, each quote doubled")
    }
    return name
  }

  /// `head:suffix:suffix` cut at its colons: `email:email` → `email`, [`email`].
  public static func suffixes(_ item: String, what: String) throws(OhanaError) -> (head: String, suffixes: [String]) {
    let bytes = Array(item.utf8)
    let colons = try separators(UInt8(ascii: ":"), in: bytes, what: what)
    guard let first = colons.first else { return (item, []) }
    var suffixes: [String] = []
    for (index, colon) in colons.enumerated() {
      let end = index + 1 < colons.count ? colons[index + 1] : bytes.count
      suffixes.append(String(decoding: trimmed(bytes[(colon + 1)..<end]), as: UTF8.self))
    }
    return (String(decoding: trimmed(bytes[..<first]), as: UTF8.self), suffixes)
  }

  /// The first `=` outside quotes and parentheses: `new name = upper(x)` → `new name`, `upper(x)`.
  public static func assignment(_ text: String, what: String) throws(OhanaError) -> (name: FieldName, value: String) {
    let bytes = Array(text.utf8)
    guard let equals = try separators(UInt8(ascii: "="), in: bytes, what: what).first else {
      throw OhanaError(.usage, "bad-assignment", "\(what): '\(text)' has no '='", fix: "write NAME = EXPR, all in one pair of shell quotes")
    }
    let name = String(decoding: trimmed(bytes[..<equals]), as: UTF8.self)
    return (try field(name, what: what), String(decoding: trimmed(bytes[(equals + 1)...]), as: UTF8.self))
  }

  /// Offsets of `separator` outside quotes, parentheses and brackets.
  ///
  /// A single quote opens a text only where no name character stands before it, so that `O'Brien` can be part of a name.
  static func separators(_ separator: UInt8, in bytes: [UInt8], what: String) throws(OhanaError) -> [Int] {
    var found: [Int] = []
    var depth = 0
    var index = 0
    while index < bytes.count {
      let byte = bytes[index]
      switch byte {
      case UInt8(ascii: "'") where index > 0 && isNameByte(bytes[index - 1]): break
      case UInt8(ascii: "'"), UInt8(ascii: "\""):
        guard let close = bytes[(index + 1)...].firstIndex(of: byte) else {
          throw OhanaError(
            .usage, "bad-list", "\(what): the quote at byte \(index + 1) of '\(String(decoding: bytes, as: UTF8.self))' is never closed",
            fix: "close it, or double it inside quotes")
        }
        index = close  // a doubled quote closes and opens again
      case UInt8(ascii: "("), UInt8(ascii: "["): depth += 1
      case UInt8(ascii: ")"), UInt8(ascii: "]"):
        depth -= 1
        if depth < 0 {
          throw OhanaError(
            .usage, "bad-list",
            "\(what): the '\(Character(UnicodeScalar(byte)))' at byte \(index + 1) of '\(String(decoding: bytes, as: UTF8.self))' closes nothing",
            fix: "put names that hold one in double quotes")
        }
      case separator where depth == 0: found.append(index)
      default: break
      }
      index += 1
    }
    if depth > 0 {
      throw OhanaError(
        .usage, "bad-list", "\(what): a parenthesis in '\(String(decoding: bytes, as: UTF8.self))' is never closed", fix: "close it")
    }
    return found
  }

  private static func isNameByte(_ byte: UInt8) -> Bool {
    byte >= 0x80 || byte | 0x20 >= 0x61 && byte | 0x20 <= 0x7a || byte >= 0x30 && byte <= 0x39 || byte == UInt8(ascii: "_")
  }

  private static func isOneQuoted(_ bytes: [UInt8]) -> Bool {
    let quote = UInt8(ascii: "\"")
    guard bytes.count >= 2, bytes.last == quote else { return false }
    var index = 1
    while index < bytes.count - 1 {
      if bytes[index] == quote {
        guard index + 1 < bytes.count - 1, bytes[index + 1] == quote else { return false }
        index += 1
      }
      index += 1
    }
    return true
  }

  private static func trimmed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    var bytes = bytes
    while let first = bytes.first, isASCIISpace(first) { bytes.removeFirst() }
    while let last = bytes.last, isASCIISpace(last) { bytes.removeLast() }
    return bytes
  }
}
