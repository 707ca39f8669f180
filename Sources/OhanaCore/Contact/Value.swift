/// A value of a record outside the hot path: what JSON can say, numbers as they are spelled.
///
/// Two values are equal if they are of one kind and their texts are the same bytes: `1.10` is not `1.1`, and `é` as one character is not
/// `é` as two. The order of an object's members does not count.
public enum Value: Sendable, Hashable {
  /// `null`; a name without a value is no member at all.
  case null
  /// `true` or `false`.
  case bool(Bool)
  /// Its spelling, a number of JSON (RFC 8259 section 6).
  case number(String)
  /// Any text.
  case string(String)
  /// Values in order.
  case array([Value])
  /// Names and values, each name once.
  case object(Members)

  /// What stages call the text of a value: of a string, a number or `true` and `false`; nil for null, arrays and objects.
  public var text: String? {
    switch self {
    case .bool(let flag): flag ? "true" : "false"
    case .number(let text), .string(let text): text
    case .null, .array, .object: nil
    }
  }

  public static func == (a: Value, b: Value) -> Bool {
    switch (a, b) {
    case (.null, .null): true
    case (.bool(let a), .bool(let b)): a == b
    case (.number(let a), .number(let b)), (.string(let a), .string(let b)): isSameText(a, b)
    case (.array(let a), .array(let b)): a == b
    case (.object(let a), .object(let b)): a == b
    default: false
    }
  }

  public func hash(into hasher: inout Hasher) {
    switch self {
    case .null: hasher.combine(0)
    case .bool(let flag): hasher.combine(flag)
    case .number(let text), .string(let text): for byte in text.utf8 { hasher.combine(byte) }
    case .array(let values): hasher.combine(values)
    case .object(let members): hasher.combine(members)
    }
  }
}

// No nil literal: in an optional it would be anybody's guess whether it means null or nothing.
extension Value: ExpressibleByStringLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral, ExpressibleByArrayLiteral,
  ExpressibleByDictionaryLiteral
{
  public init(stringLiteral value: String) { self = .string(value) }
  public init(booleanLiteral value: Bool) { self = .bool(value) }
  public init(integerLiteral value: Int) { self = .number(String(value)) }
  public init(arrayLiteral elements: Value...) { self = .array(elements) }
  public init(dictionaryLiteral elements: (String, Value)...) { self = .object(Members(elements.map { (name: $0, value: $1) })) }
}

/// Byte for byte, in any order: sets take canonically equivalent texts for one.
func isSameTags(_ a: Set<String>, _ b: Set<String>) -> Bool {
  a.count == b.count && (a.isEmpty || a.map { Array($0.utf8) }.allSatisfy(Set(b.map { Array($0.utf8) }).contains))
}

/// Byte for byte: Swift's `==` takes canonically equivalent texts for one.
func isSameText(_ a: String?, _ b: String?) -> Bool {
  switch (a, b) {
  case (nil, nil): true
  case (let a?, let b?): a.utf8.elementsEqual(b.utf8)
  default: false
  }
}

// MARK: JSON

extension Value {
  /// The value of a span of validated JSON text.
  init(_ span: FieldSpan, in text: UnsafePointer<UInt8>, _ scratch: ByteBuffer) {
    let bytes = UnsafeBufferPointer(start: text + Int(span.offset), count: Int(span.length))
    switch span.kind {
    case .missing, .null: self = .null
    case .true: self = .bool(true)
    case .false: self = .bool(false)
    case .number: self = .number(String(decoding: bytes, as: UTF8.self))
    case .string:
      if span.encoding == .json {
        scratch.removeAll()
        TextDecoding.appendJSON(bytes, to: scratch)
        self = .string(String(decoding: scratch.bytes, as: UTF8.self))
      } else {
        self = .string(String(decoding: bytes, as: UTF8.self))
      }
    case .array:
      var elements = JSONElements(of: span, in: text)
      var values: [Value] = []
      while let element = elements.next() { values.append(Value(element, in: text, scratch)) }
      self = .array(values)
    case .object: self = .object(Members(span, in: text, scratch))
    }
  }

  /// Appends the value as compact JSON with as few escapes as there can be.
  public func appendJSON(to out: ByteBuffer) {
    switch self {
    case .null: out.append("null")
    case .bool(let flag): out.append(flag ? "true" : "false")
    case .number(let text): out.append(string: text)
    case .string(let text): Self.appendQuoted(text, to: out)
    case .array(let values):
      out.append("[")
      for (index, value) in values.enumerated() {
        if index > 0 { out.append(",") }
        value.appendJSON(to: out)
      }
      out.append("]")
    case .object(let members): members.appendJSON(to: out)
    }
  }

  static func appendQuoted(_ text: String, to out: ByteBuffer) {
    var text = text
    text.withUTF8 { JSONEscaping.appendQuoted($0, to: out) }
  }
}
