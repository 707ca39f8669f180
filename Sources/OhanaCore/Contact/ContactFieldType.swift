/// What a contact's field is, as far as stages tell them apart.
///
/// A record holds fields of a type in two ways, which all stages count alike: in columns of the type's name (`phone`, `phone_2` …, not
/// null), and as objects in the list `fields` (`{"type":"phone","label":"home","value":"…"}`). Columns come first. An object whose type is
/// another text than the first three counts as `other`; one without a type is no field. Addresses are `address`, `address_2` …, and what
/// the list `addresses` holds.
public enum ContactFieldType: String, Sendable, CaseIterable, Codable {
  /// The types that a field of the list `fields` may have, beside addresses.
  case phone, email, url, other
  /// Not a field of the list `fields`, but something `require --type` can ask for.
  case address

  /// Those that the list `fields` holds.
  public static let listed: [ContactFieldType] = [.phone, .email, .url, .other]
}
