internal import OhanaCore

/// Records of one batch, copied, since a batch goes back to the run; contacts are made of them one at a time.
struct ContactChunk: Sendable {
  private var text: [UInt8] = []
  private var ids: [ContactID] = []
  private var start = 0
  private var index = 0

  init() {}

  /// - Parameters:
  ///   - sources: names of the run's inputs.
  ///   - tellsRowsApart: several records may have been made of one; see ``ContactID/row``.
  init(_ records: RenderedRecords, sources: [String], tellsRowsApart: Bool) {
    ids.reserveCapacity(records.count)
    records.withText { text in
      self.text = Array(text)
      var start = 0
      for index in 0..<records.count {
        let origin = records.origin(of: index)
        var row: UInt64 = 0
        if tellsRowsApart {
          let end = text[start...].firstIndex(of: 0x0a) ?? text.count
          row = Self.fingerprint(UnsafeBufferPointer(rebasing: text[start..<end]))
          start = end + 1
        }
        var id = ContactID(source: sources[Int(origin.source)], ordinal: Int(origin.ordinal), row: row)
        // Rows that are equal to the last byte are rows all the same.
        if tellsRowsApart, let last = ids.last, last.source == id.source, last.ordinal == id.ordinal, last.row == row { id.row &+= 1 }
        ids.append(id)
      }
    }
  }

  var isOver: Bool { index == ids.count }

  /// - Precondition: it is not over.
  mutating func nextContact() throws(OhanaError) -> Contact {
    let end = text[start...].firstIndex(of: 0x0a) ?? text.count
    let record = try Members(line: text[start..<end])
    var contact = Contact(record)
    contact.id = ids[index]
    start = end + 1
    index += 1
    return contact
  }

  /// FNV-1a, the same in every run, so that a saved id is found again.
  private static func fingerprint(_ text: UnsafeBufferPointer<UInt8>) -> UInt64 {
    text.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
  }
}

/// Keeps all contacts of a run.
final class ContactCollector: RecordSink {
  private struct State {
    var sources: [String] = []
    var contacts: [Contact] = []
  }
  private let state = Locked(State())
  private let tellsRowsApart: Bool

  init(tellsRowsApart: Bool) { self.tellsRowsApart = tellsRowsApart }

  var contacts: [Contact] { state.withLock { $0.contacts } }

  func begin(sources: [FilePath]) async throws { state.withLock { $0.sources = sources.map(\.description) } }

  func write(_ records: RenderedRecords) async throws {
    var chunk = ContactChunk(records, sources: state.withLock { $0.sources }, tellsRowsApart: tellsRowsApart)
    var contacts: [Contact] = []
    while !chunk.isOver { contacts.append(try chunk.nextContact()) }
    state.withLock { $0.contacts += contacts }
  }
}
