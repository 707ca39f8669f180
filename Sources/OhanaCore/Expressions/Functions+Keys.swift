/// Functions that make keys: the text of each key kind, and checksums.
enum KeyFunctions {
  static let all: [ExpressionFunction] = [
    ExpressionFunction(
      "fold", "fold(TEXT)", arity: 1...1, "Folded for comparison: no case, no accents, compatible letters made one, blanks collapsed.",
      example: "fold('  JOSÉ  Núñez')", result: "'jose nunez'", make: { _ in keyBody(.fold) }),
    ExpressionFunction(
      "email", "email(TEXT [, 'provider'])", arity: 1...2,
      "The address trimmed and in lower case, null without an @; with 'provider' also without what gmail.com ignores.",
      example: "email(' Kim@Example.ORG')", result: "'kim@example.org'", make: { site throws(OhanaError) in try makeEmail(site) }),
    ExpressionFunction(
      "email_domain", "email_domain(TEXT)", arity: 1...1,
      "What stands behind the last @ of an address, in lower case; null if nothing does.",
      example: "email_domain('Kim@Example.ORG')", result: "'example.org'",
      make: { _ in { frame throws(OhanaError) in try emailDomain(frame) } }),
    ExpressionFunction(
      "name_key", "name_key(TEXT)", arity: 1...1, "A name folded, without punctuation and titles, `Last, First` turned.",
      example: "name_key('O''Brien, Dr. Zoë')", result: "'zoe obrien'", make: { _ in keyBody(.name) }),
    ExpressionFunction(
      "phone_e164", "phone_e164(TEXT [, REGION])", arity: 1...2,
      "The phone number in E.164, with ;ext= where it has an extension; null unless libphonenumber calls it possible. A number without a country code "
        + "needs a region, which may be a field.",
      example: "phone_e164('(0)30 23125-001', 'DE')", result: "'+493023125001'",
      make: { site throws(OhanaError) in
        try makePhone(site) { text, region, out, scratch in
          PhoneNumbers.append(.e164, of: text, region: region, possibleOnly: true, to: out, scratch: scratch)
        }
      }),
    ExpressionFunction(
      "phone_country", "phone_country(TEXT [, REGION])", arity: 1...2,
      "The two letters of the region that a phone number belongs to; null where it belongs to none.",
      example: "phone_country('+44 20 7946 0000')",
      result: "'GB'",
      make: { site throws(OhanaError) in
        try makePhone(site) { text, region, out, scratch in
          PhoneNumbers.appendCountry(of: text, region: region, to: out, scratch: scratch)
        }
      }),
    ExpressionFunction(
      "md5", "md5(TEXT)", arity: 1...1, "MD5 checksum of the text's UTF-8, in hexadecimal.", example: "md5('a')",
      result: "'0cc175b9c0f1b6a831c399e269772661'", make: { site throws(OhanaError) in try makeDigest("MD5", site) }),
    ExpressionFunction(
      "sha256", "sha256(TEXT)", arity: 1...1, "SHA-256 checksum of the text's UTF-8, in hexadecimal.", example: "left(sha256('a'), 8)",
      result: "'ca978112'", make: { site throws(OhanaError) in try makeDigest("SHA256", site) }),
  ]

  private static func keyBody(_ kind: EqualityKind) -> ExpressionFunction.Body {
    { frame throws(OhanaError) in
      let scratch = frame.scratch
      try frame.mapText { text throws(OhanaError) in
        scratch.builder.removeAll()
        guard appendKeyText(kind, text, to: scratch.builder, scratch: scratch.text) else { return .null }
        return try scratch.makeText(scratch.builder)
      }
    }
  }

  private typealias PhoneBody = @Sendable (UnsafeBufferPointer<UInt8>, PhoneRegion?, ByteBuffer, TextScratch) -> Bool

  private static func makePhone(_ site: FunctionSite, _ body: @escaping PhoneBody) throws(OhanaError) -> ExpressionFunction.Body {
    var constant: PhoneRegion?
    if let code = site.constantText(1) {
      guard let region = PhoneRegion(code) else {
        throw site.problem("'\(String(decoding: code, as: UTF8.self))' is no region", fix: "write two letters as in ISO 3166: 'US', 'DE'")
      }
      constant = region
    }
    let fixed = constant
    let readsRegion = site.constants.count > 1 && site.constants[1] == nil
    return { frame throws(OhanaError) in
      let scratch = frame.scratch
      for index in 0..<frame.count {
        let value = frame.argument(0)[index]
        scratch.builder.removeAll()
        var region = fixed
        if readsRegion { region = PhoneRegion(try scratch.textBytes(frame.argument(1)[index])) }
        let isNumber = value.isNull ? false : body(try scratch.textBytes(value), region, scratch.builder, scratch.text)
        frame.out[index] = isNumber ? try scratch.makeText(scratch.builder) : .null
      }
    }
  }

  private static func makeEmail(_ site: FunctionSite) throws(OhanaError) -> ExpressionFunction.Body {
    guard site.constants.count > 1 else { return keyBody(.email) }
    guard let kind = site.constantText(1), kind.elementsEqual("provider".utf8) else {
      throw site.problem("the second argument can only be 'provider'")
    }
    return keyBody(.emailProvider)
  }

  private static func emailDomain(_ frame: FunctionFrame) throws(OhanaError) {
    let scratch = frame.scratch
    try frame.mapText { text throws(OhanaError) in
      scratch.builder.removeAll()
      guard appendKeyText(.email, text, to: scratch.builder, scratch: scratch.text) else { return .null }
      let address = try scratch.makeText(scratch.builder)
      var at = address.count - 1
      while address.base[at] != UInt8(ascii: "@") { at -= 1 }
      return at + 1 == address.count ? .null : ExpressionValue(.string, address.base + at + 1, count: address.count - at - 1)
    }
  }

  private static func makeDigest(_ name: String, _ site: FunctionSite) throws(OhanaError) -> ExpressionFunction.Body {
    guard let digest = Digest(name) else { throw site.problem("this system's OpenSSL does not offer it") }
    return { frame throws(OhanaError) in
      try frame.mapText { text throws(OhanaError) in
        let hex = try frame.scratch.allocate(digest.size * 2)
        digest.writeHex(of: text, to: hex)
        return ExpressionValue(.string, hex, count: digest.size * 2)
      }
    }
  }
}
