internal import OhanaCore

/// One branch of a group, driven by it: batches go through all of its steps in turn.
final class GroupBranch {
  let steps: [StageStep]
  /// The steps that it begins with and that any thread may do.
  let head: [HeadStep]
  var end = RecordSchema.BranchEnd()
  /// Steps before this one have had enough.
  private var first = 0

  enum HeadStep: Sendable {
    case row(any RowStage)
    /// Of a group within the branch.
    case numbering(GroupNumbering)
  }

  init(steps: [StageStep]) {
    self.steps = steps
    var head: [HeadStep] = []
    scan: for step in steps {
      switch step {
      case .row(let stage): head.append(.row(stage))
      case .ordered(let stage):
        guard let numbering = stage as? GroupNumbering else { break scan }
        head.append(.numbering(numbering))
      }
    }
    self.head = head
  }

  /// Nothing in it has to be done in order.
  var isRowLocal: Bool { head.count == steps.count }
  /// It takes no more.
  var isClosed: Bool { first > 0 }

  /// Takes a batch through the steps from `index` on, and what comes out to `body`.
  func push(_ batch: RecordBatch, from index: Int = 0, _ body: (RecordBatch) throws -> Void) throws {
    for step in index..<steps.count {
      switch steps[step] {
      case .row(let stage): _ = try stage.process(batch)
      case .ordered(let stage):
        switch try stage.process(batch) {
        case .pass: break
        case .consumed: return
        case .passAndStop: first = max(first, step)
        }
      }
    }
    try body(batch)
  }

  /// Steps that remember something, in order; nil where one of them cannot write it down.
  var parts: [any Checkpointable]? {
    var parts: [any Checkpointable] = []
    for step in steps {
      switch step {
      case .row(let stage): if let part = stage as? any Checkpointable { parts.append(part) }
      case .ordered(let stage):
        guard let part = stage as? any Checkpointable, part.canCheckpoint else { return nil }
        parts.append(part)
      }
    }
    return parts
  }

  func save(to writer: CheckpointWriter) throws {
    try writer.put(first)
    for part in parts ?? [] { try part.save(to: writer) }
  }

  func restore(from reader: CheckpointReader) throws {
    first = try reader.count(steps.count)
    for part in parts ?? [] { try part.restore(from: reader) }
  }

  /// Ends the steps in order, and takes what they held back through those behind them.
  func finish(_ batch: RecordBatch, slotCount: Int, _ body: (RecordBatch) throws -> Void) throws {
    for step in steps.indices where step >= first {
      guard case .ordered(let stage) = steps[step], let tail = try stage.finish() else { continue }
      while step >= first {
        batch.recycle(limit: 1 << 20)
        batch.slotCount = slotCount
        guard try tail.next(into: batch) else { break }
        try push(batch, from: step + 1, body)
      }
    }
  }
}

extension RecordSchema.BranchEnd {
  /// Makes a record that comes out fit what the branches have in common.
  func fit(_ record: Int, of batch: RecordBatch) {
    for copy in copies {
      let field = batch.field(copy.from, of: record)
      batch.overlay(
        copy.to, of: record, offset: Int(field.offset), length: Int(field.length), kind: field.kind, encoding: field.encoding, inPlace: true
      )
    }
    for slot in blanks where batch.field(slot, of: record).kind != .missing {
      batch.overlay(slot, of: record, offset: 0, length: 0, kind: .missing, inPlace: true)
    }
  }
}
