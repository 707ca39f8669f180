internal import CICU
internal import OhanaCore

/// A part of a sort key, bound to a slot.
struct BoundOrderKey: Sendable {
  enum Comparison: Sendable {
    case collation(Collation)
    case binary, number, ohana
  }
  var slot: Int
  var comparison: Comparison
  var isDescending: Bool
  var blanksFirst: Bool

  /// - Throws: `usage`/`unknown-locale`.
  init(_ key: OrderKey, slot: Int, locale: String?) throws(OhanaError) {
    self.slot = slot
    isDescending = key.isDescending
    blanksFirst = key.blanksFirst
    switch key.kind {
    case .locale(let tag): comparison = .collation(try Self.collation(tag ?? locale, isNumeric: false, key))
    case .natural(let tag): comparison = .collation(try Self.collation(tag ?? locale, isNumeric: true, key))
    case .binary: comparison = .binary
    case .number: comparison = .number
    case .ohana: comparison = .ohana
    }
  }

  private static func collation(_ tag: String?, isNumeric: Bool, _ key: OrderKey) throws(OhanaError) -> Collation {
    do { return try Collation(tag: tag, isNumeric: isNumeric) } catch {
      var error = error
      error.field = key.source.name.description
      throw error
    }
  }
}

/// Writes sort keys as bytes that `memcmp` orders. A key is its parts one behind the other; a part is
///
/// ```
/// 20 │ value       28 │ value (text among numbers)       30 or 10 (blank, last or first)
/// ```
/// and no value is a proper prefix of another, so that the next part decides only between equals. `desc` inverts a value's bytes, its
/// terminator too, but not the byte before it: blanks stay where they are, and so does text among numbers.
final class OrderKeyWriter: @unchecked Sendable {  // because it belongs to one piece of work at a time
  /// A part without its references, so that a key costs no counting of them.
  private struct Part {
    var slot: Int
    var isDescending: Bool
    var blank: UInt8
    var collation: Unmanaged<CollationScratch>?
  }

  private let parts: UnsafeMutableBufferPointer<Part>
  private let bound: [BoundOrderKey]
  /// Owns what the parts point to.
  private let collations: [CollationScratch?]
  private let text = TextScratch()
  private let units = RawUnits()
  private let nested = ByteBuffer()
  private let decomposed = ByteBuffer()

  init(_ bound: [BoundOrderKey]) {
    self.bound = bound
    collations = bound.map { part in
      if case .collation(let collation) = part.comparison { CollationScratch(collation) } else { nil }
    }
    parts = .allocate(capacity: bound.count)
    for (index, part) in bound.enumerated() {
      parts.initializeElement(
        at: index,
        to: Part(
          slot: part.slot, isDescending: part.isDescending, blank: part.blanksFirst ? 0x10 : 0x30,
          collation: collations[index].map { .passUnretained($0) }))
    }
  }

  deinit { parts.deallocate() }

  /// Appends the key of one record. 16 bytes behind it are readable.
  @inline(__always)
  func append(_ record: Int, of batch: RecordBatch, to out: ByteBuffer) {
    for index in 0..<parts.count {
      let part = parts[index]
      let field = batch.field(part.slot, of: record)
      let start = out.count
      if field.isBlank {
        out.append(part.blank)
      } else if let collation = part.collation, field.encoding == .plain, field.kind == .string || field.kind == .number {
        out.append(0x20)
        collation._withUnsafeGuaranteedRef { $0.appendKey(batch.bytes(of: field), to: out) }
        if part.isDescending { invert(out, from: start &+ 1) }
      } else {
        append(part: index, of: field, in: batch, to: out)
      }
    }
  }

  @inline(never)
  private func append(part index: Int, of field: FieldSpan, in batch: RecordBatch, to out: ByteBuffer) {
    var value: UnsafeBufferPointer<UInt8>
    if field.kind.rawValue >= ValueKind.array.rawValue {
      nested.removeAll()
      guard appendKeyText(.exact, of: field, in: batch, to: nested, scratch: text) else { return out.append(parts[index].blank) }
      value = nested.bytes
    } else {
      value = batch.text(of: field, scratch: text.decoded)
    }
    let start = out.count
    out.append(0x20)
    if let collation = parts[index].collation {
      collation._withUnsafeGuaranteedRef { $0.appendKey(value, to: out) }
    } else {
      appendPlain(bound[index].comparison, value, start: start, to: out)
    }
    if parts[index].isDescending { invert(out, from: start &+ 1) }
  }

  @inline(never)
  private func appendPlain(
    _ comparison: BoundOrderKey.Comparison, _ value: UnsafeBufferPointer<UInt8>, start: Int, to out: ByteBuffer
  ) {
    switch comparison {
    case .collation: preconditionFailure("collation keys are made by their own scratch")
    case .binary: appendEscaped(value, to: out)
    case .number:
      if !NumberKey.append(value, to: out) {
        out.base[start] = 0x28
        appendEscaped(value, to: out)
      }
    case .ohana:
      if value.allSatisfy({ $0 < 0x80 }) {
        appendEscaped(value, to: out)
      } else {
        decomposed.removeAll()
        units.appendDecomposed(value, to: decomposed)
        appendEscaped(decomposed.bytes, to: out)
      }
    }
  }
}

/// Appends text with a terminator that sorts before every byte: 00 ends it, and the bytes 00 and 01 within are written 01 01 and 01 02.
@inline(__always)
func appendEscaped(_ text: UnsafeBufferPointer<UInt8>, to out: ByteBuffer) {
  out.reserve(text.count &* 2 &+ 1)
  let target = out.base
  var count = out.count
  for byte in text {
    if byte <= 1 {
      target[count] = 1
      target[count &+ 1] = byte &+ 1
      count &+= 2
    } else {
      target[count] = byte
      count &+= 1
    }
  }
  target[count] = 0
  out.count = count &+ 1
}

@inline(__always)
func invert(_ out: ByteBuffer, from start: Int) {
  let base = out.base
  for index in start..<out.count { base[index] = ~base[index] }
}

/// UTF-16 text on its way through ICU.
private final class RawUnits {
  private var text = RawArray<UInt16>()
  private var result = RawArray<UInt16>()

  /// Appends the NFD of UTF-8 text, as UTF-8.
  func appendDecomposed(_ bytes: UnsafeBufferPointer<UInt8>, to out: ByteBuffer) {
    text.reserve(bytes.count, used: 0)
    let count = bytes.withMemoryRebound(to: CChar.self) {
      ohana_icu_from_utf8($0.baseAddress, Int32(truncatingIfNeeded: $0.count), text.base, Int32(truncatingIfNeeded: text.capacity))
    }
    var length = ohana_icu_nfd(text.base, count, result.base, Int32(truncatingIfNeeded: result.capacity))
    if Int(length) > result.capacity {
      result.reserve(Int(length), used: 0)
      length = ohana_icu_nfd(text.base, count, result.base, Int32(truncatingIfNeeded: result.capacity))
    }
    precondition(count >= 0 && length >= 0, "the ICU library cannot find its Unicode data")
    var index = 0
    while index < Int(length) {
      var scalar = UInt32(result.base[index])
      index += 1
      if scalar & 0xfc00 == 0xd800, index < Int(length) {
        scalar = 0x10000 &+ ((scalar &- 0xd800) << 10) &+ (UInt32(result.base[index]) &- 0xdc00)
        index += 1
      }
      TextDecoding.appendUTF8(scalar, to: out)
    }
  }
}
