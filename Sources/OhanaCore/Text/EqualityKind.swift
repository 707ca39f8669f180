/// What counts as equal in a key: which text a value is turned into before texts are compared byte by byte.
public enum EqualityKind: Sendable, Hashable, Codable {
  /// The decoded text: number 7 equals string "7", and 1.10 differs from 1.1.
  case exact
  /// NFKC full case folding without diacritics, blanks collapsed.
  case fold
  /// Trimmed and lower-cased; text without `@` has no key.
  case email
  /// Like `email`; at gmail.com and googlemail.com, which are one, dots and `+tag` are dropped.
  case emailProvider
  /// `fold` without punctuation and titles, `Last, First` turned.
  case name
  /// E.164 and `;ext=` of what libphonenumber calls possible, and not only locally; other text is its own key. Numbers without a country
  /// code are of the region.
  case phone(PhoneRegion?)

  /// Every kind's word, for help and messages.
  public static let words = ["exact", "fold", "email", "email/provider", "name", "phone", "phone/REGION"]

  /// - Throws: `usage`/`unknown-kind`, with the nearest kind; `unknown-region`.
  public init(parsing text: String) throws(OhanaError) {
    switch text {
    case "exact": self = .exact
    case "fold": self = .fold
    case "email": self = .email
    case "email/provider": self = .emailProvider
    case "name": self = .name
    case "phone": self = .phone(nil)
    case _ where text.hasPrefix("phone/"): self = .phone(try PhoneRegion(parsing: String(text.dropFirst(6))))
    default:
      let near = NearMiss.best(for: text, among: Self.words).map { "did you mean \($0)? " } ?? ""
      throw OhanaError(
        .usage, "unknown-kind", "'\(text)' is no kind of equality", fix: near + "there are " + Self.words.joined(separator: ", "))
    }
  }
}
