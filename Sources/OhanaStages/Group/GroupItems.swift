internal import OhanaCore

/// Turns what comes out of a branch into items by identity, and, where branches decide the order, into items by place that carry the record.
///
/// ```
/// by identity   identity (see RecordSchema.Identity) │ 00 → packed record, or key of the item by place
/// by place      identity │ 00, or u64 place in what the branch gave → packed record
/// ```
/// One piece of work at a time uses it.
final class GroupItems {
  let identities = RunBuilder()
  let places = RunBuilder()
  private let key = ByteBuffer()
  private let placeKey = ByteBuffer()
  /// Big-endian, so that a record with no identity gets one that follows all others.
  private static let noIdentity = (UInt64.max, UInt32.max)

  /// Bytes of an identity that no stage has added to, with its end.
  static let plainKeyLength = 13

  /// How a branch's records are written down.
  struct Shape {
    var identity: Int
    var branch: Int
    var carrying: Carried
    enum Carried {
      /// Nothing: only whether the record came out counts.
      case nothing
      /// The record, beside its identity.
      case record
      /// The record, in the order in which the branch gives it.
      case recordByPlace
    }
  }

  /// - Parameter place: in what the branch gave; nil where that is the order of the identities.
  func append(_ record: Int, of batch: RecordBatch, _ shape: Shape, _ packer: RecordPacker, place: UInt64?) {
    key.removeAll()
    let field = batch.field(shape.identity, of: record)
    if field.length > 0 {
      key.append(batch.bytes(of: field))
    } else {
      // Made of many records: equal to none.
      Self.append(Self.noIdentity.0, 8, to: key)
      Self.append(UInt64(Self.noIdentity.1), 4, to: key)
      let place = place ?? 0
      for half in [place >> 32, place & 0xffff_ffff] {
        key.append(1)
        Self.append(UInt64(shape.branch), 4, to: key)
        Self.append(half, 4, to: key)
      }
    }
    key.append(0)
    switch shape.carrying {
    case .nothing: identities.append(key: UnsafeRawBufferPointer(key.bytes)) { _ in }
    case .record: identities.append(key: UnsafeRawBufferPointer(key.bytes)) { packer.pack(record, of: batch, to: $0) }
    case .recordByPlace:
      placeKey.removeAll()
      if let place { Self.append(place, 8, to: placeKey) } else { placeKey.append(key.bytes) }
      identities.append(key: UnsafeRawBufferPointer(key.bytes)) { $0.append(placeKey.bytes) }
      places.append(key: UnsafeRawBufferPointer(placeKey.bytes)) { packer.pack(record, of: batch, to: $0) }
    }
  }

  private static func append(_ number: UInt64, _ size: Int, to key: ByteBuffer) {
    for shift in stride(from: 8 * (size - 1), through: 0, by: -8) { key.append(UInt8(truncatingIfNeeded: number >> UInt64(shift))) }
  }
}
