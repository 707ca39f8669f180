import OhanaCore
import OhanaTestSupport
import Testing

@Suite("Contacts") struct ContactTests {
  static let full = Contact(
    fullName: "Ann Lee", firstName: "Ann", lastName: "Lee", company: "Acme", title: "Dr", department: "R&D", image: "a.png",
    fields: [
      ContactField(.phone, "1", label: "home", source: "a", tags: ["x"], properties: ["phone.e164": "+1"]),
      ContactField(.email, "e"),
    ],
    addresses: [PostalAddress(label: "home", street: "1 Main St\nFlat 2", city: "Bath", country: "GB", source: "a")],
    tags: ["x", "y"], properties: ["stats.fields": 2, "deep": ["a": [1, .null, "t"]]])

  struct Difference: Sendable, CustomTestStringConvertible {
    let rule: String
    let change: @Sendable (inout Contact) -> Void
    var testDescription: String { rule }
  }
  static let differences = [
    Difference(rule: "full name") { $0.fullName = nil }, Difference(rule: "first null vs \"\"") { $0.firstName = "" },
    Difference(rule: "last") { $0.lastName = "lee" }, Difference(rule: "company") { $0.company = nil },
    Difference(rule: "title") { $0.title = "Mr" }, Difference(rule: "department") { $0.department = "" },
    Difference(rule: "photo in one byte") { $0.image = "a.pnG" }, Difference(rule: "order of fields") { $0.fields.reverse() },
    Difference(rule: "one field less") { $0.fields.removeLast() }, Difference(rule: "type of a field") { $0.fields[0].type = .url },
    Difference(rule: "label of a field") { $0.fields[0].label = "work" }, Difference(rule: "value of a field") { $0.fields[0].value = "2" },
    Difference(rule: "source of a field") { $0.fields[0].source = "b" }, Difference(rule: "tags of a field") { $0.fields[0].tags = [] },
    Difference(rule: "a property of a field") { $0.fields[0].properties["phone.e164"] = "+2" },
    Difference(rule: "label of an address") { $0.addresses[0].label = "work" },
    Difference(rule: "street") { $0.addresses[0].street = "1 Main St Flat 2" }, Difference(rule: "city") { $0.addresses[0].city = nil },
    Difference(rule: "region") { $0.addresses[0].region = "" }, Difference(rule: "postal code") { $0.addresses[0].postal = "1" },
    Difference(rule: "country") { $0.addresses[0].country = "UK" },
    Difference(rule: "source of an address") { $0.addresses[0].source = nil },
    Difference(rule: "tags") { $0.tags.remove("x") },
    Difference(rule: "a property deep down") { $0.properties["deep"] = ["a": [1, .null, "u"]] },
    Difference(rule: "a property more") { $0.properties["new"] = .null },
    Difference(rule: "é as one character or as two") { $0.lastName = "Le\u{301}e" },
  ]

  @Test("O-15 EQ: takes part in equality, both ways", arguments: differences) func differs(_ difference: Difference) {
    var other = Self.full
    if difference.rule.hasPrefix("é") {
      var composed = Self.full
      composed.lastName = "L\u{e9}e"
      difference.change(&other)
      #expect(composed != other)
      #expect(other != composed)
      return
    }
    difference.change(&other)
    #expect(other != Self.full)
    #expect(Self.full != other)
    #expect(!other.isEqual(to: Self.full))
  }

  @Test("O-15 EQ: equal are nulls, an absent list and an empty one, tags and members in any order") func equals() throws {
    #expect(Contact() == Contact(fields: []))
    #expect(try Contact(json: #"{"full_name":null}"#) == Contact(json: #"{"fields":[],"addresses":[]}"#))
    #expect(try Contact(json: #"{"tags":["x","y"]}"#) == Contact(json: #"{"tags":"y;x"}"#))
    #expect(try Contact(json: #"{"tags":["\u00e9"]}"#) != Contact(json: #"{"tags":["e\u0301"]}"#), "texts byte for byte, tags too")
    #expect(try Contact(json: #"{"a":1,"b":2}"#) == Contact(json: #"{"b":2,"a":1}"#))
    #expect(try Contact(json: #"{"a":1.10}"#) != Contact(json: #"{"a":1.1}"#))
    #expect(Self.full == Self.full)
    #expect(Self.full.hashValue == ContactTests.full.hashValue)
  }

  @Test("O-16 EQ: the same phone from two sources is equal only where provenance does not count") func looseEquality() {
    let a = Contact(fields: [ContactField(.phone, "1", source: "a")], tags: ["t"])
    var b = Contact(fields: [ContactField(.phone, "1", source: "b", tags: ["t"])])
    #expect(!a.isEqual(to: b))
    #expect(!a.isEqual(to: b, ignoring: .source))
    #expect(a.isEqual(to: b, ignoring: [.source, .tags]))
    b.properties["source.id"] = "7"
    #expect(!a.isEqual(to: b, ignoring: [.source, .tags]))
    #expect(a.isEqual(to: b, ignoring: .provenance))
    b.fields[0].value = "2"
    #expect(!a.isEqual(to: b, ignoring: .provenance))
  }

  @Test("O-13 O-14 COPY: a copy equals its original, is as writable, and its changes never show there") func copies() {
    let original = Self.full
    var copy = original
    copy.tags.insert("z")
    copy.properties["p"] = 1
    copy.fields[0].tags.insert("z")
    copy.fields[0].properties["p"] = 1
    copy.addresses[0].tags.insert("z")
    #expect(original == Self.full)
    #expect(copy != original)
    #expect(original.fields[0].tags == ["x"] && original.addresses[0].tags.isEmpty)
    var rows = original.fields.map { field in
      var row = original
      row.fields = [field]
      return row
    }
    rows[0].tags.insert("first")
    #expect(!rows[1].tags.contains("first"))
  }

  @Test("O-05: columns and lists are read alike, columns first, by type and number") func readsColumnsAndLists() throws {
    let contact = try Contact(
      json:
        #"{"email":"e1","phone_2":"p2","phone":"p1","phone_10":"p10","phone_3":null,"fields":[{"type":"phone","label":"home","value":"p11"},7,{"type":"fax","value":"f"},{"value":"x"}],"street":"1 Main","country":"GB","phone_02":"q"}"#
    )
    #expect(contact.phones == ["p1", "p2", "p10", "p11"])
    #expect(contact.fields.map(\.value) == ["p1", "p2", "p10", "e1", "p11", "f"])
    #expect(contact.fields.last?.type == .other && contact.fields.last?.typeName == "fax")
    #expect(contact.addresses == [PostalAddress(street: "1 Main", country: "GB")])
    #expect(contact.properties == ["phone_02": "q"])
  }

  @Test(
    "O-05: a text that is a JSON array is that list, as a cell of CSV holds one",
    arguments: [
      ("fields", #"[{"type":"phone","label":"home","value":"1"},7,{"type":"fax","value":"é\"\\"}]"#), ("fields", " [ ] "),
      ("addresses", #"[{"city":"C","label":"w"},"Main St"]"#), ("tags", #"["a;b","c"]"#),
    ]) func readsListsInTexts(name: String, list: String) throws
  {
    let record = try Members(json: "{\"x\":1,\"\(name)\":\(list)}")
    let text = Members([(name: "x", value: 1), (name: name, value: .string(list))])
    let contact = Contact(text)
    #expect(contact == Contact(record))
    #expect(contact.record == text, "as it was")
    #expect(list == " [ ] " || contact != Contact(["x": 1]))
  }

  @Test("O-05: addresses that are texts stand in a cell with semicolons between them; what only looks like a list is a property")
  func readsTextsOfAddresses() throws {
    let streets = Contact(["addresses": "Main St 1;Oak 2"])
    #expect(streets.addresses == [PostalAddress(street: "Main St 1"), PostalAddress(street: "Oak 2")])
    #expect(Contact(["addresses": ""]).addresses.isEmpty)
    for name in ["fields", "addresses"] {
      for text in ["[{", "{\"type\":\"phone\"}", "[1] x"] {
        let contact = Contact(Members([(name: name, value: .string(text))]))
        #expect(contact.fields.isEmpty && contact.addresses.isEmpty && contact.properties[name] == .string(text))
      }
    }
    #expect(Contact(["fields": "a;b"]).properties == ["fields": "a;b"])
  }

  struct Edit: Sendable, CustomTestStringConvertible {
    let rule: String, before: String, after: String
    let change: @Sendable (inout Contact) -> Void
    var testDescription: String { rule }
  }
  static let edits = [
    Edit(
      rule: "what is not changed keeps its place, its kind and its spelling",
      before: #"{"b":1.10,"phone":49,"last":null,"fields":[],"first":"A"}"#,
      after: #"{"b":1.10,"phone":49,"last":null,"fields":[],"first":"B"}"#
    ) { $0.firstName = "B" },
    Edit(
      rule: "plain fields stay in columns, the next free number for one more", before: #"{"phone":"1","phone_3":null,"email":"e","x":1}"#,
      after: #"{"phone":"1","phone_3":"2","email":"e","x":1}"#
    ) { $0.fields.insert(ContactField(.phone, "2"), at: 1) },
    Edit(
      rule: "one more takes the next free number, one less leaves a null", before: #"{"phone":"1","phone_3":"3","email":"e"}"#,
      after: #"{"phone":"1","phone_2":"2","phone_3":"3","email":null}"#
    ) { $0.fields = [ContactField(.phone, "1"), ContactField(.phone, "2"), ContactField(.phone, "3")] },
    Edit(
      rule: "a field with a label does not fit into columns", before: #"{"phone":"1","x":1}"#,
      after: #"{"fields":[{"type":"phone","value":"1"},{"type":"phone","label":"home","value":"2"}],"x":1}"#
    ) { $0.fields.append(ContactField(.phone, "2", label: "home")) },
    Edit(
      rule: "entries of a list that did not change are written as they were",
      before: #"{"fields":[{"value":"1","type":"phone","ok":true},5,{"type":"url","value":"u"}]}"#,
      after: #"{"fields":[{"value":"1","type":"phone","ok":true},{"type":"email","value":"e"},5]}"#
    ) { $0.fields[1] = ContactField(.email, "e") },
    Edit(
      rule: "a list in a text becomes a list, its other entries as they were",
      before: #"{"fields":"[{\"value\":\"1\",\"type\":\"phone\"},5]","addresses":"a;b"}"#,
      after: #"{"fields":[{"value":"1","type":"phone"},{"type":"email","value":"e"},5],"addresses":["a"]}"#
    ) {
      $0.fields.append(ContactField(.email, "e"))
      $0.addresses.removeLast()
    },
    Edit(rule: "an address in columns", before: #"{"street":"1","city":"B"}"#, after: #"{"street":"2","city":null}"#) {
      $0.addresses = [PostalAddress(street: "2")]
    },
    Edit(
      rule: "a second address needs the list", before: #"{"street":"1"}"#,
      after: #"{"addresses":[{"street":"1"},{"label":"w","street":"2"}]}"#
    ) {
      $0.addresses.append(PostalAddress(label: "w", street: "2"))
    },
    Edit(rule: "tags keep their order", before: #"{"tags":["z","a","m"]}"#, after: #"{"tags":["z","m","b"]}"#) {
      $0.tags = ["m", "b", "z"]
    },
    Edit(
      rule: "what is no tag in the list of tags stays, and a number stays one", before: #"{"tags":["vip",7,{"k":1}]}"#,
      after: #"{"tags":["vip",7,{"k":1},"new"]}"#
    ) { $0.tags.insert("new") },
    Edit(
      rule: "a property whose name is a column's makes room", before: #"{"id":1,"phone":"+1","street":"M"}"#,
      after: #"{"id":1,"phone":"+1","street":"M","properties":{"phone":["work"],"street":{"a":1}}}"#
    ) { ($0.properties["phone"], $0.properties["street"]) = (["work"], ["a": 1]) },
    Edit(
      rule: "a member hides a property of its name, wherever the object stands", before: #"{"id":"1","first":"A","properties":{"id":"2"}}"#,
      after: #"{"id":"1","first":"B","properties":{"id":"2"}}"#
    ) { $0.firstName = "B" },
    Edit(rule: "properties", before: #"{"a":1,"properties":{"k":2,"l":3}}"#, after: #"{"properties":{"k":2,"l":4},"c":5}"#) {
      $0.properties = ["k": 2, "l": 4, "c": 5]
    },
  ]
  @Test("O-05 O-12: a changed contact becomes a record again", arguments: edits) func writes(_ edit: Edit) throws {
    var contact = try Contact(json: edit.before)
    edit.change(&contact)
    let written = try Contact(json: contact.record.json)
    let isKept = written == contact
    #expect(isKept, "\(written.record.json)")
    // Places of new columns are not promised, names and values are.
    #expect(try contact.record == Members(json: edit.after))
    if !edit.rule.contains("next free number") { #expect(contact.record.json == edit.after) }
  }

  @Test("O-05: any record survives being made a contact, byte for byte", arguments: 0..<300) func roundTrips(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let record = RandomRecord.make(&random)
    #expect(Contact(record).record.json == record.json)
    #expect(try Members(json: record.json).json == record.json)
  }

  @Test("O-05: any change of a contact made of any record is in its record", arguments: 0..<600) func changesSurvive(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed &+ 1_000)
    let before = RandomRecord.make(&random).json
    var contact = try Contact(json: before)
    for _ in 0..<Int.random(in: 1...4, using: &random) { RandomRecord.change(&contact, &random) }
    let again = Contact(contact.record)
    let isSame = again == contact
    #expect(isSame, "\(before) became \(contact.record.json)")
    #expect(Contact(again.record).record.json == contact.record.json)
  }

  @Test(
    "text that is no object is refused with its place", arguments: [("[1]", "not-an-object"), ("{", "invalid-json"), ("", "invalid-json")])
  func refuses(_ text: String, _ code: String) {
    #expect { try Contact(json: text) } throws: { ($0 as? OhanaError)?.code == code }
  }
}

/// Records of every shape, with names that mean something to contacts and names that do not.
enum RandomRecord {
  static let names = [
    "first", "last", "full_name", "company", "image", "phone", "phone_2", "phone_3", "email", "email_2", "url", "other", "fields",
    "addresses",
    "address", "address_2", "address.city", "address_2.street", "street", "city", "country", "tags", "properties", "x", "stats.phones",
    "phone_1",
    "phone_x", "", "é", "e\u{301}",
  ]
  static let texts = ["", "a", "b;c", "é\"\n", "phone", "[", "{}", "[1,\"a\"]", #" [{"type":"phone","value":"1"},{"city":"c"}] "#]
  static func make(_ random: inout SeededGenerator) -> Members {
    var record = Members()
    for _ in 0..<Int.random(in: 0...9, using: &random) { record[names.randomElement(using: &random)!] = value(&random, depth: 0) }
    return record
  }
  static func value(_ random: inout SeededGenerator, depth: Int) -> Value {
    switch Int.random(in: 0..<(depth < 2 ? 11 : 5), using: &random) {
    case 0: return .null
    case 1: return .bool(Bool.random(using: &random))
    case 2: return .number(["1.10", "0", "-2e3", "4915112345678901234"].randomElement(using: &random)!)
    case 3...6: return .string(texts.randomElement(using: &random)!)
    case 7: return .array((0..<Int.random(in: 0...3, using: &random)).map { _ in value(&random, depth: depth + 1) })
    default:
      var members = Members()
      for _ in 0..<Int.random(in: 0...4, using: &random) {
        let name = (ContactField.names + ["street", "city", "q"] + names).randomElement(using: &random)!
        members[name] = value(&random, depth: depth + 1)
      }
      if Bool.random(using: &random) { members["type"] = .string(["phone", "email", "fax", "other"].randomElement(using: &random)!) }
      return Bool.random(using: &random) ? .object(members) : .array([.object(members), value(&random, depth: depth + 1)])
    }
  }
  static func change(_ contact: inout Contact, _ random: inout SeededGenerator) {
    let field = ContactField(
      [.phone, .email, .url, .other].randomElement(using: &random)!, "v", label: Bool.random(using: &random) ? "l" : nil)
    switch Int.random(in: 0..<10, using: &random) {
    case 0: contact.firstName = ["", "n", nil].randomElement(using: &random)!
    case 1: contact.fields.append(field)
    case 2: contact.fields.insert(field, at: 0)
    case 3: if !contact.fields.isEmpty { contact.fields.remove(at: 0) }
    case 4: contact.addresses.append(PostalAddress(street: "s", tags: Bool.random(using: &random) ? ["t"] : []))
    case 5: if !contact.addresses.isEmpty { contact.addresses[0].city = "c" }
    case 6: contact.tags.insert("new")
    case 7: contact.properties[(names + ["new", "type"]).randomElement(using: &random)!] = value(&random, depth: 0)
    case 8: contact.tags = Set(contact.tags.dropFirst() + ["é", "e\u{301}"].shuffled(using: &random).prefix(1))
    default: if let name = contact.properties.names.randomElement(using: &random) { contact.properties[name] = nil }
    }
  }
}

extension ContactField { fileprivate static let names = ["type", "label", "value", "source", "tags", "properties"] }
