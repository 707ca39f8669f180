public import OhanaCore

/// The name of a chunked output: `{n}` stands for the chunk's number, counted from 1, `{n:5}` for the number in five digits or more.
public struct ChunkName: Sendable, Equatable {
  private let head: [UInt8]
  private let digits: Int
  private let tail: [UInt8]

  /// As it was given, with its `{n}`.
  public let pattern: FilePath

  /// - Returns: nil if `pattern` holds no placeholder.
  /// - Throws: `usage`/`chunk-name` for two placeholders, or a width that is no number from 1 to 18.
  public init?(_ pattern: FilePath) throws(OhanaError) {
    let places = Self.placeholders(pattern.bytes)
    guard let place = places.first else { return nil }
    guard places.count == 1 else {
      throw OhanaError(.usage, "chunk-name", at: .init(pattern), "the name of the output holds more than one {n}", fix: "keep one of them")
    }
    guard let digits = place.digits, (1...18).contains(digits) else {
      throw OhanaError(.usage, "chunk-name", at: .init(pattern), "the width behind {n: is no number from 1 to 18", fix: "write {n:5}")
    }
    self.pattern = pattern
    self.digits = digits
    head = Array(pattern.bytes[..<place.range.lowerBound])
    tail = Array(pattern.bytes[place.range.upperBound...])
  }

  /// The name of chunk `number`.
  public func path(_ number: Int) -> FilePath {
    let text = String(number)
    let zeros = String(repeating: "0", count: max(0, digits - text.utf8.count))
    return FilePath(bytes: head + Array((zeros + text).utf8) + tail)
  }

  /// The number of the chunk whose name is `name`, in the folder of the set; nil if it is none, or its number is written in another width.
  package func number(of name: FilePath) -> Int? {
    let own = path(1).lastComponent.bytes
    // The number may stand in the name of a folder.
    guard tail.allSatisfy({ $0 != UInt8(ascii: "/") }), name.bytes.count >= own.count else { return nil }
    let digits = name.bytes.dropLast(tail.count).reversed().prefix(while: Self.isDigit).count
    let end = name.bytes.count - tail.count
    // Digits in front of the number belong to the pattern.
    for start in (end - digits)..<end {
      guard let number = Int(String(decoding: name.bytes[start..<end], as: UTF8.self)), number > 0 else { continue }
      if path(number).lastComponent == name { return number }
    }
    return nil
  }

  /// The same set without the width of its numbers.
  package var bare: FilePath { FilePath(bytes: head + Array("{n}".utf8) + tail) }

  /// Whether a file of this name, or a chunk of a set of this pattern, may have the name of one of these chunks. Widths do not count.
  package func mayCoincide(with name: FilePath) -> Bool {
    if let other = try? ChunkName(name) {
      return Self.cut(head, atEnd: true) == Self.cut(other.head, atEnd: true)
        && Self.cut(tail, atEnd: false) == Self.cut(other.tail, atEnd: false)
    }
    let bytes = name.bytes
    guard bytes.count > head.count + tail.count, bytes.starts(with: head), bytes.suffix(tail.count) == tail[...] else { return false }
    return bytes[head.count..<(bytes.count - tail.count)].allSatisfy(Self.isDigit)
  }

  /// Patterns, without widths, whose chunks may be called `name`: any number at the end of a run of digits is replaced.
  package static func patterns(covering name: [UInt8]) -> [[UInt8]] {
    var patterns: [[UInt8]] = []
    for index in name.indices where isDigit(name[index]) {
      let end = name[index...].firstIndex { !isDigit($0) } ?? name.endIndex
      patterns.append(name[..<index] + Array("{n}".utf8) + name[end...])
    }
    return patterns
  }

  private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

  /// `bytes` without the digits that a number beside them might run into.
  private static func cut(_ bytes: [UInt8], atEnd: Bool) -> [UInt8] {
    if atEnd { return Array(bytes.prefix((bytes.lastIndex { !isDigit($0) } ?? -1) + 1)) }
    return Array(bytes.drop(while: isDigit))
  }

  private static func placeholders(_ bytes: [UInt8]) -> [(range: Range<Int>, digits: Int?)] {
    var found: [(Range<Int>, Int?)] = []
    var index = 0
    while index < bytes.count {
      let rest = bytes[index...]
      if rest.starts(with: Array("{n}".utf8)) {
        found.append((index..<(index + 3), 1))
        index += 3
      } else if rest.starts(with: Array("{n:".utf8)), let end = rest.firstIndex(of: UInt8(ascii: "}")) {
        let width = rest[(index + 3)..<end]
        let isNumber = width.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        found.append((index..<(end + 1), isNumber ? Int(String(decoding: width, as: UTF8.self)) : nil))
        index = end + 1
      } else {
        index += 1
      }
    }
    return found
  }
}
