internal import CRegex

/// A compiled expression of RE2's syntax: time linear in the text. May be used by many threads at once.
final class RegularExpression: @unchecked Sendable {  // because RE2 objects are immutable, but for caches that RE2 guards itself
  struct Options: Sendable, Hashable {
    var ignoresCase = false
    var dotMatchesNewline = false
    var isLiteral = false
    var isGlobal = false

    /// Letters as DuckDB takes them: c, i, l, m, n, p, s, g; nil for any other.
    init?(letters: UnsafeBufferPointer<UInt8>) {
      for letter in letters {
        switch letter {
        case UInt8(ascii: "c"): ignoresCase = false
        case UInt8(ascii: "i"): ignoresCase = true
        case UInt8(ascii: "l"): isLiteral = true
        case UInt8(ascii: "m"), UInt8(ascii: "n"), UInt8(ascii: "p"): dotMatchesNewline = false
        case UInt8(ascii: "s"): dotMatchesNewline = true
        case UInt8(ascii: "g"): isGlobal = true
        case 0x20: break
        default: return nil
        }
      }
    }
    init() {}
  }

  struct Fault: Error { var message: String }

  private let regex: OpaquePointer
  /// The whole match not counted.
  let groupCount: Int

  init(_ pattern: UnsafeBufferPointer<UInt8>, _ options: Options) throws(Fault) {
    var message = [CChar](repeating: 0, count: 200)
    let compiled = Self.characters(pattern) { text, count in
      ohana_regex_compile(
        text, count,
        ohana_regex_options(
          ignores_case: options.ignoresCase, dot_matches_newline: options.dotMatchesNewline, multiline: false, literal: options.isLiteral),
        &message, message.count)
    }
    guard let compiled else {
      throw Fault(message: String(decoding: message.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self))
    }
    regex = compiled
    groupCount = Int(ohana_regex_group_count(compiled))
  }
  deinit { ohana_regex_free(regex) }

  @inline(__always)
  private static func characters<R>(_ text: UnsafeBufferPointer<UInt8>, _ body: (UnsafePointer<CChar>, Int) -> R) -> R {
    let base = text.baseAddress ?? StaticString("").utf8Start
    return UnsafeRawPointer(base).withMemoryRebound(to: CChar.self, capacity: text.count) { body($0, text.count) }
  }

  /// Whether any part of `text` matches.
  func matches(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
    Self.characters(text) { ohana_regex_find(regex, $0, $1, 0, nil, 0) }
  }

  /// Bounds of a group (0 = whole match) of the first match at or behind `start`; nil without a match, empty where the group took no part.
  func group(_ group: Int, in text: UnsafeBufferPointer<UInt8>) -> Range<Int>? {
    var bounds = [Int](repeating: -1, count: 2 * (group + 1))
    guard Self.characters(text, { ohana_regex_find(regex, $0, $1, 0, &bounds, Int32(group + 1)) }) else { return nil }
    return bounds[2 * group] < 0 ? 0..<0 : bounds[2 * group]..<bounds[2 * group + 1]
  }

  /// Appends `text` with its first match, or all, replaced. Empty matches count, but not right behind the match before.
  func replace(
    in text: UnsafeBufferPointer<UInt8>, by template: ReplacementTemplate, all: Bool, to out: ByteBuffer, _ scratch: ExpressionScratch
  ) throws(OhanaError) {
    guard let base = text.baseAddress else {
      // RE2 wants an address even for empty text.
      return try replace(in: UnsafeBufferPointer(start: StaticString("").utf8Start, count: 0), by: template, all: all, to: out, scratch)
    }
    let groups = template.lastGroup + 1
    var position = 0
    var lastEnd = -1
    try withBounds(groups) { bounds throws(OhanaError) in
      while position <= text.count {
        let found = Self.characters(text) { ohana_regex_find(regex, $0, $1, position, bounds, Int32(groups)) }
        guard found else { break }
        let start = bounds[0]
        let end = bounds[1]
        out.append(base + position, count: start - position)
        if start == end, start == lastEnd {
          if start < text.count {
            var next = start
            _ = scalarUTF8(base, &next)
            next = min(next, text.count)
            out.append(base + start, count: next - start)
            position = next
            continue
          }
          position = start + 1
          break
        }
        template.append(to: out, text: base, bounds: bounds)
        try scratch.check(out)
        position = end
        lastEnd = end
        if !all { break }
      }
    }
    if position < text.count { out.append(base + position, count: text.count - position) }
  }

  private func withBounds(_ groups: Int, _ body: (UnsafeMutablePointer<Int>) throws(OhanaError) -> Void) throws(OhanaError) {
    let bounds = UnsafeMutablePointer<Int>.allocate(capacity: 2 * groups)
    defer { bounds.deallocate() }
    try body(bounds)
  }
}

/// The replacement of `regexp_replace`: text with `\0` to `\9` for groups and `\\` for a backslash.
struct ReplacementTemplate: Sendable {
  private enum Part: Sendable { case text([UInt8]), group(Int) }
  private let parts: [Part]
  /// Highest group named; 0 if none is.
  let lastGroup: Int

  /// nil if a backslash is followed by anything else.
  init?(_ template: UnsafeBufferPointer<UInt8>) {
    var parts: [Part] = []
    var text: [UInt8] = []
    var last = 0
    var index = 0
    while index < template.count {
      let byte = template[index]
      index += 1
      guard byte == UInt8(ascii: "\\") else {
        text.append(byte)
        continue
      }
      guard index < template.count else { return nil }
      let next = template[index]
      index += 1
      if next == UInt8(ascii: "\\") {
        text.append(next)
      } else if isDigit(next) {
        if !text.isEmpty { parts.append(.text(text)) }
        text = []
        parts.append(.group(Int(next - 0x30)))
        last = max(last, Int(next - 0x30))
      } else {
        return nil
      }
    }
    if !text.isEmpty { parts.append(.text(text)) }
    self.parts = parts
    lastGroup = last
  }

  func append(to out: ByteBuffer, text: UnsafePointer<UInt8>, bounds: UnsafePointer<Int>) {
    for part in parts {
      switch part {
      case .text(let bytes): bytes.withUnsafeBufferPointer { out.append($0) }
      case .group(let group):
        if bounds[2 * group] >= 0 { out.append(text + bounds[2 * group], count: bounds[2 * group + 1] - bounds[2 * group]) }
      }
    }
  }
}

/// Expressions compiled from patterns that are not constant: the last one of them.
struct RegularExpressionCache {
  private var pattern: [UInt8] = []
  private var options = RegularExpression.Options()
  private var regex: RegularExpression?
  private var isFilled = false

  /// nil for a pattern that is no expression.
  mutating func regex(_ pattern: UnsafeBufferPointer<UInt8>, _ options: RegularExpression.Options) -> RegularExpression? {
    if isFilled, options == self.options, pattern.elementsEqual(self.pattern) { return regex }
    self.pattern = Array(pattern)
    self.options = options
    regex = try? RegularExpression(pattern, options)
    isFilled = true
    return regex
  }
}
