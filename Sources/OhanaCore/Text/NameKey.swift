internal import CICU

/// Appends the folded name without punctuation and titles, `Last, First` turned. False if nothing is left.
///
/// - Dashes, slashes and underscores part words, as dots do in `St.John`; dots of initials and of `Ph.D.` and all other punctuation go
///   without a trace (`O'Brien` is `OBrien`).
/// - Titles go at the start of the name or of a part between commas, degrees and some titles at its end, unless nothing else would be left. `Jr`, `Sr`,
///   `II`, `III` and `IV` stay, since they tell a son from his father; they go last where a comma sets them apart.
/// - Two parts change places; with more or fewer the order stays.
func appendNameKey(_ text: UnsafeBufferPointer<UInt8>, to out: ByteBuffer, scratch: TextScratch) -> Bool {
  let folded = scratch.folded
  folded.removeAll()
  if !appendFoldedLatin(text, to: folded) {
    scratch.load(text)
    scratch.unifyApostrophes()
    scratch.fold()
    scratch.appendUnits(to: folded)
  }
  guard folded.count > 0 else { return false }
  scratch.splitName()
  return scratch.appendNameWords(to: out)
}

/// A word of a name, in ``TextScratch/words``.
struct NameWord: BitwiseCopyable {
  enum Role: UInt8 {
    case name
    case title
    /// A title that is found behind the name too.
    case courtesy
    case afterTitle, degree, generation
  }
  var start: UInt32
  var end: UInt32
  /// Number of the part between commas that it is in.
  var part: UInt32
  var role: Role
  var isDropped = false
  /// A generation that commas set apart: it goes last.
  var isLate = false
}

extension TextScratch {
  /// These accents would fold to blanks; people type them for an apostrophe.
  final func unifyApostrophes() {
    for index in 0..<units.count {
      switch units.base[index] {
      case 0xb4, 0x1fbd, 0x1fbf: units.base[index] = 0x27
      default: break
      }
    }
  }

  /// Cuts the folded name into words.
  final func splitName() {
    words.removeAll()
    nameWordCount = 0
    words.reserve(folded.count)
    let base = folded.base
    let count = folded.count
    var index = 0
    var part: UInt32 = 0
    var start = 0
    while index < count {
      let begin = index
      let scalar = scalarUTF8(base, &index)
      switch nameClass(of: scalar) {
      case .letter: words.append(base + begin, count: index - begin)
      case .dot: words.append(UInt8(ascii: "."))
      case .blank: endWord(&start, part)
      case .comma:
        endWord(&start, part)
        part += 1
      case .nothing: break
      }
    }
    endWord(&start, part)
  }

  private enum NameClass { case letter, dot, blank, comma, nothing }

  @inline(__always)
  private final func nameClass(of scalar: UInt32) -> NameClass {
    switch scalar {
    case 0x61...0x7a, 0x30...0x39: return .letter
    case 0x20, 0x2d, 0x2f, 0x5c, 0x5f, 0x30fb: return .blank
    case 0x2e: return .dot
    case 0x2c, 0x60c, 0x3001: return .comma
    case 0x21...0x23, 0x25...0x2a, 0x3a, 0x3b, 0x3f, 0x40, 0x5b, 0x5d, 0x7b, 0x7d: return .nothing  // ASCII's punctuation
    case 0x60, 0x2b9, 0x2bb...0x2bd, 0xa78c: return .nothing  // apostrophes by looks
    default: break
    }
    return switch ohana_icu_classify(scalar) {
    case OHANA_ICU_DASH_OR_CONNECTOR: .blank
    case OHANA_ICU_PUNCTUATION: .nothing
    default: .letter
    }
  }

  /// Ends the word that begins at `start` of `words`: its dots either part it or go.
  private final func endWord(_ start: inout Int, _ part: UInt32) {
    defer { start = words.count }
    var longest = 0
    var length = 0
    var segments = 0
    var firstEnd = -1
    for index in start..<words.count {
      let byte = words.base[index]
      if byte == UInt8(ascii: ".") {
        if length > 0, firstEnd < 0 { firstEnd = index }
        length = 0
      } else if byte & 0xc0 != 0x80 {
        if length == 0 { segments += 1 }
        length += 1
        longest = max(longest, length)
      }
    }
    if segments == 0 {
      words.count = start
      return
    }
    let parts = segments > 1 && (longest > 2 || [.title, .courtesy].contains(role(start, firstEnd)))
    var write = start
    var wordStart = start
    for index in start..<words.count {
      let byte = words.base[index]
      if byte == UInt8(ascii: ".") {
        if parts, write > wordStart {
          addWord(wordStart, write, part)
          wordStart = write
        }
      } else {
        words.base[write] = byte
        write += 1
      }
    }
    if write > wordStart {
      addWord(wordStart, write, part)
      // J.R. are initials, no Junior.
      if segments > 1, !parts, nameWords.base[nameWordCount - 1].role == .generation { nameWords.base[nameWordCount - 1].role = .name }
    }
    words.count = write
  }

  private final func addWord(_ start: Int, _ end: Int, _ part: UInt32) {
    nameWords.reserve(nameWordCount + 1, used: nameWordCount)
    nameWords.base[nameWordCount] = NameWord(start: UInt32(start), end: UInt32(end), part: part, role: role(start, end))
    nameWordCount += 1
  }

  /// Appends the words in their final order with one blank between them.
  final func appendNameWords(to out: ByteBuffer) -> Bool {
    let start = out.count
    let list = nameWords.base
    let count = nameWordCount
    var hasName = false
    for index in 0..<count where list[index].role == .name { hasName = true }
    guard hasName else {
      appendWords(0..<count, to: out, from: start)
      return out.count > start
    }
    var parts = 0
    var first = 0..<0
    var second = 0..<0
    var index = 0
    while index < count {
      let range = index..<endOfPart(index)
      index = range.upperBound
      guard keepsNames(range) else { continue }
      if parts == 0 { first = range } else { second = range }
      parts += 1
    }
    if parts == 2 {
      // "Alder, Kim Jr." is Kim Alder Jr.
      var last = second.upperBound - 1
      while last > second.lowerBound, list[last].isDropped || list[last].role == .generation {
        list[last].isLate = !list[last].isDropped
        last -= 1
      }
      appendWords(second, to: out, from: start)
      appendWords(first, to: out, from: start)
    } else {
      appendWords(0..<count, to: out, from: start)
    }
    appendWords(0..<count, late: true, to: out, from: start)
    return out.count > start
  }

  private final func endOfPart(_ index: Int) -> Int {
    var end = index + 1
    while end < nameWordCount, nameWords.base[end].part == nameWords.base[index].part { end += 1 }
    return end
  }

  /// Drops titles at the start of a part and degrees at its end; what is left may be a generation alone, which goes last. Returns whether
  /// a name is left.
  private final func keepsNames(_ range: Range<Int>) -> Bool {
    let list = nameWords.base
    var first = range.lowerBound
    while first < range.upperBound {
      let isGone =
        list[first].role == .title || list[first].role == .courtesy || isSenior(first) && first + 1 < range.upperBound
        || list[first].role == .afterTitle && first > range.lowerBound
      if !isGone { break }
      list[first].isDropped = true
      first += 1
    }
    var last = range.upperBound
    while last > first, list[last - 1].role == .degree || list[last - 1].role == .courtesy {
      last -= 1
      list[last].isDropped = true
    }
    let isGeneration = (first..<last).allSatisfy { list[$0].role == .generation }
    if isGeneration {
      for word in first..<last { list[word].isLate = true }
    }
    return !isGeneration
  }

  /// `Sr` before a name is the Spanish title.
  private final func isSenior(_ word: Int) -> Bool {
    let span = nameWords.base[word]
    return span.end - span.start == 2 && words.base[Int(span.start)] == UInt8(ascii: "s")
      && words.base[Int(span.start) + 1] == UInt8(ascii: "r")
  }

  private final func appendWords(_ range: Range<Int>, late: Bool = false, to out: ByteBuffer, from start: Int) {
    for index in range {
      let word = nameWords.base[index]
      if word.isDropped || word.isLate != late { continue }
      if out.count > start { out.append(0x20) }
      out.append(words.base + Int(word.start), count: Int(word.end - word.start))
    }
  }

  private final func role(_ start: Int, _ end: Int) -> NameWord.Role {
    let length = end - start
    guard length >= 2, length <= 9 else { return .name }
    var hash: UInt64 = 0
    for index in start..<end { hash = NameRoles.step(hash, words.base[index]) }
    return NameRoles.shared.role(of: hash)
  }
}

/// The words that are no part of a name by themselves.
private struct NameRoles: Sendable {
  static let shared = NameRoles()
  /// Open addressing: a word of hash zero is an empty place.
  private var table = [(hash: UInt64, role: NameWord.Role)](repeating: (0, .name), count: 256)

  /// Seven bits a byte: no two words of at most nine ASCII letters share one, and bytes of other letters never look like one.
  @inline(__always) static func step(_ hash: UInt64, _ byte: UInt8) -> UInt64 { hash << 7 | UInt64(byte & 0x7f) }

  private init() {
    add(
      """
      mx miss mister dra professor sir dame lord lady rev reverend honorable fr herr frau hr mme mlle monsieur madame sra srta dott mag
      """, .title)
    add("mr mrs ms dr prof", .courtesy)
    add("med hc jur", .afterTitle)
    add("phd md dds dvm esq mba cpa dphil edd llm", .degree)
    add("jr sr ii iii iv", .generation)
  }

  private mutating func add(_ words: String, _ role: NameWord.Role) {
    for word in words.split(whereSeparator: { $0 == " " || $0 == "\n" }) {
      let hash = word.utf8.reduce(0, Self.step)
      var place = Self.place(hash)
      while table[place].hash != 0 { place = (place + 1) & 255 }
      table[place] = (hash, role)
    }
  }

  @inline(__always) private static func place(_ hash: UInt64) -> Int { Int(truncatingIfNeeded: (hash &* 0x9e37_79b9_7f4a_7c15) >> 56) }

  @inline(__always) func role(of hash: UInt64) -> NameWord.Role {
    var place = Self.place(hash)
    while table[place].hash != 0 {
      if table[place].hash == hash { return table[place].role }
      place = (place + 1) & 255
    }
    return .name
  }
}

/// The scalar of valid UTF-8 at `index`, which is moved behind it.
@inline(__always)
func scalarUTF8(_ base: UnsafePointer<UInt8>, _ index: inout Int) -> UInt32 {
  let first = UInt32(base[index])
  index &+= 1
  if first < 0x80 { return first }
  let second = UInt32(base[index] & 0x3f)
  index &+= 1
  if first < 0xe0 { return (first & 0x1f) << 6 | second }
  let third = UInt32(base[index] & 0x3f)
  index &+= 1
  if first < 0xf0 { return (first & 0x0f) << 12 | second << 6 | third }
  let fourth = UInt32(base[index] & 0x3f)
  index &+= 1
  return (first & 0x07) << 18 | second << 12 | third << 6 | fourth
}
