/// The fields of a generated contact, in the order in which they are written.
enum GeneratedField: Int, CaseIterable {
  case id, first, last, email, phone, company, street, city, region, postal, country, image, tags, verified, updatedAt

  /// All but the id, which every record has. A range of raw values, since an array would be counted per record.
  @inline(__always) static var afterID: Range<Int> { 1..<15 }

  var name: StaticString {
    switch self {
    case .id: "id"
    case .first: "first"
    case .last: "last"
    case .email: "email"
    case .phone: "phone"
    case .company: "company"
    case .street: "street"
    case .city: "city"
    case .region: "region"
    case .postal: "postal"
    case .country: "country"
    case .image: "image"
    case .tags: "tags"
    case .verified: "verified"
    case .updatedAt: "updated_at"
    }
  }
}

/// The values of one record, free of any format: a scratch pad that is used again for each record.
struct ContactDraft: BitwiseCopyable {
  enum State: UInt8, BitwiseCopyable { case missing, null, text }

  struct Value: BitwiseCopyable {
    var start: UnsafeMutablePointer<UInt8>
    var count = 0
    var state = State.missing
    /// May hold a quote, a backslash, a comma or a line end. Values without it need no look at their bytes.
    var mayNeedQuoting = false
  }

  let values: UnsafeMutablePointer<Value>
  private let text: UnsafeMutablePointer<UInt8>
  private var cursor: ByteCursor
  var id: UInt64 = 0
  var tags: UInt16 = 0
  /// NDJSON as an exporter writes it that trusts nothing but ASCII.
  var isEscaped = false

  /// Room for the longest values of all fields; see ``ContactGenerator/maxRecordSize``.
  static let maxTextSize = 1536

  static func allocate() -> ContactDraft {
    let text = UnsafeMutablePointer<UInt8>.allocate(capacity: maxTextSize)
    let values = UnsafeMutablePointer<Value>.allocate(capacity: GeneratedField.allCases.count)
    values.initialize(repeating: Value(start: text), count: GeneratedField.allCases.count)
    return ContactDraft(values: values, text: text, cursor: ByteCursor(text))
  }

  func deallocate() {
    values.deallocate()
    text.deallocate()
  }

  @inline(__always) mutating func begin() { cursor = ByteCursor(text) }

  /// Sets `field` to what `body` writes.
  @inline(__always) mutating func set(_ field: GeneratedField, mayNeedQuoting: Bool = false, _ body: (inout ByteCursor) -> Void) {
    let start = cursor.next
    body(&cursor)
    values[field.rawValue] = Value(start: start, count: cursor.next - start, state: .text, mayNeedQuoting: mayNeedQuoting)
  }

  /// Sets `field` to one of the three ways in which nothing is said: missing, null and empty.
  @inline(__always) mutating func leaveBlank(_ field: GeneratedField, _ random: inout SplitMix64) {
    let draw = random.below(100)
    values[field.rawValue] = Value(start: cursor.next, state: draw < 55 ? .null : draw < 78 ? .missing : .text)
  }
}
