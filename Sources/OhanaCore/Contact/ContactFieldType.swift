internal import OhanaCore

/// What a contact's field is, as far as stages tell them apart.
///
/// A record holds fields of a type in two ways, which all stages count alike: in columns of the type's name (`phone`, `phone_2` …, not
/// null), and as objects in the list `fields` (`{"type":"phone","label":"home","value":"…"}`). Columns come first. An object whose type is
/// another text than the first three counts as `other`; one without a type is no field. Addresses are `address`, `address_2` …, and what
/// the list `addresses` holds.
public enum ContactFieldType: String, Sendable, CaseIterable, Codable {
  case phone, email, url, other
  /// Not a field of the list `fields`, but something `require --type` can ask for.
  case address

  /// Those that the list `fields` holds.
  static let listed: [ContactFieldType] = [.phone, .email, .url, .other]
}

extension StageArguments {
  /// The word of an option as a type, one of `known`.
  func fieldType(_ word: String, _ option: String, among known: [ContactFieldType] = ContactFieldType.allCases) throws(OhanaError)
    -> ContactFieldType
  {
    if let type = ContactFieldType(rawValue: word), known.contains(type) { return type }
    let words = known.map(\.rawValue)
    let near = NearMiss.best(for: word, among: words).map { "did you mean \($0)? " } ?? ""
    throw problem("bad-value", "\(option) cannot be '\(word)'", fix: near + "there are " + words.joined(separator: ", "))
  }
}
