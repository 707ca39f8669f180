extension RecordSchema {
  /// A slot without a name that tells records of a group (`all`, `any`, `odd`) apart while its branches work on them.
  ///
  /// ```
  /// u64 place of its batch in the group's input │ u32 place in the batch │ for each stage that made rows of it: 01 │ u32 number of the stage │ u32 number of the row
  /// ```
  /// Big-endian, so that bytes compare as records follow one another. What a stage makes of a record is another one; a record without an
  /// identity (a stage made it of many) equals none.
  public struct Identity: Sendable {
    /// Where each record's identity stands.
    public var slot: Int
    /// Tells apart what stages make: no two have the same one.
    public var stage: UInt32

    /// Gives a row that a stage made its own identity.
    ///
    /// - Parameter number: of the row among those of its record.
    public func renew(_ row: Int, of batch: RecordBatch, number: UInt32) {
      let field = batch.field(slot, of: row)
      let offset = batch.arena.count
      batch.arena.reserve(Int(field.length) + 9)
      batch.arena.append(batch.bytes(of: field))
      batch.arena.append(1)
      for value in [stage, number] {
        for shift in stride(from: UInt32(24), through: 0, by: -8) { batch.arena.append(UInt8(truncatingIfNeeded: value >> shift)) }
      }
      batch.fields[row * batch.slotCount + slot] = FieldSpan(
        offset: UInt32(truncatingIfNeeded: offset), length: field.length + 9, kind: .string)
    }
  }
}
