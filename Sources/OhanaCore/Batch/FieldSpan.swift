/// What a value is. The order is that of no sort; ``FieldSpan`` stores it in a byte.
@frozen public enum ValueKind: UInt8, Sendable, BitwiseCopyable {
  /// The record has no such field. Zero, so that a zeroed table says "missing" everywhere.
  case missing = 0
  /// JSON's own; the spans of the three hold no bytes.
  case null, `false`, `true`
  /// Spelled as in the source, `1.10` included.
  case number
  /// Text between quotes, or a cell.
  case string
  /// Compact or source JSON text.
  case array, object
}

/// How the bytes of a string value are to be read.
@frozen public enum TextEncoding: UInt8, Sendable, BitwiseCopyable {
  /// The bytes are the text.
  case plain = 0
  /// The text between the quotes of a JSON string that holds at least one backslash escape.
  case json
  /// The text between the quotes of a CSV cell that holds at least one doubled quote.
  case csv
}

/// Where one field of one record lies in its batch's arena. All zero means missing.
///
/// | kind | the bytes `offset ..< offset + length` |
/// |---|---|
/// | `string` | the text without its quotes, as `encoding` says |
/// | `number` | its spelling |
/// | `array`, `object` | valid JSON text |
/// | others | nothing |
@frozen public struct FieldSpan: Sendable, BitwiseCopyable {
  /// First byte in the arena.
  public var offset: UInt32
  /// In bytes.
  public var length: UInt32
  /// NDJSON, where `flags` has `inSource`: offset of the opening quote of the member's key. Stays when a stage overlays the value,
  /// so that a writer can splice the new value in.
  public var key: UInt32
  /// What the bytes are.
  public var kind: ValueKind
  /// How a string's bytes are to be decoded.
  public var encoding: TextEncoding
  /// Where the value comes from.
  public var flags: Flags
  @usableFromInline var reserved: UInt8 = 0

  /// Where a value comes from, and how it was found.
  @frozen public struct Flags: OptionSet, Sendable, BitwiseCopyable {
    public var rawValue: UInt8
    @inlinable public init(rawValue: UInt8) { self.rawValue = rawValue }
    /// A stage wrote this value: the record's own bytes no longer say it.
    @inlinable public static var overlay: Flags { Flags(rawValue: 1) }
    /// Found by following a path into a nested value, not as a member (or column) of that whole name.
    @inlinable public static var nested: Flags { Flags(rawValue: 2) }
    /// The record's own bytes hold a member (or cell) for this slot; NDJSON: `key` says where. Set by readers.
    @inlinable public static var inSource: Flags { Flags(rawValue: 4) }
    /// NDJSON: found by a path that ends in an index; `key` is the offset of the array's element itself. Set by readers.
    @inlinable public static var element: Flags { Flags(rawValue: 8) }
  }

  /// - Parameters offset, length: in bytes of the batch's arena.
  @inlinable public init(
    offset: UInt32 = 0, length: UInt32 = 0, key: UInt32 = 0, kind: ValueKind, encoding: TextEncoding = .plain, flags: Flags = []
  ) {
    self.offset = offset
    self.length = length
    self.key = key
    self.kind = kind
    self.encoding = encoding
    self.flags = flags
    reserved = 0
  }

  /// The field is not there at all, which is not null.
  @inlinable public static var missing: FieldSpan { FieldSpan(kind: .missing) }

  /// Missing, null or `""`: what `require`, keys and sort treat alike.
  @inlinable public var isBlank: Bool {
    kind.rawValue <= ValueKind.null.rawValue || (kind == .string && length == 0)
  }
}

/// Where one record lies in its batch's arena.
@frozen public struct RecordSpan: Sendable, BitwiseCopyable {
  /// First byte in the arena.
  public var offset: UInt32
  /// In bytes, without byte order mark and line end.
  public var length: UInt32
  /// What is known about the bytes.
  public var flags: Flags
  /// 0-based line of the record's first byte, counted from the batch's first line.
  public var line: UInt32

  /// What is known about a record's bytes.
  @frozen public struct Flags: OptionSet, Sendable, BitwiseCopyable {
    public var rawValue: UInt32
    @inlinable public init(rawValue: UInt32) { self.rawValue = rawValue }
    /// The record's own bytes are just what the format's default writer would write for it.
    @inlinable public static var verbatim: Flags { Flags(rawValue: 1) }
    /// A stage changed a field, or the record repeats a key that the plan uses: it has to be rendered from its parts.
    @inlinable public static var changed: Flags { Flags(rawValue: 2) }
    /// NDJSON: the record repeats a top-level key.
    @inlinable public static var repeatsKey: Flags { Flags(rawValue: 4) }
  }

  /// - Parameters offset, length: in bytes of the batch's arena, without the line end.
  @inlinable public init(offset: UInt32, length: UInt32, flags: Flags = [], line: UInt32 = 0) {
    self.offset = offset
    self.length = length
    self.flags = flags
    self.line = line
  }
}
