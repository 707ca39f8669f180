/// A field as a user writes it: looked up whole first, then as a path.
///
/// `phone`, `address.city`, `fields[0].value`; names with blanks, commas, dots or brackets to be taken whole in SQL's double quotes
/// (`"Phone 1 - Value"`, a quote doubled). Letters of any script need no quotes. Names are case-sensitive.
public struct FieldName: Sendable, Hashable, CustomStringConvertible {
  /// One step of a path into a value.
  public enum Step: Sendable, Hashable {
    /// Decoded name of an object's member.
    case key([UInt8])
    /// 0-based element of an array.
    case index(Int)
  }

  /// The whole name, decoded UTF-8: what a member or column of just this name would be called.
  public let whole: [UInt8]
  /// The name as a path of at least two steps; empty where it cannot be one.
  public let path: [Step]

  /// A name taken whole.
  public init(whole: [UInt8]) {
    self.whole = whole
    path = []
  }

  /// A name without quotes: looked up whole, then as a path where it holds `.` or `[n]`.
  public init(unquoted text: [UInt8]) {
    whole = text
    path = Self.steps(of: text) ?? []
  }

  /// Text of an argument: in double quotes taken whole, otherwise as ``init(unquoted:)``.
  public init(_ text: String) {
    let bytes = Array(text.utf8)
    let quote = UInt8(ascii: "\"")
    if bytes.count >= 2, bytes.first == quote, bytes.last == quote {
      var inner: [UInt8] = []
      var index = 1
      while index < bytes.count - 1 {
        inner.append(bytes[index])
        index += bytes[index] == quote && bytes[index + 1] == quote && index + 1 < bytes.count - 1 ? 2 : 1
      }
      self.init(whole: inner)
    } else {
      self.init(unquoted: bytes)
    }
  }

  public var description: String { String(decoding: whole, as: UTF8.self) }

  private static func steps(of text: [UInt8]) -> [Step]? {
    guard text.contains(UInt8(ascii: ".")) || text.contains(UInt8(ascii: "[")) else { return nil }
    var steps: [Step] = []
    var key: [UInt8] = []
    var index = 0
    var needsKey = true
    while index < text.count {
      switch text[index] {
      case UInt8(ascii: "."):
        if needsKey { return nil }
        if !key.isEmpty { steps.append(.key(key)) }
        key = []
        needsKey = true
        index += 1
        if index == text.count { return nil }
      case UInt8(ascii: "["):
        guard !needsKey || !steps.isEmpty, let close = text[index...].firstIndex(of: UInt8(ascii: "]")), close > index + 1 else {
          return nil
        }
        if !key.isEmpty { steps.append(.key(key)) }
        key = []
        var number = 0
        for byte in text[(index + 1)..<close] {
          guard byte >= 0x30, byte <= 0x39, number < 1_000_000_000 else { return nil }
          number = number * 10 + Int(byte - 0x30)
        }
        steps.append(.index(number))
        index = close + 1
        if index < text.count, text[index] != UInt8(ascii: "."), text[index] != UInt8(ascii: "[") { return nil }
        needsKey = false
      default:
        key.append(text[index])
        needsKey = false
        index += 1
      }
    }
    if !key.isEmpty { steps.append(.key(key)) }
    return steps.count >= 2 ? steps : nil
  }
}
