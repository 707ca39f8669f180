public import OhanaCore

/// Where a KEY gets its value.
public enum KeySource: Sendable, Hashable {
  /// The value of a field.
  case field(FieldName)
  /// Text of an expression (see `ohana help functions`).
  case expression(String)

  /// Text without kinds: a field where it can be one, otherwise an expression.
  ///
  /// Field names may hold blanks, hyphens and letters of any script; what SQL needs besides (parentheses, quotes, operators, words like
  /// `CASE` or `IS` in capitals) makes an expression. A name with any of these has to stand in double quotes.
  public init(parsing text: String, what: String) throws(OhanaError) {
    if Self.isExpression(text) {
      _ = try Expression(text, functions: .standard)  // so that a slip is told at once
      self = .expression(text)
    } else {
      self = .field(try ArgumentList.field(text, what: what))
    }
  }

  /// What a column with the key's values is called: the field's name, or the expression's text.
  public var name: FieldName {
    switch self {
    case .field(let name): name
    case .expression(let text): FieldName(whole: Array(text.utf8))
    }
  }

  private static func isExpression(_ text: String) -> Bool {
    let bytes = Array(text.utf8)
    var index = 0
    if bytes.first == UInt8(ascii: "\"") {
      index = 1
      while index < bytes.count {  // a doubled quote is part of the name
        if bytes[index] == UInt8(ascii: "\"") {
          guard index + 1 < bytes.count, bytes[index + 1] == UInt8(ascii: "\"") else { break }
          index += 1
        }
        index += 1
      }
      if index >= bytes.count - 1 { return false }
      return true
    }
    for byte in bytes {
      switch byte {
      case UInt8(ascii: "("), UInt8(ascii: ")"), UInt8(ascii: "'"), UInt8(ascii: "\""), UInt8(ascii: "|"), UInt8(ascii: "+"),
        UInt8(ascii: "*"), UInt8(ascii: "/"), UInt8(ascii: "%"), UInt8(ascii: "="), UInt8(ascii: "<"), UInt8(ascii: ">"),
        UInt8(ascii: "~"):
        return true
      default: break
      }
    }
    let words = text.split(separator: " ")
    if words.count < 2 { return false }
    if words[0] == "CASE" || words[0] == "NOT" { return true }
    return words.dropFirst().contains { ["IS", "AND", "OR", "LIKE", "ILIKE", "IN", "BETWEEN"].contains($0) }
  }
}

/// What a KEY says where equality counts: `FIELD[:KIND]` or an expression.
public struct EqualityKey: Sendable, Hashable {
  /// Where the text comes from.
  public var source: KeySource
  /// Which texts count as equal.
  public var kind: EqualityKind

  /// One part of what records are told apart by.
  public init(_ source: KeySource, kind: EqualityKind = .exact) {
    self.source = source
    self.kind = kind
  }

  /// One or more KEYs between commas.
  ///
  /// - Throws: `usage` with the KEY at fault.
  public static func parse(list text: String, what: String) throws(OhanaError) -> [EqualityKey] {
    var keys: [EqualityKey] = []
    for item in try ArgumentList.split(text, what: what) {
      let (head, suffixes) = try ArgumentList.suffixes(item, what: what)
      var key = EqualityKey(try KeySource(parsing: head, what: what))
      if suffixes.count > 1 {
        throw OhanaError(
          .usage, "bad-key", field: item, "\(what): a key has one kind of equality", fix: "put a name that holds a colon in double quotes")
      }
      if let kind = suffixes.first {
        do {
          key.kind = try EqualityKind(parsing: kind)
        } catch {
          throw OhanaError(.usage, error.code, field: item, "\(what): \(error.problem)", fix: error.fix)
        }
      }
      keys.append(key)
    }
    return keys
  }
}

/// How values of a sort key compare.
public enum OrderKind: Sendable, Hashable {
  /// By the rules of a language, as ICU's collation has them; nil is the run's `--locale`, and CLDR root without one.
  case locale(String?)
  /// By the bytes of the UTF-8 text, which is code point order.
  case binary
  /// As decimal numbers of any length, exactly; other text behind them, by bytes.
  case number
  /// Like `locale`, runs of digits as numbers.
  case natural(String?)
  /// By code points of the decomposed text (NFD).
  case ohana
}

/// What a KEY says where order counts: `FIELD[:KIND][:desc][:nulls-first]` or an expression.
public struct OrderKey: Sendable, Hashable {
  /// Where the text comes from.
  public var source: KeySource
  /// Which text goes before which.
  public var kind: OrderKind
  /// Turned round, but for blank values.
  public var isDescending: Bool
  /// Missing, null and `""` go first instead of last; they stay where they are under `desc`.
  public var blanksFirst: Bool

  /// - Parameter blanksFirst: missing, null and `""`, which are last otherwise, also in descending order.
  public init(_ source: KeySource, kind: OrderKind = .locale(nil), isDescending: Bool = false, blanksFirst: Bool = false) {
    self.source = source
    self.kind = kind
    self.isDescending = isDescending
    self.blanksFirst = blanksFirst
  }

  /// One or more KEYs between commas.
  ///
  /// - Throws: `usage` with the KEY at fault.
  public static func parse(list text: String, what: String) throws(OhanaError) -> [OrderKey] {
    var keys: [OrderKey] = []
    for item in try ArgumentList.split(text, what: what) {
      let (head, suffixes) = try ArgumentList.suffixes(item, what: what)
      var key = OrderKey(try KeySource(parsing: head, what: what))
      var hasKind = false
      for suffix in suffixes {
        switch suffix {
        case "desc": key.isDescending = true
        case "asc": key.isDescending = false
        case "nulls-first": key.blanksFirst = true
        default:
          guard let kind = kind(suffix), !hasKind else {
            let known = ["locale", "binary", "number", "natural", "ohana", "desc", "nulls-first"]
            let near = NearMiss.best(for: suffix, among: known).map { "did you mean \($0)? " } ?? ""
            throw OhanaError(
              .usage, "unknown-kind", field: item,
              hasKind ? "\(what): a key has one kind of order" : "\(what): '\(suffix)' is no kind of order",
              fix: near + "there are locale[/xx], binary, number, natural, ohana, and desc, nulls-first with any of them")
          }
          key.kind = kind
          hasKind = true
        }
      }
      keys.append(key)
    }
    return keys
  }

  private static func kind(_ text: String) -> OrderKind? {
    switch text {
    case "locale": return .locale(nil)
    case "binary": return .binary
    case "number": return .number
    case "natural": return .natural(nil)
    case "ohana": return .ohana
    default:
      guard let slash = text.firstIndex(of: "/") else { return nil }
      let tag = String(text[text.index(after: slash)...])
      if tag.isEmpty { return nil }
      switch text[..<slash] {
      case "locale": return .locale(tag)
      case "natural": return .natural(tag)
      default: return nil
      }
    }
  }
}
