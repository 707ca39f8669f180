internal import OhanaCore

/// Compares the records of OLD and NEW that come in by key, and says what differs. One piece of work at a time.
final class DiffJoin: @unchecked Sendable {  // because it belongs to one stage, which is one piece of work at a time
  private let parts: [BoundEqualityKey]
  private let content: RecordContent
  private let payload: RecordPayload
  private let packer: RecordPacker
  private let oldSources: Range<Int>
  private let slotCount: Int

  /// OLD's record of the key at hand, as a whole item, until it is matched.
  private let held = ByteBuffer()
  private var fingerprint = Fingerprint.none
  private var isHeld = false
  /// First records of the key at hand, on either side.
  private var firstOld: RecordOrigin?
  private var firstNew: RecordOrigin?
  /// The first record of the stream that repeats a key of its side.
  private(set) var repeated: (second: RecordOrigin, first: RecordOrigin)?
  /// Its key as JSON, where messages may hold values.
  private(set) var repeatedKey: String?
  private let showsValues: Bool

  private let old = RecordMembers()
  private let new = RecordMembers()
  private let oldText = ByteBuffer()
  private let newText = ByteBuffer()
  private let scratch = KeyScratch()
  private let fingerprinter: JSONFingerprinter
  private let result = ByteBuffer()

  init(_ parts: [BoundEqualityKey], _ content: RecordContent, _ payload: RecordPayload, oldSources: Range<Int>, settings: StageSettings) {
    self.parts = parts
    self.content = content
    self.payload = payload
    self.oldSources = oldSources
    packer = RecordPacker(payload)
    slotCount = (payload.slots.max() ?? -1) + 1
    fingerprinter = JSONFingerprinter(seed: settings.fingerprintSeed)
    showsValues = settings.showsValues
  }

  /// Takes the next item, in order of ``DiffKey``. Hands each difference that is now certain to `emit`.
  func take(_ item: UnsafeRawPointer, _ emit: (DiffOperation, RecordOrigin, UnsafeRawBufferPointer) throws -> Void) throws {
    let key = SortItem.key(item)
    let next = DiffKey.fingerprint(key)
    let origin = DiffKey.origin(key)
    let isOld = oldSources.contains(Int(origin.source))
    if next.isNone {
      // A blank in the key: it matches nothing.
      return try emitAlone(item, isOld: isOld, emit)
    }
    if next != fingerprint {
      try finish(emit)
      fingerprint = next
      firstOld = nil
      firstNew = nil
    }
    if let first = isOld ? firstOld : firstNew {
      if repeated.map({ precedes(origin, $0.second) }) ?? true {
        repeated = (origin, first)
        if showsValues { repeatedKey = keyText(of: item) }
      }
      return
    }
    if isOld {
      firstOld = origin
      hold(item)
    } else {
      firstNew = origin
      guard isHeld else { return try emitAlone(item, isOld: false, emit) }
      isHeld = false
      try compare(UnsafeRawPointer(held.base), item, emit)
    }
  }

  /// Behind the last item.
  func finish(_ emit: (DiffOperation, RecordOrigin, UnsafeRawBufferPointer) throws -> Void) throws {
    guard isHeld else { return }
    isHeld = false
    try emitAlone(UnsafeRawPointer(held.base), isOld: true, emit)
  }

  private func precedes(_ a: RecordOrigin, _ b: RecordOrigin) -> Bool { (a.source, a.ordinal) < (b.source, b.ordinal) }

  private func hold(_ item: UnsafeRawPointer) {
    held.recycle(limit: 1 << 20)
    held.append(item.assumingMemoryBound(to: UInt8.self), count: SortItem.size(item))
    isHeld = true
  }

  // MARK: Comparing

  private func compare(
    _ oldItem: UnsafeRawPointer, _ newItem: UnsafeRawPointer, _ emit: (DiffOperation, RecordOrigin, UnsafeRawBufferPointer) throws -> Void
  ) throws {
    let oldPacked = SortItem.payload(oldItem)
    let newPacked = SortItem.payload(newItem)
    if isSamePacked(oldPacked, newPacked) { return }
    old.load(oldPacked, packer, slotCount: slotCount)
    new.load(newPacked, packer, slotCount: slotCount)
    old.gather(content)
    new.gather(content)
    result.removeAll()
    var differences = 0
    func note(_ name: UnsafeBufferPointer<UInt8>) {
      result.append(differences == 0 ? "[" : ",")
      JSONEscaping.appendQuoted(name, to: result)
      differences += 1
    }
    var guess = 0
    for member in 0..<new.count {
      let one = new.members.base[member]
      if let partner = old.find(new.name(member), hash: one.hash, guess: guess) {
        old.meet(partner)
        guess = partner + 1
        if !isEqual(old.members.base[partner].value, one.value) { note(new.name(member)) }
      } else if one.value.kind.rawValue > ValueKind.null.rawValue {
        note(new.name(member))
      }
    }
    for member in 0..<old.count where !old.members.base[member].isMet {
      if old.members.base[member].value.kind.rawValue > ValueKind.null.rawValue { note(old.name(member)) }
    }
    if differences == 0 { return }
    result.append("]")
    try emit(.changed, DiffKey.origin(SortItem.key(newItem)), makeResult(.changed, fields: result.bytes))
  }

  /// All that was packed, less size, flags and origin, is the same bytes: so is what it says. The reverse does not hold.
  private func isSamePacked(_ a: UnsafeRawPointer, _ b: UnsafeRawPointer) -> Bool {
    let size = RecordPacker.size(of: a)
    guard size == RecordPacker.size(of: b) else { return false }
    let start = 20
    return memcmp(a + start, b + start, size - start) == 0
  }

  private func isEqual(_ a: FieldSpan, _ b: FieldSpan) -> Bool {
    guard a.kind == b.kind else { return max(a.kind.rawValue, b.kind.rawValue) <= ValueKind.null.rawValue }
    switch a.kind {
    case .missing, .null, .true, .false: return true
    case .number: return isSame(old.batch.bytes(of: a), new.batch.bytes(of: b))
    case .string:
      if a.encoding == b.encoding, isSame(old.batch.bytes(of: a), new.batch.bytes(of: b)) { return true }
      return isSame(old.batch.text(of: a, scratch: oldText), new.batch.text(of: b, scratch: newText))
    case .array, .object:
      if isSame(old.batch.bytes(of: a), new.batch.bytes(of: b)) { return true }
      return fingerprinter.fingerprint(of: a, in: old.batch.arena.base) == fingerprinter.fingerprint(of: b, in: new.batch.arena.base)
    }
  }

  private func emitAlone(
    _ item: UnsafeRawPointer, isOld: Bool, _ emit: (DiffOperation, RecordOrigin, UnsafeRawBufferPointer) throws -> Void
  ) throws {
    let operation: DiffOperation = isOld ? .removed : .added
    (isOld ? old : new).load(SortItem.payload(item), packer, slotCount: slotCount)
    try emit(operation, DiffKey.origin(SortItem.key(item)), makeResult(operation, fields: UnsafeBufferPointer(start: nil, count: 0)))
  }

  private func keyText(of item: UnsafeRawPointer) -> String {
    new.load(SortItem.payload(item), packer, slotCount: slotCount)
    made.removeAll()
    _ = appendKey(of: new)
    return String(decoding: made.bytes, as: UTF8.self)
  }

  // MARK: Results

  private let made = ByteBuffer()

  /// The difference as it goes to the sink: see ``DiffResult``.
  private func makeResult(_ operation: DiffOperation, fields: UnsafeBufferPointer<UInt8>) -> UnsafeRawBufferPointer {
    made.recycle(limit: 1 << 20)
    made.reserve(DiffResult.headerSize)
    made.count = DiffResult.headerSize
    let keyKind = appendKey(of: operation == .removed ? old : new)
    let key = made.count
    if operation != .added { old.appendJSON(content, to: made) }
    let oldEnd = made.count
    if operation != .removed { new.appendJSON(content, to: made) }
    let newEnd = made.count
    made.append(fields)
    DiffResult(
      operation: operation, keyKind: keyKind, keyLength: key - DiffResult.headerSize, oldLength: oldEnd - key, newLength: newEnd - oldEnd,
      fieldsLength: made.count - newEnd
    ).store(to: UnsafeMutableRawPointer(made.base))
    return UnsafeRawBufferPointer(made.bytes)
  }

  /// The key's text: of one part as it is, of several as an array; null for a blank part.
  private func appendKey(of record: RecordMembers) -> ValueKind {
    if parts.count == 1 {
      let field = record.batch.field(parts[0].slot, of: 0)
      return appendKeyText(parts[0].kind, of: field, in: record.batch, to: made, scratch: scratch.text) ? .string : .null
    }
    for (index, part) in parts.enumerated() {
      made.append(index == 0 ? "[" : ",")
      scratch.key.removeAll()
      if appendKeyText(part.kind, of: record.batch.field(part.slot, of: 0), in: record.batch, to: scratch.key, scratch: scratch.text) {
        JSONEscaping.appendQuoted(scratch.key.bytes, to: made)
      } else {
        made.append("null")
      }
    }
    made.append("]")
    return .array
  }
}

/// Head of a difference on its way back into order; key, old, new and fields follow it in this order.
struct DiffResult {
  var operation: DiffOperation
  /// `string`, `array` or `null`.
  var keyKind: ValueKind
  var keyLength: Int
  var oldLength: Int
  var newLength: Int
  var fieldsLength: Int

  static let headerSize = 18

  func store(to target: UnsafeMutableRawPointer) {
    target.storeBytes(of: operation.rawValue, as: UInt8.self)
    target.storeBytes(of: keyKind.rawValue, toByteOffset: 1, as: UInt8.self)
    for (index, length) in [keyLength, oldLength, newLength, fieldsLength].enumerated() {
      target.storeBytes(of: UInt32(length), toByteOffset: 2 + 4 * index, as: UInt32.self)
    }
  }

  init(operation: DiffOperation, keyKind: ValueKind, keyLength: Int, oldLength: Int, newLength: Int, fieldsLength: Int) {
    self.operation = operation
    self.keyKind = keyKind
    self.keyLength = keyLength
    self.oldLength = oldLength
    self.newLength = newLength
    self.fieldsLength = fieldsLength
  }

  init(_ source: UnsafeRawPointer) {
    func length(_ index: Int) -> Int { Int(source.loadUnaligned(fromByteOffset: 2 + 4 * index, as: UInt32.self)) }
    operation = DiffOperation(rawValue: source.load(as: UInt8.self))!
    keyKind = ValueKind(rawValue: source.load(fromByteOffset: 1, as: UInt8.self))!
    keyLength = length(0)
    oldLength = length(1)
    newLength = length(2)
    fieldsLength = length(3)
  }
}
