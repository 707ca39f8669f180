internal import CXXHash
internal import OhanaCore

/// Row-local: a fingerprint of all that a record says, into ``RecordBatch/fingerprints``: the same for records that are equal as contents.
///
/// The order of keys and of tags does not count, members that are null, or lists or objects in which
/// nothing counts, count as absent, numbers as they are spelled, strings by
/// their text, and elements of other lists in their order. The sum of strong hashes stands for a set of members, at any depth.
final class RecordFingerprintMaker: RowStage, Checkpointable {
  private let content: RecordContent
  private let ignored: Set<[UInt8]>
  private let seed: UInt64
  private let pool = ScratchPool { ContentScratch() }
  /// Names to be ignored that some record had.
  private let met = Locked<Set<[UInt8]>>([])

  private final class ContentScratch: @unchecked Sendable {  // because it is lent to one piece of work at a time
    let key = ByteBuffer()
    let text = ByteBuffer()
    let nested = ByteBuffer()
    var levels: [ContentLevel] = []
    var met: Set<[UInt8]> = []
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
    if !scratch.met.isEmpty { met.withLock { $0.formUnion(scratch.met) } }
    return StageTally()
  }

  /// Some record so far had a member of this name, one of those to be ignored.
  func hasMet(_ name: [UInt8]) -> Bool { met.withLock { $0.contains(name) } }

  func save(to writer: CheckpointWriter) throws {
    let names = met.withLock { $0.sorted { $0.lexicographicallyPrecedes($1) } }
    try writer.put(names.count)
    for name in names { try writer.put(name) }
  }

  func restore(from reader: CheckpointReader) throws {
    var names: Set<[UInt8]> = []
    for _ in 0..<(try reader.count(ignored.count)) { names.insert(try reader.bytes()) }
    met.withLock { $0 = names }
  }

  private func add(
    _ name: UnsafeBufferPointer<UInt8>, _ value: FieldSpan, to sum: inout Fingerprint, _ batch: RecordBatch, _ scratch: ContentScratch
  ) {
    guard counts(name, value, UnsafePointer(batch.arena.base), scratch) else { return }
    // The name's hash first: `name` may lie in the scratch that a nested value uses.
    let nameHash = fingerprint(of: name.baseAddress, count: name.count, seed: seed)
    guard let valueHash = hash(value, areTags: Self.isTags(name), batch, scratch) else { return }
    add(combined(nameHash, valueHash, tag: 0), to: &sum)
  }

  /// Whether a member is part of a record's content.
  private func counts(
    _ name: UnsafeBufferPointer<UInt8>, _ value: FieldSpan, _ arena: UnsafePointer<UInt8>, _ scratch: ContentScratch
  ) -> Bool {
    if !ignored.isEmpty {
      let name = Array(name)
      if ignored.contains(name) {
        scratch.met.insert(name)
        return false
      }
    }
    if value.kind.rawValue <= ValueKind.null.rawValue { return false }
    if value.kind.rawValue >= ValueKind.array.rawValue, value.isEmptyValue(in: arena) { return false }
    return true
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

  /// nil for an array or object that holds nothing that counts, so that it does not count as a member either.
  private func hash(_ value: FieldSpan, areTags: Bool, _ batch: RecordBatch, _ scratch: ContentScratch) -> Fingerprint? {
    value.kind.rawValue < ValueKind.array.rawValue
      ? hash(scalar: value, batch, scratch) : hash(nested: value, areTags: areTags, batch, scratch)
  }

  private func hash(scalar value: FieldSpan, _ batch: RecordBatch, _ scratch: ContentScratch) -> Fingerprint {
    let tag = UInt64(value.kind.rawValue)
    guard value.kind == .number || value.kind == .string else { return combined(.none, .none, tag: tag) }
    let text = batch.text(of: value, scratch: scratch.text)
    return combined(fingerprint(of: text.baseAddress, count: text.count, seed: seed), .none, tag: tag)
  }

  /// An array or object, level by level on a list of our own: a thread's stack may be too small for 1,024 levels of calls.
  private func hash(nested value: FieldSpan, areTags: Bool, _ batch: RecordBatch, _ scratch: ContentScratch) -> Fingerprint? {
    let arena = UnsafePointer(batch.arena.base)
    scratch.levels.removeAll(keepingCapacity: true)
    scratch.levels.append(ContentLevel(value, areTags: areTags, in: arena))
    while true {
      let top = scratch.levels.count - 1
      let child: FieldSpan
      var childAreTags = false
      if scratch.levels[top].isObject, let member = scratch.levels[top].members.next() {
        let name = member.key(in: arena, scratch: scratch.nested)
        guard counts(name, member.value, arena, scratch) else { continue }
        scratch.levels[top].nameHash = fingerprint(of: name.baseAddress, count: name.count, seed: seed)
        childAreTags = Self.isTags(name)
        child = member.value
      } else if !scratch.levels[top].isObject, let element = scratch.levels[top].elements.next() {
        child = element
      } else {
        let done = combined(scratch.levels[top].sum, .none, tag: scratch.levels[top].tag)
        let isEmpty = scratch.levels.removeLast().isEmpty
        if top == 0 { return isEmpty ? nil : done }
        if !isEmpty || !scratch.levels[top - 1].isObject { take(done, into: &scratch.levels[top - 1]) }
        continue
      }
      if child.kind.rawValue < ValueKind.array.rawValue {
        take(hash(scalar: child, batch, scratch), into: &scratch.levels[top])
      } else {
        scratch.levels.append(ContentLevel(child, areTags: childAreTags, in: arena))
      }
    }
  }

  /// Adds a value to what holds it.
  private func take(_ hash: Fingerprint, into level: inout ContentLevel) {
    level.isEmpty = false
    if level.isObject {
      add(combined(level.nameHash, hash, tag: 0), to: &level.sum)
    } else if level.areTags {
      add(hash, to: &level.sum)
    } else {
      level.sum = combined(level.sum, hash, tag: level.tag)
    }
  }
}

/// An array or object whose content is being hashed.
struct ContentLevel {
  let isObject: Bool
  /// An array whose order does not count.
  let areTags: Bool
  let tag: UInt64
  var members: JSONMembers
  var elements: JSONElements
  var sum = Fingerprint.none
  /// Nothing in it has counted so far.
  var isEmpty = true
  /// Of the member at hand.
  var nameHash = Fingerprint.none

  init(_ value: FieldSpan, areTags: Bool, in arena: UnsafePointer<UInt8>) {
    isObject = value.kind == .object
    self.areTags = areTags
    tag = UInt64(value.kind.rawValue)
    members = JSONMembers(of: value, in: arena)
    elements = JSONElements(of: value, in: arena)
  }
}
