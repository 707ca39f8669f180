/// Walks JSON text that has been validated: members of an object, elements of an array, without building anything.
///
/// All offsets count from the base pointer given, which is a batch's arena as a rule. Nothing is checked again: the text must be what
/// ``JSONValidator`` or a reader has accepted, otherwise the walk may run out of it.
///
/// ```swift
/// var members = JSONMembers(of: span, in: batch.arena.base)
/// while let member = members.next() { … member.value.kind … }
/// ```
public enum JSONScanner {
  /// The value whose first byte is at `start`, white space before it allowed. `flags` are empty and `key` is 0.
  ///
  /// - Returns: the value, and the offset behind its last byte (behind the closing quote of a string).
  /// - Complexity: O(bytes of the value).
  @inlinable
  public static func value(in text: UnsafePointer<UInt8>, at start: Int) -> (span: FieldSpan, end: Int) {
    let first = skipWhitespace(text, start)
    switch text[first] {
    case UInt8(ascii: "\""):
      let (end, hasEscape) = endOfString(text, first)
      return (span(first &+ 1, end &- 1, .string, hasEscape ? .json : .plain), end)
    case UInt8(ascii: "{"):
      let end = endOfContainer(text, first)
      return (span(first, end, .object), end)
    case UInt8(ascii: "["):
      let end = endOfContainer(text, first)
      return (span(first, end, .array), end)
    case UInt8(ascii: "t"): return (span(first, first, .true), first &+ 4)
    case UInt8(ascii: "f"): return (span(first, first, .false), first &+ 5)
    case UInt8(ascii: "n"): return (span(first, first, .null), first &+ 4)
    default:
      var end = first &+ 1
      while isNumberByte(text[end]) { end &+= 1 }
      return (span(first, end, .number), end)
    }
  }

  /// Offset of the first byte at or behind `start` that is no white space (RFC 8259 section 2).
  @inlinable @inline(__always)
  public static func skipWhitespace(_ text: UnsafePointer<UInt8>, _ start: Int) -> Int {
    var index = start
    while text[index] <= 0x20 { index &+= 1 }
    return index
  }

  /// Offset of what follows a member or element that ends at `start`: the next one, or the closing bracket.
  @inlinable @inline(__always)
  static func skipComma(_ text: UnsafePointer<UInt8>, _ start: Int) -> Int {
    let index = skipWhitespace(text, start)
    return text[index] == UInt8(ascii: ",") ? skipWhitespace(text, index &+ 1) : index
  }

  /// Offset behind the closing quote of the string whose opening quote is at `quote`, and whether it holds an escape.
  @inlinable @inline(__always)
  public static func endOfString(_ text: UnsafePointer<UInt8>, _ quote: Int) -> (end: Int, hasEscape: Bool) {
    var index = quote &+ 1
    var hasEscape = false
    while true {
      let byte = text[index]
      if byte == UInt8(ascii: "\"") { return (index &+ 1, hasEscape) }
      if byte == UInt8(ascii: "\\") {
        hasEscape = true
        index &+= 1
      }
      index &+= 1
    }
  }

  /// Offset behind the closing brace or bracket of the object or array that opens at `open`.
  @inlinable
  public static func endOfContainer(_ text: UnsafePointer<UInt8>, _ open: Int) -> Int {
    var index = open
    var depth = 0
    while true {
      switch text[index] {
      case UInt8(ascii: "{"), UInt8(ascii: "["): depth &+= 1
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        depth &-= 1
        if depth == 0 { return index &+ 1 }
      case UInt8(ascii: "\""):
        index = endOfString(text, index).end
        continue
      default: break
      }
      index &+= 1
    }
  }

  /// Appends JSON text to `out` without the white space between its tokens.
  ///
  /// - Complexity: O(bytes).
  public static func appendCompact(_ json: UnsafeBufferPointer<UInt8>, to out: ByteBuffer) {
    guard let text = json.baseAddress.map({ UnsafePointer($0) }) else { return }
    out.reserve(json.count)
    var index = 0
    var start = 0
    while index < json.count {
      let byte = text[index]
      if byte == UInt8(ascii: "\"") {
        index = endOfString(text, index).end
      } else if byte <= 0x20 {
        out.append(text + start, count: index - start)
        index += 1
        start = index
      } else {
        index += 1
      }
    }
    out.append(text + start, count: index - start)
  }

  @inlinable @inline(__always)
  static func isNumberByte(_ byte: UInt8) -> Bool {
    byte &- 0x30 <= 9 || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "+") || byte | 0x20 == 0x65
  }

  @inlinable @inline(__always)
  static func span(_ start: Int, _ end: Int, _ kind: ValueKind, _ encoding: TextEncoding = .plain) -> FieldSpan {
    FieldSpan(
      offset: UInt32(truncatingIfNeeded: start), length: UInt32(truncatingIfNeeded: end &- start), kind: kind, encoding: encoding)
  }
}

extension FieldSpan {
  /// Offset of the first byte of a JSON value, its opening quote included. For null, `true` and `false`: where they stand in text that
  /// ``JSONScanner`` or a reader walked; meaningless for overlays of these kinds.
  @inlinable @inline(__always)
  public var jsonStart: Int { Int(offset) &- (kind == .string ? 1 : 0) }

  /// Offset behind the last byte of a JSON value, its closing quote included; see ``jsonStart``.
  @inlinable @inline(__always)
  public var jsonEnd: Int {
    switch kind {
    case .string: Int(offset) &+ Int(length) &+ 1
    case .null, .true: Int(offset) &+ 4
    case .false: Int(offset) &+ 5
    default: Int(offset) &+ Int(length)
    }
  }
}

/// One member of an object in validated JSON text.
@frozen public struct JSONMember: Sendable, BitwiseCopyable {
  /// Offset of the first byte of the key's text, behind its opening quote.
  public var keyOffset: Int
  /// Bytes of the key between its quotes.
  public var keyLength: Int
  /// `json` if the key holds an escape.
  public var keyEncoding: TextEncoding
  /// The value; `value.key` is the offset of the key's opening quote.
  public var value: FieldSpan

  @inlinable init(keyOffset: Int, keyLength: Int, keyEncoding: TextEncoding, value: FieldSpan) {
    self.keyOffset = keyOffset
    self.keyLength = keyLength
    self.keyEncoding = keyEncoding
    self.value = value
  }

  /// The key's text as it is spelled, still escaped where ``keyEncoding`` says so.
  @inlinable public func rawKey(in text: UnsafePointer<UInt8>) -> UnsafeBufferPointer<UInt8> {
    UnsafeBufferPointer(start: text + keyOffset, count: keyLength)
  }

  /// The key's text, decoded through `scratch` (which is emptied) where it holds an escape. Valid until `scratch` is used again.
  @inlinable public func key(in text: UnsafePointer<UInt8>, scratch: ByteBuffer) -> UnsafeBufferPointer<UInt8> {
    if keyEncoding == .plain { return rawKey(in: text) }
    scratch.removeAll()
    TextDecoding.appendJSON(rawKey(in: text), to: scratch)
    return scratch.bytes
  }
}

/// The members of an object in validated JSON text, in order, repeated keys included.
public struct JSONMembers {
  public let text: UnsafePointer<UInt8>
  /// Behind the member returned last; at the closing brace once `next` has returned nil.
  public var position: Int

  /// - Parameter open: offset of the opening brace.
  @inlinable public init(in text: UnsafePointer<UInt8>, at open: Int) {
    self.text = text
    position = open &+ 1
  }
  /// - Parameter span: a value of kind `object`.
  @inlinable public init(of span: FieldSpan, in text: UnsafePointer<UInt8>) { self.init(in: text, at: Int(span.offset)) }

  /// The next member; nil behind the last.
  ///
  /// - Complexity: O(bytes of the member).
  @inlinable public mutating func next() -> JSONMember? {
    let index = JSONScanner.skipComma(text, position)
    guard text[index] == UInt8(ascii: "\"") else {
      position = index
      return nil
    }
    let (keyEnd, hasEscape) = JSONScanner.endOfString(text, index)
    let colon = JSONScanner.skipWhitespace(text, keyEnd)
    var (span, end) = JSONScanner.value(in: text, at: colon &+ 1)
    span.key = UInt32(truncatingIfNeeded: index)
    position = end
    return JSONMember(
      keyOffset: index &+ 1, keyLength: keyEnd &- index &- 2, keyEncoding: hasEscape ? .json : .plain, value: span)
  }
}

/// The elements of an array in validated JSON text, in order.
public struct JSONElements {
  public let text: UnsafePointer<UInt8>
  /// Behind the element returned last; at the closing bracket once `next` has returned nil.
  public var position: Int

  /// - Parameter open: offset of the opening bracket.
  @inlinable public init(in text: UnsafePointer<UInt8>, at open: Int) {
    self.text = text
    position = open &+ 1
  }
  /// - Parameter span: a value of kind `array`.
  @inlinable public init(of span: FieldSpan, in text: UnsafePointer<UInt8>) { self.init(in: text, at: Int(span.offset)) }

  /// The next element; nil behind the last.
  ///
  /// - Complexity: O(bytes of the element).
  @inlinable public mutating func next() -> FieldSpan? {
    let index = JSONScanner.skipComma(text, position)
    guard text[index] != UInt8(ascii: "]") else {
      position = index
      return nil
    }
    let (span, end) = JSONScanner.value(in: text, at: index)
    position = end
    return span
  }
}
