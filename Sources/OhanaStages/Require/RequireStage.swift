public import OhanaCore

/// Keeps the records that have all of some fields.
public struct RequireStage: PlannedStage {
  public static let help = StageHelp(
    name: "require", usage: "F,… [--type TYPE]… [--nonempty]", summary: "keep the records that have all of these fields",
    text: """
      Keeps the records in which every field named has a value: missing, null and the empty text are none. --type asks for at least one field of a type \
      instead: a column of that name, numbered or not (phone, phone_2 … phone_9), or an entry of the list 'fields' with that type; for an address the \
      columns address, address_2 … and the list 'addresses'. Such a field counts even if its value is empty, unless --nonempty is given.
      """,
    options: [
      .init("--type", "phone|email|url|other|address", "at least one field of this type; may be repeated", isRepeatable: true),
      .init("--nonempty", nil, "blanks are no value, nor are empty lists and objects; for --type, empty values do not count"),
    ],
    examples: [
      .init("ohana require first,last,email contacts.ndjson", "complete records only"),
      .init("ohana require --type phone --nonempty contacts.csv", "anyone who can be called"),
    ], memoryClass: .streaming)

  public let names: [FieldName]
  public let types: [ContactFieldType]
  public let isStrict: Bool

  /// - Parameters:
  ///   - names: fields that must have a value, all of them.
  ///   - types: types of which there must be a field, each of them.
  ///   - nonempty: blank text, empty lists and objects are no value; empty values of a type do not count.
  public init(_ names: [FieldName], types: [ContactFieldType] = [], nonempty: Bool = false) {
    self.names = names
    self.types = types
    isStrict = nonempty
  }

  /// - Parameter arguments: the words after `require`.
  public static func parse(arguments: [String]) throws(OhanaError) -> RequireStage {
    let arguments = try StageArguments(arguments, for: help)
    let names = try ArgumentList.fields(arguments.positionals, what: "require")
    var types: [ContactFieldType] = []
    for word in arguments.values("--type") {
      guard let type = ContactFieldType(rawValue: word) else {
        let known = ContactFieldType.allCases.map(\.rawValue)
        let near = NearMiss.best(for: word, among: known).map { "did you mean \($0)? " } ?? ""
        throw arguments.problem("bad-value", "--type cannot be '\(word)'", fix: near + "there are " + known.joined(separator: ", "))
      }
      types.append(type)
    }
    if names.isEmpty && types.isEmpty {
      throw arguments.problem(
        "missing-argument", "neither a field nor --type is given", fix: "write require email, or require --type email")
    }
    return RequireStage(names, types: types, nonempty: arguments.has("--nonempty"))
  }

  public var text: String {
    let parts = (names.isEmpty ? [] : [names.map(\.description).joined(separator: ",")]) + types.map { "--type \($0.rawValue)" }
    return "require " + (parts + (isStrict ? ["--nonempty"] : [])).joined(separator: " ")
  }
  public var memoryClass: MemoryClass { .streaming }
  public var dropReason: String? { "missing" }

  public func bind(_ schema: inout RecordSchema, _ context: StageContext) throws -> [StageStep] {
    var slots: [Int] = []
    for name in names { slots.append(try schema.slot(reading: name)) }
    var tests: [TypeTest] = []
    for type in types { tests.append(TypeTest(type, &schema)) }
    return [.row(RequireStep(slots: slots, tests: tests, isStrict: isStrict))]
  }
}

/// Where fields of one type can be.
private struct TypeTest: Sendable {
  let type: ContactFieldType
  /// Columns of the type.
  var columns: [Int] = []
  /// The list of fields, or of addresses.
  var list: Int?

  init(_ type: ContactFieldType, _ schema: inout RecordSchema) {
    self.type = type
    if type != .other {
      columns = ([""] + (2...9).map { "_\($0)" }).compactMap {
        schema.slot(readingIfPresent: FieldName(whole: Array((type.rawValue + $0).utf8)))
      }
    }
    if type == .address {
      // A CSV file's address may be spread over columns.
      for column in schema.columns ?? [] where column.starts(with: "address.".utf8) {
        if let slot = schema.slot(readingIfPresent: FieldName(whole: column)) { columns.append(slot) }
      }
    }
    list = schema.slot(readingIfPresent: FieldName(whole: Array((type == .address ? "addresses" : "fields").utf8)))
  }
}

private struct RequireStep: RowStage {
  let slots: [Int]
  let tests: [TypeTest]
  let isStrict: Bool

  func process(_ batch: RecordBatch) throws -> StageTally {
    var dropped = 0
    if isStrict {
      for slot in slots { dropped += batch.filterSelection { !isEmpty(batch.field(slot, of: $0), in: batch) } }
    } else {
      for slot in slots { dropped += batch.filterSelection { !batch.field(slot, of: $0).isBlank } }
    }
    if !tests.isEmpty {
      let scratch = ByteBuffer()
      for test in tests { dropped += batch.filterSelection { has(test, batch, $0, scratch) } }
    }
    return StageTally(dropped: dropped)
  }

  private func has(_ test: TypeTest, _ batch: RecordBatch, _ record: Int, _ scratch: ByteBuffer) -> Bool {
    for slot in test.columns {
      let field = batch.field(slot, of: record)
      if isStrict ? !isEmpty(field, in: batch) : field.kind.rawValue > ValueKind.null.rawValue { return true }
    }
    guard let list = test.list else { return false }
    let field = batch.field(list, of: record)
    guard field.kind == .array else { return false }
    let text = UnsafePointer(batch.arena.base)
    var elements = JSONElements(of: field, in: text)
    while let element = elements.next() {
      if test.type == .address {
        if element.kind != .null, !isStrict || !isEmpty(element, in: batch) { return true }
      } else if element.kind == .object, isField(element, of: test.type, text, scratch, batch) {
        return true
      }
    }
    return false
  }

  /// Whether an entry of `fields` is of the type, and has a value if one is asked for.
  private func isField(
    _ entry: FieldSpan, of type: ContactFieldType, _ text: UnsafePointer<UInt8>, _ scratch: ByteBuffer, _ batch: RecordBatch
  ) -> Bool {
    var members = JSONMembers(of: entry, in: text)
    var isOfType = false
    var hasValue = false
    while let member = members.next() {
      let key = member.key(in: text, scratch: scratch)
      if key.elementsEqual("type".utf8) {
        isOfType = member.value.kind == .string && batch.text(of: member.value, scratch: scratch).elementsEqual(type.rawValue.utf8)
      } else if key.elementsEqual("value".utf8) {
        hasValue = !isEmpty(member.value, in: batch)
      }
    }
    return isOfType && (hasValue || !isStrict)
  }

  /// Blank, white space alone, or an empty list or object. An address whose parts are all empty is empty too.
  private func isEmpty(_ field: FieldSpan, in batch: RecordBatch) -> Bool {
    if field.isBlank { return true }
    let bytes = batch.bytes(of: field)
    switch field.kind {
    case .string:
      if field.encoding == .plain { return bytes.allSatisfy { $0 <= 0x20 } }
      return batch.text(of: field, scratch: ByteBuffer()).allSatisfy { $0 <= 0x20 }
    case .array:
      var elements = JSONElements(of: field, in: UnsafePointer(batch.arena.base))
      return elements.next() == nil
    case .object:
      var members = JSONMembers(of: field, in: UnsafePointer(batch.arena.base))
      while let member = members.next() {
        if !isEmpty(member.value, in: batch) { return false }
      }
      return true
    default: return false
    }
  }
}
