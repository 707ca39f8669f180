/// A postal address of a contact. Every part may be missing, and the street may hold line breaks.
public struct PostalAddress: Sendable, Hashable {
  /// `home`, `work`.
  public var label: String?
  /// May hold line breaks.
  public var street: String?
  /// The town.
  public var city: String?
  /// State or province.
  public var region: String?
  /// The postal code, with its zeros.
  public var postal: String?
  /// A name or a code, as the source has it.
  public var country: String?
  /// Identifier of the provider it came from.
  public var source: String?
  /// In no order.
  public var tags: Set<String>
  /// Custom properties.
  public var properties: Members

  /// An address of these parts.
  public init(
    label: String? = nil, street: String? = nil, city: String? = nil, region: String? = nil, postal: String? = nil,
    country: String? = nil, source: String? = nil, tags: Set<String> = [], properties: Members = [:]
  ) {
    self.label = label
    self.street = street
    self.city = city
    self.region = region
    self.postal = postal
    self.country = country
    self.source = source
    self.tags = tags
    self.properties = properties
  }

  public static func == (a: PostalAddress, b: PostalAddress) -> Bool { a.isEqual(to: b) }

  /// Whether all parts but those of `ignored` are equal, texts byte for byte.
  public func isEqual(to other: PostalAddress, ignoring ignored: ContactParts = []) -> Bool {
    isSameText(label, other.label) && Self.parts.allSatisfy { isSameText(self[keyPath: $0.path], other[keyPath: $0.path]) }
      && (ignored.contains(.source) || isSameText(source, other.source))
      && (ignored.contains(.tags) || isSameTags(tags, other.tags))
      && (ignored.contains(.properties) || properties == other.properties)
  }

  public func hash(into hasher: inout Hasher) {
    for part in Self.parts { for byte in (self[keyPath: part.path] ?? "").utf8 { hasher.combine(byte) } }
  }

  /// Nothing but what columns hold.
  var isPlain: Bool { label == nil && source == nil && tags.isEmpty && properties.isEmpty }
}

// MARK: Records

extension PostalAddress {
  typealias Part = (name: String, path: WritableKeyPath<PostalAddress, String?> & Sendable)
  static let parts: [Part] = [
    ("street", \.street), ("city", \.city), ("region", \.region), ("postal", \.postal), ("country", \.country),
  ]
  static let memberNames = ["label"] + parts.map(\.name) + ["source", "tags", "properties"]

  /// An element of the list `addresses`, or what an `address` holds: an object, or a text that is the street. nil for anything else.
  init?(_ value: Value) {
    self.init()
    if case .string(let text) = value {
      street = text
      return
    }
    guard case .object(let members) = value else { return nil }
    label = members["label"].flatMap(\.text)
    for part in Self.parts { self[keyPath: part.path] = members[part.name].flatMap(\.text) }
    source = members["source"].flatMap(\.text)
    tags = Set(members["tags"].map(Contact.tags(in:)) ?? [])
    properties = Contact.properties(in: members, but: Self.memberNames)
  }

  var members: Members {
    var members = Members()
    if let label { members["label"] = .string(label) }
    for part in Self.parts { if let text = self[keyPath: part.path] { members[part.name] = .string(text) } }
    Contact.append(source: source, tags: tags, properties: properties, to: &members, reserved: Self.memberNames)
    return members
  }
}
