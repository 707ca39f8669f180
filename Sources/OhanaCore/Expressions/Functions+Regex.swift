/// Functions of regular expressions in RE2's syntax, whose time is linear in the text.
enum RegexFunctions {
  static let all: [ExpressionFunction] = [
    ExpressionFunction(
      "regexp_replace", "regexp_replace(TEXT, PATTERN, REPLACEMENT [, OPTIONS])", arity: 3...4,
      "The first match made REPLACEMENT, in which \\1 to \\9 are groups and \\0 the match; OPTIONS: g all matches, i any case, s dot matches "
        + "line feeds, l literal pattern.",
      example: "regexp_replace('+1 (555) 0100', '[^0-9]', '', 'g')", result: "'15550100'",
      make: { site throws(OhanaError) in try makeReplace(site) }),
    ExpressionFunction(
      "regexp_extract", "regexp_extract(TEXT, PATTERN [, GROUP [, OPTIONS]])", arity: 2...4,
      "The first match, or a group of it; empty if there is none.", example: "regexp_extract('kim@example.org', '@(.*)', 1)",
      result: "'example.org'", make: { site throws(OhanaError) in try makeExtract(site) }),
    ExpressionFunction(
      "regexp_matches", "regexp_matches(TEXT, PATTERN [, OPTIONS])", arity: 2...3,
      "Whether any part of the text matches; TEXT ~ PATTERN is the same.",
      example: "regexp_matches('Alder', '^al', 'i')", result: "true", make: { site throws(OhanaError) in try makeMatches(site) }),
  ]

  /// Options of a call, constant in all practice.
  private static func options(_ site: FunctionSite, _ index: Int) throws(OhanaError) -> RegularExpression.Options {
    guard index < site.constants.count else { return .init() }
    guard site.constants[index] != nil else { throw site.problem("the options have to be a constant text", fix: "write them as 'g'") }
    guard let letters = site.constantText(index) else { return .init() }
    guard let options = RegularExpression.Options(letters: letters) else {
      throw site.problem("the options may hold the letters c, g, i, l, m, n, p and s only")
    }
    return options
  }

  /// The pattern of a call, compiled if it is constant. A pattern that is not, and is wrong in some record, gives null there.
  static func constantRegex(
    _ site: FunctionSite, _ index: Int, _ options: RegularExpression.Options
  ) throws(OhanaError) -> RegularExpression? {
    guard let pattern = site.constantText(index) else { return nil }
    do throws(RegularExpression.Fault) {
      return try RegularExpression(pattern, options)
    } catch {
      throw site.problem("the pattern is no regular expression: \(error.message)", fix: "the syntax is that of RE2")
    }
  }

  @inline(__always)
  private static func regex(
    _ constant: RegularExpression?, _ pattern: ExpressionValue, _ options: RegularExpression.Options, _ scratch: ExpressionScratch
  ) throws(OhanaError) -> RegularExpression? {
    if let constant { return constant }
    return scratch.regexCache.regex(try scratch.textBytes(pattern), options)
  }

  private static func makeMatches(_ site: FunctionSite) throws(OhanaError) -> ExpressionFunction.Body {
    let options = try options(site, 2)
    return matchBody(try constantRegex(site, 1, options), options)
  }

  static func matchBody(_ constant: RegularExpression?, _ options: RegularExpression.Options) -> ExpressionFunction.Body {
    { frame throws(OhanaError) in
      for record in 0..<frame.count {
        let value = frame.argument(0)[record]
        let pattern = frame.argument(1)[record]
        guard !value.isNull, !pattern.isNull, let regex = try regex(constant, pattern, options, frame.scratch) else {
          frame.out[record] = .null
          continue
        }
        frame.out[record] = .bool(regex.matches(try frame.scratch.textBytes(value)))
      }
    }
  }

  private static func makeExtract(_ site: FunctionSite) throws(OhanaError) -> ExpressionFunction.Body {
    let options = try options(site, 3)
    let constant = try constantRegex(site, 1, options)
    if let group = site.constantText(2) {
      guard let number = smallInteger(group), (0...9).contains(number) else { throw site.problem("a group is a number from 0 to 9") }
    }
    return { frame throws(OhanaError) in
      for record in 0..<frame.count {
        let value = frame.argument(0)[record]
        let pattern = frame.argument(1)[record]
        let group = frame.argumentCount > 2 ? frame.integer(2, record) : 0
        guard !value.isNull, !pattern.isNull, let group, (0...9).contains(group),
          let regex = try regex(constant, pattern, options, frame.scratch)
        else {
          frame.out[record] = .null
          continue
        }
        let text = try frame.scratch.textBytes(value)
        if group <= regex.groupCount, let bounds = regex.group(group, in: text), !bounds.isEmpty {
          frame.out[record] = ExpressionValue(.string, text.baseAddress! + bounds.lowerBound, count: bounds.count)
        } else {
          frame.out[record] = .emptyText
        }
      }
    }
  }

  private static func makeReplace(_ site: FunctionSite) throws(OhanaError) -> ExpressionFunction.Body {
    let options = try options(site, 3)
    let constant = try constantRegex(site, 1, options)
    var template: ReplacementTemplate?
    if let text = site.constantText(2) {
      guard let parsed = ReplacementTemplate(text) else {
        throw site.problem("in the replacement a backslash has to be followed by a digit or a backslash", fix: "double it")
      }
      if let constant, parsed.lastGroup > constant.groupCount {
        throw site.problem("the replacement names group \(parsed.lastGroup), and the pattern has \(constant.groupCount)")
      }
      template = parsed
    }
    let constantTemplate: ReplacementTemplate? = template
    return { frame throws(OhanaError) in
      let scratch = frame.scratch
      for record in 0..<frame.count {
        let value = frame.argument(0)[record]
        let pattern = frame.argument(1)[record]
        let replacement = frame.argument(2)[record]
        guard !value.isNull, !pattern.isNull, !replacement.isNull, let regex = try regex(constant, pattern, options, scratch) else {
          frame.out[record] = .null
          continue
        }
        let template = if let constantTemplate { constantTemplate } else { ReplacementTemplate(try scratch.textBytes(replacement)) }
        guard let template, template.lastGroup <= regex.groupCount else {
          frame.out[record] = .null
          continue
        }
        let builder = scratch.builder
        builder.removeAll()
        try regex.replace(in: try scratch.textBytes(value), by: template, all: options.isGlobal, to: builder, scratch)
        frame.out[record] = try scratch.makeText(builder)
      }
    }
  }
}
