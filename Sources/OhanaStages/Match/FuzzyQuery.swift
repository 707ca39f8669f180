internal import OhanaCore

/// A query whose characters are looked for in order: each stands for itself, in any case, composed or not. A value's lines are looked at one
/// by one, since nothing may match across a line break.
struct FuzzyQuery: Sendable {
  /// Upper-cased, composed characters in UTF-8.
  private let characters: [[UInt8]]

  /// One piece of work at a time.
  final class Scratch {
    fileprivate let text = TextScratch()
    fileprivate let composed = ByteBuffer()
    fileprivate let upper = ByteBuffer()
  }

  init(_ query: String) {
    let scratch = Scratch()
    var query = query
    let upper = query.withUTF8 { Self.folded($0, scratch).map { $0 } }
    characters = String(decoding: upper, as: UTF8.self).map { Array(String($0).utf8) }
  }

  /// How well `candidate` matches; nil if it does not.
  ///
  /// A character counts 16, 8 more at the beginning of a word and 4 more right behind the one before it; bytes passed over between the first
  /// and the last count 1 against it, 8 at most at a time.
  func score(_ candidate: UnsafeBufferPointer<UInt8>, _ scratch: Scratch) -> Int? {
    let text = Self.folded(candidate, scratch)
    var best: Int?
    var start = 0
    while start <= text.count {
      var end = start
      while end < text.count, Self.lineBreak(text, end) == 0 { end += 1 }
      if let score = score(line: UnsafeBufferPointer(rebasing: text[start..<end])) { best = max(best ?? score, score) }
      start = end + max(1, end < text.count ? Self.lineBreak(text, end) : 1)
    }
    return best
  }

  private func score(line: UnsafeBufferPointer<UInt8>) -> Int? {
    var score = 0
    var position = 0
    for (number, character) in characters.enumerated() {
      guard let found = find(character, in: line, from: position) else { return nil }
      score += 16
      if found == 0 || !Self.isWordByte(line[found - 1]) { score += 8 }
      if number > 0 { score += found == position ? 4 : -min(8, found - position) }
      position = found + character.count
    }
    return score
  }

  private func find(_ character: [UInt8], in line: UnsafeBufferPointer<UInt8>, from start: Int) -> Int? {
    guard let base = line.baseAddress else { return nil }
    var next = start
    while next + character.count <= line.count {
      guard let found = memchr(base + next, Int32(character[0]), line.count - character.count + 1 - next) else { return nil }
      let offset = UnsafePointer(found.assumingMemoryBound(to: UInt8.self)) - base
      if memcmp(base + offset, character, character.count) == 0 { return offset }
      next = offset + 1
    }
    return nil
  }

  private static func isWordByte(_ byte: UInt8) -> Bool {
    byte >= 0x80 || byte | 0x20 >= 0x61 && byte | 0x20 <= 0x7a || byte >= 0x30 && byte <= 0x39
  }

  /// Bytes of the line break at `index` (Unicode's UAX 14: LF, VT, FF, CR, NEL, LS, PS); 0 if there is none.
  private static func lineBreak(_ text: UnsafeBufferPointer<UInt8>, _ index: Int) -> Int {
    switch text[index] {
    case 0x0a...0x0d: 1
    case 0xc2 where index + 1 < text.count && text[index + 1] == 0x85: 2
    case 0xe2 where index + 2 < text.count && text[index + 1] == 0x80 && (text[index + 2] == 0xa8 || text[index + 2] == 0xa9): 3
    default: 0
    }
  }

  /// Composed, and in upper case: the one fold that makes `ß` and `SS`, `ς` and `σ` equal.
  private static func folded(_ text: UnsafeBufferPointer<UInt8>, _ scratch: Scratch) -> UnsafeBufferPointer<UInt8> {
    scratch.upper.removeAll()
    if text.allSatisfy({ $0 < 0x80 }) {
      scratch.upper.reserve(text.count)
      for byte in text { scratch.upper.append(byte >= 0x61 && byte <= 0x7a ? byte & 0xdf : byte) }
    } else {
      scratch.composed.removeAll()
      _ = NormalForm.upper.append(text, to: scratch.composed, scratch: scratch.text)
      _ = NormalForm.nfc.append(scratch.composed.bytes, to: scratch.upper, scratch: scratch.text)
    }
    return scratch.upper.bytes
  }
}
