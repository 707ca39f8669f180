/// One record about a person: which of the person's facts it holds, and in which spelling.
///
/// A person's first record is mostly clean; later ones were typed by other people into other systems.
struct ContactRendition: BitwiseCopyable {
  let lexicon: Lexicon.View
  let seed: UInt64

  /// Fills `draft` with the record of row `row`, which is about `person`.
  @inline(__always)
  func draw(row: Int, of person: Person, into draft: inout ContactDraft) {
    var random = SplitMix64(seed, stream: UInt64(truncatingIfNeeded: row) &* 2 &+ 1)
    let isLater = row != person.number
    let words = lexicon.cultures[person.culture]
    draft.begin()
    draft.id = UInt64(truncatingIfNeeded: row &+ 1)
    draft.isEscaped = random.chance(20)
    drawNames(person, isLater, &draft, &random)
    drawEmail(person, isLater, &draft, &random)
    drawPhone(person, words, isLater, &draft, &random)
    drawCompany(person, isLater, &draft, &random)
    let hasMoved = isLater && random.chance(60)
    drawAddress(hasMoved ? Person.Address(words, lexicon: lexicon, &random) : person.address, words, isLater, &draft, &random)
    drawRest(person, isLater, &draft, &random)
  }

  // MARK: Fields

  @inline(__always)
  private func drawNames(_ person: Person, _ isLater: Bool, _ draft: inout ContactDraft, _ random: inout SplitMix64) {
    var form = Lexicon.Form.plain
    var isInitial = false
    var order = NameOrder.usual
    let draw = random.below(1000)
    if isLater {
      switch draw {
      case ..<90: form = .upper
      case ..<170: form = .lower
      case ..<250: form = .ascii
      case ..<300: form = .decomposed
      case ..<340: isInitial = true
      case ..<370: order = .swapped
      case ..<390: order = .lastCommaFirst
      default: break
      }
    } else {
      switch draw {
      case ..<12: form = .upper
      case ..<22: form = .lower
      case ..<32: form = .decomposed
      case ..<35: order = .lastCommaFirst
      default: break
      }
    }
    switch order {
    case .usual, .swapped:
      let (first, last) = order == .usual ? (GeneratedField.first, GeneratedField.last) : (.last, .first)
      if random.chance(35) {
        draft.leaveBlank(first, &random)
      } else {
        draft.set(first) { isInitial ? putInitial(of: person.firstName, &$0) : put(person.firstName, form, &$0) }
      }
      if random.chance(45) { draft.leaveBlank(last, &random) } else { draft.set(last) { put(person.lastName, form, &$0) } }
    case .lastCommaFirst:
      draft.set(.first, mayNeedQuoting: true) {
        put(person.lastName, form, &$0)
        $0.put(", ")
        put(person.firstName, form, &$0)
      }
      draft.leaveBlank(.last, &random)
    }
  }

  private enum NameOrder { case usual, swapped, lastCommaFirst }

  @inline(__always)
  private func drawEmail(_ person: Person, _ isLater: Bool, _ draft: inout ContactDraft, _ random: inout SplitMix64) {
    let draw = random.below(1000)
    guard draw >= 22 else { return draft.leaveBlank(.email, &random) }
    // Another address of the same person: what no key by e-mail can find.
    let isOther = isLater && draw < 40
    let spelling = isLater ? random.below(100) : random.below(1000)
    draft.set(.email) { cursor in
      if spelling >= 12, spelling < 22 { cursor.put(0x20) }
      let start = cursor.next
      putEmail(person, isOther: isOther, &cursor)
      if spelling < 10 {
        Self.uppercase(from: start, to: cursor.next)
      } else if spelling < 16 {
        Self.uppercase(from: start, to: start + 1)
      }
      if spelling >= 17, spelling < 26 { cursor.put(0x20) }
    }
  }

  @inline(__always)
  private func drawPhone(
    _ person: Person, _ words: Lexicon.Culture, _ isLater: Bool, _ draft: inout ContactDraft, _ random: inout SplitMix64
  ) {
    guard !random.chance(90) else { return draft.leaveBlank(.phone, &random) }
    let isOther = isLater && random.chance(50)
    let style = isLater ? random.below(7) : random.below(3)
    draft.set(.phone) { putPhone(person, words, style: style, isOther: isOther, &$0) }
  }

  @inline(__always)
  private func drawCompany(_ person: Person, _ isLater: Bool, _ draft: inout ContactDraft, _ random: inout SplitMix64) {
    guard person.company.isKnown, !(isLater && random.chance(120)) else { return draft.leaveBlank(.company, &random) }
    let omitsLegalForm = isLater && random.chance(350)
    draft.set(.company, mayNeedQuoting: true) { putCompany(person.company, omitsLegalForm: omitsLegalForm, &$0) }
  }

  @inline(__always)
  private func drawAddress(
    _ address: Person.Address, _ words: Lexicon.Culture, _ isLater: Bool, _ draft: inout ContactDraft, _ random: inout SplitMix64
  ) {
    if random.chance(60) {
      draft.leaveBlank(.street, &random)
    } else {
      let form = isLater && random.chance(80) ? Lexicon.Form.upper : .plain
      draft.set(.street, mayNeedQuoting: true) { putStreet(address, words, form, &$0) }
    }
    if random.chance(30) {
      draft.leaveBlank(.city, &random)
    } else {
      let form = isLater && random.chance(100) ? Lexicon.Form.ascii : .plain
      draft.set(.city) { put(words.cities.first &+ address.city, form, &$0) }
    }
    if random.chance(isLater ? 300 : 120) {
      draft.leaveBlank(.region, &random)
    } else {
      draft.set(.region) { put(words.regions.first &+ address.city, .plain, &$0) }
    }
    if random.chance(50) { draft.leaveBlank(.postal, &random) } else { draft.set(.postal) { putPostal(address.postal, words, &$0) } }
    let isSpelledOut = random.chance(isLater ? 150 : 20)
    if random.chance(20) {
      draft.leaveBlank(.country, &random)
    } else {
      draft.set(.country) { put(isSpelledOut ? words.countryName : words.country, &$0) }
    }
  }

  @inline(__always)
  private func drawRest(_ person: Person, _ isLater: Bool, _ draft: inout ContactDraft, _ random: inout SplitMix64) {
    if person.hasImage, !(isLater && random.chance(200)) {
      let hash = SplitMix64.mix(UInt64(truncatingIfNeeded: person.number) &+ seed)
      draft.set(.image) { cursor in
        cursor.put("https://img.example.net/")
        for shift in 0..<8 { cursor.put(Self.digit32(hash &>> UInt64(shift &* 5))) }
        cursor.put(".jpg")
      }
    } else {
      draft.leaveBlank(.image, &random)
    }
    draft.tags = isLater && random.chance(400) ? person.tags & 0x55 : person.tags
    if random.chance(60) {
      draft.leaveBlank(.tags, &random)
      // Tags are a list: they have no empty text, but an empty list.
      draft.tags = 0
    } else {
      draft.set(.tags) { _ in }
    }
    let isVerified = random.chance(isLater ? 300 : 700)
    draft.set(.verified) { isVerified ? $0.put("true") : $0.put("false") }
    let updatedAt = person.updatedAt &+ (isLater ? random.below(40_000_000) : 0)
    if random.chance(15) { draft.leaveBlank(.updatedAt, &random) } else { draft.set(.updatedAt) { $0.put(instant: updatedAt) } }
  }

  // MARK: Values

  @inline(__always) private func put(_ slice: Lexicon.Slice, _ cursor: inout ByteCursor) {
    cursor.put(lexicon.text + Int(slice.offset), count: Int(slice.length))
  }

  @inline(__always) private func put(_ word: Int32, _ form: Lexicon.Form, _ cursor: inout ByteCursor) {
    put(lexicon.words[Int(word)].form(form), &cursor)
  }

  @inline(__always) private func put(_ name: Person.PersonLastName, _ form: Lexicon.Form, _ cursor: inout ByteCursor) {
    put(name.first, form, &cursor)
    guard name.second >= 0 else { return }
    if name.joiner != 0 { cursor.put(name.joiner) }
    put(name.second, form, &cursor)
  }

  /// First letter and a dot.
  private func putInitial(of word: Int32, _ cursor: inout ByteCursor) {
    let slice = lexicon.words[Int(word)].plain
    let start = lexicon.text + Int(slice.offset)
    var count = 1
    while count < Int(slice.length), start[count] & 0xC0 == 0x80 { count += 1 }
    cursor.put(start, count: count)
    cursor.put(0x2E)
  }

  @inline(__always) private func putEmail(_ person: Person, isOther: Bool, _ cursor: inout ByteCursor) {
    if person.email.style == .office {
      cursor.put(isOther ? "hello@" : "office@")
      putMailbox(person.company.head, &cursor)
      putMailbox(person.company.tail, &cursor)
      return cursor.put(".example.com")
    }
    switch person.email.style {
    case .firstDotLast, .office:
      putMailbox(person.firstName, &cursor)
      cursor.put(0x2E)
      putMailbox(person.lastName.first, &cursor)
    case .initialDotLast:
      putMailbox(person.firstName, maxCount: 1, &cursor)
      cursor.put(0x2E)
      putMailbox(person.lastName.first, &cursor)
    case .lastFirst:
      putMailbox(person.lastName.first, &cursor)
      cursor.put(0x5F)
      putMailbox(person.firstName, &cursor)
    case .firstOnly: putMailbox(person.firstName, &cursor)
    }
    // The person's number keeps addresses of different people apart.
    cursor.put(isOther ? 0x2D : 0x2E)
    var rest = UInt64(truncatingIfNeeded: person.number)
    repeat {
      cursor.put(Self.digit32(rest))
      rest &>>= 5
    } while rest != 0
    cursor.put(0x40)
    put(person.email.domain, .plain, &cursor)
  }

  /// The letters and digits of a word without accents, in lower case.
  @inline(__always) private func putMailbox(_ word: Int32, maxCount: Int = .max, _ cursor: inout ByteCursor) {
    let slice = lexicon.words[Int(word)].ascii
    let start = lexicon.text + Int(slice.offset)
    let limit = min(Int(slice.length), maxCount)
    for index in 0..<limit {
      let byte = start[index] | 0x20
      // Written first, counted after: no branch to mispredict.
      cursor.next.pointee = byte
      cursor.next += byte &- 0x61 < 26 ? 1 : 0
    }
  }

  @inline(__always)
  private func putPhone(_ person: Person, _ words: Lexicon.Culture, style: Int, isOther: Bool, _ cursor: inout ByteCursor) {
    var digits = isOther ? person.phoneDigits &* 2_654_435_761 : person.phoneDigits
    // Styles: E.164, international, national, dotted, dashed, exit code, bare national.
    switch style {
    case 0, 1, 3, 4:
      cursor.put(0x2B)
      put(words.phoneCode, &cursor)
      if style == 1 { cursor.put(0x20) } else if style == 3 { cursor.put(0x2E) } else if style == 4 { cursor.put(0x2D) }
    case 5:
      cursor.put("00")
      put(words.phoneCode, &cursor)
      cursor.put(0x20)
    default: put(words.trunk, &cursor)
    }
    let isParenthesised = style == 2 && words.trunk.length == 0
    if isParenthesised { cursor.put(0x28) }
    let separator: UInt8 = style == 0 || style == 6 ? 0 : style == 3 ? 0x2E : style == 4 ? 0x2D : 0x20
    let pattern = lexicon.words[Int(person.phone)].plain
    var isFirstGroup = true
    for index in 0..<Int(pattern.length) {
      let byte = lexicon.text[Int(pattern.offset) + index]
      if byte == 0x23 {
        cursor.put(0x30 | UInt8(truncatingIfNeeded: digits % 10))
        digits /= 10
      } else if byte == 0x20 {
        if isParenthesised && isFirstGroup {
          cursor.put(") ")
        } else if isParenthesised {
          cursor.put(0x2D)
        } else if separator != 0 {
          cursor.put(separator)
        }
        isFirstGroup = false
      } else {
        cursor.put(byte)
      }
    }
  }

  @inline(__always) private func putCompany(_ company: Person.Company, omitsLegalForm: Bool, _ cursor: inout ByteCursor) {
    let isQuoted = company.style < 15
    if isQuoted { cursor.put(0x22) }
    put(company.head, .plain, &cursor)
    if isQuoted { cursor.put(0x22) }
    if company.style >= 900 {
      cursor.put(company.style == 999 ? "\\" : " & ")
      put(company.secondHead, .plain, &cursor)
    }
    cursor.put(0x20)
    put(company.tail, .plain, &cursor)
    guard !omitsLegalForm, company.style < 700 else { return }
    cursor.put(company.style < 120 ? ", " : " ")
    put(company.legalForm, .plain, &cursor)
  }

  @inline(__always)
  private func putStreet(_ address: Person.Address, _ words: Lexicon.Culture, _ form: Lexicon.Form, _ cursor: inout ByteCursor) {
    let house = UInt64(truncatingIfNeeded: address.house)
    if address.style < 8 { cursor.put("\"The Old Mill\", ") }
    switch words.streetStyle {
    case .numberFirst:
      cursor.put(decimal: house)
      cursor.put(0x20)
      put(address.street, form, &cursor)
    case .numberLast, .numberAfterComma, .chinese:
      put(address.street, form, &cursor)
      if words.streetStyle == .numberLast { cursor.put(0x20) } else if words.streetStyle == .numberAfterComma { cursor.put(", ") }
      cursor.put(decimal: house)
      if words.streetStyle == .chinese { cursor.put("号") }
    }
    guard address.flat > 0 else { return }
    if address.style < 200 { cursor.put(0x0A) } else if address.style < 550 { cursor.put(", ") } else { cursor.put(0x20) }
    put(words.unit, &cursor)
    cursor.put(0x20)
    cursor.put(decimal: UInt64(truncatingIfNeeded: address.flat))
  }

  @inline(__always) private func putPostal(_ value: UInt64, _ words: Lexicon.Culture, _ cursor: inout ByteCursor) {
    var rest = value
    for index in 0..<Int(words.postal.length) {
      let byte = lexicon.text[Int(words.postal.offset) + index]
      if byte == 0x39 {
        cursor.put(0x30 | UInt8(truncatingIfNeeded: rest % 10))
        rest /= 10
      } else if byte == 0x41 {
        cursor.put(0x41 &+ UInt8(truncatingIfNeeded: rest % 26))
        rest /= 26
      } else {
        cursor.put(byte)
      }
    }
  }

  /// ASCII only, which is all that a mailbox holds.
  @inline(__always) private static func uppercase(from start: UnsafeMutablePointer<UInt8>, to end: UnsafeMutablePointer<UInt8>) {
    var next = start
    while next < end {
      if next.pointee &- 0x61 < 26 { next.pointee &-= 0x20 }
      next += 1
    }
  }

  /// A digit or a lower-case letter for the low five bits.
  @inline(__always) private static func digit32(_ value: UInt64) -> UInt8 {
    let low = UInt8(truncatingIfNeeded: value & 31)
    return low < 10 ? 0x30 &+ low : 0x61 &+ (low &- 10)
  }
}

extension ByteCursor {
  /// `2024-05-17T08:15:30Z` (RFC 3339) for seconds since 1970, which must not be negative.
  @inline(__always) mutating func put(instant seconds: Int) {
    // Days are counted from 1 March of year 0, so that the leap day comes last in its year and a month's first day is linear.
    let days = seconds / 86_400 &+ 719_468
    let era = days / 146_097
    let dayOfEra = days % 146_097
    let yearOfEra = (dayOfEra &- dayOfEra / 1460 &+ dayOfEra / 36_524 &- dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra &- (365 &* yearOfEra &+ yearOfEra / 4 &- yearOfEra / 100)
    let shiftedMonth = (5 &* dayOfYear &+ 2) / 153
    let day = dayOfYear &- (153 &* shiftedMonth &+ 2) / 5 &+ 1
    let month = shiftedMonth < 10 ? shiftedMonth &+ 3 : shiftedMonth &- 9
    let year = yearOfEra &+ era &* 400 &+ (month <= 2 ? 1 : 0)
    let second = seconds % 86_400
    put(decimal: UInt64(truncatingIfNeeded: year), digits: 4)
    put(0x2D)
    put(decimal: UInt64(truncatingIfNeeded: month), digits: 2)
    put(0x2D)
    put(decimal: UInt64(truncatingIfNeeded: day), digits: 2)
    put(0x54)
    put(decimal: UInt64(truncatingIfNeeded: second / 3600), digits: 2)
    put(0x3A)
    put(decimal: UInt64(truncatingIfNeeded: second / 60 % 60), digits: 2)
    put(0x3A)
    put(decimal: UInt64(truncatingIfNeeded: second % 60), digits: 2)
    put(0x5A)
  }
}
