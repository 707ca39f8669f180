import Ohana
import OhanaTestSupport
import Testing

/// The library's names for stages whose behaviour is proved where the stages are; here: that they are those stages, and stream.
@Suite("Post-processors") struct PostProcessorTests {
  static let people = [
    #"{"id":"A","first":"Zoe","last":"adams","fields":[{"type":"phone","label":"home","value":"1"},{"type":"email","label":"home","value":"e"}]}"#,
    #"{"id":"B","first":"Al","last":"Adams","fields":[{"type":"email","value":"e"}]}"#,
    #"{"id":"C","first":"Bo","last":null,"fields":[{"type":"phone","label":"mobile","value":"555-5555555"}]}"#,
    #"{"id":"D","first":null,"last":"Young","addresses":[{"street":" "}]}"#,
    #"{"id":"E","first":"","last":"Adams","fields":[{"type":"phone","value":""}],"addresses":[]}"#,
  ]

  private func ids(_ processors: [any PostProcessor], threads: Int = 2) async throws -> String {
    let source = ContactsDataSource(
      dataProviders: [LinesProvider("p", Self.people)], postProcessors: processors, options: options { $0.threads = threads })
    return try await source.loadContacts().map { $0.properties["id"]!.text! }.joined(separator: " ")
  }

  @Test("REQ O-64 O-65: required fields and addresses", arguments: [1, 2, 8]) func required(threads: Int) async throws {
    #expect(try await ids([RequiredFieldPostProcessor(.email)], threads: threads) == "A B")
    #expect(try await ids([RequiredFieldPostProcessor(.phone)], threads: threads) == "A C E")
    #expect(try await ids([RequiredFieldPostProcessor(.phone, nonempty: true)], threads: threads) == "A C")
    #expect(try await ids([RequiredPostalAddressPostProcessor()], threads: threads) == "D")
  }

  /// A value for a name, of any kind.
  private static func value(_ random: inout SeededGenerator, depth: Int = 0) -> String {
    let plain = ["null", "true", "false", "7", "\"\"", "\" \"", "\"1\"", "\"a;b\"", "\"[1,\\\"x\\\"]\"", "[]", "{}"]
    guard depth < 2, Int.random(in: 0..<3, using: &random) == 0 else { return plain.randomElement(using: &random)! }
    let names = ["type", "value", "city", "label", "phone"]
    var members: [String] = []
    for name in names where Bool.random(using: &random) { members.append("\"\(name)\":\(value(&random, depth: depth + 1))") }
    if Bool.random(using: &random) { members.append("\"type\":\"\(["phone", "email", "fax"].randomElement(using: &random)!)\"") }
    let object = "{" + members.joined(separator: ",") + "}"
    return [object, "[\(object)]", "[\(value(&random, depth: depth + 1)),\(object)]"].randomElement(using: &random)!
  }

  private static let oddPeople = [
    #"{"phone":["1"]}"#, #"{"phone":{"x":1}}"#, #"{"phone":[]}"#, #"{"phone":1}"#, #"{"phone":false}"#, #"{"phone":""}"#,
    #"{"phone":null}"#,
    #"{"address":7}"#, #"{"address":["x"]}"#, #"{"address":{}}"#, #"{"address":""}"#, #"{"addresses":[1]}"#, #"{"addresses":[null,""]}"#,
    #"{"addresses":"a;b"}"#, #"{"city":["x"]}"#, #"{"address.city":{}}"#, #"{"address_2.city":7}"#, #"{"phone":["1"],"phone_2":"2"}"#,
    #"{"fields":"[{\"type\":\"phone\"}]"}"#, #"{"fields":{"type":"phone"}}"#, #"{"fields":[{"type":["phone"]}]}"#,
  ]

  @Test("O-64 O-65 O-66 O-67 O-86: filters, processors and contacts agree on what a field of a type is", arguments: 0..<8)
  func presence(seed: UInt64) async throws {
    var random = SeededGenerator(seed: seed)
    let names = [
      "phone", "phone_2", "phone_9", "email", "email_3", "url", "other", "address", "address_2", "address.city", "address_3.street", "city",
      "country", "fields", "addresses", "phone_12", "address_12", "address_12.city", "x",
    ]
    var people = Self.oddPeople
    for _ in 0..<400 {
      var members: [String] = []
      for name in names where Int.random(in: 0..<9, using: &random) == 0 { members.append("\"\(name)\":\(Self.value(&random))") }
      people.append("{" + members.joined(separator: ",") + "}")
    }
    func load(_ people: [String], _ processors: [any PostProcessor]) async throws -> [Contact] {
      try await ContactsDataSource(
        dataProviders: [LinesProvider("p", people)], postProcessors: processors, options: options { $0.optional = .all }
      ).loadContacts()
    }
    let all = try await load(people, [])
    #expect(all.count == people.count)
    for type in ContactFieldType.allCases {
      let having = all.filter { $0.has(type) }.map(\.id)
      #expect(!having.isEmpty && having.count < all.count)
      #expect(try await load(people, [RequiredFieldPostProcessor(type)]).map(\.id) == having, "\(type)")
      let selection = Selection(filters: [RequiredFieldSelectionFilter(type)])
      selection.select(all)
      #expect(selection.contacts.map(\.id) == having, "\(type)")
    }
    let counted = try await load(people, [StatisticsPostProcessor()])
    for (before, after) in zip(all, counted) {
      #expect(after.properties["stats.fields"] == .number("\(before.fields.count)"), "\(before.record.json)")
      #expect(after.properties["stats.phones"] == .number("\(before.phones.count)"))
    }
    // A split has to be told of high numbers.
    let low = people.filter { !$0.contains("_12") }
    for type in [ContactFieldType.phone, .email, .url, .other] {
      let values = try await load(low, []).flatMap { $0.fields(of: type).map(\.value) }
      let rows = try await load(low, [SplitOnFieldTypePostProcessor(type)])
      #expect(rows.allSatisfy { $0.fields.count == 1 && $0.fields[0].type == type }, "\(type)")
      #expect(rows.map { $0.fields[0].value } == values, "\(type)")
    }
  }

  @Test(
    "O-15: distinct compares records as they are written, and == compares contacts",
    arguments: [
      // Written in one way: the same relation.
      (#"{"first":"A","last":null}"#, #"{"first":"A"}"#, true, true),
      (#"{"fields":[],"tags":["a","b"]}"#, #"{"tags":["b","a"]}"#, true, true),
      (#"{"phone":"1","email":"e"}"#, #"{"email":"e","phone":"1"}"#, true, true), (#"{"first":""}"#, "{}", false, false),
      (#"{"tags":["\u00e9"]}"#, #"{"tags":["e\u0301"]}"#, false, false), (#"{"x":{"a":1,"b":2}}"#, #"{"x":{"b":2,"a":1}}"#, true, true),
      // In two ways, and properties of nothing: not the same.
      (#"{"phone":"1"}"#, #"{"fields":[{"type":"phone","value":"1"}]}"#, true, false),
      (#"{"tags":"a;b"}"#, #"{"tags":["b","a"]}"#, true, false),
      (#"{"phone":1}"#, #"{"phone":"1"}"#, true, false), (#"{"x":null}"#, "{}", false, true), (#"{"x":[]}"#, "{}", false, true),
    ]) func equality(a: String, b: String, isSameContact: Bool, isSameRecord: Bool) async throws
  {
    let isEqual = try Contact(json: a) == Contact(json: b)
    #expect(isEqual == isSameContact)
    let source = ContactsDataSource(
      dataProviders: [LinesProvider("p", [a, b])], postProcessors: [try StagePostProcessor("distinct")])
    #expect(try await source.loadContacts().count == (isSameRecord ? 1 : 2))
  }

  @Test("SORT REV O-61 O-63: three modes, missing names last, and all of it reversed", arguments: [1, 2, 8])
  func sorts(threads: Int) async throws {
    #expect(try await ids([AlphabeticalSortPostProcessor(.lastName)], threads: threads) == "B E D A C")
    #expect(try await ids([AlphabeticalSortPostProcessor(.firstName)], threads: threads) == "B C A E D")
    #expect(try await ids([AlphabeticalSortPostProcessor(.fullName)], threads: threads) == "A B C D E", "nobody has one")
    #expect(try await ids([AlphabeticalSortPostProcessor(.lastName), ReverseOrderPostProcessor()], threads: threads) == "C A D E B")
  }

  @Test("STAT PHONE O-67 O-68: counts and formats are properties") func properties() async throws {
    let source = ContactsDataSource(
      dataProviders: [LinesProvider("p", Self.people)],
      postProcessors: [
        StatisticsPostProcessor(), PhoneNumberFormattingPostProcessor([.e164, .national], region: PhoneRegion("US".utf8)),
      ])
    let contacts = try await source.loadContacts()
    #expect(contacts[0].properties["stats.fields"] == 2 && contacts[0].properties["stats.has_mobile"] == false)
    #expect(contacts[2].properties["stats.has_mobile"] == true && contacts[3].properties["stats.fields"] == 0)
    let phone = contacts[2].fields[0]
    #expect(phone.value == "555-5555555")
    #expect(phone.properties == ["phone.e164": "+15555555555", "phone.national": "(555) 555-5555"])
    #expect(contacts[1].fields[0].properties.isEmpty && contacts[4].fields[0].properties.isEmpty)
    #expect(PhoneFormats([.e164, .national]).rawValue == 1 + 4 && PhoneFormats(rawValue: 2 + 8) == [.international, .rfc3966])
  }

  @Test("SPLIT O-66: one contact for each field of the type, with no other field and all else", arguments: [1, 2, 8])
  func split(threads: Int) async throws {
    #expect(try await ids([SplitOnFieldTypePostProcessor(.phone)], threads: threads) == "A C E")
    #expect(try await ids([SplitOnFieldTypePostProcessor(.url)], threads: threads) == "")
    #expect(try await ids([SplitOnFieldTypePostProcessor(.email), AlphabeticalSortPostProcessor(.firstName)], threads: threads) == "B A")
  }

  @Test("O-90: fuzzy search is a processor, too", arguments: [1, 2, 8]) func match(threads: Int) async throws {
    #expect(try await ids([StagePostProcessor("match", "555")], threads: threads) == "C")
    #expect(try await ids([StagePostProcessor("match", "E")], threads: threads) == "A B")
    #expect { try StagePostProcessor("match", "") } throws: { ($0 as? OhanaError)?.category == .usage }
  }

  @Test("O-69 O-70 O-71: a composite without children is a mistake of the caller") func noChildren() async {
    await #expect(processExitsWith: .failure) { _ = AndPostProcessor([]) }
    await #expect(processExitsWith: .failure) { _ = OrPostProcessor([]) }
    await #expect(processExitsWith: .failure) { _ = XorPostProcessor([]) }
  }

  @Test("AND OR XOR O-69 O-70 O-71 O-72: composites, of chains and of composites", arguments: [1, 2, 8]) func composites(threads: Int)
    async throws
  {
    let phone = RequiredFieldPostProcessor(.phone)
    let email = RequiredFieldPostProcessor(.email)
    let address = RequiredPostalAddressPostProcessor()
    #expect(try await ids([AndPostProcessor([phone, email])], threads: threads) == "A")
    #expect(try await ids([AndPostProcessor([phone, address])], threads: threads) == "")
    #expect(try await ids([OrPostProcessor([email, phone])], threads: threads) == "A B C E")
    #expect(try await ids([OrPostProcessor([email, phone], order: .branch)], threads: threads) == "A B C E")
    #expect(try await ids([OrPostProcessor([phone, email], order: .branch)], threads: threads) == "A C E B")
    #expect(try await ids([XorPostProcessor([phone, email])], threads: threads) == "C E B")
    #expect(try await ids([XorPostProcessor([phone, phone, address])], threads: threads) == "D", "all children count")
    let sorted = ChainPostProcessor([phone, AlphabeticalSortPostProcessor(.lastName)])
    #expect(try await ids([AndPostProcessor([sorted, OrPostProcessor([phone, address])])], threads: threads) == "E A C")
    #expect(try await ids([ChainPostProcessor([phone, ReverseOrderPostProcessor()])], threads: threads) == "E C A")
  }

  @Test("O-73: expressions, keys with a kind, and any stage by its name") func others() async throws {
    #expect(try await ids([FilterPostProcessor("last = 'Adams'")]) == "B E")
    #expect(try await ids([DedupePostProcessor(by: "last", kind: .fold, keep: .last)]) == "C D E")
    #expect(try await ids([StagePostProcessor("limit", "2")]) == "A B")
    #expect { try StagePostProcessor("limt", "2") } throws: { "\($0)".contains("did you mean limit") }
    #expect { try FilterPostProcessor("last =") } throws: { ($0 as? OhanaError)?.category == .usage }
    await #expect { try await ids([DedupePostProcessor(by: "emial")]) } throws: { ($0 as? OhanaError)?.code == "unknown-field" }
  }
}
