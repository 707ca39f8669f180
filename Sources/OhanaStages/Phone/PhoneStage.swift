public import OhanaCore

/// Writes phone numbers in standard formats, by libphonenumber.
public struct PhoneStage: PlannedStage {
  public static let help = StageHelp(
    name: "phone", usage: "[--region REGION] [--formats FORMAT,…] [--invalid keep|tag|drop] [--replace]",
    summary: "write phone numbers in standard formats",
    text: """
      Reads every phone, in the columns phone, phone_2 … and in the list 'fields', and writes each format next to it: phone.e164 beside the column phone, \
      and as a member of that name in the list's entry. The value itself stays, unless --replace is given. A number without a country code \
      needs --region. What cannot be read as a number, or is too short or too long for its region, or of use only within its area, counts as \
      invalid: it gets no format, and keeps its own text under --replace. Beside a number, E.164 has no extension; in its place it keeps it: \
      +12125550199;ext=5, as the function phone_e164, 'normalize' and the KEY kind phone write it. Whether a number is in use is not checked.

      Columns of NDJSON are known up to phone_9 before reading. A record with a higher number ends the run (exit 3), since what is written of all \
      records is settled before the first: --optional phone_10,phone_11 in front of the first 'then' names such columns. Those of CSV are known \
      from the header.
      """,
    options: [
      .init("--region", "REGION", "where numbers without a country code are from, as two letters: US, DE"),
      .init("--formats", "FORMAT,…", "e164 (default), international, national, rfc3966"),
      .init("--invalid", "keep|tag|drop", "what becomes of invalid numbers: they stay (default), tag the record 'invalid-phone', or go"),
      .init("--replace", nil, "put the format, one only, in the place of the value"),
    ],
    examples: [
      .init("ohana phone --region US --formats e164,national contacts.csv", "two columns more"),
      .init("ohana run contacts.ndjson then phone --region DE --replace then dedupe --by phone", "one spelling for each number"),
    ], memoryClass: .streaming)

  /// What becomes of numbers that cannot be numbers.
  public enum Invalid: String, Sendable, CaseIterable { case keep, tag, drop }

  /// Of numbers without a country code; nil: such numbers are invalid.
  public let region: PhoneRegion?
  /// At least one.
  public let formats: PhoneFormats
  /// What becomes of invalid numbers.
  public let invalid: Invalid
  /// The format takes the value's place, instead of a field beside it.
  public let replaces: Bool

  /// - Precondition: there is a format, and just one where it replaces the value.
  public init(region: PhoneRegion?, formats: PhoneFormats = .e164, invalid: Invalid = .keep, replaces: Bool = false) {
    precondition(!formats.words.isEmpty && (!replaces || formats.words.count == 1), "numbers are written in a format, and replaced by one")
    self.region = region
    self.formats = formats
    self.invalid = invalid
    self.replaces = replaces
  }

  /// - Parameter arguments: the words after `phone`.
  public static func parse(arguments: [String]) throws(OhanaError) -> PhoneStage {
    let arguments = try StageArguments(arguments, for: help)
    try arguments.noPositionals()
    var region: PhoneRegion?
    if let code = arguments.value("--region") {
      do { region = try PhoneRegion(parsing: code) } catch { throw arguments.problem(error.code, error.problem, fix: error.fix) }
    }
    var formats: PhoneFormats = []
    for word in try ArgumentList.split(arguments.value("--formats") ?? "e164", what: "phone --formats") {
      guard let format = PhoneFormat(rawValue: word) else {
        let known = PhoneFormat.allCases.map(\.rawValue)
        let near = NearMiss.best(for: word, among: known).map { "did you mean \($0)? " } ?? ""
        throw arguments.problem("bad-value", "--formats has no '\(word)'", fix: near + "there are " + known.joined(separator: ", "))
      }
      formats.insert(PhoneFormats(format))
    }
    if arguments.has("--replace"), formats.words.count > 1 {
      throw arguments.problem("bad-value", "--replace goes with one format", fix: "leave --replace or the other formats out")
    }
    return PhoneStage(
      region: region, formats: formats, invalid: try arguments.choice("--invalid", of: Invalid.self) ?? .keep,
      replaces: arguments.has("--replace"))
  }

  public var text: String {
    "phone" + (region.map { " --region \($0)" } ?? "") + " --formats " + formats.words.map(\.rawValue).joined(separator: ",")
      + (invalid == .keep ? "" : " --invalid \(invalid.rawValue)") + (replaces ? " --replace" : "")
  }
  public var memoryClass: MemoryClass { .streaming }
  public var dropReason: String? { nil }
  public var noteReason: String? { "invalid numbers" }

  /// What --invalid tag marks records with.
  public static let tag = "invalid-phone"

  public func bind(_ schema: inout RecordSchema, _ context: StageContext) throws -> [StageStep] {
    var columns: [PhoneStep.Column] = []
    let places = ContactFieldPlaces(of: [.phone], &schema)
    try places.require([.phone], in: &schema)
    for column in places.columns {
      let changesValue = replaces || invalid == .drop
      if changesValue { _ = try schema.slot(rewritingIfPresent: FieldName(whole: column.name)) }
      var targets: [Int] = []
      for format in formats.words where !replaces {
        targets.append(
          try schema.slot(writing: FieldName(whole: column.name + Array(".\(format.rawValue)".utf8)), beside: column.slot))
      }
      columns.append(PhoneStep.Column(slot: column.slot, targets: targets))
    }
    _ = try schema.slot(rewritingIfPresent: ContactFieldPlaces.listName)
    var tags: Int?
    if invalid == .tag {
      tags = try schema.slot(writing: TagList.name)
      schema.slotsRead.insert(tags!)
    }
    return places.steps + [
      .row(
        PhoneStep(
          region: region, formats: formats.words, keepsInvalid: invalid != .drop, replaces: replaces, columns: columns,
          unbound: places.unbound,
          list: places.list,
          tags: tags,
          isColumnar: schema.columns != nil))
    ]
  }
}

/// Formats of phone numbers as a set; the raw value is the sum of e164 = 1, international = 2, national = 4, rfc3966 = 8.
public struct PhoneFormats: OptionSet, Sendable {
  public let rawValue: Int
  public init(rawValue: Int) { self.rawValue = rawValue }
  public init(_ format: PhoneFormat) { self.init(rawValue: 1 << PhoneFormat.allCases.firstIndex(of: format)!) }

  /// `+49301234567` (ITU-T E.164).
  public static let e164 = PhoneFormats(.e164)
  /// `+49 30 1234567` (ITU-T E.123).
  public static let international = PhoneFormats(.international)
  /// `030 1234567`, as written in the number's own country.
  public static let national = PhoneFormats(.national)
  /// `tel:+49-30-1234567` (RFC 3966).
  public static let rfc3966 = PhoneFormats(.rfc3966)

  /// In the order of their bits; bits that are no format are none.
  public var words: [PhoneFormat] { PhoneFormat.allCases.filter { contains(PhoneFormats($0)) } }
}
