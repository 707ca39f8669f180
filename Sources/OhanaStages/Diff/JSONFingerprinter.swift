internal import CXXHash
internal import OhanaCore

/// Fingerprints of arrays and objects by what they say: spelling, white space and the order of members do not count, null members equal
/// missing ones, the last of repeated keys counts. Numbers keep their spelling.
///
/// Never recurses; memory is bounded whatever the text. One piece of work at a time.
final class JSONFingerprinter {
  private struct Member {
    var key: Fingerprint
    var value: Fingerprint
  }
  private struct Frame {
    var isObject: Bool
    /// Of an array: chained over its items. Of an object: sum over the members counted in already.
    var state: Fingerprint
    /// Of an object: where its members that are not counted in yet begin in `members`.
    var firstMember: Int
    /// Key of the member that this container is, within an object.
    var key: Fingerprint
  }

  /// Members held back so that repeated keys can be told. Only an object of more loses sight of them.
  private static let maxMembers = 1 << 16
  private let seed: UInt64
  private let text = ByteBuffer()
  private var frames: [Frame] = []
  private var members: [Member] = []

  init(seed: UInt64) { self.seed = seed }

  /// - Parameter value: an array or object in validated JSON text at `base`.
  /// - Complexity: O(bytes), and O(n log n) in the members of an object.
  func fingerprint(of value: FieldSpan, in base: UnsafePointer<UInt8>) -> Fingerprint {
    frames.removeAll(keepingCapacity: true)
    members.removeAll(keepingCapacity: true)
    var index = Int(value.offset)
    var key = Fingerprint.none
    while true {
      index = JSONScanner.skipWhitespace(base, index)
      switch base[index] {
      case UInt8(ascii: ","): index += 1
      case UInt8(ascii: "{"), UInt8(ascii: "["):
        frames.append(Frame(isObject: base[index] == UInt8(ascii: "{"), state: .none, firstMember: members.count, key: key))
        index += 1
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        index += 1
        let frame = close()
        let found = combine(frame.state, .none, kind: frame.isObject ? .object : .array)
        if frames.isEmpty { return found }
        add(found, key: frame.key)
      default:
        if frames[frames.count - 1].isObject, key.isNone {
          let (end, hasEscape) = JSONScanner.endOfString(base, index)
          let name = FieldSpan(
            offset: UInt32(index + 1), length: UInt32(end - index - 2), kind: .string, encoding: hasEscape ? .json : .plain)
          key = scalar(name, base)
          index = JSONScanner.skipWhitespace(base, end) + 1  // behind the colon
          let first = base[JSONScanner.skipWhitespace(base, index)]
          if first == UInt8(ascii: "{") || first == UInt8(ascii: "[") { continue }
        }
        let (span, end) = JSONScanner.value(in: base, at: index)
        index = end
        add(scalar(span, base), key: key)
      }
      key = .none
    }
  }

  private func scalar(_ span: FieldSpan, _ base: UnsafePointer<UInt8>) -> Fingerprint {
    var bytes = UnsafeBufferPointer(start: base + Int(span.offset), count: Int(span.length))
    switch span.kind {
    case .null: return .none
    case .string where span.encoding == .json:
      text.removeAll()
      TextDecoding.appendJSON(bytes, to: text)
      bytes = text.bytes
    default: break
    }
    let length = span.kind.rawValue < ValueKind.number.rawValue ? 0 : bytes.count
    return OhanaStages.fingerprint(of: bytes.baseAddress, count: length, seed: seed &+ UInt64(span.kind.rawValue))
  }

  private func combine(_ a: Fingerprint, _ b: Fingerprint, kind: ValueKind) -> Fingerprint {
    var pair = (a, b)
    return withUnsafeBytes(of: &pair) {
      OhanaStages.fingerprint(of: $0.baseAddress, count: 32, seed: seed &+ UInt64(kind.rawValue))
    }
  }

  private func add(_ value: Fingerprint, key: Fingerprint) {
    let top = frames.count - 1
    if frames[top].isObject {
      if members.count >= Self.maxMembers {
        for index in frames.indices where frames[index].isObject {
          let end = index < top ? frames[index + 1].firstMember : members.count
          countIn(index, frames[index].firstMember..<end)
        }
        members.removeAll(keepingCapacity: true)
        for index in frames.indices { frames[index].firstMember = 0 }
      }
      members.append(Member(key: key, value: value))
    } else {
      frames[top].state = combine(frames[top].state, value, kind: .array)
    }
  }

  private func close() -> Frame {
    let top = frames.count - 1
    if frames[top].isObject {
      countIn(top, frames[top].firstMember..<members.count)
      members.removeLast(members.count - frames[top].firstMember)
    }
    return frames.removeLast()
  }

  /// Adds members to an object's sum, whatever their order; of repeated keys the last.
  private func countIn(_ frame: Int, _ range: Range<Int>) {
    // A stable order by key, so that the last of repeated keys is the last of its neighbours.
    var order = Array(range)
    order.sort { a, b in
      let (keyA, keyB) = (members[a].key, members[b].key)
      if keyA.high != keyB.high { return keyA.high < keyB.high }
      if keyA.low != keyB.low { return keyA.low < keyB.low }
      return a < b
    }
    for (place, index) in order.enumerated() {
      let member = members[index]
      let isRepeated = place + 1 < order.count && members[order[place + 1]].key == member.key
      if isRepeated || member.value.isNone { continue }
      let one = combine(member.key, member.value, kind: .object)
      let (low, carry) = frames[frame].state.low.addingReportingOverflow(one.low)
      frames[frame].state = Fingerprint(high: frames[frame].state.high &+ one.high &+ (carry ? 1 : 0), low: low)
    }
  }
}
