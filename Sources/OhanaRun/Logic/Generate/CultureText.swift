/// The words of one culture, as text; ``Lexicon`` lays them out.
///
/// Lists are separated by commas, the most frequent first. Nobody can be reached with what comes out of them: e-mail domains are those
/// of RFC 2606, phone numbers come from ranges that regulators keep for fiction, and the streets are made up.
struct CultureText: Sendable {
  enum StreetStyle: UInt8, BitwiseCopyable, Sendable {
    /// `12 Lantern Street`
    case numberFirst
    /// `Laternenweg 12`
    case numberLast
    /// `Calle del Farol, 12`
    case numberAfterComma
    /// `灯笼路12号`
    case chinese
  }

  /// A numbering plan: in a pattern, `#` is a digit to draw, and a blank ends a group.
  struct Phones: Sendable {
    var code: String
    /// What is dialled before a national number.
    var trunk: String
    var patterns: String

    /// 555-0100 to 555-0199 of each area code.
    static let northAmerica = Phones(
      code: "1", trunk: "",
      patterns: [
        201, 202, 203, 205, 206, 207, 208, 212, 213, 215, 216, 301, 303, 304, 305, 307, 308, 312, 313, 314, 401, 402, 404, 406, 410, 412,
        414, 415,
        501, 502, 503, 504, 505, 509, 512, 513, 601, 602, 603, 605, 612, 614, 615, 617, 701, 702, 703, 713, 718, 801, 802, 803, 808, 901,
        907,
      ].map { "\($0) 555 01##" }.joined(separator: ","))
    /// Ofcom's numbers for drama.
    static let britain = Phones(
      code: "44", trunk: "0",
      patterns: "7700 900 ###,20 7946 0###,7700 900 ###,121 496 0###,161 496 0###,113 496 0###,117 496 0###,131 496 0###,141 496 0###")
    /// Bundesnetzagentur's numbers for media.
    static let germany = Phones(code: "49", trunk: "0", patterns: "30 23125 ###,69 90009 ###,40 66969 ###,221 4710 ###,89 99998 ###")
    /// ARCEP's numbers for audiovisual works.
    static let france = Phones(
      code: "33", trunk: "0", patterns: "6 39 98 ## ##,1 99 00 ## ##,2 61 91 ## ##,3 53 01 ## ##,4 65 71 ## ##,5 36 49 ## ##")
    /// ACMA's numbers for creative works.
    static let australia = Phones(code: "61", trunk: "0", patterns: "2 5550 ####,3 5550 ####,7 5550 ####,8 5550 ####,2 7010 ####")
  }

  var country: String
  var countryName: String
  /// Share of people, relative to the other cultures.
  var weight: Int
  var firstNames: String
  var lastNames: String
  /// Parts of rare last names; about one name in five is made of them, where there are any.
  var heads = ""
  var tails = ""
  var doubleNamesPerMille = 0
  /// `City/Region`
  var cities: String
  var streets: String
  var streetStyle = StreetStyle.numberFirst
  var unit: String
  /// `9` is a digit and `A` a letter to draw.
  var postal: String
  var legalForms: String
  /// Countries without numbers for fiction borrow those of others: a foreign number is no fault in a contact.
  var phones = Phones.northAmerica
}

/// Words for companies, e-mail and tags.
enum CompanyText {
  static let heads = """
    Lantern,Quill,Juniper,Marmalade,Tidewater,Copperleaf,Nimbus,Foxglove,Saltbox,Pinwheel,Harrow,Wren,Bramble,Cobalt,Thistle,Larkspur,Ember,\
    Gannet,Hollowell,Ironwood,Kestrel,Lodestar,Mistral,Nettle,Oxbow,Periwinkle,Quarry,Rookery,Sable,Tamarack,Umber,Verbena,Windlass,Yarrow,\
    Zephyr,Alder,Barnacle,Cinder,Driftwood,Elderflower,Fennel,Gossamer,Hawthorn,Inkwell,Jackdaw,Knotweed,Lichen,Moorhen,Nightjar,Osprey,\
    Pebble,Quince,Rushlight,Sorrel,Teasel,Undertow,Vervain,Whimbrel,Böhnstedt,Crème d’Orge,Ñandú,Łabędź,Ørsted Bro
    """
  static let tails = """
    Logistics,Design,Foods,Media,Partners,Systems,Works,Consulting,Textiles,Energy,Analytics,Gardens,Travel,Supply,Studio,Health,Motors,Press,\
    Ceramics,Optics,Freight,Robotics,Roasters,Instruments
    """
  static let domains = """
    mail.example.com,example.com,example.org,post.example.net,inbox.example.com,example.net,web.example.org,mx.example.net,home.example.com,\
    mail.example.net,people.example.org,uni.example.org
    """
  static let tags = "customer,newsletter,lead,vip,partner,supplier,press,event 2024,event 2025,churned,équipe,trial"
}
