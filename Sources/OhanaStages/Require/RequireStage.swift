public import OhanaCore

/// Keeps the records that have all of some fields.
public struct RequireStage: PlannedStage {
  public static let help = StageHelp(
    name: "require", usage: "F,… [--type TYPE]… [--has-tag NAME]… [--nonempty]", summary: "keep the records that have all of these fields",
    text: """
      Keeps the records in which every field named has a value: missing, null and the empty text are none. --type asks for at least one field of a type \
      instead: a column of that name, numbered or not (phone, phone_2 …), or an entry of the list 'fields' with that type; for an address the \
      columns address, address_2 …, address.city and its like, street, city, region, postal, country, and the list 'addresses'. Such a field \
      counts even if its value is empty, unless --nonempty is given; a column whose value is a list or an object is none, but for an address as an object.
      """,
    options: [
      .init("--type", "phone|email|url|other|address", "at least one field of this type; may be repeated", isRepeatable: true),
      .init("--has-tag", "NAME", "this tag in the list 'tags'; may be repeated", isRepeatable: true),
      .init("--nonempty", nil, "blanks are no value, nor are empty lists and objects; for --type, empty values do not count"),
    ],
    examples: [
      .init("ohana require first,last,email contacts.ndjson", "complete records only"),
      .init("ohana require --type phone --nonempty contacts.csv", "anyone who can be called"),
      .init("ohana require --has-tag customer contacts.ndjson", "those that a 'tag customer' marked"),
    ], memoryClass: .streaming)

  /// Fields a record has to have, all of them.
  public let names: [FieldName]
  /// Types of which it has to have a field each.
  public let types: [ContactFieldType]
  /// Tags it has to have.
  public let tags: [String]
  /// Blanks, empty lists and empty objects are no value (`--nonempty`).
  public let isStrict: Bool

  /// - Parameters:
  ///   - names: fields that must have a value, all of them.
  ///   - types: types of which there must be a field, each of them.
  ///   - tags: tags a record must have, all of them.
  ///   - nonempty: blank text, empty lists and objects are no value; empty values of a type do not count.
  public init(_ names: [FieldName], types: [ContactFieldType] = [], tags: [String] = [], nonempty: Bool = false) {
    self.names = names
    self.types = types
    self.tags = tags
    isStrict = nonempty
  }

  /// - Parameter arguments: the words after `require`.
  public static func parse(arguments: [String]) throws(OhanaError) -> RequireStage {
    let arguments = try StageArguments(arguments, for: help)
    let names = try ArgumentList.fields(arguments.positionals, what: "require")
    var types: [ContactFieldType] = []
    for word in arguments.values("--type") { types.append(try arguments.fieldType(word, "--type")) }
    let tags = arguments.values("--has-tag")
    if names.isEmpty && types.isEmpty && tags.isEmpty {
      throw arguments.problem(
        "missing-argument", "neither a field nor --type nor --has-tag is given", fix: "write require email, or require --type email")
    }
    return RequireStage(names, types: types, tags: tags, nonempty: arguments.has("--nonempty"))
  }

  public var text: String {
    let parts =
      (names.isEmpty ? [] : [names.map(\.description).joined(separator: ",")]) + types.map { "--type \($0.rawValue)" }
      + tags.map { "--has-tag \($0)" }
    return "require " + (parts + (isStrict ? ["--nonempty"] : [])).joined(separator: " ")
  }
  public var memoryClass: MemoryClass { .streaming }
  public var dropReason: String? { "missing" }
  public var isPredicate: Bool { true }

  public func bind(_ schema: inout RecordSchema, _ context: StageContext) throws -> [StageStep] {
    var slots: [Int] = []
    for name in names { slots.append(try schema.slot(reading: name)) }
    let places = ContactFieldPlaces(of: types, &schema)
    for type in types { try places.require([type], in: &schema) }
    let tags = self.tags.isEmpty ? nil : try TagTest(self.tags, &schema)
    return places.steps + [.row(RequireStep(slots: slots, types: types, places: places, tags: tags, isStrict: isStrict))]
  }
}

private struct RequireStep: RowStage {
  let slots: [Int]
  let types: [ContactFieldType]
  let places: ContactFieldPlaces
  let tags: TagTest?
  let isStrict: Bool

  func process(_ batch: RecordBatch) throws -> StageTally {
    var dropped = 0
    if isStrict {
      for slot in slots { dropped += batch.filterSelection { !batch.field(slot, of: $0).isHollow(in: batch) } }
    } else {
      for slot in slots { dropped += batch.filterSelection { !batch.field(slot, of: $0).isBlank } }
    }
    if !types.isEmpty || tags != nil {
      let scratch = ByteBuffer()
      for type in types { dropped += batch.filterSelection { places.has(type, $0, of: batch, isStrict: isStrict, scratch) } }
      if let tags { dropped += batch.filterSelection { tags.hasAll($0, of: batch, scratch) } }
    }
    return StageTally(dropped: dropped)
  }
}
