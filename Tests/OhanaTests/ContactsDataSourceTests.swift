import Foundation
import Ohana
import OhanaTestSupport
import Synchronization
import Testing

@Suite("Data sources") struct ContactsDataSourceTests {
  private let log = Listener()

  static let family = """
    {"first":"Marge","last":"Simpson","image":"marge.png"}
    {"first":"Mom","last":null,"image":"mom.png"}
    {"first":"Wednesday","last":"Addams","image":"wednesday.png"}
    {"first":"Homer","last":"Simpson","image":"homer.png"}
    {"first":"Maggie","last":"Simpson","image":null}
    {"first":"Morticia","last":"Addams","image":"morticia.png"}
    {"first":"Gomez","last":"Addams","image":"gomez.png"}
    {"first":"Bae","last":null,"image":null}

    """

  @Test("ACC O-40 O-42: the article's example, in memory and with little of it, with 1, 2 and 8 threads", arguments: [1, 2, 8])
  func article(threads: Int) async throws {
    let folder = try Workdir()
    try folder.write("family.ndjson", Self.family)
    let source = ContactsDataSource(
      dataProviders: [FileDataProvider(FilePath(folder.path("family.ndjson")))],
      postProcessors: [RequiredFieldPostProcessor(names: ["first", "last", "image"]), AlphabeticalSortPostProcessor(.lastName)],
      options: options {
        $0.threads = threads; $0.memory = 1 << 20
      })
    #expect(try await source.firstNames() == ["Gomez", "Morticia", "Wednesday", "Homer", "Marge"])
    #expect(source.status == .ready)
    #expect(try await source.loadContacts().map(\.image) == ["gomez", "morticia", "wednesday", "homer", "marge"].map { $0 + ".png" })
  }

  @Test("PROV O-20 O-21 O-22 O-43: statuses change before signals fire, and ready fires once, last") func statuses() async throws {
    let providers = [LinesProvider("one", ndjson(["a", "b"])), LinesProvider("two", ndjson(["c"]))]
    let source = ContactsDataSource(dataProviders: providers)
    log.watch(source)
    #expect(source.status == .initialized)
    #expect(source.providerStatuses == [.initialized, .initialized])
    #expect(source.loadedContacts == nil)
    #expect(source.selection.count == 0)
    #expect(try await source.firstNames() == ["a", "b", "c"])
    #expect(log.all == ["finished one 2+0 loaded", "finished two 1+0 loaded", "ready ready"])
    #expect(source.providerStatuses == [.loaded, .loaded])
  }

  @Test("MULTI O-31: providers give in declared order, whoever is ready first, with 1, 2 and 8 threads", arguments: [1, 2, 8])
  func order(threads: Int) async throws {
    let slow = LinesProvider("slow", ndjson(["a1", "a2"]), delay: 20_000)
    let fast = LinesProvider("fast", ndjson(["b1", "b2"]))
    let source = ContactsDataSource(dataProviders: [slow, fast], options: options { $0.threads = threads })
    let contacts = try await source.loadContacts()
    #expect(contacts.map(\.firstName) == ["a1", "a2", "b1", "b2"])
    #expect(contacts.map(\.id) == [("slow", 0), ("slow", 1), ("fast", 0), ("fast", 1)].map { ContactID(source: $0.0, ordinal: $0.1) })
  }

  @Test("MULTI O-31: with interleave contacts come as they arrive, and who is ready first is finished first", arguments: [1, 2, 8])
  func arrival(threads: Int) async throws {
    let gate = DispatchSemaphore(value: 0)
    let slow = GatedProvider("slow", ndjson(["a1", "a2"]), gate)
    let fast = LinesProvider("fast", ndjson(["b1", "b2"]))
    let source = ContactsDataSource(
      dataProviders: [slow, fast],
      options: options {
        $0.threads = threads; $0.interleave = true
      })
    log.watch(source)
    source.onProviderFinished.observe(log) { _, report in if report.provider.identifier == "fast" { gate.signal() } }
    let contacts = try await source.loadContacts()
    #expect(contacts.map(\.firstName) == ["b1", "b2", "a1", "a2"])
    #expect(contacts.map(\.id) == [("fast", 0), ("fast", 1), ("slow", 0), ("slow", 1)].map { ContactID(source: $0.0, ordinal: $0.1) })
    #expect(log.all == ["finished fast 2+0 loaded", "finished slow 2+0 loaded", "ready ready"])
    #expect(source.providerStatuses == [.loaded, .loaded])
  }

  @Test("MULTI O-21 O-31: with interleave a run that is cancelled does not wait for those that are silent") func cancelled() async throws {
    let gate = DispatchSemaphore(value: 0)
    defer { gate.signal() }
    let source = ContactsDataSource(
      dataProviders: [GatedProvider("silent", ndjson(["a"]), gate), LinesProvider("fast", ndjson(["b"]))],
      options: options { $0.interleave = true })
    log.watch(source)
    let finished = DispatchSemaphore(value: 0)
    source.onProviderFinished.observe(log) { _, _ in finished.signal() }
    let load = Task { try await source.loadContacts() }
    await withCheckedContinuation { continuation in
      DispatchQueue.global().async {
        finished.wait()
        continuation.resume()
      }
    }
    load.cancel()
    await #expect(throws: OhanaError.self) { try await load.value }
    #expect(source.status == .cancelled && source.providerStatuses == [.cancelled, .loaded])
  }

  /// Gives nothing before its gate has been opened.
  private struct GatedProvider: DataProvider {
    let identifier: String
    let lines: [String]
    let gate: DispatchSemaphore
    init(_ identifier: String, _ lines: [String], _ gate: DispatchSemaphore) {
      (self.identifier, self.lines, self.gate) = (identifier, lines, gate)
    }
    func open() throws -> ProviderContent {
      .stream(
        ProviderStream { [lines, gate] text in
          gate.wait()
          text.append(string: lines.map { $0 + "\n" }.joined())
          return false
        })
    }
  }

  @Test("MULTI O-31 O-32: CSV, NDJSON and providers of one's own stand beside one another, in declared order", arguments: [1, 2, 8])
  func formatsBesideOneAnother(threads: Int) async throws {
    let folder = try Workdir()
    try folder.write("a.csv", "first,phone,phone_12,note\n\"Ann\n\"\"x\"\"\",007,1,\nBob,,,\"\"\n")
    try folder.write("b.ndjson", "{\"first\":\"Cy\",\"phone\":\"2\"}\n")
    try folder.write("c.tsv", "last\tfirst\n" + (0..<20_000).map { "L\tn\($0)\n" }.joined())
    let source = ContactsDataSource(
      dataProviders: [
        FileDataProvider(FilePath(folder.path("a.csv"))), FileDataProvider(FilePath(folder.path("b.ndjson"))),
        LinesProvider("rows", ["first,email", "Di,d@x"]), ContactsProvider("made") { [Contact(firstName: "Ed")] },
        FileDataProvider(FilePath(folder.path("c.tsv"))),
      ],
      options: options {
        $0.threads = threads; $0.memory = 16 << 20
      })
    log.watch(source)
    let contacts = try await source.loadContacts()
    #expect(contacts.map(\.firstName) == ["Ann\n\"x\"", "Bob", "Cy", "Di", "Ed"] + (0..<20_000).map { "n\($0)" })
    #expect(contacts[0].phones == ["007", "1"] && contacts[1].properties == ["note": ""] && contacts[3].emails == ["d@x"])
    #expect(contacts.last?.lastName == "L" && contacts.last?.id?.ordinal == 19_999)
    #expect(log.all.last == "ready ready" && log.all.count == 6)
  }

  @Test("MULTI O-31: a CSV record that cannot be read is told of where it stands, or counted, beside NDJSON too") func badRowBeside()
    async throws
  {
    let folder = try Workdir()
    try folder.write("a.csv", "first,x\nAnn,1\nBob,2,3\nCy,4\n")
    let files: [any DataProvider] = [FileDataProvider(FilePath(folder.path("a.csv")), identifier: "a"), LinesProvider("b", ndjson(["Di"]))]
    let strict = ContactsDataSource(dataProviders: files)
    log.watch(strict)
    await #expect { try await strict.loadContacts() } throws: { error in
      let text = "\(error)"
      return text.contains("a.csv:3:") && (error as? OhanaError)?.code == "too-many-cells"
    }
    #expect(log.all == ["provider failed a too-many-cells failed", "failed too-many-cells failed"])
    let lenient = ContactsDataSource(dataProviders: files, options: options { $0.maxRejects = .count(1) })
    #expect(try await lenient.loadContacts().map(\.firstName) == ["Ann", "Cy", "Di"])
    let books = try await lenient.run(into: KeepingSink())
    #expect(books.read == 4 && books.rejected == 1 && books.imbalance == nil)
  }

  @Test("RELOAD O-45 O-88: loading again gives the same, replaces what was loaded, fires ready once, and leaves the selection alone")
  func reload() async throws {
    let provider = LinesProvider("p", ndjson(["a", "b", "c"]))
    let source = ContactsDataSource(dataProviders: [provider], postProcessors: [ReverseOrderPostProcessor()])
    log.watch(source)
    let first = try await source.loadContacts()
    source.selection.select(first[1])
    _ = log.take()
    let second = try await source.loadContacts()
    #expect(first == second)
    #expect(first.map(\.id) == second.map(\.id))
    #expect(source.loadedContacts?.map(\.firstName) == ["c", "b", "a"])
    #expect(log.all == ["finished p 3+0 loaded", "ready ready"])
    #expect(provider.opens == 2)
    #expect(second.filter { source.selection.contains($0) }.map(\.firstName) == ["b"])
  }

  @Test("AUTH O-29: an undecided provider is asked for once, while its status is initialized; consent loads it") func consent() async throws
  {
    let provider = LinesProvider("p", ndjson(["a"]), access: .undecided)
    let source = ContactsDataSource(dataProviders: [provider])
    log.watch(source)
    source.authorise = { [log, unowned source] asked, retry in
      log.add("asked for \(asked.identifier) \(source.providerStatuses[0])")
      provider.access = .granted
      Task { retry() }
    }
    #expect(try await source.firstNames() == ["a"])
    #expect(log.take() == ["asked for p initialized", "finished p 1+0 loaded", "ready ready"])
    #expect(try await source.firstNames() == ["a"])
    #expect(log.take() == ["finished p 1+0 loaded", "ready ready"], "decided for good")
  }

  @Test("AUTH O-29: nobody waits for an answer when loading is cancelled, and the answer may come later") func cancelledQuestion() async {
    let source = ContactsDataSource(dataProviders: [LinesProvider("p", ndjson(["a"]), access: .undecided)])
    let held = Locked<AccessRetry?>(nil)
    let (asked, ask) = AsyncStream<Void>.makeStream()
    source.authorise = { _, retry in
      held.value = retry
      ask.finish()
    }
    let blamed = Locked(0)
    source.onProviderFailed.observe(source) { _, _ in blamed.value += 1 }
    let loading = Task { try await source.loadContacts() }
    for await _ in asked {}
    loading.cancel()
    let thrown = await #expect(throws: OhanaError.self) { try await loading.value }
    #expect(thrown?.code == "cancelled" && blamed.value == 0, "nobody refused anything")
    #expect(source.status == .cancelled)
    held.value?()
    held.value = nil
  }

  enum Refusal: CaseIterable { case said, forgotten, neverAsked, stillUndecided, denied }
  @Test(
    "AUTH O-23 O-29 O-30: a refusal of any kind ends in a failure with the code auth, before anything is read", arguments: Refusal.allCases)
  func refusals(_ kind: Refusal) async throws {
    let provider = LinesProvider("p", ndjson(["a"]), access: kind == .denied ? .denied : .undecided)
    let other = LinesProvider("other", ndjson(["b"]))
    let source = ContactsDataSource(dataProviders: [other, provider])
    log.watch(source)
    if kind != .neverAsked {
      source.authorise = { _, retry in
        switch kind {
        case .said:
          retry.refuse()
          retry()
        case .stillUndecided: retry()
        default: break
        }
      }
    }
    await #expect { try await source.loadContacts() } throws: { ($0 as? OhanaError)?.code == "auth" }
    #expect(log.all == ["provider failed p auth failed", "failed auth failed"])
    #expect(other.opens == 0 && provider.opens == 0)
    #expect(source.loadedContacts == nil)
  }

  @Test("O-23 O-44 PROV: what goes wrong with a provider is told of it, and of nobody else") func failures() async throws {
    struct Trouble: Error {}
    let folder = try Workdir()
    try folder.write("bad.ndjson", "{\"first\":\"a\"}\nnonsense\n")
    let good = LinesProvider("good", ndjson(["a"]))
    let cases: [(any DataProvider, String)] = [
      (FileDataProvider(FilePath(folder.path("absent.ndjson")), identifier: "x"), "not-found"),
      (FileDataProvider(FilePath(folder.path("bad.ndjson")), identifier: "x"), "invalid-json"),
      (FileDataProvider(FilePath(folder.path("*.csv")), identifier: "x"), "no-files"),
      (LinesProvider("x", ndjson(["b"]), failure: Trouble()), "provider-failed"),
      (LinesProvider("x", ndjson(["b"]) + ["{"]), "invalid-json"),
    ]
    for (provider, code) in cases {
      let source = ContactsDataSource(dataProviders: [good, provider])
      log.watch(source)
      await #expect("\(code)") { try await source.loadContacts() } throws: { ($0 as? OhanaError)?.code == code }
      let told = log.take().filter { !$0.hasPrefix("finished good") }
      #expect(told == ["provider failed x \(code) failed", "failed \(code) failed"])
      #expect(source.providerStatuses[0] != .failed)
      #expect(source.status == .failed)
    }
  }

  @Test("O-23 PROV: providers that fail are left out where that is asked for, and told of; the others are loaded", arguments: [1, 2, 8])
  func leftOut(threads: Int) async throws {
    struct Trouble: Error {}
    let folder = try Workdir()
    let providers: [any DataProvider] = [
      LinesProvider("denied", ndjson(["no"]), access: .denied), LinesProvider("one", ndjson(["a"])),
      FileDataProvider(FilePath(folder.path("absent.ndjson")), identifier: "absent"),
      LinesProvider("breaks", ndjson(["b"]), failure: Trouble()), CommandDataProvider("exit 7", identifier: "program"),
      LinesProvider("two", ndjson(["c"])),
    ]
    let source = ContactsDataSource(
      dataProviders: providers,
      options: options {
        $0.onProviderError = .skip; $0.threads = threads
      })
    log.watch(source)
    #expect(try await source.loadContacts().map(\.firstName) == ["a", "b", "c"])
    #expect(source.providerStatuses == [.failed, .loaded, .failed, .failed, .failed, .loaded])
    let told = log.take()
    for (name, code) in [("denied", "auth"), ("absent", "not-found"), ("breaks", "provider-failed"), ("program", "command-failed")] {
      #expect(told.filter { $0 == "provider failed \(name) \(code) failed" }.count == 1, "\(told)")
    }
    #expect(told.filter { $0.hasPrefix("finished") } == ["finished one 1+0 loaded", "finished two 1+0 loaded"])
    #expect(told.last == "ready ready" && told.count == 7)
    let hopeless = ContactsDataSource(dataProviders: [providers[0]], options: options { $0.onProviderError = .skip })
    log.watch(hopeless)
    await #expect { try await hopeless.loadContacts() } throws: { ($0 as? OhanaError)?.code == "auth" }
    #expect(log.take() == ["provider failed denied auth failed", "failed auth failed"])
  }

  @Test("O-27: images are left out where they are not wanted") func noImages() async throws {
    let source = ContactsDataSource(
      dataProviders: [LinesProvider("p", [#"{"first":"a","image":"a.png"}"#])], options: options { $0.loadsImages = false })
    let contacts = try await source.loadContacts()
    #expect(contacts.map(\.firstName) == ["a"] && contacts[0].image == nil)
    source.options.loadsImages = true
    #expect(try await source.loadContacts()[0].image == "a.png")
  }

  @Test("O-46: an ad-hoc filter keeps order and changes nothing") func adHoc() async throws {
    let source = ContactsDataSource(dataProviders: [LinesProvider("p", ndjson(["ann", "bob", "amy"]))])
    var names: [String] = []
    for try await contact in source.contacts(where: { $0.firstName!.hasPrefix("a") }) { names.append(contact.firstName!) }
    #expect(names == ["ann", "amy"])
    #expect(source.loadedContacts(where: { _ in true }).isEmpty)
    try await source.loadContacts()
    #expect(source.loadedContacts(where: { $0.firstName!.hasPrefix("b") }).map(\.firstName) == ["bob"])
    #expect(source.loadedContacts?.count == 3)
  }

  @Test("O-41: contacts stream: a slow consumer is not run ahead of, and breaking off ends the run") func streams() async throws {
    let made = Mutex(0)
    let provider = ContactsProvider("many") {
      (0..<2_000_000).lazy.map { number in
        made.withLock { $0 = max($0, number) }
        return Contact(firstName: "\(number)", company: String(repeating: "x", count: 200))
      }
    }
    let source = ContactsDataSource(
      dataProviders: [provider],
      options: options {
        $0.memory = 16 << 20; $0.threads = 2
      })
    log.watch(source)
    var count = 0
    for try await contact in source.contacts {
      #expect(contact.firstName == "\(count)")
      count += 1
      if count == 10 { try await Task.sleep(for: .milliseconds(300)) }
      if count == 5_000 { break }
    }
    for _ in 0..<3_000 where source.status != .cancelled { try await Task.sleep(for: .milliseconds(10)) }
    #expect(source.status == .cancelled)
    #expect(log.all == ["cancelled cancelled"])
    #expect(source.providerStatuses == [.cancelled])
    #expect(made.withLock { $0 } < 200_000, "it ran ahead of its consumer")
  }

  @Test("O-41: a cancelled task ends its run") func cancellation() async throws {
    let provider = ContactsProvider("endless") { sequence(first: Contact(firstName: "x")) { $0 } }
    let source = ContactsDataSource(dataProviders: [provider])
    for load in [true, false] {
      let task = Task { if load { _ = try await source.loadContacts() } else { for try await _ in source.contacts {} } }
      try await Task.sleep(for: .milliseconds(100))
      task.cancel()
      await #expect(throws: (any Error).self) { try await task.value }
    }
  }

  @Test("O-47 DET: any number of threads, and next to no memory, give the same contacts in the same order") func determinism() async throws
  {
    let rows = 30_000
    let provider = ContactsProvider("p") {
      (0..<rows).lazy.map { number in
        Contact(
          firstName: "n\(number * 7919 % 1000)", lastName: number % 3 == 0 ? nil : "l\(number * 31 % 500)",
          fields: [ContactField(.email, "e\(number % 20_000)"), ContactField(.phone, "\(number)")])
      }
    }
    var results: [[Contact]] = []
    for (threads, memory) in [(1, 256 << 20), (2, 256 << 20), (8, 1 << 20)] {
      let source = ContactsDataSource(
        dataProviders: [provider],
        postProcessors: [
          try StagePostProcessor("dedupe", "--by", "fields[0].value"), SplitOnFieldTypePostProcessor(.phone), StatisticsPostProcessor(),
          AlphabeticalSortPostProcessor(.lastName), ReverseOrderPostProcessor(),
        ],
        options: options {
          $0.threads = threads; $0.memory = memory
        })
      results.append(try await source.loadContacts())
    }
    #expect(results[0].count == 20_000)
    #expect(results[0] == results[1] && results[0] == results[2])
    #expect(results[0].map(\.id) == results[2].map(\.id))
    #expect(results[0].first?.properties["stats.phones"] == 1)
  }

  @Test("O-66 SPLIT COPY: rows of one contact are contacts of their own, with ids of their own") func rows() async throws {
    let p =
      #"{"full_name":"P","fields":[{"type":"phone","value":"p1"},{"type":"phone","value":"p1"},{"type":"email","value":"e"}],"tags":["t"]}"#
    let source = ContactsDataSource(dataProviders: [LinesProvider("s", [p])], postProcessors: [SplitOnFieldTypePostProcessor(.phone)])
    var contacts = try await source.loadContacts()
    #expect(contacts.map(\.phones) == [["p1"], ["p1"]] && contacts.allSatisfy { $0.tags == ["t"] })
    #expect(Set(contacts.map(\.id)).count == 2)
    contacts[0].tags.insert("new")
    #expect(contacts[1].tags == ["t"])
    source.selection.select(contacts[0])
    #expect(!source.selection.contains(contacts[1]))
  }

  @Test(
    "O-17 O-66: rows of one contact that hold the same have ids of their own, wherever they stand among its rows, and the same ones each time",
    arguments: [["1", "2", "1"], ["7", "7", "7"], Array(repeating: "x", count: 3000) + ["y", "x"]])
  func equalRows(values: [String]) async throws {
    let p = #"{"fields":["# + values.map { #"{"type":"phone","value":"\#($0)"}"# }.joined(separator: ",") + "]}"
    let lines = [#"{"fields":[{"type":"phone","value":"0"}]}"#, p]
    let source = ContactsDataSource(dataProviders: [LinesProvider("s", lines)], postProcessors: [SplitOnFieldTypePostProcessor(.phone)])
    let contacts = try await source.loadContacts()
    #expect(contacts.map { $0.phones[0] } == ["0"] + values)
    #expect(Set(contacts.map(\.id)).count == contacts.count)
    source.selection.select(contacts)
    #expect(source.selection.contacts.count == contacts.count)
    var streamed: [ContactID?] = []
    for try await contact in source.contacts { streamed.append(contact.id) }
    #expect(streamed == contacts.map(\.id))
  }

  @Test("O-17 O-66 O-72: equal rows have ids of their own, also where a composite gives them far apart")
  func equalRowsOfBranches() async throws {
    let lines = ["1", "2", "3"].map { #"{"phone":"\#($0)"}"# }
    let split = SplitOnFieldTypePostProcessor(.phone)
    let inner = XorPostProcessor([split, split])
    for processor in [
      OrPostProcessor([RequiredFieldPostProcessor(.phone), split], order: .branch), inner, AndPostProcessor([inner]),
      StagePostProcessor(GroupStage(.odd, [[SplitStage(on: .phone)], [SplitStage(on: .phone)]])), ChainPostProcessor([inner]),
    ] as [any PostProcessor] {
      let source = ContactsDataSource(dataProviders: [LinesProvider("s", lines)], postProcessors: [processor])
      let contacts = try await source.loadContacts()
      #expect(contacts.map { $0.phones[0] } == ["1", "2", "3", "1", "2", "3"], "\(processor.text)")
      #expect(Set(contacts.map(\.id)).count == 6, "\(processor.text)")
      var streamed: [ContactID?] = []
      for try await contact in source.contacts { streamed.append(contact.id) }
      #expect(streamed == contacts.map(\.id))
    }
  }

  @Test(
    "O-17 O-88: a stage that gives no more records than it gets leaves ids as they are, so that a selection outlives a change of a field")
  func idsBehindStages() async throws {
    let provider = LinesProvider("s", [#"{"last":"b","note":1,"email":"b@x"}"#, #"{"last":"a","note":1,"email":"a@x"}"#])
    for processor in [
      try StagePostProcessor("sort", "last"), try StagePostProcessor("set", "note = note + 1"), StagePostProcessor(ReverseStage()),
      Domain(domain: "x"),
    ] as [any PostProcessor] {
      let source = ContactsDataSource(dataProviders: [provider], postProcessors: [processor])
      #expect(Set(try await source.loadContacts().map { $0.id!.row }) == [0])
    }
    let split = ContactsDataSource(
      dataProviders: [LinesProvider("s", [#"{"email":"a","email_2":"b"}"#])],
      postProcessors: [try StagePostProcessor("split", "--on", "email")])
    #expect(Set(try await split.loadContacts().map(\.id)).count == 2)
  }

  @Test("O-01 O-02 O-04 O-05 O-08: CSV and NDJSON, and what they hold, reach contacts without loss") func formats() async throws {
    let folder = try Workdir()
    try folder.write(
      "a.csv",
      "first,email,email_2,phone,note,company,title,department,address.street,address.city,full_name\n"
        + "Ann,a@x,b@x,007,\"\",Acme,Dr,R&D,\"1 Main St\nFlat 2\",Bath,\nBob,,,,,,,,,,Bob B\n")
    try folder.write(
      "b.ndjson",
      #"{"first":"Ann","fields":[{"type":"email","value":"a@x"},{"type":"email","value":"b@x"},{"type":"phone","value":"007"}],"note":"","#
        + #""company":"Acme","title":"Dr","department":"R&D","addresses":[{"street":"1 Main St\nFlat 2","city":"Bath"}]}"# + "\n"
        + #"{"first":"Bob","full_name":"Bob B"}"# + "\n")
    for name in ["a.csv", "b.ndjson"] {
      let source = ContactsDataSource(dataProviders: [FileDataProvider(FilePath(folder.path(name)))])
      let contacts = try await source.loadContacts()
      #expect(contacts[0].company == "Acme" && contacts[0].title == "Dr" && contacts[0].department == "R&D")
      #expect(contacts[0].addresses == [PostalAddress(street: "1 Main St\nFlat 2", city: "Bath")])
      #expect(contacts[0].fullName == nil, "never made up")
      #expect(contacts[1].fullName == "Bob B" && contacts[1].company == nil && contacts[1].addresses.isEmpty)
      #expect(contacts[0].fields.map(\.value).sorted() == ["007", "a@x", "b@x"])
    }
    let source = ContactsDataSource(dataProviders: [FileDataProvider(FilePath(folder.path("a.csv")))])
    let contacts = try await source.loadContacts()
    #expect(contacts[0].emails == ["a@x", "b@x"] && contacts[0].phones == ["007"])
    #expect(contacts[0].properties == ["note": ""])
    #expect(contacts[1].fields.isEmpty && contacts[1].firstName == "Bob")
    // Lists in cells, as a conversion to CSV writes them.
    try folder.write(
      "c.csv",
      "fields,addresses,tags\n"
        + #""[{""type"":""phone"",""label"":""home"",""value"":""007""}]","[{""city"":""Bath""}]","[""a;b""]""# + "\n")
    let listed = try await ContactsDataSource(dataProviders: [FileDataProvider(FilePath(folder.path("c.csv")))]).loadContacts()
    #expect(listed[0].fields == [ContactField(.phone, "007", label: "home")])
    #expect(listed[0].addresses == [PostalAddress(city: "Bath")] && listed[0].tags == ["a;b"] && listed[0].properties.isEmpty)
  }

  @Test("O-40: a data source without providers, and two of one name, are mistakes of the caller") func preconditions() async {
    await #expect(processExitsWith: .failure) { _ = ContactsDataSource(dataProviders: []) }
    await #expect(processExitsWith: .failure) {
      _ = ContactsDataSource(dataProviders: [LinesProvider("a", []), LinesProvider("a", [])])
    }
  }

  @Test("K-16: a thousand runs in one process leave nothing open, nothing on disk and nothing alive") func thousandRuns() async throws {
    let folder = try Workdir()
    try folder.write("in.ndjson", ndjson(["b", "a"]).map { $0 + "\n" }.joined())
    var seen: [() -> ContactsDataSource?] = []
    for number in 0..<1_000 {
      let source = ContactsDataSource(
        dataProviders: [FileDataProvider(FilePath(folder.path("in.ndjson")), identifier: "p")],
        postProcessors: number % 2 == 0 ? [AlphabeticalSortPostProcessor(.firstName)] : [],
        options: options {
          $0.tempDir = FilePath(folder.url.path); $0.threads = 1
        })
      seen.append { [weak source] in source }
      #expect(try await source.loadContacts().count == 2)
    }
    for _ in 0..<3_000 where seen.contains(where: { $0() != nil }) { try await Task.sleep(for: .milliseconds(10)) }
    #expect(seen.allSatisfy { $0() == nil })
    #expect(folder.names == ["in.ndjson"])
    let open = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap {
      try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")
    }
    #expect(!open.isEmpty && !open.contains { $0.hasPrefix(folder.url.path) }, "\(open)")
  }

  @Test("K-16: a source is let go of when its runs are over") func lifetime() async throws {
    weak var seen: ContactsDataSource?
    do {
      let source = ContactsDataSource(dataProviders: [LinesProvider("p", ndjson(["a"]))])
      seen = source
      log.watch(source)
      _ = try await source.firstNames()
    }
    for _ in 0..<3_000 where seen != nil { try await Task.sleep(for: .milliseconds(10)) }
    #expect(seen == nil)
  }
}
