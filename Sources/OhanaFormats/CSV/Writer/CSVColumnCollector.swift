public import OhanaCore
internal import Synchronization

/// Finds the columns of a CSV output made of NDJSON records: the keys of the records as they would be written had no stage dropped or
/// moved any, in input order. Stands right behind the reader, in two steps: lists per batch, row-local, then one table, in order.
public final class CSVColumnCollector: Sendable {
  public let table: CSVColumnTable
  let shape: CSVShape

  /// - Parameters:
  ///   - layout: the layout records are written in, at the end of the plan.
  ///   - fields: what the reader was asked for.
  public init(layout: RecordLayout, fields: [RecordSchema.SourceField], table: CSVColumnTable = CSVColumnTable()) {
    shape = CSVShape(layout: layout, fields: fields)
    self.table = table
  }

  public var steps: [StageStep] { [.row(Lister(shape: shape)), .ordered(Merger(self))] }

  /// A batch's columns, travelling from the row-local step to the ordered one.
  struct Listing: Sendable { var found: [CSVColumnTable.Found] }

  private struct Lister: RowStage {
    let shape: CSVShape

    func process(_ batch: RecordBatch) throws -> StageTally {
      batch.writerState = Listing(found: shape.layout.followsSource ? listMembers(batch) : listEntries(batch))
      return StageTally()
    }

    /// Follows the source: keys by first appearance, those of nested objects in their place.
    private func listMembers(_ batch: RecordBatch) -> [CSVColumnTable.Found] {
      let table = batch.members
      var found = FoundList()
      guard table.recordCount > 0 else { return [] }
      let holdsObject = table.keyHoldsNested.contains(true) && (0..<table.count).contains { table.members[$0].span.kind == .object }
      if !holdsObject, shape.edits.isEmpty, shape.overlays.isEmpty {
        for key in table.keys { found.add(key, isNested: false) }
        return found.columns
      }
      let flattener = CSVFlattener()
      let base = UnsafePointer(batch.arena.base)
      var seen = Array(repeating: false, count: table.keys.count)
      for record in 0..<table.recordCount {
        for place in Int(table.starts[record])..<Int(table.starts[record + 1]) {
          let member = table.members[place]
          let key = table.keys[Int(member.key)]
          if member.span.kind == .object {
            guard let prefix = shape.column(key) else { continue }
            prefix.withUnsafeBufferPointer { prefix in
              flattener.walk(member.span, prefix: prefix, in: base) { name, _ in
                if let name = shape.column(Array(name)) { found.add(name, isNested: true) }
              }
            }
          } else if !seen[Int(member.key)] {
            seen[Int(member.key)] = true
            if let name = shape.column(key) { found.add(name, isNested: false) }
          }
        }
        // What stages add stands behind the first record's members.
        if record == 0 { for entry in shape.layout.entries { found.addOverlay(entry.name) } }
      }
      return found.columns
    }

    /// Just the entries: in each record those it has, nested ones by their leaves.
    private func listEntries(_ batch: RecordBatch) -> [CSVColumnTable.Found] {
      var found = FoundList()
      let flattener = CSVFlattener()
      let base = UnsafePointer(batch.arena.base)
      var isSettled = Array(repeating: false, count: shape.layout.entries.count)
      for record in 0..<batch.recordCount {
        for (place, entry) in shape.layout.entries.enumerated() {
          let span = batch.field(entry.slot, of: record)
          if span.kind == .object, shape.sourceSlots.contains(entry.slot) {
            entry.name.withUnsafeBufferPointer { prefix in
              flattener.walk(span, prefix: prefix, in: base) { name, _ in found.add(Array(name), isNested: true) }
            }
          } else if !isSettled[place], span.kind != .missing || !shape.sourceSlots.contains(entry.slot) {
            isSettled[place] = true
            found.add(entry.name, isNested: false)
          }
        }
      }
      return found.columns
    }
  }

  private final class Merger: OrderedStage {
    private let collector: CSVColumnCollector
    init(_ collector: CSVColumnCollector) { self.collector = collector }

    func process(_ batch: RecordBatch) throws -> OrderedOutcome {
      let listing = batch.writerState as? Listing
      batch.writerState = try collector.table.merge(listing?.found ?? [])
      return .pass
    }
    func finish() throws -> (any BatchSource)? {
      // An entry that no record had a value for is a column all the same, unless it was always nested.
      let known = collector.table.columns.names
      let absent = collector.shape.layout.followsSource ? [] : collector.shape.layout.entries.map(\.name).filter { name in
        !known.contains { $0 == name || $0.starts(with: name + [UInt8(ascii: ".")]) }
      }
      _ = try collector.table.merge(absent.map { .init(name: $0, isNested: false) })
      return nil
    }
    var tally: StageTally { StageTally() }
  }
}

/// Columns in order, each once.
private struct FoundList {
  var columns: [CSVColumnTable.Found] = []
  private var known: Set<[UInt8]> = []
  private var knownNested: Set<[UInt8]> = []

  mutating func add(_ name: [UInt8], isNested: Bool) {
    // Both a flat and a nested one are told: the table refuses them.
    if isNested ? knownNested.insert(name).inserted : known.insert(name).inserted { columns.append(.init(name: name, isNested: isNested)) }
  }

  /// A value that a stage writes: flat, unless it replaces a nested one in its place.
  mutating func addOverlay(_ name: [UInt8]) {
    if !knownNested.contains(name) { add(name, isNested: false) }
  }
}
