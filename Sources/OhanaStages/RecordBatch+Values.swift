internal import OhanaCore

extension RecordBatch {
  /// Appends a value to the arena and points a slot of a record at it.
  ///
  /// - Parameter value: decoded text, a number's spelling or JSON text; not in the arena.
  /// - Throws: `memory` if the batch cannot hold it.
  func write(
    _ value: UnsafeBufferPointer<UInt8>, _ kind: ValueKind, to slot: Int, of record: Int, inPlace: Bool = false
  ) throws(OhanaError) {
    try requireRoom(for: value.count)
    let offset = arena.count
    arena.append(value)
    overlay(slot, of: record, offset: offset, length: value.count, kind: kind, inPlace: inPlace)
  }

  /// - Throws: `memory` where the arena cannot take so many more bytes.
  func requireRoom(for count: Int) throws(OhanaError) {
    guard arena.count + count <= Int(UInt32.max) - ByteBuffer.padding else {
      throw OhanaError(
        .memory, "batch-too-large", "the values that stages make of one batch are larger than 4 GiB together", fix: "make smaller values")
    }
  }
}
