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
    /// Of the characters of a line, which are Unicode scalars here: where they begin, and whether a word begins with them.
    fileprivate var offsets: [Int] = []
    fileprivate var beginsWord: [Bool] = []
    /// The best scores of matches that end with a character, and those of the one before it in the query.
    fileprivate var scores: [Int] = []
    fileprivate var scoresBefore: [Int] = []
    /// Of no match: far below all others, whatever is added to it.
    fileprivate static let none = Int.min / 2

    fileprivate func read(_ line: UnsafeBufferPointer<UInt8>) {
      offsets.removeAll(keepingCapacity: true)
      beginsWord.removeAll(keepingCapacity: true)
      var isInWord = false
      var offset = 0
      while offset < line.count {
        offsets.append(offset)
        beginsWord.append(!isInWord)
        let byte = line[offset]
        if byte < 0x80 {
          isInWord = byte | 0x20 >= 0x61 && byte | 0x20 <= 0x7a || byte >= 0x30 && byte <= 0x39
          offset += 1
        } else {
          var next = offset + 1
          while next < line.count, line[next] & 0xc0 == 0x80 { next += 1 }
          let scalar = String(decoding: UnsafeBufferPointer(rebasing: line[offset..<next]), as: UTF8.self).unicodeScalars.first!
          isInWord = Self.isWord(scalar.properties)
          offset = next
        }
      }
    }

    private static func isWord(_ properties: Unicode.Scalar.Properties) -> Bool {
      switch properties.generalCategory {
      case .nonspacingMark, .spacingMark, .enclosingMark, .decimalNumber, .letterNumber, .otherNumber: true
      default: properties.isAlphabetic
      }
    }

    fileprivate func length(of character: [UInt8]) -> Int { character.count { $0 & 0xc0 != 0x80 } }

    fileprivate func holds(_ character: [UInt8], at index: Int, in line: UnsafeBufferPointer<UInt8>) -> Bool {
      let offset = offsets[index]
      return line.count - offset >= character.count && memcmp(line.baseAddress! + offset, character, character.count) == 0
    }
  }

  init(_ query: String) {
    let scratch = Scratch()
    var query = query
    let upper = query.withUTF8 { Self.folded($0, scratch).map { $0 } }
    characters = String(decoding: upper, as: UTF8.self).map { Array(String($0).utf8) }
  }

  /// How well `candidate` matches, in the way that is best for it; nil if it does not.
  ///
  /// A character counts 16, 8 more at the beginning of a word and 4 more right behind the one before it; characters passed over between two
  /// count 1 against it, 8 at most at a time. Costs characters of the query times those of the line; where that is more than a million,
  /// each character counts where it occurs first.
  func score(_ candidate: UnsafeBufferPointer<UInt8>, _ scratch: Scratch) -> Int? {
    let text = Self.folded(candidate, scratch)
    var best: Int?
    var start = 0
    while start <= text.count {
      var end = start
      while end < text.count, Self.lineBreak(text, end) == 0 { end += 1 }
      if let score = score(line: UnsafeBufferPointer(rebasing: text[start..<end]), scratch) { best = max(best ?? score, score) }
      start = end + max(1, end < text.count ? Self.lineBreak(text, end) : 1)
    }
    return best
  }

  /// Where all ways to match are too many to look at, one is.
  private static let mostSteps = 1 << 20

  private func score(line: UnsafeBufferPointer<UInt8>, _ scratch: Scratch) -> Int? {
    guard matches(line) else { return nil }
    scratch.read(line)
    let count = scratch.offsets.count
    if count * characters.count > Self.mostSteps { return firstScore(line, scratch) }
    scratch.scores.removeAll(keepingCapacity: true)
    for (number, character) in characters.enumerated() {
      swap(&scratch.scores, &scratch.scoresBefore)
      scratch.scores.removeAll(keepingCapacity: true)
      let length = number > 0 ? scratch.length(of: characters[number - 1]) : 0
      // The best that ends eight characters or more in front.
      var far = Scratch.none
      for index in 0..<count {
        let end = index - length
        if number > 0, end >= 8 { far = max(far, scratch.scoresBefore[end - 8]) }
        guard scratch.holds(character, at: index, in: line) else {
          scratch.scores.append(Scratch.none)
          continue
        }
        var before = 0
        if number > 0 {
          before = far - 8
          for gap in 0..<8 where end - gap >= 0 { before = max(before, scratch.scoresBefore[end - gap] + (gap == 0 ? 4 : -gap)) }
        }
        scratch.scores.append(before + 16 + (scratch.beginsWord[index] ? 8 : 0))
      }
    }
    return scratch.scores.max()
  }

  /// Whether the characters are there in order.
  private func matches(_ line: UnsafeBufferPointer<UInt8>) -> Bool {
    var position = 0
    return characters.allSatisfy { character in
      guard let found = find(character, in: line, from: position) else { return false }
      position = found + character.count
      return true
    }
  }

  /// Of the first occurrences.
  private func firstScore(_ line: UnsafeBufferPointer<UInt8>, _ scratch: Scratch) -> Int {
    var (score, index, number) = (0, 0, 0)
    var gap = 0
    while number < characters.count {
      if scratch.holds(characters[number], at: index, in: line) {
        score += 16 + (scratch.beginsWord[index] ? 8 : 0)
        if number > 0 { score += gap == 0 ? 4 : -min(8, gap) }
        index += scratch.length(of: characters[number])
        (number, gap) = (number + 1, 0)
      } else {
        (index, gap) = (index + 1, gap + 1)
      }
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
