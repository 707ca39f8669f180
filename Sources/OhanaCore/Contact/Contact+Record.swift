// Records and contacts.
//
// | member or column | is |
// |---|---|
// | `full_name first last company title department image` | the text of that name |
// | `phone`, `phone_2` …; `email`, `url`, `other` alike | fields, by type in this order, then by number; nulls are none |
// | `fields` | a list of fields behind those of columns: `{type,label,value,source,tags,properties}` |
// | `address`, `address_2` …; `address.street` … | addresses, by number |
// | `street city region postal country` | the parts of one address |
// | `addresses` | a list of addresses behind those: `{label,street,city,region,postal,country,source,tags,properties}` |
// | `tags` | a list, or text with `;` between them |
// | `fields`, `addresses`, `tags` as text | the list, where it is a JSON array, as a cell of CSV holds one; `addresses` too with `;` between |
// | `properties` | an object of properties |
// | all else, and what does not look as it should | properties |

extension Contact {
  typealias Text = (name: String, path: WritableKeyPath<Contact, String?> & Sendable)
  static let texts: [Text] = [
    ("full_name", \.fullName), ("first", \.firstName), ("last", \.lastName), ("company", \.company), ("title", \.title),
    ("department", \.department), ("image", \.image),
  ]

  /// What a member of a record is to a contact.
  enum Role: Equatable {
    case text(Int)
    case column(ContactFieldType, Int)
    case fields
    case address(Int)
    case addressPart(Int, String)
    /// `street` and the like: of the one address without a number.
    case barePart(String)
    case addresses
    case tags
    case properties
    case property

    init(_ name: String, _ value: Value) {
      let isScalar = value.text != nil || value == .null
      if let index = Contact.texts.firstIndex(where: { $0.name == name }) {
        self = isScalar ? .text(index) : .property
        return
      }
      if PostalAddress.parts.contains(where: { $0.name == name }) {
        self = isScalar ? .barePart(name) : .property
        return
      }
      switch (name, value) {
      case ("fields", .array), ("fields", .null): self = .fields
      case ("fields", .string) where value.elements != nil: self = .fields
      case ("addresses", .array), ("addresses", .null): self = .addresses
      case ("addresses", .string) where Contact.addressElements(of: value) != nil: self = .addresses
      case ("tags", .array), ("tags", .null), ("tags", .string): self = .tags
      case ("properties", .object): self = .properties
      default: self = Role(numbered: name, value, isScalar: isScalar) ?? .property
      }
    }

    private init?(numbered name: String, _ value: Value, isScalar: Bool) {
      let parts = name.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
      let words = parts[0].split(separator: "_", omittingEmptySubsequences: false)
      guard let type = ContactFieldType(rawValue: String(words[0])) else { return nil }
      var number = 1
      if words.count == 2, let given = Int(words[1]), given > 1, String(given) == words[1] {
        number = given
      } else if words.count > 1 {
        return nil
      }
      if type != .address {
        guard parts.count == 1, isScalar else { return nil }
        self = .column(type, number)
      } else if parts.count == 2 {
        guard isScalar, PostalAddress.parts.contains(where: { $0.name == parts[1] }) else { return nil }
        self = .addressPart(number, String(parts[1]))
      } else {
        switch value {
        case .string, .null, .object: self = .address(number)
        default: return nil
        }
      }
    }
  }

  /// Makes a contact of a record. Nothing is lost: ``record`` gives back what is not changed, as it was.
  ///
  /// A record may hold fields and addresses in columns (`phone`, `phone_2`, `street`), in the lists `fields` and `addresses`, or in both,
  /// columns first. Members that a contact has no place for are its ``properties``.
  public init(_ record: Members) {
    self.init(origin: record)
    var columns: [(type: Int, number: Int, value: String)] = []
    var numbered: [Int: PostalAddress] = [:]
    var bare: PostalAddress?
    var listed: [ContactField] = []
    var listedAddresses: [PostalAddress] = []
    for (name, value) in record {
      switch Role(name, value) {
      case .text(let index): self[keyPath: Self.texts[index].path] = value.text
      case .column(let type, let number):
        guard let text = value.text else { continue }
        columns.append((ContactFieldType.listed.firstIndex(of: type)!, number, text))
      case .fields: listed = (value.elements ?? []).compactMap { ContactField($0) }
      case .address(let number):
        guard let address = PostalAddress(value) else { continue }
        numbered[number] = numbered[number].map { address.merged(with: $0) } ?? address
      case .addressPart(let number, let part):
        guard let text = value.text else { continue }
        numbered[number, default: PostalAddress()].set(part, text)
      case .barePart(let part):
        guard let text = value.text else { continue }
        bare = bare ?? PostalAddress()
        bare!.set(part, text)
      case .addresses: listedAddresses = (Self.addressElements(of: value) ?? []).compactMap { PostalAddress($0) }
      case .tags: tags = Set(Self.tags(in: value))
      case .properties:
        guard case .object(let members) = value else { continue }
        for (name, value) in members where !Self.isHidden(name, in: record) { properties[name] = value }
      case .property: properties[name] = value
      }
    }
    columns.sort { ($0.type, $0.number) < ($1.type, $1.number) }
    fields = columns.map { ContactField(ContactFieldType.listed[$0.type], $0.value) } + listed
    addresses = numbered.sorted { $0.key < $1.key }.map(\.value) + (bare.map { [$0] } ?? []) + listedAddresses
  }

  /// Reads one record of NDJSON.
  ///
  /// - Throws: ``OhanaError`` (`badInput`) for text that is no JSON object.
  public init(json: String) throws(OhanaError) { self.init(try Members(json: json)) }

  /// The contact as a record.
  ///
  /// What was not changed since ``init(_:)`` stands as it stood there, in its place and spelling. Changed fields stay in columns as long as
  /// columns can hold them: in their order, with nothing but a value; otherwise all go into the list `fields`. Addresses alike. A contact made
  /// by hand has lists.
  public var record: Members { ContactWriter(self).record() }

  // MARK: Parts

  /// The list of addresses: an array, or text that holds one, or addresses that are texts with semicolons between them; nil for what looks
  /// like JSON and is no list.
  static func addressElements(of value: Value) -> [Value]? {
    if let elements = value.elements { return elements }
    guard case .string(var text) = value, !text.withUTF8({ ListText.looksLikeJSON($0) }) else { return nil }
    return text.utf8.split(separator: UInt8(ascii: ";")).map { .string(String($0)!) }
  }

  /// A member of the object `properties` does not count where one of the same name, without another meaning, stands beside the object.
  static func isHidden(_ name: String, in record: Members) -> Bool { record[name].map { Role(name, $0) == .property } ?? false }

  /// A list of tags: an array, or text with semicolons.
  static func tags(in value: Value) -> [String] {
    if let elements = value.elements { return elements.compactMap(\.text) }
    return switch value {
    case .string(let text): text.isEmpty ? [] : text.split(separator: ";", omittingEmptySubsequences: true).map(String.init)
    default: []
    }
  }

  /// The object `properties`, and all members that have no other meaning.
  static func properties(in members: Members, but known: [String]) -> Members {
    var properties = Members()
    if case .object(let object)? = members["properties"] { properties = object }
    for (name, value) in members where !known.contains(name) { properties[name] = value }
    return properties
  }

  static func append(source: String?, tags: Set<String>, properties: Members, to members: inout Members, reserved: [String]) {
    if let source { members["source"] = .string(source) }
    if !tags.isEmpty { members["tags"] = .array(tags.sorted().map { .string($0) }) }
    append(properties, to: &members, reserved: reserved)
  }

  /// Properties stand beside the other members, but for those that would be taken for one of these.
  static func append(_ properties: Members, to members: inout Members, reserved: [String]) {
    var hidden = Members()
    for (name, value) in properties {
      if reserved.contains(name) { hidden[name] = value } else { members[name] = value }
    }
    if !hidden.isEmpty { members["properties"] = .object(hidden) }
  }
}

extension PostalAddress {
  fileprivate mutating func set(_ part: String, _ text: String) {
    if let path = Self.parts.first(where: { $0.name == part })?.path { self[keyPath: path] = text }
  }

  /// This address with the parts of another that it lacks.
  fileprivate func merged(with other: PostalAddress) -> PostalAddress {
    var merged = self
    for part in Self.parts where merged[keyPath: part.path] == nil { merged[keyPath: part.path] = other[keyPath: part.path] }
    return merged
  }
}
