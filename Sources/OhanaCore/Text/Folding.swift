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
  if appendFoldedASCII(text, to: out) { return out.count > start }
  out.count = start
  scratch.load(text)
  scratch.fold()
  scratch.appendUnits(to: out)
  return out.count > start
}

/// The same where all bytes are ASCII; otherwise false, with part of the text appended.
@inline(__always)
private func appendFoldedASCII(_ text: UnsafeBufferPointer<UInt8>, to out: ByteBuffer) -> Bool {
  guard let base = text.baseAddress else { return true }
  out.reserve(text.count)
  let target = out.base
  let start = out.count
  var end = start
  var isBlankDue = false
  for index in 0..<text.count {
    let byte = base[index]
    if byte >= 0x80 { return false }
    if isASCIISpace(byte) {
      isBlankDue = end > start
      continue
    }
    if isBlankDue {
      target[end] = 0x20
      end &+= 1
      isBlankDue = false
    }
    target[end] = lowerASCII(byte)
    end &+= 1
  }
  out.count = end
  return true
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
