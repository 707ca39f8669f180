/// The words contacts are made of, laid out for drawing them without an allocation.
///
/// Built once from ``CultureText``; immutable after that, all in raw memory:
/// ```
/// text    │ Zoë ZOË zoë Zoë Zoe Łukasz …      every form of every word
/// words   │ forms │ forms │ …
/// zipf    │ 1024 draws │ 1024 draws │ …        per pool: which word a ten-bit number means
/// ```
final class Lexicon: @unchecked Sendable {  // because nothing is written after `init`
  let view: View
  private let memory: [UnsafeMutableRawPointer]

  deinit { for block in memory { block.deallocate() } }

  /// A run of bytes in the text.
  struct Slice: BitwiseCopyable {
    var offset: UInt32 = 0
    var length: UInt32 = 0
  }

  /// The spellings in which a word is met.
  struct Word: BitwiseCopyable {
    var plain = Slice()
    var upper = Slice()
    var lower = Slice()
    /// Accents as combining marks, as some systems store names.
    var decomposed = Slice()
    /// Without accents, or transliterated.
    var ascii = Slice()

    /// The spelling of that name.
    @inline(__always) func form(_ form: Form) -> Slice {
      switch form {
      case .plain: plain
      case .upper: upper
      case .lower: lower
      case .decomposed: decomposed
      case .ascii: ascii
      }
    }
  }

  enum Form: UInt8, BitwiseCopyable { case plain, upper, lower, decomposed, ascii }

  /// Words of one purpose, the frequent ones first.
  struct Pool: BitwiseCopyable {
    /// Index of its first word.
    var first: Int32 = 0
    var count: Int32 = 0
    /// Index of its draws.
    var draws: Int32 = 0
  }

  struct Culture: BitwiseCopyable {
    var firstNames = Pool()
    var lastNames = Pool()
    /// Parts that make the long tail of rare last names; empty pools where the culture has none.
    var heads = Pool()
    var tails = Pool()
    /// `regions` has one word per city.
    var cities = Pool()
    var regions = Pool()
    var streets = Pool()
    var legalForms = Pool()
    var phones = Pool()
    var phoneCode = Slice()
    var trunk = Slice()
    var unit = Slice()
    var postal = Slice()
    var country = Slice()
    var countryName = Slice()
    var doubleNamesPerMille: Int32 = 0
    var streetStyle = CultureText.StreetStyle.numberFirst
  }

  /// Pointers into the lexicon, valid as long as it lives.
  struct View: BitwiseCopyable {
    var text: UnsafePointer<UInt8>
    var words: UnsafePointer<Word>
    var draws: UnsafePointer<UInt16>
    var cultures: UnsafePointer<Culture>
    /// Which culture a ten-bit number means.
    var cultureDraws: UnsafePointer<UInt16>
    var companyHeads: Pool
    var companyTails: Pool
    var domains: Pool
    var tags: Pool

    /// Draws a word, frequent ones more often. Returns its index.
    @inline(__always) func draw(_ pool: Pool, _ random: inout SplitMix64) -> Int32 {
      pool.first &+ Int32(draws[Int(pool.draws) &+ Int(truncatingIfNeeded: random.next() &>> 54)])
    }
  }

  static let drawCount = 1024
  /// Longest word in bytes, in any form; ``ContactGenerator/maxRecordSize`` is worked out from it.
  static let maxWordSize = 48

  static let shared = Lexicon(CultureText.all)

  private init(_ cultures: [CultureText]) {
    var text: [UInt8] = []
    var words: [Word] = []
    var draws: [UInt16] = []

    func slice(_ string: String) -> Slice {
      let bytes = Array(string.utf8)
      precondition(bytes.count <= Self.maxWordSize, "a word of the generator is too long")
      let slice = Slice(offset: UInt32(text.count), length: UInt32(bytes.count))
      text += bytes
      return slice
    }
    /// Words are separated by commas; `word=ascii` gives a transliteration where dropping accents does not.
    func pool(_ list: String, skewed: Bool = true) -> Pool {
      var result = Pool(first: Int32(words.count), count: 0, draws: Int32(draws.count))
      for entry in list.split(separator: ",") {
        let parts = entry.split(separator: "=")
        let plain = String(parts[0])
        words.append(
          Word(
            plain: slice(plain), upper: slice(plain.uppercased()), lower: slice(plain.lowercased()),
            decomposed: slice(LatinAccents.decomposed(plain)),
            ascii: slice(parts.count > 1 ? String(parts[1]) : LatinAccents.dropped(plain))))
        result.count += 1
      }
      draws += Self.draws(count: Int(result.count), weight: { skewed ? 1 / Double($0 + 3) : 1 })
      return result
    }

    var rows: [Culture] = []
    for culture in cultures {
      var row = Culture()
      row.firstNames = pool(culture.firstNames)
      row.lastNames = pool(culture.lastNames)
      row.heads = pool(culture.heads)
      row.tails = pool(culture.tails)
      let cities = culture.cities.split(separator: ",").map { $0.split(separator: "/") }
      row.cities = pool(cities.map { String($0[0]) }.joined(separator: ","))
      row.regions = pool(cities.map { String($0[1]) }.joined(separator: ","))
      row.streets = pool(culture.streets)
      row.legalForms = pool(culture.legalForms)
      row.phones = pool(culture.phones.patterns, skewed: false)
      row.phoneCode = slice(culture.phones.code)
      row.trunk = slice(culture.phones.trunk)
      row.unit = slice(culture.unit)
      row.postal = slice(culture.postal)
      row.country = slice(culture.country)
      row.countryName = slice(culture.countryName)
      row.doubleNamesPerMille = Int32(culture.doubleNamesPerMille)
      row.streetStyle = culture.streetStyle
      rows.append(row)
    }
    let companyHeads = pool(CompanyText.heads)
    let companyTails = pool(CompanyText.tails)
    let domains = pool(CompanyText.domains)
    let tags = pool(CompanyText.tags)
    let cultureDraws = Self.draws(count: cultures.count, weight: { Double(cultures[$0].weight) })

    func raw<T: BitwiseCopyable>(_ array: [T], _ memory: inout [UnsafeMutableRawPointer]) -> UnsafePointer<T> {
      let block = UnsafeMutablePointer<T>.allocate(capacity: max(array.count, 1))
      block.initialize(from: array, count: array.count)
      memory.append(UnsafeMutableRawPointer(block))
      return UnsafePointer(block)
    }
    var memory: [UnsafeMutableRawPointer] = []
    view = View(
      text: raw(text, &memory), words: raw(words, &memory), draws: raw(draws, &memory), cultures: raw(rows, &memory),
      cultureDraws: raw(cultureDraws, &memory), companyHeads: companyHeads, companyTails: companyTails, domains: domains, tags: tags)
    self.memory = memory
  }

  /// Spreads ``drawCount`` numbers over `count` indices in proportion to their weights; every index gets one at least.
  private static func draws(count: Int, weight: (Int) -> Double) -> [UInt16] {
    guard count > 0 else { return [] }
    precondition(count <= drawCount / 4, "a pool of the generator is too large")
    let total = (0..<count).reduce(0) { $0 + weight($1) }
    var result: [UInt16] = []
    var sum = 0.0
    for index in 0..<count {
      sum += weight(index)
      let end = min(max(Int(Double(drawCount) * sum / total), result.count + 1), drawCount - (count - 1 - index))
      result += repeatElement(UInt16(index), count: end - result.count)
    }
    result += repeatElement(UInt16(count - 1), count: drawCount - result.count)
    return result
  }
}

/// Latin letters with marks. The generator needs no more of Unicode, so it does without a library.
enum LatinAccents {
  /// Letter, its base letter, and the combining mark between them; marks of letters that have no decomposition are nil.
  private static let table: [Unicode.Scalar: (base: String, mark: Unicode.Scalar?)] = {
    let marks: [(Unicode.Scalar, String, String)] = [
      ("\u{301}", "áéíóúýćńśźÁÉÍÓÚŚĆ", "aeiouycnszAEIOUSC"), ("\u{300}", "àèìòùỳÀÈ", "aeiouyAE"),
      ("\u{302}", "âêîôûÂÊÎÔ", "aeiouAEIO"), ("\u{308}", "äëïöüÄËÖÜ", "aeiouAEOU"), ("\u{303}", "ãñõÃÑ", "anoAN"),
      ("\u{30A}", "åůÅ", "auA"), ("\u{327}", "çşÇŞ", "csCS"), ("\u{328}", "ąęĄ", "aeA"), ("\u{30C}", "čďěňřšťžČŘŠŽ", "cdenrstzCRSZ"),
      ("\u{306}", "ğăĞ", "gaG"), ("\u{307}", "żėİŻ", "zeIZ"), ("\u{30B}", "őű", "ou"), ("\u{31B}", "ơưƠ", "ouO"),
      ("\u{323}", "ạịọụ", "aiou"),
      ("\u{309}", "ảẻỉủ", "aeiu"),
    ]
    var table: [Unicode.Scalar: (String, Unicode.Scalar?)] = [:]
    for (mark, letters, bases) in marks {
      for (letter, base) in zip(letters.unicodeScalars, bases) { table[letter] = (String(base), mark) }
    }
    for (letter, base) in [
      ("ß", "ss"), ("ł", "l"), ("Ł", "L"), ("ø", "o"), ("Ø", "O"), ("æ", "ae"), ("œ", "oe"), ("đ", "d"), ("Đ", "D"), ("ı", "i"),
    ] {
      table[letter.unicodeScalars.first!] = (base, nil)
    }
    return table
  }()

  static func decomposed(_ text: String) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      if let (base, mark) = table[scalar], let mark {
        result += base
        result.unicodeScalars.append(mark)
      } else {
        result.unicodeScalars.append(scalar)
      }
    }
    return result
  }

  static func dropped(_ text: String) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      if let entry = table[scalar] { result += entry.base } else { result.unicodeScalars.append(scalar) }
    }
    return result
  }
}
