public import OhanaCore

/// Finds the columns of a CSV output made of NDJSON records: the keys of the records as they would be written had no stage dropped or
/// moved any, in input order. Stands right behind the reader, in two steps: lists per batch, row-local, then one table, in order.
///
/// ``CSVRenderer`` writes a batch's rows with the columns known at its place in the stream; later ones make later rows wider, see
/// ``CSVPadder``. Where a stage behind it stops reading, ``end(before:)`` takes back what was met too much.
///
/// Memory: the names. Cost: one comparison of the list of keys per batch, where all records are flat and nothing is edited. Where columns
/// may end early, a batch that brings new ones is listed once more, record by record.
public final class CSVColumnCollector: Sendable {
  /// What has been found; complete when the last batch has passed.
  public let table: CSVColumnTable
  private let layout: RecordLayout
  private let isMain: Bool

  /// - Parameters:
  ///   - layout: the layout records are written in, at the place of the output in the plan.
  ///   - isMain: batches keep the columns known at their place, for the renderer; at most one collector of a plan, the last, can be so.
  public init(layout: RecordLayout, table: CSVColumnTable = CSVColumnTable(), isMain: Bool = true) {
    self.layout = layout
    self.table = table
    self.isMain = isMain
  }

  /// To be put right behind the reader and the step that numbers its batches.
  public var steps: [StageStep] {
    let lister = CSVColumnLister(layout: layout)
    return [.row(lister), .ordered(Merger(table, lister, always, isMain: isMain))]
  }

  /// Records from `bound` on, in input order, do not count: a stage has stopped reading. From any thread, more than once; the earliest
  /// record decides.
  package func end(before bound: RecordOrigin) { table.end(before: bound, entries: always) }

  /// Fields that are columns even if no record has them.
  private var always: [[UInt8]] { layout.followsSource ? [] : layout.entries.map(\.name) }

  private final class Merger: OrderedStage, Checkpointable, @unchecked Sendable {  // because batches pass one at a time
    private let table: CSVColumnTable
    private let lister: CSVColumnLister
    private let always: [[UInt8]]
    private let isMain: Bool
    private var lastList: CSVColumnList?

    init(_ table: CSVColumnTable, _ lister: CSVColumnLister, _ always: [[UInt8]], isMain: Bool) {
      self.table = table
      self.lister = lister
      self.always = always
      self.isMain = isMain
    }

    func process(_ batch: RecordBatch) throws -> OrderedOutcome {
      if let list = batch.writerState as? CSVColumnList, list !== lastList {
        // Not before there is a record: the first one opens the table, whatever list it shares.
        if batch.recordCount > 0 { lastList = list }
        batch.writerState = try table.merge(list, hasRecords: batch.recordCount > 0) { lister.place(batch) }
      } else {
        batch.writerState = table.columns
      }
      if !isMain { batch.writerState = nil }
      return .pass
    }

    func finish() throws -> (any BatchSource)? {
      // An entry that no record had is a column all the same: where there was no record, all of them.
      try table.complete(always)
      return nil
    }

    var tally: StageTally { StageTally() }

    func save(to writer: CheckpointWriter) throws { try table.save(to: writer) }
    func restore(from reader: CheckpointReader) throws { try table.restore(from: reader) }
  }
}
