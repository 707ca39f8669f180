/// What counts as equal in a key: which text a value is turned into before texts are compared byte by byte.
public enum EqualityKind: String, Sendable, Hashable, CaseIterable, Codable {
  /// The decoded text: number 7 equals string "7", and 1.10 differs from 1.1.
  case exact
  /// NFKC full case folding without diacritics, blanks collapsed.
  case fold
  /// Trimmed and lower-cased; text without `@` has no key.
  case email
  /// Like `email`; at gmail.com and googlemail.com, which are one, dots and `+tag` are dropped.
  case emailProvider = "email/provider"
  /// `fold` without punctuation and titles, `Last, First` turned.
  case name

  /// - Throws: `usage`/`unknown-kind`, with the nearest kind.
  public init(parsing text: String) throws(OhanaError) {
    if let kind = EqualityKind(rawValue: text) {
      self = kind
      return
    }
    let known = Self.allCases.map(\.rawValue)
    let near = NearMiss.best(for: text, among: known).map { "did you mean \($0)? " } ?? ""
    throw OhanaError(.usage, "unknown-kind", "'\(text)' is no kind of equality", fix: near + "there are " + known.joined(separator: ", "))
  }
}
