internal import CICU

/// ASCII's part of the White_Space property.
@inline(__always) func isASCIISpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte &- 9 < 5 }
@inline(__always) func lowerASCII(_ byte: UInt8) -> UInt8 { byte &- 0x41 < 26 ? byte | 0x20 : byte }
@inline(__always) func upperASCII(_ byte: UInt8) -> UInt8 { byte &- 0x61 < 26 ? byte & 0xdf : byte }

/// NFKC full case folding, diacritics dropped, runs of white space made one blank, none at the ends. False if nothing is left.
///
/// Unicode 15, sections 3.11 and 3.13 (toNFKC_Casefold), so what is ignorable by default (zero-width blanks, soft hyphens) goes too.
func appendFolded(_ text: UnsafeBufferPointer<UInt8>, to out: ByteBuffer, scratch: TextScratch) -> Bool {
  let start = out.count
  if appendFoldedLatin(text, to: out) { return out.count > start }
  scratch.load(text)
  scratch.fold()
  scratch.appendUnits(to: out)
  return out.count > start
}

/// The same where all characters are below U+0370 and fold one by one, as those of most European names do; otherwise false, with `out` as it
/// was.
@inline(__always)
func appendFoldedLatin(_ text: UnsafeBufferPointer<UInt8>, to out: ByteBuffer) -> Bool {
  guard let base = text.baseAddress else { return true }
  out.reserve(text.count * 2)  // two bytes in are four out at most
  let target = out.base
  let start = out.count
  var end = start
  var isBlankDue = false
  var index = 0
  while index < text.count {
    let byte = base[index]
    index &+= 1
    if isASCIISpace(byte) {
      isBlankDue = end > start
      continue
    }
    var folded = UInt32(lowerASCII(byte))
    var length = 1
    if byte >= 0x80 {
      guard byte >= 0xc2, byte < 0xce, index < text.count, base[index] & 0xc0 == 0x80 else { return false }
      let entry = LatinFolds.shared.entries[Int(byte & 0x1f) << 6 | Int(base[index] & 0x3f)]
      index &+= 1
      if entry.length == LatinFolds.Entry.slow { return false }
      folded = entry.bytes
      length = Int(entry.length)
      if length == 0 { continue }
    }
    if isBlankDue {
      target[end] = 0x20
      end &+= 1
      isBlankDue = false
    }
    UnsafeMutableRawPointer(target + end).storeBytes(of: folded.littleEndian, as: UInt32.self)  // the buffer is padded
    end &+= length
  }
  out.count = end
  return true
}

/// What ICU's folding makes of each character from U+0080 to U+036F by itself. Below U+0370 no character's folding depends on the ones
/// around it: folding has no context, and the marks that composition would need are dropped.
private struct LatinFolds: Sendable {
  struct Entry: Sendable {
    static let slow: UInt8 = 0xff
    var bytes: UInt32 = 0
    /// In bytes; `slow` where a blank or more than four bytes come out.
    var length = Self.slow
  }
  static let shared = LatinFolds()
  /// By code point.
  let entries: [Entry]

  private init() {
    var entries = [Entry](repeating: Entry(), count: 0x380)
    let scratch = TextScratch()
    let source = ByteBuffer()
    let folded = ByteBuffer()
    for scalar in UInt32(0x80)..<0x370 {
      source.removeAll()
      folded.removeAll()
      // A letter on either side shows whether blanks come out.
      source.append(0x61)
      TextDecoding.appendUTF8(scalar, to: source)
      source.append(0x61)
      scratch.load(source.bytes)
      scratch.fold()
      scratch.appendUnits(to: folded)
      let bytes = folded.bytes.dropFirst().dropLast()
      if bytes.count > 4 || bytes.contains(0x20) { continue }
      entries[Int(scalar)] = Entry(bytes: bytes.reversed().reduce(0) { $0 << 8 | UInt32($1) }, length: UInt8(bytes.count))
    }
    self.entries = entries
  }
}

extension TextScratch {
  final func lower() { apply { ohana_icu_lower($0, $1, $2, $3) } }
  final func upper() { apply { ohana_icu_upper($0, $1, $2, $3) } }
  final func nfc() { apply { ohana_icu_nfc($0, $1, $2, $3) } }
  final func nfkc() { apply { ohana_icu_nfkc($0, $1, $2, $3) } }

  /// Folds the current text as ``appendFolded(_:to:scratch:)`` says.
  final func fold() {
    apply { ohana_icu_nfkc_casefold($0, $1, $2, $3) }
    apply { ohana_icu_nfd($0, $1, $2, $3) }
    dropDiacritics()
    apply { ohana_icu_nfc($0, $1, $2, $3) }
    collapseBlanks()
  }

  private final func dropDiacritics() {
    var read = 0
    var write = 0
    while read < units.count {
      let scalar = units.nextScalar(&read)
      if scalar < 0x300 || !isDiacritic(scalar) { units.put(scalar, &write) }
    }
    units.count = write
  }

  /// Runs of white space become one blank; none is left at the ends.
  final func collapseBlanks() {
    var read = 0
    var write = 0
    var isBlankDue = false
    while read < units.count {
      let scalar = units.nextScalar(&read)
      if isWhiteSpace(scalar) {
        isBlankDue = write > 0
        continue
      }
      if isBlankDue {
        units.put(0x20, &write)
        isBlankDue = false
      }
      units.put(scalar, &write)
    }
    units.count = write
  }

  /// Drops white space at the ends. All of it is in the first plane, so units do.
  final func trimUnits() {
    var end = units.count
    while end > 0, isWhiteSpace(UInt32(units.base[end - 1])) { end -= 1 }
    var start = 0
    while start < end, isWhiteSpace(UInt32(units.base[start])) { start += 1 }
    if start > 0 { units.base.update(from: units.base + start, count: end - start) }
    units.count = end - start
  }
}

@inline(__always) func isWhiteSpace(_ scalar: UInt32) -> Bool {
  scalar < 0x80 ? isASCIISpace(UInt8(truncatingIfNeeded: scalar)) : scalar != 0xfffd && ohana_icu_is_white_space(scalar) != 0
}

/// A mark that only decorates a letter: accents, cedillas, Hebrew and Arabic points.
///
/// Vowel signs, viramas, nuktas, kana voicing marks and tone marks of Thai and its relatives are marks by category too, but without them
/// other names would be left (ク for グ, कमल for कुमल): they have combining classes 0, 6 to 9 and 84 to 132, and stay.
private func isDiacritic(_ scalar: UInt32) -> Bool {
  switch ohana_icu_combining_class(scalar) {
  case 0: ohana_icu_classify(scalar) == OHANA_ICU_ENCLOSING_MARK
  case 1, 10...36, 200...255: true
  default: false
  }
}
