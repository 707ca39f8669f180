internal import CXXHash
internal import OhanaCore

/// The members of one record that lies in a batch of its own, by number and by name. Kept from record to record for its memory.
final class RecordMembers {
  struct Member: BitwiseCopyable {
    /// Of the name, in `names`.
    var nameOffset: UInt32
    var nameLength: UInt32
    var hash: UInt64
    var value: FieldSpan
    /// A member of the other record was compared with it.
    var isMet: Bool
  }

  let batch = RecordBatch()
  private(set) var members = RawArray<Member>()
  private(set) var count = 0
  private let names = ByteBuffer()
  private let scratch = ByteBuffer()
  /// Open addressing: number of a member plus 1. Built when a member is first looked up.
  private var table = RawArray<UInt32>()
  private var mask = -1

  /// Takes the record in its packed form.
  func load(_ packed: UnsafeRawPointer, _ packer: RecordPacker, slotCount: Int) {
    batch.recycle(limit: 1 << 20)
    batch.slotCount = slotCount
    packer.unpack(packed, into: batch)
    count = 0
    mask = -1
    names.recycle(limit: 1 << 16)
  }

  /// Walks the record; without this there are no members.
  func gather(_ content: RecordContent) {
    count = 0
    content.forEachMember(0, of: batch, scratch: scratch) { name, value in
      members.reserve(count &+ 1, used: count)
      members.base[count] = Member(
        nameOffset: UInt32(names.count), nameLength: UInt32(name.count), hash: XXH3_64bits(name.baseAddress, name.count), value: value,
        isMet: false)
      names.append(name)
      count &+= 1
    }
  }

  func name(_ member: Int) -> UnsafeBufferPointer<UInt8> {
    UnsafeBufferPointer(start: names.base + Int(members.base[member].nameOffset), count: Int(members.base[member].nameLength))
  }

  func meet(_ member: Int) { members.base[member].isMet = true }

  /// The number of the member with that name.
  ///
  /// - Parameter guess: is looked at first, since records of one origin have their members in one order.
  func find(_ name: UnsafeBufferPointer<UInt8>, hash: UInt64, guess: Int) -> Int? {
    if guess < count, isNamed(guess, name, hash) { return guess }
    if mask < 0 { buildTable() }
    var slot = Int(truncatingIfNeeded: hash) & mask
    while table.base[slot] != 0 {
      let member = Int(table.base[slot]) - 1
      if isNamed(member, name, hash) { return member }
      slot = (slot + 1) & mask
    }
    return nil
  }

  private func isNamed(_ member: Int, _ name: UnsafeBufferPointer<UInt8>, _ hash: UInt64) -> Bool {
    members.base[member].hash == hash && isSame(self.name(member), name)
  }

  private func buildTable() {
    var capacity = 16
    while capacity < count * 2 { capacity *= 2 }
    table.reserve(capacity, used: 0)
    table.base.update(repeating: 0, count: capacity)
    mask = capacity - 1
    for member in 0..<count {
      var slot = Int(truncatingIfNeeded: members.base[member].hash) & mask
      while table.base[slot] != 0 { slot = (slot + 1) & mask }
      table.base[slot] = UInt32(member + 1)
    }
  }

  // MARK: Writing

  /// Appends the record as a JSON object on one line: its own bytes where they say it, otherwise from its members.
  func appendJSON(_ content: RecordContent, to out: ByteBuffer) {
    let isOwn = content.needsBytes && content.slots.isEmpty && !batch.records[0].flags.contains(.repeatsKey)
    if isOwn { return appendOneLine(batch.bytes(ofRecord: 0), to: out) }
    if count == 0 { gather(content) }
    out.append("{")
    for member in 0..<count {
      if member > 0 { out.append(",") }
      JSONEscaping.appendQuoted(name(member), to: out)
      out.append(":")
      append(members.base[member].value, to: out)
    }
    out.append("}")
  }

  private func append(_ value: FieldSpan, to out: ByteBuffer) {
    switch value.kind {
    case .missing, .null: out.append("null")
    case .true: out.append("true")
    case .false: out.append("false")
    case .number: out.append(batch.bytes(of: value))
    case .string: JSONEscaping.appendQuoted(batch.text(of: value, scratch: scratch), to: out)
    case .array, .object: appendOneLine(batch.bytes(of: value), to: out)
    }
  }

  /// JSON text as it is, unless it is spread over lines.
  private func appendOneLine(_ json: UnsafeBufferPointer<UInt8>, to out: ByteBuffer) {
    guard let base = json.baseAddress else { return }
    if memchr(base, 0x0a, json.count) == nil, memchr(base, 0x0d, json.count) == nil { return out.append(json) }
    JSONScanner.appendCompact(json, to: out)
  }
}

/// The bytes are the same.
@inline(__always)
func isSame(_ a: UnsafeBufferPointer<UInt8>, _ b: UnsafeBufferPointer<UInt8>) -> Bool {
  guard a.count == b.count else { return false }
  return a.count == 0 || memcmp(a.baseAddress!, b.baseAddress!, a.count) == 0
}
