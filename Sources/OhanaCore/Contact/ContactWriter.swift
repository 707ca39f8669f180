/// Makes the record of a contact: what it was made of, with the changes.
struct ContactWriter {
  private let contact: Contact
  private let origin: Members
  /// The contact as it was read.
  private let old: Contact
  private var out = Members()
  private var hasFields = false
  private var hasAddresses = false
  private var hasTags = false
  /// Properties whose names now belong to another part.
  private var hidden = Members()
  private var writtenProperties: Members = [:]
  private let changesFields: Bool
  private let changesAddresses: Bool

  init(_ contact: Contact) {
    self.contact = contact
    origin = contact.origin ?? [:]
    old = contact.origin.map { Contact($0) } ?? Contact()
    changesFields = contact.fields != old.fields
    changesAddresses = contact.addresses != old.addresses
  }

  func record() -> Members {
    var writer = self
    writer.write()
    return writer.out
  }

  private mutating func write() {
    for (name, value) in origin {
      switch Contact.Role(name, value) {
      case .text(let index):
        let path = Contact.texts[index].path
        let isSame = isSameText(contact[keyPath: path], old[keyPath: path])
        out[name] = isSame ? value : contact[keyPath: path].map { .string($0) } ?? .null
      case .column, .fields: if changesFields { writeFields() } else { out[name] = value }
      case .address, .addressPart, .barePart, .addresses: if changesAddresses { writeAddresses() } else { out[name] = value }
      case .tags:
        hasTags = true
        out[name] = isSameTags(contact.tags, old.tags) ? value : .array(mergedTags(value))
      case .properties: writeProperties(name, value)
      case .property: if let new = contact.properties[name] { writeProperty(name, new) }
      }
    }
    for text in Contact.texts where out[text.name] == nil {
      if let new = contact[keyPath: text.path] { out[text.name] = .string(new) }
    }
    if changesFields { writeFields() }
    if changesAddresses { writeAddresses() }
    if !hasTags, !contact.tags.isEmpty { out["tags"] = .array(contact.tags.sorted().map { .string($0) }) }
    writeNewProperties()
  }

  // MARK: Fields

  /// Columns if the record has them and they can hold the fields, otherwise the list.
  private mutating func writeFields() {
    guard !hasFields else { return }
    hasFields = true
    let columns = origin.filter { if case .column = Contact.Role($0.name, $0.value) { true } else { false } }
    if !columns.isEmpty, origin["fields"] == nil, contact.fields.allSatisfy(\.isPlain), isInColumnOrder { return writeColumns(columns) }
    var unused = listedElements
    var list: [Value] = []
    for field in contact.fields {
      // One that was there already is written as it was.
      if let index = unused.firstIndex(where: { ContactField($0) == field }) {
        list.append(unused.remove(at: index))
      } else {
        list.append(.object(field.members))
      }
    }
    // What is no field stays.
    list += unused.filter { ContactField($0) == nil }
    out["fields"] = .array(list)
  }

  private var listedElements: [Value] {
    origin["fields"]?.elements ?? []
  }

  private var isInColumnOrder: Bool {
    let places = contact.fields.map { ContactFieldType.listed.firstIndex(of: $0.type)! }
    return zip(places, places.dropFirst()).allSatisfy { $0 <= $1 }
  }

  private mutating func writeColumns(_ columns: [Members.Element]) {
    for type in ContactFieldType.listed {
      let values = contact.fields.filter { $0.type == type }.map(\.value)
      let before = columns.compactMap { column -> Int? in
        if case .column(type, let number) = Contact.Role(column.name, column.value) { number } else { nil }
      }.sorted()
      var numbers = before
      var next = 1
      while numbers.count < values.count {
        if !numbers.contains(next) { numbers.append(next) }
        next += 1
      }
      numbers.sort()
      for (index, number) in numbers.enumerated() {
        let name = number == 1 ? type.rawValue : "\(type.rawValue)_\(number)"
        if index < values.count {
          let same = origin[name].flatMap { isSameText($0.text, values[index]) ? $0 : nil }
          out[name] = same ?? .string(values[index])
        } else {
          out[name] = .null
        }
      }
    }
  }

  // MARK: Addresses

  /// The bare columns if they are all there was and can hold what there is, otherwise the list.
  private mutating func writeAddresses() {
    guard !hasAddresses else { return }
    hasAddresses = true
    let roles = origin.map { Contact.Role($0.name, $0.value) }
    let isBare = roles.contains { if case .barePart = $0 { true } else { false } }
    let isOther = roles.contains {
      switch $0 {
      case .address, .addressPart, .addresses: true
      default: false
      }
    }
    if isBare, !isOther, contact.addresses.count <= 1, contact.addresses.allSatisfy(\.isPlain) {
      for part in PostalAddress.parts {
        let new = contact.addresses.first.flatMap { $0[keyPath: part.path] }
        if let new {
          out[part.name] = origin[part.name].flatMap { isSameText($0.text, new) ? $0 : nil } ?? .string(new)
        } else if origin[part.name] != nil {
          out[part.name] = .null
        }
      }
      return
    }
    var unused = origin["addresses"].flatMap { Contact.addressElements(of: $0) } ?? []
    var list: [Value] = []
    for address in contact.addresses {
      if let index = unused.firstIndex(where: { PostalAddress($0) == address }) {
        list.append(unused.remove(at: index))
      } else {
        list.append(.object(address.members))
      }
    }
    list += unused.filter { PostalAddress($0) == nil }
    out["addresses"] = .array(list)
  }

  // MARK: Tags and properties

  /// Those that were there keep their order and spelling, as does what is no tag.
  private func mergedTags(_ value: Value) -> [Value] {
    let there = value.elements ?? Contact.tags(in: value).map { .string($0) }
    let kept = there.filter { value in value.text.map { text in contact.tags.contains { isSameText($0, text) } } ?? true }
    let new = contact.tags.filter { tag in !kept.contains { isSameText($0.text, tag) } }
    return kept + new.sorted().map { .string($0) }
  }

  /// The object `properties`, with those of its members that are still there.
  private mutating func writeProperties(_ name: String, _ value: Value) {
    guard case .object(let object) = value else { return }
    var kept = Members()
    for (name, value) in object {
      if Contact.isHidden(name, in: origin) {
        // Without that member it would come to light.
        if contact.properties[name] != nil { kept[name] = value }
      } else if let new = contact.properties[name] {
        kept[name] = new
        writtenProperties[name] = new
      }
    }
    out[name] = .object(kept)
  }

  private mutating func writeNewProperties() {
    var object: Members
    if case .object(let written)? = out["properties"] { object = written } else { object = [:] }
    for (name, value) in contact.properties where writtenProperties[name] == nil { writeProperty(name, value) }
    for (name, value) in hidden { object[name] = value }
    // One of the name `properties` itself has to make room.
    if !hidden.isEmpty, let own = contact.properties["properties"] { object["properties"] = own }
    if !hidden.isEmpty { out["properties"] = .object(object) }
  }

  /// Beside the other members, unless it would be taken for one of them, or stands in the way of one.
  private mutating func writeProperty(_ name: String, _ value: Value) {
    writtenProperties[name] = value
    if Contact.Role(name, value) == .property, !isTaken(name) { out[name] = value } else { hidden[name] = value }
  }

  private func isTaken(_ name: String) -> Bool {
    if let there = origin[name], Contact.Role(name, there) != .property { return true }
    // What the name would mean with a value of the right shape.
    return switch Contact.Role(name, .string("")) {
    case .text(let index): contact[keyPath: Contact.texts[index].path] != nil
    case .column: changesFields
    case .address, .addressPart, .barePart: changesAddresses
    case .tags: !contact.tags.isEmpty
    default:
      name == "fields" && changesFields || name == "addresses" && changesAddresses
    }
  }
}
