internal import OhanaCore

/// The tokens and containers of JSON, checked over simdjson's structural index.
///
/// What the index promises of a text that it was made for without a fault: it is UTF-8; no string holds a control character, so none
/// crosses a line; between a token's last byte and the next indexed byte there is only white space; strings are closed. What it does
/// not promise is checked here: the order of tokens, the spelling of numbers, literals and escapes, and the depth.
///
/// All positions are offsets from `text`, whose last byte is a line feed. Behind the last index stand several more that point at that
/// line feed: no token begins with one, so a walk stops there by itself.
enum NDJSONGrammar {
  static let maxDepth = 1_024

  /// Bytes that may follow a number or literal: white space and structure.
  @inline(__always)
  static func isDelimiter(_ byte: UInt8) -> Bool {
    // , ] } : [ { and blank, tab, LF, CR; bits of two words, since all are either below 64 or in 64 ..< 128.
    let low: UInt64 = 1 << 0x20 | 1 << 0x09 | 1 << 0x0a | 1 << 0x0d | 1 << 0x2c | 1 << 0x3a
    let high: UInt64 = 1 << (0x5d - 64) | 1 << (0x7d - 64) | 1 << (0x5b - 64) | 1 << (0x7b - 64)
    if byte >= 0x80 { return false }
    return (byte < 64 ? low : high) >> UInt64(byte & 63) & 1 == 1
  }

  /// Offset behind the number that begins at `start`, or -1 if there is none (RFC 8259 section 6).
  @inline(__always)
  static func endOfNumber(_ text: UnsafePointer<UInt8>, _ start: Int) -> Int {
    var index = start
    if text[index] == UInt8(ascii: "-") { index &+= 1 }
    if text[index] == UInt8(ascii: "0") {
      index &+= 1
    } else {
      if text[index] &- 0x30 > 9 { return -1 }
      repeat { index &+= 1 } while text[index] &- 0x30 <= 9
    }
    if isDelimiter(text[index]) { return index }
    return endOfFraction(text, index)
  }

  /// Fraction and exponent, behind the integer part.
  @inline(never)
  static func endOfFraction(_ text: UnsafePointer<UInt8>, _ start: Int) -> Int {
    var index = start
    if text[index] == UInt8(ascii: ".") {
      index &+= 1
      if text[index] &- 0x30 > 9 { return -1 }
      repeat { index &+= 1 } while text[index] &- 0x30 <= 9
    }
    if text[index] | 0x20 == UInt8(ascii: "e") {
      index &+= 1
      if text[index] == UInt8(ascii: "+") || text[index] == UInt8(ascii: "-") { index &+= 1 }
      if text[index] &- 0x30 > 9 { return -1 }
      repeat { index &+= 1 } while text[index] &- 0x30 <= 9
    }
    return isDelimiter(text[index]) ? index : -1
  }

  /// Kind of the literal at `start`, or `missing` if it is none.
  @inline(__always)
  static func literal(_ text: UnsafePointer<UInt8>, _ start: Int) -> ValueKind {
    let word = UInt32(littleEndian: UnsafeRawPointer(text + start).loadUnaligned(as: UInt32.self))
    switch word {
    case 0x6c6c_756e where isDelimiter(text[start &+ 4]): return .null
    case 0x6575_7274 where isDelimiter(text[start &+ 4]): return .true
    case 0x736c_6166 where text[start &+ 4] == UInt8(ascii: "e") && isDelimiter(text[start &+ 5]): return .false
    default: return .missing
    }
  }

  /// Whether every escape in `text[start ..< end]`, the inside of a string, is valid and no half of a surrogate pair stands alone
  /// (RFC 8259 section 7; section 8.2 leaves lone halves open, which have no UTF-8 form).
  @inline(never)
  static func areEscapesValid(_ text: UnsafePointer<UInt8>, _ start: Int, _ end: Int) -> Bool {
    var index = start
    while index < end {
      guard let found = memchr(text + index, 0x5c, end - index) else { return true }
      index = UnsafePointer(found.assumingMemoryBound(to: UInt8.self)) - text
      switch text[index + 1] {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"), UInt8(ascii: "n"),
        UInt8(ascii: "r"), UInt8(ascii: "t"):
        index += 2
      case UInt8(ascii: "u"):
        let unit = hex4(text, index + 2)
        if unit < 0 || unit & 0xfc00 == 0xdc00 { return false }
        index += 6
        if unit & 0xfc00 == 0xd800 {
          guard text[index] == UInt8(ascii: "\\"), text[index + 1] == UInt8(ascii: "u") else { return false }
          let low = hex4(text, index + 2)
          if low < 0 || low & 0xfc00 != 0xdc00 { return false }
          index += 6
        }
      default: return false
      }
    }
    return true
  }

  /// The four hexadecimal digits at `start` as a number, or -1. Stops at the first other byte, so it never leaves the string.
  private static func hex4(_ text: UnsafePointer<UInt8>, _ start: Int) -> Int {
    var value = 0
    for offset in 0..<4 {
      let byte = text[start + offset]
      switch byte {
      case 0x30...0x39: value = value << 4 | Int(byte & 15)
      case 0x41...0x46, 0x61...0x66: value = value << 4 | Int(byte & 7) + 9
      default: return -1
      }
    }
    return value
  }

  /// Checks the container whose opening brace or bracket is token number `token`. Returns the number of the token behind it, or -1.
  ///
  /// - Parameters:
  ///   - lineEnd: offset of the line's end; no token of the container may lie behind it.
  ///   - escape: offset of a backslash not behind the container's first one; `Int.max` if there is none.
  ///   - stack: room for ``maxDepth`` bytes.
  static func endOfContainer(
    _ text: UnsafePointer<UInt8>, _ indexes: UnsafePointer<UInt32>, _ token: Int, lineEnd: Int, escape: Int,
    stack: UnsafeMutablePointer<UInt8>
  ) -> Int {
    var token = token
    // The record itself is level 1, this container level 2.
    var depth = 0
    let limit = maxDepth - 2
    var isObject = text[Int(indexes[token])] == UInt8(ascii: "{")
    opened: while true {
      token &+= 1
      var start = Int(indexes[token])
      var isEmpty = text[start] == (isObject ? UInt8(ascii: "}") : UInt8(ascii: "]"))
      members: while true {
        if !isEmpty {
          if start >= lineEnd { return -1 }
          if isObject {
            if text[start] != UInt8(ascii: "\"") { return -1 }
            let colon = Int(indexes[token &+ 1])
            if text[colon] != UInt8(ascii: ":") { return -1 }
            if escape < colon, !areEscapesValid(text, start &+ 1, colon) { return -1 }
            token &+= 2
            start = Int(indexes[token])
          }
          switch text[start] {
          case UInt8(ascii: "\""):
            token &+= 1
            if escape < Int(indexes[token]), !areEscapesValid(text, start &+ 1, Int(indexes[token])) { return -1 }
          case UInt8(ascii: "{"), UInt8(ascii: "["):
            if depth == limit { return -1 }
            stack[depth] = isObject ? 1 : 0
            depth &+= 1
            isObject = text[start] == UInt8(ascii: "{")
            continue opened
          case UInt8(ascii: "-"), 0x30...0x39:
            if endOfNumber(text, start) < 0 { return -1 }
            token &+= 1
          default:
            if literal(text, start) == .missing { return -1 }
            token &+= 1
          }
        }
        // Behind a value, or at the closing byte of an empty container.
        isEmpty = false
        while true {
          start = Int(indexes[token])
          let byte = text[start]
          token &+= 1
          if byte == UInt8(ascii: ",") {
            start = Int(indexes[token])
            continue members
          }
          if byte != (isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) || start >= lineEnd { return -1 }
          if depth == 0 { return token }
          depth &-= 1
          isObject = stack[depth] == 1
        }
      }
    }
  }
}
