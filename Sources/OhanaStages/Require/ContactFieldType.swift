internal import OhanaCore

/// What a contact's field is, as far as stages tell them apart.
public enum ContactFieldType: String, Sendable, CaseIterable, Codable {
  case phone, email, url, other
  /// Not a field of the list `fields`, but something `require --type` can ask for.
  case address
}
