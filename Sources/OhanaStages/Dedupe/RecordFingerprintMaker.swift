internal import CXXHash
internal import OhanaCore

/// Row-local: a fingerprint of all that a record says, into ``RecordBatch/fingerprints``: the same for records that are equal as contents.
///
/// The order of keys and of tags does not count, null members and empty lists count as absent, numbers as they are spelled, strings by
/// their text, and elements of other lists in their order. The sum of strong hashes stands for a set of members, at any depth.
final class RecordFingerprintMaker: RowStage {
  private let content: RecordContent
  private let ignored: Set<[UInt8]>
  private let seed: UInt64
  private let pool = ScratchPool { ContentScratch() }

  private final class ContentScratch: @unchecked Sendable {  // because it is lent to one piece of work at a time
    let key = ByteBuffer()
    let text = ByteBuffer()
    let nested = ByteBuffer()
  }

  /// - Parameter ignored: names of members that do not count, at any depth.
  init(_ content: RecordContent, ignoring ignored: Set<[UInt8]>, seed: UInt64) {
    self.content = content
    self.ignored = ignored
    self.seed = seed
  }

  func process(_ batch: RecordBatch) throws -> StageTally {
    let scratch = pool.take()
    defer { pool.give(scratch) }
    batch.reserveFingerprints()
    for index in 0..<batch.selectedCount {
      let record = Int(batch.selection[index])
      var sum = Fingerprint.none
      content.forEachMember(record, of: batch, scratch: scratch.key) { name, value in add(name, value, to: &sum, batch, scratch) }
      batch.fingerprints[index] = sum.isNone ? Fingerprint(high: 0, low: 1) : sum
    }
    return StageTally()
  }

  private func add(
    _ name: UnsafeBufferPointer<UInt8>, _ value: FieldSpan, to sum: inout Fingerprint, _ batch: RecordBatch, _ scratch: ContentScratch
  ) {
    let arena = UnsafePointer(batch.arena.base)
    if value.kind.rawValue <= ValueKind.null.rawValue { return }
    if value.kind.rawValue >= ValueKind.array.rawValue, value.isEmptyValue(in: arena) { return }
    if !ignored.isEmpty, ignored.contains(Array(name)) { return }
    // The name's hash first: `name` may lie in the scratch that a nested value uses.
    let nameHash = fingerprint(of: name.baseAddress, count: name.count, seed: seed)
    let valueHash = hash(value, areTags: Self.isTags(name), batch, scratch)
    add(combined(nameHash, valueHash, tag: 0), to: &sum)
  }

  private static func isTags(_ name: UnsafeBufferPointer<UInt8>) -> Bool {
    name.count == 4 && memcmp(name.baseAddress!, "tags", 4) == 0
  }

  @inline(__always)
  private func add(_ hash: Fingerprint, to sum: inout Fingerprint) {
    let (low, carry) = sum.low.addingReportingOverflow(hash.low)
    sum = Fingerprint(high: sum.high &+ hash.high &+ (carry ? 1 : 0), low: low)
  }

  private func combined(_ a: Fingerprint, _ b: Fingerprint, tag: UInt64) -> Fingerprint {
    var bytes = (a, b, tag)
    return withUnsafeBytes(of: &bytes) { fingerprint(of: $0.baseAddress, count: 40, seed: seed) }
  }

  private func hash(_ value: FieldSpan, areTags: Bool, _ batch: RecordBatch, _ scratch: ContentScratch) -> Fingerprint {
    let tag = UInt64(value.kind.rawValue)
    switch value.kind {
    case .missing, .null, .false, .true: return combined(.none, .none, tag: tag)
    case .number, .string:
      let text = batch.text(of: value, scratch: scratch.text)
      return combined(fingerprint(of: text.baseAddress, count: text.count, seed: seed), .none, tag: tag)
    case .array:
      var elements = JSONElements(of: value, in: batch.arena.base)
      var sum = Fingerprint.none
      while let element = elements.next() {
        let next = hash(element, areTags: false, batch, scratch)
        if areTags { add(next, to: &sum) } else { sum = combined(sum, next, tag: tag) }
      }
      return combined(sum, .none, tag: tag)
    case .object:
      var members = JSONMembers(of: value, in: batch.arena.base)
      var sum = Fingerprint.none
      while let member = members.next() {
        add(member.key(in: batch.arena.base, scratch: scratch.nested), member.value, to: &sum, batch, scratch)
      }
      return combined(sum, .none, tag: tag)
    }
  }
}
