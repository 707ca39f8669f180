internal import CICU
internal import CRegex

/// Functions of text. Positions and lengths count code points.
enum TextFunctions {
  static let all: [ExpressionFunction] = [
    ExpressionFunction(
      "lower", "lower(TEXT)", arity: 1...1, "Lower case by Unicode's full mapping, the same in every locale.", example: "lower('ÄRZTE')",
      result: "'ärzte'", make: { _ in { frame throws(OhanaError) in try mapCase(frame, lowerASCII) { $0.lower() } } }),
    ExpressionFunction(
      "upper", "upper(TEXT)", arity: 1...1, "Upper case by Unicode's full mapping, the same in every locale.", example: "upper('straße')",
      result: "'STRASSE'", make: { _ in { frame throws(OhanaError) in try mapCase(frame, upperASCII) { $0.upper() } } }),
    ExpressionFunction(
      "initcap", "initcap(TEXT)", arity: 1...1, "Each word with a capital and the rest in lower case.", example: "initcap('kim o''brien')",
      result: "'Kim O''Brien'", make: { _ in { frame throws(OhanaError) in try initcap(frame) } }),
    ExpressionFunction(
      "length", "length(TEXT)", arity: 1...1, "Number of code points.", example: "length('Zoë')", result: "3",
      make: { _ in { frame throws(OhanaError) in try length(frame) } }),
    ExpressionFunction(
      "trim", "trim(TEXT [, CHARACTERS])", arity: 1...2, "Without spaces, or any of the CHARACTERS, at both ends.",
      example: "trim('  Kim ')", result: "'Kim'", make: { _ in { frame throws(OhanaError) in try trim(frame, left: true, right: true) } }),
    ExpressionFunction(
      "ltrim", "ltrim(TEXT [, CHARACTERS])", arity: 1...2, "Without spaces, or any of the CHARACTERS, at the start.",
      example: "ltrim('00420', '0')", result: "'420'",
      make: { _ in { frame throws(OhanaError) in try trim(frame, left: true, right: false) } }),
    ExpressionFunction(
      "rtrim", "rtrim(TEXT [, CHARACTERS])", arity: 1...2, "Without spaces, or any of the CHARACTERS, at the end.",
      example: "rtrim('Kim.', '.')", result: "'Kim'",
      make: { _ in { frame throws(OhanaError) in try trim(frame, left: false, right: true) } }),
    ExpressionFunction(
      "substr", "substr(TEXT, START [, LENGTH])", arity: 2...3,
      "The part from START (1 is the first, -1 the last code point) on; a negative LENGTH takes what stands before it.",
      example: "substr('Alder', 2, 3)", result: "'lde'", make: { _ in { frame throws(OhanaError) in try substr(frame) } }),
    ExpressionFunction(
      "left", "left(TEXT, COUNT)", arity: 2...2, "The first COUNT code points; all but the last ones if COUNT is negative.",
      example: "left('Alder', 2)", result: "'Al'", make: { _ in { frame throws(OhanaError) in try end(frame, isLeft: true) } }),
    ExpressionFunction(
      "right", "right(TEXT, COUNT)", arity: 2...2, "The last COUNT code points; all but the first ones if COUNT is negative.",
      example: "right('Alder', 2)", result: "'er'", make: { _ in { frame throws(OhanaError) in try end(frame, isLeft: false) } }),
    ExpressionFunction(
      "replace", "replace(TEXT, OLD, NEW)", arity: 3...3, "Every OLD in the text made NEW.", example: "replace('555-0100', '-', '')",
      result: "'5550100'", make: { _ in { frame throws(OhanaError) in try replace(frame) } }),
    ExpressionFunction(
      "split_part", "split_part(TEXT, SEPARATOR, N)", arity: 3...3,
      "The Nth piece between separators, counted from the end if N is negative; empty if there is none.",
      example: "split_part('a;b;c', ';', 2)", result: "'b'", make: { _ in { frame throws(OhanaError) in try splitPart(frame) } }),
    ExpressionFunction(
      "concat", "concat(VALUE, …)", arity: 1...256, "The texts of all values, one behind the other; nulls are passed over.",
      example: "concat('Kim', null, 7)", result: "'Kim7'", make: { _ in { frame throws(OhanaError) in try concat(frame) } }),
    ExpressionFunction(
      "concat_ws", "concat_ws(SEPARATOR, VALUE, …)", arity: 2...256, "The texts of all values but nulls, with the separator between them.",
      example: "concat_ws(' ', 'Kim', null, 'Alder')", result: "'Kim Alder'",
      make: { _ in { frame throws(OhanaError) in try concatWithSeparator(frame) } }),
    ExpressionFunction(
      "starts_with", "starts_with(TEXT, PART)", arity: 2...2, "Whether the text starts with the part.",
      example: "starts_with('+4930', '+49')",
      result: "true",
      make: { _ in
        { frame throws(OhanaError) in
          try frame.mapTexts { text, part throws(OhanaError) in .bool(text.count >= part.count && hasBytes(text, part, at: 0)) }
        }
      }),
    ExpressionFunction(
      "ends_with", "ends_with(TEXT, PART)", arity: 2...2, "Whether the text ends with the part.",
      example: "ends_with('kim@example.org', '.org')", result: "true",
      make: { _ in
        { frame throws(OhanaError) in
          try frame.mapTexts { text, part throws(OhanaError) in
            .bool(text.count >= part.count && hasBytes(text, part, at: text.count - part.count))
          }
        }
      }),
    ExpressionFunction(
      "contains", "contains(TEXT, PART)", arity: 2...2, "Whether the part is somewhere in the text.", example: "contains('Alder', 'ld')",
      result: "true",
      make: { _ in
        { frame throws(OhanaError) in
          try frame.mapTexts { text, part throws(OhanaError) in .bool(find(part, in: text, from: 0) != nil) }
        }
      }),
    ExpressionFunction(
      "nfc", "nfc(TEXT)", arity: 1...1, "The text with accents composed (Unicode NFC).", example: "length(nfc('é'))", result: "1",
      make: { _ in { frame throws(OhanaError) in try normalize(frame) { $0.nfc() } } }),
    ExpressionFunction(
      "nfkc", "nfkc(TEXT)", arity: 1...1, "The text with compatible characters made one, wide letters narrow (Unicode NFKC).",
      example: "nfkc('Ｋｉｍ')", result: "'Kim'", make: { _ in { frame throws(OhanaError) in try normalize(frame) { $0.nfkc() } } }),
  ]

  // MARK: Case and normal forms

  @inline(__always)
  private static func mapCase(_ frame: FunctionFrame, _ map: (UInt8) -> UInt8, _ full: (TextScratch) -> Void) throws(OhanaError) {
    let scratch = frame.scratch
    try frame.mapText { text throws(OhanaError) in
      guard isASCII(text) else {
        scratch.text.load(text)
        full(scratch.text)
        return try unitsAsText(scratch)
      }
      let target = try scratch.allocate(text.count)
      for index in 0..<text.count { target[index] = map(text[index]) }
      return ExpressionValue(.string, target, count: text.count)
    }
  }

  @inline(__always)
  private static func normalize(_ frame: FunctionFrame, _ form: (TextScratch) -> Void) throws(OhanaError) {
    let scratch = frame.scratch
    try frame.mapText { text throws(OhanaError) in
      if isASCII(text) { return ExpressionValue(.string, text) }
      scratch.text.load(text)
      form(scratch.text)
      return try unitsAsText(scratch)
    }
  }

  private static func unitsAsText(_ scratch: ExpressionScratch) throws(OhanaError) -> ExpressionValue {
    scratch.builder.removeAll()
    scratch.text.appendUnits(to: scratch.builder)
    return try scratch.makeText(scratch.builder)
  }

  private static func initcap(_ frame: FunctionFrame) throws(OhanaError) {
    let scratch = frame.scratch
    try frame.mapText { text throws(OhanaError) in
      scratch.text.load(text)
      scratch.text.lower()
      scratch.text.capitalizeWords()
      return try unitsAsText(scratch)
    }
  }

  @inline(__always)
  static func isASCII(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
    var seen: UInt8 = 0
    for byte in text { seen |= byte }
    return seen < 0x80
  }

  // MARK: Parts

  private static func length(_ frame: FunctionFrame) throws(OhanaError) {
    let scratch = frame.scratch
    try frame.mapText { text throws(OhanaError) in
      scratch.builder.removeAll()
      CalculatedNumber.integer(Int128(codePoints(text))).append(to: scratch.builder)
      return try scratch.makeText(scratch.builder, kind: .number)
    }
  }

  @inline(__always)
  static func codePoints(_ text: UnsafeBufferPointer<UInt8>) -> Int {
    var count = 0
    for byte in text where byte & 0xc0 != 0x80 { count &+= 1 }
    return count
  }

  /// Byte offset of code point `index`, which is at most the number of them.
  private static func offset(_ text: UnsafeBufferPointer<UInt8>, _ index: Int) -> Int {
    var left = index
    for position in 0..<text.count where text[position] & 0xc0 != 0x80 {
      if left == 0 { return position }
      left &-= 1
    }
    return text.count
  }

  private static func slice(_ text: UnsafeBufferPointer<UInt8>, _ start: Int, _ end: Int) -> ExpressionValue {
    guard start < end, let base = text.baseAddress else { return .emptyText }
    return ExpressionValue(.string, base + start, count: end - start)
  }

  /// Code points `start ..< end`, cut to what there is.
  private static func part(_ text: UnsafeBufferPointer<UInt8>, _ start: Int, _ end: Int) -> ExpressionValue {
    let start = max(0, start)
    guard start < end else { return .emptyText }
    let from = offset(text, start)
    let rest = UnsafeBufferPointer(rebasing: text[from...])
    return slice(text, from, end - start >= rest.count ? text.count : from + offset(rest, end - start))
  }

  private static func substr(_ frame: FunctionFrame) throws(OhanaError) {
    let values = frame.argument(0)
    for record in 0..<frame.count {
      guard !values[record].isNull, let start = frame.integer(1, record) else {
        frame.out[record] = .null
        continue
      }
      let text = try frame.scratch.textBytes(values[record])
      let from = start > 0 ? start - 1 : start < 0 ? codePoints(text) + start : -1
      if frame.argumentCount == 2 {
        frame.out[record] = part(text, from, Int.max >> 1)
      } else if let length = frame.integer(2, record) {
        frame.out[record] = length >= 0 ? part(text, from, from + length) : part(text, from + length, from)
      } else {
        frame.out[record] = .null
      }
    }
  }

  private static func end(_ frame: FunctionFrame, isLeft: Bool) throws(OhanaError) {
    let values = frame.argument(0)
    for record in 0..<frame.count {
      guard !values[record].isNull, let count = frame.integer(1, record) else {
        frame.out[record] = .null
        continue
      }
      let text = try frame.scratch.textBytes(values[record])
      if isLeft {
        frame.out[record] = part(text, 0, count >= 0 ? count : codePoints(text) + count)
      } else {
        frame.out[record] = part(text, count >= 0 ? codePoints(text) - count : -count, Int.max >> 1)
      }
    }
  }

  // MARK: Trimming

  private static func trim(_ frame: FunctionFrame, left: Bool, right: Bool) throws(OhanaError) {
    if frame.argumentCount == 1 {
      return try frame.mapText { text throws(OhanaError) in
        guard let base = text.baseAddress else { return .emptyText }
        var start = 0
        var end = text.count
        while left, start < end {
          if base[start] == 0x20 {
            start += 1
          } else {
            var next = start
            guard base[start] >= 0x80, isSpace(scalarUTF8(base, &next)) else { break }
            start = next
          }
        }
        while right, start < end {
          if base[end - 1] == 0x20 {
            end -= 1
          } else {
            var last = end - 1
            guard base[last] >= 0x80 else { break }
            while last > start, base[last] & 0xc0 == 0x80 { last -= 1 }
            var next = last
            guard isSpace(scalarUTF8(base, &next)) else { break }
            end = last
          }
        }
        return slice(text, start, end)
      }
    }
    try frame.mapTexts { text, characters throws(OhanaError) in
      guard let base = text.baseAddress else { return .emptyText }
      var start = 0
      var end = text.count
      while left, start < end {
        var next = start + 1
        while next < end, base[next] & 0xc0 == 0x80 { next += 1 }
        guard find(UnsafeBufferPointer(start: base + start, count: next - start), in: characters, from: 0) != nil else { break }
        start = next
      }
      while right, start < end {
        var last = end - 1
        while last > start, base[last] & 0xc0 == 0x80 { last -= 1 }
        guard find(UnsafeBufferPointer(start: base + last, count: end - last), in: characters, from: 0) != nil else { break }
        end = last
      }
      return slice(text, start, end)
    }
  }

  /// The general category Zs, which is what DuckDB trims.
  private static func isSpace(_ scalar: UInt32) -> Bool { ohana_icu_classify(scalar) == OHANA_ICU_SPACE }

  // MARK: Finding and joining

  @inline(__always)
  static func hasBytes(_ text: UnsafeBufferPointer<UInt8>, _ part: UnsafeBufferPointer<UInt8>, at offset: Int) -> Bool {
    part.count == 0 || memcmp(text.baseAddress! + offset, part.baseAddress!, part.count) == 0
  }

  /// Offset of the first `part` at or behind `start`.
  @inline(__always)
  static func find(_ part: UnsafeBufferPointer<UInt8>, in text: UnsafeBufferPointer<UInt8>, from start: Int) -> Int? {
    if part.count == 0 { return start }
    guard let base = text.baseAddress else { return nil }
    let found = ohana_find_literal(base + start, text.count - start, part.baseAddress!, part.count)
    return found < 0 ? nil : start + found
  }

  private static func replace(_ frame: FunctionFrame) throws(OhanaError) {
    let scratch = frame.scratch
    for record in 0..<frame.count {
      let value = frame.argument(0)[record]
      let old = frame.argument(1)[record]
      let new = frame.argument(2)[record]
      if value.isNull || old.isNull || new.isNull {
        frame.out[record] = .null
        continue
      }
      let text = try scratch.textBytes(value)
      let part = try scratch.textBytes(old)
      guard part.count > 0, var found = find(part, in: text, from: 0) else {
        frame.out[record] = ExpressionValue(.string, text)
        continue
      }
      let replacement = try scratch.textBytes(new)
      let builder = scratch.builder
      builder.removeAll()
      var start = 0
      while true {
        builder.append(text.baseAddress! + start, count: found - start)
        builder.append(replacement)
        try scratch.check(builder)
        start = found + part.count
        guard let next = find(part, in: text, from: start) else { break }
        found = next
      }
      builder.append(text.baseAddress! + start, count: text.count - start)
      frame.out[record] = try scratch.makeText(builder)
    }
  }

  private static func splitPart(_ frame: FunctionFrame) throws(OhanaError) {
    for record in 0..<frame.count {
      guard !frame.argument(0)[record].isNull, !frame.argument(1)[record].isNull, let number = frame.integer(2, record) else {
        frame.out[record] = .null
        continue
      }
      let text = try frame.scratch.textBytes(frame.argument(0)[record])
      let separator = try frame.scratch.textBytes(frame.argument(1)[record])
      frame.out[record] = piece(text, separator, number)
    }
  }

  /// An empty separator parts every code point.
  private static func piece(_ text: UnsafeBufferPointer<UInt8>, _ separator: UnsafeBufferPointer<UInt8>, _ number: Int) -> ExpressionValue {
    if separator.count == 0 {
      let count = codePoints(text)
      let index = number > 0 ? number - 1 : number < 0 ? count + number : -1
      return index < 0 ? .emptyText : part(text, index, index + 1)
    }
    var wanted = number
    if number < 0 {
      var count = 1
      var start = 0
      while let found = find(separator, in: text, from: start) {
        count += 1
        start = found + separator.count
      }
      wanted = count + number + 1
    }
    guard wanted > 0 else { return .emptyText }
    var start = 0
    while wanted > 1 {
      guard let found = find(separator, in: text, from: start) else { return .emptyText }
      start = found + separator.count
      wanted -= 1
    }
    return slice(text, start, find(separator, in: text, from: start) ?? text.count)
  }

  private static func concat(_ frame: FunctionFrame) throws(OhanaError) {
    let builder = frame.scratch.builder
    for record in 0..<frame.count {
      builder.removeAll()
      for argument in 0..<frame.argumentCount {
        let value = frame.argument(argument)[record]
        if !value.isNull { builder.append(try frame.scratch.textBytes(value)) }
        try frame.scratch.check(builder)
      }
      frame.out[record] = try frame.scratch.makeText(builder)
    }
  }

  private static func concatWithSeparator(_ frame: FunctionFrame) throws(OhanaError) {
    let builder = frame.scratch.builder
    for record in 0..<frame.count {
      let separator = frame.argument(0)[record]
      if separator.isNull {
        frame.out[record] = .null
        continue
      }
      let between = try frame.scratch.textBytes(separator)
      builder.removeAll()
      var isFirst = true
      for argument in 1..<frame.argumentCount {
        let value = frame.argument(argument)[record]
        if value.isNull { continue }
        if !isFirst { builder.append(between) }
        isFirst = false
        builder.append(try frame.scratch.textBytes(value))
        try frame.scratch.check(builder)
      }
      frame.out[record] = try frame.scratch.makeText(builder)
    }
  }
}

extension TextScratch {
  /// Gives the first letter of each run of letters, digits and marks its title case.
  final func capitalizeWords() {
    var read = 0
    var write = 0
    var isInWord = false
    while read < units.count {
      let scalar = units.nextScalar(&read)
      let isWord = ohana_icu_is_word(scalar) != 0
      units.put(isWord && !isInWord ? ohana_icu_simple_title(scalar) : scalar, &write)
      isInWord = isWord
    }
    units.count = write
  }
}
