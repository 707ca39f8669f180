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
  ///   - rows: numbers rows, where several may have been made of one record; see ``ContactID/row``.
  init(_ records: RenderedRecords, sources: [String], rows: inout RowNumbers?) {
    ids.reserveCapacity(records.count)
    records.withText { text in
      self.text = Array(text)
      var start = 0
      for index in 0..<records.count {
        let origin = records.origin(of: index)
        var id = ContactID(source: sources[Int(origin.source)], ordinal: Int(origin.ordinal))
        if rows != nil {
          let end = text[start...].firstIndex(of: 0x0a) ?? text.count
          id.row = rows!.number(of: UnsafeBufferPointer(rebasing: text[start..<end]), in: (Int(origin.source), id.ordinal))
          start = end + 1
        }
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
}

/// Numbers the rows that were made of one record by what is in them, so that a saved id is found again.
struct RowNumbers: Sendable {
  private struct Row: Hashable {
    let source: Int, ordinal: Int
    let fingerprint: UInt64
  }
  /// Other records may stand between the rows of one: then all are remembered, at some 50 bytes each.
  private let areScattered: Bool
  private var record = (source: -1, ordinal: -1)
  /// Rows of a record that are equal to the last byte are rows all the same: how many there were.
  private var counts: [Row: UInt64] = [:]

  init(areScattered: Bool) { self.areScattered = areScattered }

  mutating func number(of text: UnsafeBufferPointer<UInt8>, in record: (source: Int, ordinal: Int)) -> UInt64 {
    if !areScattered, record != self.record {
      self.record = record
      counts.removeAll(keepingCapacity: true)
    }
    let row = Row(source: record.source, ordinal: record.ordinal, fingerprint: Self.fingerprint(text))
    let count = counts[row, default: 0]
    counts[row] = count + 1
    return row.fingerprint &+ count
  }

  /// FNV-1a, the same in every run.
  private static func fingerprint(_ text: UnsafeBufferPointer<UInt8>) -> UInt64 {
    text.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
  }
}

/// Keeps all contacts of a run.
final class ContactCollector: RecordSink {
  private struct State {
    var sources: [String] = []
    var contacts: [Contact] = []
    /// nil where each record is one contact at most.
    var rows: RowNumbers?
  }
  private let state: Locked<State>

  init(_ rows: RowNumbers?) { state = Locked(State(rows: rows)) }

  var contacts: [Contact] { state.withLock { $0.contacts } }

  func begin(sources: [FilePath]) async throws { state.withLock { $0.sources = sources.map(\.description) } }

  func write(_ records: RenderedRecords) async throws {
    var chunk = state.withLock { ContactChunk(records, sources: $0.sources, rows: &$0.rows) }
    var contacts: [Contact] = []
    while !chunk.isOver { contacts.append(try chunk.nextContact()) }
    state.withLock { $0.contacts += contacts }
  }
}
