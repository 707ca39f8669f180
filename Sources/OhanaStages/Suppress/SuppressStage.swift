public import OhanaCore

/// `suppress --list FILE --by KEY,…`: drops the records whose key is in a list.
public struct SuppressStage: PlannedStage {
  /// The file of what is left out; any format that can be read.
  public let list: FilePath
  /// Looked up in the list all together.
  public let keys: [EqualityKey]
  /// The list holds the SHA-256 of key texts in hexadecimal.
  public let isHashed: Bool
  public let text: String

  /// - Precondition: a hashed list has one key.
  public init(list: FilePath, keys: [EqualityKey], isHashed: Bool = false, text: String) {
    precondition(!isHashed || keys.count == 1, "a hashed list has one key")
    self.list = list
    self.keys = keys
    self.isHashed = isHashed
    self.text = text
  }

  public var memoryClass: MemoryClass { .keyed }
  public var dropReason: String? { "suppressed" }

  public static func parse(arguments words: [String]) throws -> SuppressStage {
    let arguments = try StageArguments(words, for: help)
    try arguments.noPositionals()
    guard let list = arguments.value("--list") else {
      throw arguments.problem("missing-argument", "--list FILE is missing", fix: "usage: suppress \(help.usage)")
    }
    guard let by = arguments.value("--by") else {
      throw arguments.problem("missing-argument", "--by KEY,… is missing", fix: "usage: suppress \(help.usage)")
    }
    let keys = try EqualityKey.parse(list: by, what: "suppress --by")
    if let hash = arguments.value("--hashed") {
      guard hash == "sha256" else { throw arguments.problem("bad-value", "--hashed cannot be '\(hash)'", fix: "there is sha256") }
      guard keys.count == 1 else { throw arguments.problem("bad-value", "--hashed goes with one key", fix: "compute one by an expression") }
    }
    return SuppressStage(
      list: FilePath(list), keys: keys, isHashed: arguments.has("--hashed"), text: (["suppress"] + words).joined(separator: " "))
  }

  public static let help = StageHelp(
    name: "suppress", usage: "--list FILE --by KEY,… [--hashed sha256]", summary: "drop the records whose key is in a list",
    text: """
      The list is a file of any format, read by the column of the key's name or by its only column. Both sides are compared as the KEY's kind \
      says, so that Ann@Example.org in the list suppresses ann@example.org by email:email. A list of one column needs no header. Records with a \
      blank key pass.
      """,
    options: [
      .init("--list", "FILE", "the list"), .init("--by", "KEY,…", "what is looked up in it"),
      .init("--hashed", "sha256", "the list holds hexadecimal SHA-256 of the key's text, as its kind makes it, instead of values"),
    ],
    examples: [
      .init("ohana suppress --list unsubscribed.csv --by email:email contacts.ndjson.gz -o send.ndjson.gz", "nobody who unsubscribed"),
      .init(
        "ohana suppress --list hashes.txt --by email:email --hashed sha256 contacts.csv", "the same, from a list that tells no addresses"),
    ], memoryClass: .keyed)

  public func bind(_ schema: inout RecordSchema, _ context: StageContext) throws -> [StageStep] {
    var binding = KeyBinding()
    let parts = try binding.parts(of: keys, &schema)
    let seed = context.settings.fingerprintSeed
    let maker: any RowStage =
      isHashed ? try DigestFingerprintMaker(parts[0], seed: seed) : FingerprintMaker(parts, seed: seed, blanks: .equalNothing)
    let list = try ListFingerprints(self.list, keys: keys, isHashed: isHashed, context)
    return binding.steps + [.row(maker), .ordered(Suppressor(context, list))]
  }
}
