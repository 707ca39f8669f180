/// What is true of one person, whatever their records say: a pure function of the seed and the person's number.
struct Person: BitwiseCopyable {
  /// The row of their first record.
  var number: Int
  var culture: Int
  var firstName: Int32
  var lastName: PersonLastName
  var email: EmailAddress
  /// Word with the pattern of the phone number, and its digits.
  var phone: Int32
  var phoneDigits: UInt32
  var company: Company
  var address: Address
  var hasImage: Bool
  /// A bit per word of the tag pool.
  var tags: UInt16
  /// Seconds since 1970.
  var updatedAt: Int

  struct PersonLastName: BitwiseCopyable {
    var first: Int32
    /// A second word, or -1.
    var second: Int32 = -1
    /// What stands between them; 0 joins them to one word.
    var joiner: UInt8 = 0
  }

  struct EmailAddress: BitwiseCopyable {
    enum Style: UInt8, BitwiseCopyable { case firstDotLast, initialDotLast, lastFirst, firstOnly, office }
    var style: Style
    var domain: Int32
  }

  struct Company: BitwiseCopyable {
    /// False: works nowhere, as far as is known.
    var isKnown: Bool
    var head: Int32
    var secondHead: Int32
    var tail: Int32
    var legalForm: Int32
    /// Of 1,000: how it is spelled, see ``ContactDraft``.
    var style: Int
  }

  struct Address: BitwiseCopyable {
    var street: Int32
    var house: Int
    /// 0 where there is no flat.
    var flat: Int
    /// Offset in the pools of cities and regions.
    var city: Int32
    var postal: UInt64
    /// Of 1,000: how the flat is written, see ``ContactDraft``.
    var style: Int
  }

  init(_ number: Int, seed: UInt64, lexicon: Lexicon.View) {
    var random = SplitMix64(seed, stream: UInt64(truncatingIfNeeded: number) &* 2)
    self.number = number
    culture = Int(lexicon.cultureDraws[Int(truncatingIfNeeded: random.next() &>> 54)])
    let words = lexicon.cultures[culture]
    firstName = lexicon.draw(words.firstNames, &random)
    lastName = PersonLastName(first: lexicon.draw(words.lastNames, &random))
    if words.heads.count > 0, random.chance(220) {
      lastName = PersonLastName(first: lexicon.draw(words.heads, &random), second: lexicon.draw(words.tails, &random))
    } else if random.chance(Int(words.doubleNamesPerMille)) {
      lastName.second = lexicon.draw(words.lastNames, &random)
      lastName.joiner = random.chance(500) ? 0x2D : 0x20
    }
    let isAtOffice = random.chance(6)
    let style = random.below(10)
    email = EmailAddress(
      style: isAtOffice ? .office : style < 5 ? .firstDotLast : style < 7 ? .initialDotLast : style < 9 ? .lastFirst : .firstOnly,
      domain: lexicon.draw(lexicon.domains, &random))
    phone = words.phones.first &+ Int32(truncatingIfNeeded: random.below(Int(words.phones.count)))
    phoneDigits = UInt32(truncatingIfNeeded: random.next() &>> 32)
    company = Company(
      isKnown: isAtOffice || random.chance(580), head: lexicon.draw(lexicon.companyHeads, &random),
      secondHead: lexicon.draw(lexicon.companyHeads, &random), tail: lexicon.draw(lexicon.companyTails, &random),
      legalForm: lexicon.draw(words.legalForms, &random), style: random.below(1000))
    address = Address(words, lexicon: lexicon, &random)
    hasImage = random.chance(560)
    // Two draws and'ed: each tag has a quarter of the people, fewer for the later ones.
    tags = UInt16(truncatingIfNeeded: random.next() & random.next() & 0xFFF)
    if random.chance(500) { tags &= 0x1F }
    updatedAt = 1_546_300_800 &+ random.below(200_000_000)  // from 2019 on, for six years
  }
}

extension Person.Address {
  init(_ words: Lexicon.Culture, lexicon: Lexicon.View, _ random: inout SplitMix64) {
    street = lexicon.draw(words.streets, &random)
    house = 1 &+ random.below(random.chance(800) ? 99 : 1800)
    flat = random.chance(250) ? 1 &+ random.below(60) : 0
    city = lexicon.draw(words.cities, &random) &- words.cities.first
    postal = random.next()
    style = random.below(1000)
  }
}
