/// One value while an expression is evaluated: a kind, and bytes that somebody else owns.
///
/// The bytes are decoded text for strings, the spelling of numbers, `true` and `false` for booleans, JSON text for arrays and objects, and
/// nothing for null. Missing fields are null here. They stay valid until the end of the block of records that is being evaluated.
@frozen public struct ExpressionValue: BitwiseCopyable {
  /// First byte of the text, the number's spelling or the nested value's JSON.
  public var base: UnsafePointer<UInt8>
  /// In bytes.
  public var length: UInt32
  /// A string's bytes are decoded; `missing` never gets here, it is null.
  public var kind: ValueKind
  /// A number that was calculated as a DOUBLE: so it is calculated with, compared and rounded, though its spelling may be that of a decimal.
  public var isDouble = false

  /// - Precondition: the bytes outlive the value; at most 4 GiB.
  @inlinable public init(_ kind: ValueKind, _ base: UnsafePointer<UInt8>, count: Int) {
    self.base = base
    length = UInt32(truncatingIfNeeded: count)
    self.kind = kind
  }

  /// - Precondition: the bytes outlive the value; at most 4 GiB.
  @inlinable public init(_ kind: ValueKind, _ bytes: UnsafeBufferPointer<UInt8>) {
    self.init(kind, bytes.baseAddress ?? Self.nothing, count: bytes.count)
  }

  @usableFromInline static var nothing: UnsafePointer<UInt8> { StaticString("").utf8Start }

  /// SQL's null: neither true nor false, equal to nothing.
  @inlinable public static var null: ExpressionValue { ExpressionValue(.null, nothing, count: 0) }
  /// Text of no bytes, which is not null.
  @inlinable public static var emptyText: ExpressionValue { ExpressionValue(.string, nothing, count: 0) }
  /// SQL's true or false.
  @inlinable public static func bool(_ value: Bool) -> ExpressionValue {
    value
      ? ExpressionValue(.true, StaticString("true").utf8Start, count: 4)
      : ExpressionValue(.false, StaticString("false").utf8Start, count: 5)
  }

  /// Bytes.
  @inlinable public var count: Int { Int(length) }
  /// The text, the number's spelling or the nested value's JSON; valid as long as what it was made from.
  @inlinable public var bytes: UnsafeBufferPointer<UInt8> { UnsafeBufferPointer(start: base, count: Int(length)) }
  /// Null or missing, which are one here.
  @inlinable public var isNull: Bool { kind.rawValue <= ValueKind.null.rawValue }
  @inlinable var isNested: Bool { kind.rawValue >= ValueKind.array.rawValue }
}

/// SQL's three truth values.
enum Truth: UInt8 {
  case no = 0, yes, unknown

  @inline(__always) init(_ value: ExpressionValue) {
    switch value.kind {
    case .true: self = .yes
    case .false: self = .no
    case .number: self = Truth(number: value)
    case .string: self = Truth(text: value.bytes)
    default: self = .unknown
    }
  }

  /// Zero is false.
  private init(number: ExpressionValue) {
    for byte in number.bytes where byte | 0x20 == 0x65 || byte &- 0x31 < 9 {
      self = byte | 0x20 == 0x65 ? .no : .yes
      return
    }
    self = .no
  }

  /// The words that a cast to BOOLEAN knows, in any case; anything else has no truth value.
  private init(text: UnsafeBufferPointer<UInt8>) {
    let word = text.count <= 5 ? String(decoding: text.map(lowerASCII), as: UTF8.self) : ""
    switch word {
    case "true", "t", "yes", "y", "1": self = .yes
    case "false", "f", "no", "n", "0": self = .no
    default: self = .unknown
    }
  }

  @inline(__always) var value: ExpressionValue { self == .unknown ? .null : .bool(self == .yes) }
}
