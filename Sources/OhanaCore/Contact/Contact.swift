/// A contact as a value, for code that looks at people one at a time: selections, callbacks, what a library's user shows or changes.
///
/// The engine moves batches and makes no value per record; a contact is made of a record where one is asked for, and becomes one again, see
/// ``init(_:)`` and ``record``. Copies share nothing: a change of one never shows in another.
public struct Contact: Sendable, Hashable {
  /// Where the record was read; nil for a contact made by hand. No part of equality.
  public var id: ContactID?
  /// As the source has it; nothing makes it of the other names.
  public var fullName: String?
  /// nil and `""` both occur, and are kept apart.
  public var firstName: String?
  /// nil and `""` both occur, and are kept apart.
  public var lastName: String?
  /// The organisation.
  public var company: String?
  /// The job.
  public var title: String?
  /// Of the organisation.
  public var department: String?
  /// A reference to a picture, or its bytes as text; never decoded.
  public var image: String?
  /// Phones, e-mails, URLs and others in one list, in the order of the source.
  public var fields: [ContactField] = []
  /// In the order of the source; no part of ``fields``.
  public var addresses: [PostalAddress] = []
  /// In no order.
  public var tags: Set<String> = []
  /// Everything else that the record holds, and what processors add: `stats.phones`, `source.id`.
  public var properties = Members()
  /// The record it was made of, so that what nobody changes is written as it was.
  private(set) var origin: Members?

  /// Makes a contact by hand; it has no ``id``.
  public init(
    fullName: String? = nil, firstName: String? = nil, lastName: String? = nil, company: String? = nil, title: String? = nil,
    department: String? = nil, image: String? = nil, fields: [ContactField] = [], addresses: [PostalAddress] = [],
    tags: Set<String> = [], properties: Members = [:]
  ) {
    self.fullName = fullName
    self.firstName = firstName
    self.lastName = lastName
    self.company = company
    self.title = title
    self.department = department
    self.image = image
    self.fields = fields
    self.addresses = addresses
    self.tags = tags
    self.properties = properties
  }

  init(origin: Members) { self.origin = origin }

  /// Fields of one type, in order. - Precondition: not `address`.
  public func fields(of type: ContactFieldType) -> [ContactField] {
    precondition(type != .address, "addresses are no fields")
    return fields.filter { $0.type == type }
  }

  /// Values of the phones, in order.
  public var phones: [String] { fields(of: .phone).map(\.value) }
  /// Values of the e-mails, in order.
  public var emails: [String] { fields(of: .email).map(\.value) }
  /// Values of the URLs, in order.
  public var urls: [String] { fields(of: .url).map(\.value) }

  /// Whether there is a field (or an address) of the type; its value may be empty.
  public func has(_ type: ContactFieldType) -> Bool {
    type == .address ? !addresses.isEmpty : fields.contains { $0.type == type }
  }

  /// Strict equality: nil is nil and never `""`, fields and addresses in order with all their parts, tags in any order, properties deep,
  /// texts byte for byte. Where a contact was read does not count.
  public static func == (a: Contact, b: Contact) -> Bool { a.isEqual(to: b) }

  /// Equality that looks away from some parts, of the contact, its fields and its addresses alike: `ignoring: .provenance` compares what
  /// different sources know of a person.
  public func isEqual(to other: Contact, ignoring ignored: ContactParts = []) -> Bool {
    Self.texts.allSatisfy { isSameText(self[keyPath: $0.path], other[keyPath: $0.path]) }
      && fields.count == other.fields.count && addresses.count == other.addresses.count
      && zip(fields, other.fields).allSatisfy { $0.isEqual(to: $1, ignoring: ignored) }
      && zip(addresses, other.addresses).allSatisfy { $0.isEqual(to: $1, ignoring: ignored) }
      && (ignored.contains(.tags) || isSameTags(tags, other.tags))
      && (ignored.contains(.properties) || properties == other.properties)
  }

  public func hash(into hasher: inout Hasher) {
    for text in Self.texts {
      guard let value = self[keyPath: text.path] else { continue }
      for byte in value.utf8 { hasher.combine(byte) }
    }
    hasher.combine(fields)
  }
}

/// Where a contact was read. Two contacts of one source with the same content have different ones.
public struct ContactID: Sendable, Hashable, Codable {
  /// Of the file or provider.
  public var source: String
  /// Place among the records of its source, counted from 0.
  public var ordinal: Int
  /// Tells the rows apart that a `split` made of one record; 0 for a record as it was read.
  public var row: UInt64

  /// - Parameter row: 0 for a record as it was read.
  public init(source: String, ordinal: Int, row: UInt64 = 0) {
    self.source = source
    self.ordinal = ordinal
    self.row = row
  }
}
