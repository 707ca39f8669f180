/// One phone number, e-mail address, URL or other field of a contact.
public struct ContactField: Sendable, Hashable {
  /// - Precondition: not `address`; addresses are ``PostalAddress``.
  public var type: ContactFieldType {
    didSet { precondition(type != .address, "an address is no field") }
  }
  /// The type as the source has it, where ``ContactFieldType`` has no case for it and ``type`` is `other`: `fax`, `impp`.
  public var typeName: String?
  /// `home`, `mobile`; compared as it is.
  public var label: String?
  /// As the source has it; it may be empty.
  public var value: String
  /// Identifier of the provider it came from.
  public var source: String?
  /// In no order.
  public var tags: Set<String>
  /// Custom properties, such as `phone.e164`.
  public var properties: Members

  /// - Precondition: the type is not `address`.
  public init(
    _ type: ContactFieldType, _ value: String, label: String? = nil, source: String? = nil, tags: Set<String> = [],
    properties: Members = [:]
  ) {
    precondition(type != .address, "an address is no field")
    self.type = type
    self.value = value
    self.label = label
    self.source = source
    self.tags = tags
    self.properties = properties
  }

  public static func == (a: ContactField, b: ContactField) -> Bool { a.isEqual(to: b) }

  /// Whether all parts but those of `ignored` are equal, texts byte for byte.
  public func isEqual(to other: ContactField, ignoring ignored: ContactParts = []) -> Bool {
    type == other.type && isSameText(typeName, other.typeName) && isSameText(label, other.label) && isSameText(value, other.value)
      && (ignored.contains(.source) || isSameText(source, other.source))
      && (ignored.contains(.tags) || isSameTags(tags, other.tags))
      && (ignored.contains(.properties) || properties == other.properties)
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(type)
    for byte in value.utf8 { hasher.combine(byte) }
  }

  /// Nothing but type and value, so that a column can hold it.
  var isPlain: Bool { typeName == nil && label == nil && source == nil && tags.isEmpty && properties.isEmpty }
}

/// Parts of contacts, fields and addresses that loose equality looks away from.
public struct ContactParts: OptionSet, Sendable {
  public let rawValue: UInt8
  public init(rawValue: UInt8) { self.rawValue = rawValue }
  /// Where a field or an address came from.
  public static let source = ContactParts(rawValue: 1)
  /// Marks, of contacts, fields and addresses.
  public static let tags = ContactParts(rawValue: 2)
  /// Custom properties, of contacts, fields and addresses.
  public static let properties = ContactParts(rawValue: 4)
  /// What differs between sources that know the same.
  public static let provenance: ContactParts = [.source, .tags, .properties]
}

// MARK: Records

extension ContactField {
  static let memberNames = ["type", "label", "value", "source", "tags", "properties"]

  /// An entry of the list `fields`; nil for what is no field: no object, or one without a type.
  init?(_ value: Value) {
    guard case .object(let members) = value, case .string(let name)? = members["type"] else { return nil }
    switch name {
    case "phone": self.init(.phone, "")
    case "email": self.init(.email, "")
    case "url": self.init(.url, "")
    default:
      self.init(.other, "")
      if name != "other" { typeName = name }
    }
    self.value = members["value"].flatMap(\.text) ?? ""
    label = members["label"].flatMap(\.text)
    source = members["source"].flatMap(\.text)
    tags = Set(members["tags"].map(Contact.tags(in:)) ?? [])
    properties = Contact.properties(in: members, but: Self.memberNames)
  }

  var members: Members {
    var members: Members = ["type": .string(typeName ?? type.rawValue)]
    if let label { members["label"] = .string(label) }
    members["value"] = .string(value)
    Contact.append(source: source, tags: tags, properties: properties, to: &members, reserved: Self.memberNames)
    return members
  }
}
