/// What is wrong with a JSON text, and where.
public struct JSONFault: Sendable, Equatable {
  /// The kinds of fault.
  public enum Reason: Sendable {
    /// Against the grammar of RFC 8259; bytes that are not UTF-8; half a surrogate pair; too many levels.
    case syntax, invalidUTF8, loneSurrogate, tooDeep
    /// One whole value, and something that is no white space behind it.
    case textAfterValue
  }
  /// Its kind.
  public var reason: Reason
  /// 0-based offset of the first byte at which no valid JSON text can go on; for bad UTF-8 and lone surrogates the first byte of the
  /// sequence or escape at fault. Equal to the length where the text ends too early.
  public var offset: Int
  /// What was expected or met, without anything of the text itself.
  public var detail: StaticString

  /// - Parameter offset: of the first byte at which no valid text could go on.
  public init(reason: Reason, offset: Int, detail: StaticString) { (self.reason, self.offset, self.detail) = (reason, offset, detail) }

  /// Details do not count.
  public static func == (a: JSONFault, b: JSONFault) -> Bool { a.reason == b.reason && a.offset == b.offset }
}

/// Checks that a text is exactly one JSON value (RFC 8259), byte by byte, and says where it first is not.
///
/// The slow, exact twin of the readers' walk over a structural index: it places their faults, and they are tested against it. It never
/// recurses, and its memory is one bit per level of nesting.
public struct JSONValidator {
  /// Values nested deeper are refused, as RFC 8259 section 9 allows; the outermost container is level 1.
  public var maxDepth: Int
  /// An escape such as `\uD800` without its other half has no UTF-8 form.
  public var allowsLoneSurrogates: Bool

  /// - Parameters maxDepth: levels of arrays and objects. `allowsLoneSurrogates`: RFC 8259 section 8.2 leaves them to the reader.
  public init(maxDepth: Int = 1_024, allowsLoneSurrogates: Bool = false) {
    self.maxDepth = maxDepth
    self.allowsLoneSurrogates = allowsLoneSurrogates
  }

  /// The first fault of `text`, or nil if it is one JSON value with white space around it.
  ///
  /// - Complexity: O(bytes); one bit of memory per level of nesting.
  public func firstFault(in text: UnsafeBufferPointer<UInt8>) -> JSONFault? {
    var machine = Machine(text: text, maxDepth: maxDepth, allowsLoneSurrogates: allowsLoneSurrogates)
    do {
      try machine.run()
      return nil
    } catch {
      return error
    }
  }
}

extension JSONFault: Error {}

private struct Machine {
  let text: UnsafeBufferPointer<UInt8>
  let maxDepth: Int
  let allowsLoneSurrogates: Bool
  var index = 0
  var depth = 0
  /// Bit `depth - 1`: the container at that level is an object.
  var kinds: [UInt64] = []

  init(text: UnsafeBufferPointer<UInt8>, maxDepth: Int, allowsLoneSurrogates: Bool) {
    self.text = text
    self.maxDepth = maxDepth
    self.allowsLoneSurrogates = allowsLoneSurrogates
  }

  var isInObject: Bool { kinds[(depth - 1) >> 6] >> UInt64((depth - 1) & 63) & 1 == 1 }

  mutating func run() throws(JSONFault) {
    var isAtValue = true
    while true {
      if isAtValue {
        isAtValue = try beginValue()
        continue
      }
      // Behind a value.
      skipWhitespace()
      if depth == 0 {
        if index < text.count { throw fault("text after the value", .textAfterValue) }
        return
      }
      let isObject = isInObject
      guard index < text.count else { throw fault(isObject ? "the text ends inside an object" : "the text ends inside an array") }
      switch text[index] {
      case UInt8(ascii: ","):
        index += 1
        if isObject { try key() }
        isAtValue = true
      case UInt8(ascii: "}") where isObject, UInt8(ascii: "]") where !isObject:
        index += 1
        depth -= 1
      default: throw fault(isObject ? "expected ',' or '}'" : "expected ',' or ']'")
      }
    }
  }

  /// Returns true if another value has to follow at once: a container was opened and is not empty.
  private mutating func beginValue() throws(JSONFault) -> Bool {
    skipWhitespace()
    guard index < text.count else { throw fault("the text ends where a value should be") }
    switch text[index] {
    case UInt8(ascii: "{"):
      try open(isObject: true)
      skipWhitespace()
      if index < text.count, text[index] == UInt8(ascii: "}") {
        index += 1
        depth -= 1
        return false
      }
      try key()
      return true
    case UInt8(ascii: "["):
      try open(isObject: false)
      skipWhitespace()
      if index < text.count, text[index] == UInt8(ascii: "]") {
        index += 1
        depth -= 1
        return false
      }
      return true
    case UInt8(ascii: "\""): try string()
    case UInt8(ascii: "t"): try literal("true")
    case UInt8(ascii: "f"): try literal("false")
    case UInt8(ascii: "n"): try literal("null")
    case UInt8(ascii: "-"), 0x30...0x39: try number()
    default: throw fault("expected a value")
    }
    return false
  }

  private mutating func open(isObject: Bool) throws(JSONFault) {
    if depth == maxDepth { throw fault("values are nested too deep", .tooDeep) }
    if depth >> 6 == kinds.count { kinds.append(0) }
    let bit = UInt64(1) << UInt64(depth & 63)
    if isObject { kinds[depth >> 6] |= bit } else { kinds[depth >> 6] &= ~bit }
    depth += 1
    index += 1
  }

  private mutating func key() throws(JSONFault) {
    skipWhitespace()
    guard index < text.count else { throw fault("the text ends where a key should be") }
    guard text[index] == UInt8(ascii: "\"") else { throw fault("expected a key in double quotes") }
    try string()
    skipWhitespace()
    guard index < text.count, text[index] == UInt8(ascii: ":") else { throw fault("expected ':' after the key") }
    index += 1
  }

  private mutating func skipWhitespace() {
    while index < text.count {
      switch text[index] {
      case 0x20, 0x09, 0x0a, 0x0d: index += 1
      default: return
      }
    }
  }

  private mutating func literal(_ word: StaticString) throws(JSONFault) {
    for offset in 0..<word.utf8CodeUnitCount {
      guard index < text.count, text[index] == word.utf8Start[offset] else { throw fault("expected true, false or null") }
      index += 1
    }
  }

  private mutating func digits() throws(JSONFault) {
    guard index < text.count, text[index] &- 0x30 <= 9 else { throw fault("expected a digit") }
    while index < text.count, text[index] &- 0x30 <= 9 { index += 1 }
  }

  private mutating func number() throws(JSONFault) {
    if text[index] == UInt8(ascii: "-") { index += 1 }
    if index < text.count, text[index] == UInt8(ascii: "0") { index += 1 } else { try digits() }
    if index < text.count, text[index] == UInt8(ascii: ".") {
      index += 1
      try digits()
    }
    if index < text.count, text[index] | 0x20 == UInt8(ascii: "e") {
      index += 1
      if index < text.count, text[index] == UInt8(ascii: "+") || text[index] == UInt8(ascii: "-") { index += 1 }
      try digits()
    }
  }

  private mutating func string() throws(JSONFault) {
    index += 1
    while true {
      guard index < text.count else { throw fault("the text ends inside a string") }
      switch text[index] {
      case UInt8(ascii: "\""):
        index += 1
        return
      case UInt8(ascii: "\\"): try escape()
      case 0..<0x20: throw fault("a control character inside a string has to be escaped")
      case 0x20..<0x80: index += 1
      default:
        let length = sequenceLength(at: index)
        guard length > 0 else { throw fault("not UTF-8", .invalidUTF8) }
        index += length
      }
    }
  }

  private mutating func escape() throws(JSONFault) {
    let start = index
    index += 1
    guard index < text.count else { throw fault("the text ends inside a string") }
    switch text[index] {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"), UInt8(ascii: "n"),
      UInt8(ascii: "r"), UInt8(ascii: "t"):
      index += 1
    case UInt8(ascii: "u"):
      index += 1
      let unit = try hex4()
      guard !allowsLoneSurrogates, unit & 0xf800 == 0xd800 else { return }
      let behind = index
      // What follows a high half may itself be broken; that this half is alone is only sure once the next unit is known.
      if unit < 0xdc00, index + 1 < text.count, text[index] == UInt8(ascii: "\\"), text[index + 1] == UInt8(ascii: "u") {
        index += 2
        if try hex4() & 0xfc00 == 0xdc00 { return }
      }
      index = behind
      throw JSONFault(reason: .loneSurrogate, offset: start, detail: "half of a surrogate pair stands alone")
    default: throw fault("no such escape")
    }
  }

  private mutating func hex4() throws(JSONFault) -> UInt32 {
    var value: UInt32 = 0
    for _ in 0..<4 {
      guard index < text.count else { throw fault("the text ends inside a string") }
      let byte = text[index]
      switch byte {
      case 0x30...0x39: value = value << 4 | UInt32(byte - 0x30)
      case 0x41...0x46, 0x61...0x66: value = value << 4 | UInt32((byte | 0x20) - 0x61 + 10)
      default: throw fault("expected a hexadecimal digit")
      }
      index += 1
    }
    return value
  }

  /// Bytes of the well-formed UTF-8 sequence at `start` (Unicode, table 3-7), 0 if there is none.
  private func sequenceLength(at start: Int) -> Int {
    func byte(_ offset: Int) -> UInt8 { start + offset < text.count ? text[start + offset] : 0 }
    func isTail(_ offset: Int) -> Bool { byte(offset) & 0xc0 == 0x80 }
    switch text[start] {
    case 0..<0x80: return 1
    case 0xc2...0xdf: return isTail(1) ? 2 : 0
    case 0xe0: return (0xa0...0xbf).contains(byte(1)) && isTail(2) ? 3 : 0
    case 0xed: return (0x80...0x9f).contains(byte(1)) && isTail(2) ? 3 : 0
    case 0xe1...0xef: return isTail(1) && isTail(2) ? 3 : 0
    case 0xf0: return (0x90...0xbf).contains(byte(1)) && isTail(2) && isTail(3) ? 4 : 0
    case 0xf1...0xf3: return isTail(1) && isTail(2) && isTail(3) ? 4 : 0
    case 0xf4: return (0x80...0x8f).contains(byte(1)) && isTail(2) && isTail(3) ? 4 : 0
    default: return 0
    }
  }

  /// A fault at the cursor. Where the byte there is no UTF-8, that is what is wrong with it.
  private func fault(_ detail: StaticString, _ reason: JSONFault.Reason = .syntax) -> JSONFault {
    if reason == .syntax || reason == .textAfterValue, index < text.count, text[index] >= 0x80, sequenceLength(at: index) == 0 {
      return JSONFault(reason: .invalidUTF8, offset: index, detail: "not UTF-8")
    }
    return JSONFault(reason: reason, offset: index, detail: detail)
  }
}
