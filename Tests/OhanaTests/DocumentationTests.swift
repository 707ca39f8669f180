import Foundation
import Ohana
import OhanaTestSupport
import Synchronization
import Testing

// MARK: Providers.md

struct Directory: DataProvider {
  let identifier = "staff directory"
  let rows: [(name: String, mail: String)]

  func open() throws -> ProviderContent {
    .stream(
      try ContactsProvider(identifier) { [rows] in
        rows.lazy.map { Contact(fullName: $0.name, fields: [ContactField(.email, $0.mail)]) }
      }.stream())
  }
}

// MARK: PostProcessors.md

struct Domain: PostProcessor {
  let domain: String
  /// Nobody gets an id of a row.
  var makesRows: Bool { false }

  func bind(_ schema: inout RecordSchema, _ context: StageContext) throws -> [StageStep] {
    [.row(Step(slot: try schema.slot(reading: "email"), suffix: Array("@\(domain)".utf8)))]
  }

  struct Step: RowStage {
    let slot: Int
    let suffix: [UInt8]

    func process(_ batch: RecordBatch) throws -> StageTally {
      let scratch = ByteBuffer()
      let dropped = batch.filterSelection { record in
        batch.text(of: batch.field(slot, of: record), scratch: scratch).suffix(suffix.count).elementsEqual(suffix)
      }
      return StageTally(dropped: dropped)
    }
  }
}

// MARK: SelectionFilters.md

struct OneDomainFilter: SelectionFilter {
  func select(_ candidates: [Contact], with selection: SelectionView) -> [Contact] {
    let domain = (selection.contacts + candidates).first?.emails.first?.split(separator: "@").last
    return candidates.filter { $0.emails.first?.split(separator: "@").last == domain }
  }
}

// MARK: Sinks.md

actor LineCounter: RecordSink {
  private(set) var lines = 0

  func write(_ records: RenderedRecords) async throws {
    lines += records.withText { text in text.count { $0 == 0x0a } }
  }
}

/// The documentation's code is compiled here, and does what the text says.
@Suite("Documentation") struct DocumentationTests {
  final class Notes: Sendable {
    private let lines = Mutex<[String]>([])
    func note(_ line: String) { lines.withLock { $0.append(line) } }
    var all: [String] { lines.withLock { $0 } }
  }

  static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .appending(path: "Sources/Ohana/Ohana.docc")
  static let articles = ["GettingStarted", "Providers", "PostProcessors", "SelectionFilters", "Sinks"]

  @Test("each block of code in the articles is code of this file", arguments: articles) func isCompiled(article: String) throws {
    func lines(_ text: some StringProtocol) -> String {
      text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }.joined(separator: "\n")
    }
    let text = try String(contentsOf: Self.folder.appending(path: "\(article).md"), encoding: .utf8)
    let own = lines(try String(contentsOf: URL(filePath: #filePath), encoding: .utf8))
    let blocks = text.components(separatedBy: "```swift\n").dropFirst().map { $0.components(separatedBy: "```")[0] }
    #expect(!blocks.isEmpty)
    for block in blocks { #expect(own.contains(lines(block)), "\(block)") }
  }

  @Test("the articles are all there, and the page names them") func isComplete() throws {
    let page = try String(contentsOf: Self.folder.appending(path: "Ohana.md"), encoding: .utf8)
    for article in Self.articles + ["Traps"] { #expect(page.contains("<doc:\(article)>")) }
  }

  @Test("the tutorial") func tutorial() async throws {
    let workdir = try Workdir()
    try workdir.write(
      "a.ndjson",
      """
      {"last":"Lee","email":"ann@x.org"}
      {"last":"Ash","email":"bo@x.org"}
      {"last":"Lee","email":" ANN@x.org"}
      {"last":"Nobody"}
      {"last":"Abt","email":"cy@x.org"}

      """)
    let folder = workdir.path("")
    let listener = Notes()
    var names: [String] = []

    let source = ContactsDataSource(
      dataProviders: [FileDataProvider("\(folder)/*.ndjson")],
      postProcessors: [
        RequiredFieldPostProcessor(.email),
        DedupePostProcessor(by: "email", kind: .email),
        AlphabeticalSortPostProcessor(.lastName),
      ],
      selectionFilters: [MaximumSelectionFilter(2)])

    source.onReady.observe(listener) { listener, source in listener.note("ready: \(source.status)") }
    source.onProviderFailed.observe(listener) { listener, failure in listener.note("\(failure.error)") }

    for try await contact in source.contacts {
      names.append(contact.lastName ?? "(unnamed)")
    }
    #expect(names == ["Abt", "Ash", "Lee"])
    #expect(listener.all == ["ready: ready"])

    do {
      let contacts = try await source.loadContacts()
      source.selection.select(Array(contacts.prefix(2)))
      let refused = source.selection.select(contacts[2])
      #expect(refused.isEmpty && source.selection.count == 2)
    }

    let counter = LineCounter()
    let books = try await source.run(into: counter)
    #expect(await counter.lines == 3)
    #expect(books.imbalance == nil && books.read == 5)
  }

  @Test("a contact keeps what nobody changed") func contact() throws {
    var contact = try Contact(json: #"{"id":1.10,"first":"Ann","phone":"007"}"#)
    contact.tags.insert("customer")
    contact.fields.append(ContactField(.phone, "008"))
    print(contact.record.json)  // {"id":1.10,"first":"Ann","phone":"007","phone_2":"008","tags":["customer"]}
    #expect(contact.record.json == #"{"id":1.10,"first":"Ann","phone":"007","phone_2":"008","tags":["customer"]}"#)
  }

  @Test("the extension points of the articles work together") func extensionPoints() async throws {
    let people = Directory(rows: [("Ann", "ann@x.org"), ("Bo", "bo@y.org"), ("Cy", "cy@x.org"), ("Esc", "a\"b@x.org")])
    let source = ContactsDataSource(dataProviders: [people], selectionFilters: [OneDomainFilter()])
    let contacts = try await source.loadContacts()
    #expect(source.selection.select(contacts).map(\.fullName) == ["Ann", "Cy", "Esc"])
    let flat = ContactsDataSource(
      dataProviders: [LinesProvider("p", [#"{"email":"ann@x.org"}"#, #"{"email":"b@y.org"}"#, #"{"email":"\u0061@x.org"}"#])],
      postProcessors: [Domain(domain: "x.org")])
    #expect(try await flat.loadContacts().flatMap(\.emails) == ["ann@x.org", "a@x.org"])
  }
}
