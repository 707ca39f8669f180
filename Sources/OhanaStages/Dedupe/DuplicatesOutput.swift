internal import OhanaCore

/// `--duplicates FILE`: the records that a dedupe drops, each with `_survivor`, the place of the record kept in its stead.
final class DuplicatesOutput: @unchecked Sendable {  // because the ordered part of one stage uses it; only its layout is read elsewhere
  private let steps: [StageStep]
  private let slot: Int
  private let layout: RecordLayout
  private let sources: [[UInt8]]
  private var pending: [(record: UInt32, survivor: RecordOrigin?)] = []
  private var isFinished = false

  /// Opens the file for records of `schema`'s layout with one field more.
  init(_ path: FilePath, _ schema: inout RecordSchema, _ context: StageContext) throws {
    let (side, slot) = try schema.withSideField(FieldName(whole: Array("_survivor".utf8)))
    self.slot = slot
    layout = side.layout
    steps = try context.openOutput(path, side)
    sources = context.settings.sources.map { Array($0.description.utf8) }
  }

  /// Packs records with what later stages need, and what this output writes.
  static func packer(_ payload: RecordPayload, _ output: DuplicatesOutput?) -> RecordPacker {
    guard let output else { return RecordPacker(payload) }
    let both = RecordPayload()
    both.slots = Set(payload.slots + output.layout.slots).sorted()
    both.needsBytes = payload.needsBytes || output.layout.followsSource
    both.needsOrigin = payload.needsOrigin
    return RecordPacker(both)
  }

  /// Notes a record of the batch at hand, behind those noted already.
  func add(_ record: Int, survivor: RecordOrigin?) { pending.append((UInt32(record), survivor)) }

  /// Writes the records noted; the batch's selection is the same behind it.
  func write(_ batch: RecordBatch) throws {
    guard !pending.isEmpty else { return }
    let selected = (0..<batch.selectedCount).map { batch.selection[$0] }
    batch.selectedCount = 0
    for (record, survivor) in pending {
      batch.select(Int(record))
      let offset = batch.arena.count
      if let survivor { appendPlace(survivor, to: batch.arena) }
      batch.overlay(
        slot, of: Int(record), offset: offset, length: batch.arena.count - offset, kind: survivor == nil ? .null : .string, inPlace: false)
    }
    pending.removeAll(keepingCapacity: true)
    try run(steps, batch)
    batch.selectedCount = 0
    for record in selected { batch.select(Int(record)) }
  }

  /// Ends the file. Called once, behind the last record.
  func finish() throws {
    guard !isFinished else { return }
    isFinished = true
    for step in steps {
      guard case .ordered(let stage) = step else { continue }
      let source = try stage.finish()
      precondition(source == nil, "the steps of an output hold nothing back")
    }
  }

  private func run(_ steps: [StageStep], _ batch: RecordBatch) throws {
    for step in steps {
      switch step {
      case .row(let stage): _ = try stage.process(batch)
      case .ordered(let stage): _ = try stage.process(batch)
      }
    }
  }

  /// `source:ordinal`, the ordinal counted from 1.
  private func appendPlace(_ origin: RecordOrigin, to out: ByteBuffer) {
    if Int(origin.source) < sources.count {
      sources[Int(origin.source)].withUnsafeBufferPointer { out.append($0) }
    } else {
      out.append(string: String(origin.source))
    }
    out.append(UInt8(ascii: ":"))
    out.append(string: String(origin.ordinal &+ 1))
  }
}
