internal import OhanaCore

/// Writes values of expressions into slots, one expression after the other.
struct AssignStep: RowStage {
  struct Assignment: Sendable {
    var slot: Int
    var expression: CompiledExpression
  }
  let assignments: [Assignment]
  /// The slots are fields of the record. False for slots without a name, such as keys: the record stays as it was read.
  var changesRecords = true
  private let scratch = ExpressionScratchPool()

  init(_ assignments: [Assignment], changesRecords: Bool = true) {
    self.assignments = assignments
    self.changesRecords = changesRecords
  }

  func process(_ batch: RecordBatch) throws -> StageTally {
    try scratch.with { scratch throws(OhanaError) in
      for assignment in assignments {
        try assignment.expression.evaluate(batch, scratch) { first, values throws(OhanaError) in
          try store(values, assignment.slot, first, batch)
        }
      }
    }
    return StageTally()
  }

  /// Points the slot at the values: where they lie in the arena already they stay, others are copied into it.
  private func store(
    _ values: UnsafeMutableBufferPointer<ExpressionValue>, _ slot: Int, _ first: Int, _ batch: RecordBatch
  ) throws(OhanaError) {
    let arena = batch.arena
    let oldBase = UnsafePointer(arena.base)
    let oldEnd = oldBase + arena.count
    var extra = 0
    for value in values where value.base < oldBase || value.base >= oldEnd { extra &+= value.count }
    guard arena.count + extra <= Int(UInt32.max) - ByteBuffer.padding else {
      throw OhanaError(
        .memory, "batch-too-large", "the values an expression makes for one batch are larger than 4 GiB together",
        fix: "make smaller values")
    }
    arena.reserve(extra)
    let selection = batch.selection + first
    for index in 0..<values.count {
      let value = values[index]
      let record = Int(selection[index])
      var offset = 0
      var length = value.count
      if value.kind.rawValue < ValueKind.number.rawValue {
        length = 0
      } else if value.base >= oldBase && value.base < oldEnd {
        offset = value.base - oldBase
      } else {
        offset = arena.count
        arena.append(value.base, count: length)
      }
      if changesRecords {
        batch.overlay(slot, of: record, offset: offset, length: length, kind: value.kind, inPlace: false)
      } else {
        batch.fields[record &* batch.slotCount &+ slot] = FieldSpan(
          offset: UInt32(truncatingIfNeeded: offset), length: UInt32(truncatingIfNeeded: length), kind: value.kind)
      }
    }
  }
}
