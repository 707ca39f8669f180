internal import CXXHash
internal import OhanaCore

/// A part of an equality key, bound to a slot.
struct BoundEqualityKey: Sendable {
  var slot: Int
  var kind: EqualityKind
}

/// The fingerprint of bytes; never ``Fingerprint/none``.
@inline(__always)
func fingerprint(of bytes: UnsafeRawPointer?, count: Int, seed: UInt64) -> Fingerprint {
  let hash = XXH3_128bits_withSeed(bytes, count, seed)
  return Fingerprint(high: hash.high64, low: hash.high64 | hash.low64 == 0 ? 1 : hash.low64)
}

/// What the bytes hashed for a key are.
enum KeyBlanks: Sendable {
  /// A blank part makes the key equal nothing.
  case equalNothing
  /// Null is a value, missing equals it, and `""` is another.
  case areValues
}

/// Memory for making key texts. One piece of work at a time.
final class KeyScratch: @unchecked Sendable {  // because it is lent to one piece of work at a time
  let text = TextScratch()
  let key = ByteBuffer()
}

/// Row-local: the fingerprint of each selected record's key, into ``RecordBatch/fingerprints``.
///
/// A key of one exact part is hashed where it lies. Parts of others are joined with their lengths in front, so that no two lists of parts
/// give the same bytes.
final class FingerprintMaker: RowStage {
  private let parts: [BoundEqualityKey]
  private let seed: UInt64
  private let blanks: KeyBlanks
  private let pool = ScratchPool { KeyScratch() }

  init(_ parts: [BoundEqualityKey], seed: UInt64, blanks: KeyBlanks) {
    self.parts = parts
    self.seed = seed
    self.blanks = blanks
  }

  func process(_ batch: RecordBatch) throws -> StageTally {
    let scratch = pool.take()
    defer { pool.give(scratch) }
    batch.reserveFingerprints()
    if parts.count == 1, parts[0].kind == .exact, blanks == .equalNothing {
      singleExact(batch, slot: parts[0].slot, scratch)
    } else {
      let fingerprints = batch.fingerprints
      for index in 0..<batch.selectedCount {
        fingerprints[index] = Self.fingerprint(parts, Int(batch.selection[index]), of: batch, blanks, seed, scratch)
      }
    }
    return StageTally()
  }

  private func singleExact(_ batch: RecordBatch, slot: Int, _ scratch: KeyScratch) {
    let fingerprints = batch.fingerprints
    let selection = batch.selection
    let slotCount = batch.slotCount
    let fields = batch.fields + slot
    let arena = batch.arena.base
    for index in 0..<batch.selectedCount {
      let field = fields[Int(selection[index]) &* slotCount]
      if field.encoding == .plain, field.kind == .string || field.kind == .number {
        fingerprints[index] =
          field.length == 0
          ? .none : OhanaStages.fingerprint(of: arena + Int(field.offset), count: Int(field.length), seed: seed)
      } else {
        scratch.key.removeAll()
        fingerprints[index] =
          appendKeyText(.exact, of: field, in: batch, to: scratch.key, scratch: scratch.text)
          ? OhanaStages.fingerprint(of: scratch.key.base, count: scratch.key.count, seed: seed) : .none
      }
    }
  }

  /// The fingerprint of one record's key.
  static func fingerprint(
    _ parts: [BoundEqualityKey], _ record: Int, of batch: RecordBatch, _ blanks: KeyBlanks, _ seed: UInt64, _ scratch: KeyScratch
  ) -> Fingerprint {
    let key = scratch.key
    key.removeAll()
    let isSingle = parts.count == 1 && blanks == .equalNothing
    for part in parts {
      let start = key.count
      let headerSize = isSingle ? 0 : 5
      key.reserve(headerSize)
      key.count = start + headerSize
      let field = batch.field(part.slot, of: record)
      var tag: UInt8 = 1
      if !appendKeyText(part.kind, of: field, in: batch, to: key, scratch: scratch.text) {
        if blanks == .equalNothing { return .none }
        tag = appendValue(of: field, in: batch, to: key, scratch)
      }
      if !isSingle {
        key.base[start] = tag
        UnsafeMutableRawPointer(key.base + start + 1)
          .storeBytes(of: UInt32(truncatingIfNeeded: key.count - start - headerSize), as: UInt32.self)
      }
    }
    return OhanaStages.fingerprint(of: key.base, count: key.count, seed: seed)
  }

  /// A value that has no key text, as a value of its own: null and empty lists are alike, `""` and text that its kind refuses are not.
  private static func appendValue(of field: FieldSpan, in batch: RecordBatch, to key: ByteBuffer, _ scratch: KeyScratch) -> UInt8 {
    guard field.kind == .string else { return 0 }
    key.append(batch.text(of: field, scratch: scratch.text.decoded))
    return 2
  }
}
