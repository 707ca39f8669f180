internal import OhanaCore

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
