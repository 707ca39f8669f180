/// One value while an expression is evaluated: a kind, and bytes that somebody else owns.
///
/// The bytes are decoded text for strings, the spelling of numbers, `true` and `false` for booleans, JSON text for arrays and objects, and
/// nothing for null. Missing fields are null here. They stay valid until the end of the block of records that is being evaluated.
@frozen public struct ExpressionValue: BitwiseCopyable {
  public var base: UnsafePointer<UInt8>
  public var length: UInt32
  public var kind: ValueKind

  @inlinable public init(_ kind: ValueKind, _ base: UnsafePointer<UInt8>, count: Int) {
    self.base = base
    length = UInt32(truncatingIfNeeded: count)
    self.kind = kind
  }

  @inlinable public init(_ kind: ValueKind, _ bytes: UnsafeBufferPointer<UInt8>) {
    self.init(kind, bytes.baseAddress ?? Self.nothing, count: bytes.count)
  }

  @usableFromInline static var nothing: UnsafePointer<UInt8> { StaticString("").utf8Start }

  @inlinable public static var null: ExpressionValue { ExpressionValue(.null, nothing, count: 0) }
  @inlinable public static var emptyText: ExpressionValue { ExpressionValue(.string, nothing, count: 0) }
  @inlinable public static func bool(_ value: Bool) -> ExpressionValue {
    value
      ? ExpressionValue(.true, StaticString("true").utf8Start, count: 4)
      : ExpressionValue(.false, StaticString("false").utf8Start, count: 5)
  }

  @inlinable public var count: Int { Int(length) }
  @inlinable public var bytes: UnsafeBufferPointer<UInt8> { UnsafeBufferPointer(start: base, count: Int(length)) }
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
