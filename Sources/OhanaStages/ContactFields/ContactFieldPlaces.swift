internal import OhanaCore

/// The places where a record keeps fields of some types, bound to slots: see ``ContactFieldType``.
struct ContactFieldPlaces: Sendable {
  struct Column: Sendable {
    var type: ContactFieldType
    var name: [UInt8]
    var slot: Int
    /// An address, and not a field or a part of an address.
    var isWhole: Bool

    /// Whether the value of a record is a field.
    @inline(__always) func holds(_ value: FieldSpan) -> Bool { value.isField(isWholeAddress: isWhole) }
  }
  /// By type, in the order of their numbers.
  private(set) var columns: [Column] = []
  /// The list `fields`.
  private(set) var list: ListColumn?
  /// The list `addresses`.
  private(set) var addresses: ListColumn?
  /// Have to go in front of the steps that look into the lists.
  private(set) var steps: [StageStep] = []
  /// Columns of higher numbers, which no slot stands for.
  private(set) var unbound: UnboundColumns?

  /// Asks the reader for whatever of it there may be.
  init(of types: [ContactFieldType], _ schema: inout RecordSchema) {
    for type in types {
      for name in Self.columnNames(of: type, schema) {
        if let slot = schema.slot(readingIfPresent: FieldName(whole: name)) {
          columns.append(Column(type: type, name: name, slot: slot, isWhole: Self.isWholeAddress(name, type)))
        }
      }
    }
    var lists: [ListReader.Column] = []
    func bind(_ name: FieldName, holdsTexts: Bool) -> ListColumn? {
      guard let slot = schema.slot(readingIfPresent: name) else { return nil }
      let list = ListColumn(slot: slot, parsed: schema.newSlot())
      lists.append(.init(name: name.description, list: list, holdsTexts: holdsTexts))
      return list
    }
    if types.contains(where: { $0 != .address }) { list = bind(Self.listName, holdsTexts: false) }
    // An address may be a text alone.
    if types.contains(.address) { addresses = bind(FieldName(whole: Array("addresses".utf8)), holdsTexts: true) }
    if !lists.isEmpty { steps = [.row(ListReader(columns: lists, stage: schema.currentStage))] }
    unbound = UnboundColumns(of: types, &schema)
  }

  /// Demands that the input have a field of one of `types` somewhere.
  ///
  /// - Parameter others: slots that do as well.
  func require(_ types: [ContactFieldType], or others: [Int] = [], in schema: inout RecordSchema) throws {
    let type = types[0].rawValue
    let slots = columns.filter { types.contains($0.type) }.map(\.slot) + [types.contains(.address) ? addresses : list].compactMap(\.?.slot)
    let names = types.count > 1 ? "\(types.map(\.rawValue).joined(separator: ", ")), numbered or not" : "\(type), \(type)_2 …"
    let parts = types.contains(.address) ? ", street, city and so on, nor the list 'addresses'" : ", nor the list 'fields'"
    try schema.require(anyOf: slots + others, type: type, places: "a column \(names)\(parts)") { name in
      types.contains { type in
        name.starts(with: type.rawValue.utf8) && UnboundColumns.number(in: name[...], of: type) != nil
          || type == .address && name.starts(with: "address.".utf8)
      }
    }
  }

  static let listName = FieldName(whole: Array("fields".utf8))

  /// `phone`, `phone_2` … `phone_9`, and higher numbers where the inputs have such columns or a stage or `--optional` has named them; of an
  /// address the columns that hold its parts, too: `address.city`, `address_2.city` … and `city`.
  static func columnNames(of type: ContactFieldType, _ schema: RecordSchema) -> [[UInt8]] {
    let base = Array(type.rawValue.utf8)
    var names = [base] + (2...9).map { base + Array("_\($0)".utf8) }
    if type == .address { names += addressParts.flatMap { [base + Array(".\($0)".utf8), Array($0.utf8)] } }
    if type == .address { names += (schema.columns ?? []).filter { $0.starts(with: "address.".utf8) && !names.contains($0) } }
    let given = (schema.columns ?? []) + schema.knownNames.filter { $0.starts(with: base) }.sorted { $0.lexicographicallyPrecedes($1) }
    var numbered: [(number: Int, name: [UInt8])] = []
    for column in given where column.starts(with: base) && !names.contains(column) {
      guard let number = UnboundColumns.number(in: column[...], of: type), !numbered.contains(where: { $0.name == column }) else {
        continue
      }
      numbered.append((number, column))
    }
    return names + numbered.sorted { $0.number < $1.number }.map(\.name)
  }

  /// Whether a column holds an address, and not a field or a part of an address.
  static func isWholeAddress(_ name: [UInt8], _ type: ContactFieldType) -> Bool {
    type == .address && name.starts(with: type.rawValue.utf8) && !name.contains(UInt8(ascii: "."))
  }

  /// Parts of an address that columns are called after.
  static let addressParts = ["street", "city", "region", "postal", "country"]

  /// Whether a record has a field of `type`; `isStrict`: one that is not empty.
  func has(_ type: ContactFieldType, _ record: Int, of batch: RecordBatch, isStrict: Bool, _ scratch: ByteBuffer) -> Bool {
    for column in columns where column.type == type {
      let field = batch.field(column.slot, of: record)
      if column.holds(field), !isStrict || !field.isHollow(in: batch) { return true }
    }
    if let unbound {
      for found in unbound.columns(record, of: batch, scratch) where found.type == type {
        if found.isField, !isStrict || !found.value.isHollow(in: batch) { return true }
      }
    }
    if type == .address {
      guard let addresses else { return false }
      let field = addresses.value(record, of: batch)
      guard field.kind == .array else { return false }
      var elements = JSONElements(of: field, in: UnsafePointer(batch.arena.base))
      while let element = elements.next() {
        if element.isField(isWholeAddress: true), !isStrict || !element.isHollow(in: batch) { return true }
      }
      return false
    }
    var entries = ListedFields(list, of: record, in: batch)
    while let entry = entries.next(scratch) {
      if entry.type == type, !isStrict || !entry.value.isHollow(in: batch) { return true }
    }
    return false
  }
}

/// The objects of a record's list `fields`, in order.
struct ListedFields {
  struct Entry {
    /// The object.
    var span: FieldSpan
    /// nil for what is no field: no object, or one without a type.
    var type: ContactFieldType?
    var value = FieldSpan.missing
    var label = FieldSpan.missing
  }
  private let batch: RecordBatch
  private var elements: JSONElements?

  /// - Parameter list: nil where no input has one.
  init(_ list: ListColumn?, of record: Int, in batch: RecordBatch) {
    self.batch = batch
    guard let list else { return }
    let field = list.value(record, of: batch)
    if field.kind == .array { elements = JSONElements(of: field, in: UnsafePointer(batch.arena.base)) }
  }

  /// The next element. Nothing may be appended to the arena while the list is walked.
  mutating func next(_ scratch: ByteBuffer) -> Entry? {
    guard let element = elements?.next() else { return nil }
    var entry = Entry(span: element)
    guard element.kind == .object else { return entry }
    let text = UnsafePointer(batch.arena.base)
    var members = JSONMembers(of: element, in: text)
    while let member = members.next() {
      let key = member.key(in: text, scratch: scratch)
      if Self.equals(key, "type") {
        entry.type = member.value.kind == .string ? Self.type(batch.text(of: member.value, scratch: scratch)) : nil
      } else if Self.equals(key, "value") {
        entry.value = member.value
      } else if Self.equals(key, "label") {
        entry.label = member.value
      }
    }
    return entry
  }

  private static func type(_ text: UnsafeBufferPointer<UInt8>) -> ContactFieldType {
    equals(text, "phone") ? .phone : equals(text, "email") ? .email : equals(text, "url") ? .url : .other
  }

  private static func equals(_ bytes: UnsafeBufferPointer<UInt8>, _ text: StaticString) -> Bool {
    bytes.count == text.utf8CodeUnitCount && memcmp(bytes.baseAddress!, text.utf8Start, bytes.count) == 0
  }
}

extension FieldSpan {
  /// There, and not null; it may be empty.
  @inline(__always) var isPresent: Bool { kind.rawValue > ValueKind.null.rawValue }

  /// Whether a ``Contact`` has a field by this value of a column, or an address by it: a text, number or truth value, empty or not; an address
  /// as a whole is a text or an object. What else stands there is a property.
  @inline(__always) func isField(isWholeAddress: Bool) -> Bool {
    switch kind {
    case .string: true
    case .number, .true, .false: !isWholeAddress
    case .object: isWholeAddress
    case .missing, .null, .array: false
    }
  }

  /// Blank, white space alone, or an empty list or object. An address whose parts are all empty is empty too.
  func isHollow(in batch: RecordBatch) -> Bool {
    if isBlank { return true }
    switch kind {
    case .string:
      if encoding == .plain { return batch.bytes(of: self).allSatisfy { $0 <= 0x20 } }
      let scratch = ByteBuffer()
      return withExtendedLifetime(scratch) { batch.text(of: self, scratch: scratch).allSatisfy { $0 <= 0x20 } }
    case .array:
      var elements = JSONElements(of: self, in: UnsafePointer(batch.arena.base))
      return elements.next() == nil
    case .object:
      var members = JSONMembers(of: self, in: UnsafePointer(batch.arena.base))
      while let member = members.next() {
        if !member.value.isHollow(in: batch) { return false }
      }
      return true
    default: return false
    }
  }
}
