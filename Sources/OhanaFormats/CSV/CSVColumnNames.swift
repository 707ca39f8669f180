/// Makes every column of a header addressable.
enum CSVColumnNames {
  /// Repeated names become `phone_2`, `phone_3` …, empty ones `column_N` with N their 1-based place; a number that is taken is passed
  /// over. A name that stands in the header once as it is always keeps it.
  static func unique(_ names: [[UInt8]]) -> [[UInt8]] {
    var taken = Set(names.filter { !$0.isEmpty })
    var seen: Set<[UInt8]> = []
    var nextNumber: [[UInt8]: Int] = [:]
    var result: [[UInt8]] = []
    result.reserveCapacity(names.count)
    for (index, name) in names.enumerated() {
      if !name.isEmpty, seen.insert(name).inserted {
        result.append(name)
        continue
      }
      let stem = name.isEmpty ? Array("column".utf8) : name
      var number = name.isEmpty ? index + 1 : nextNumber[name] ?? 2
      while taken.contains(numbered(stem, number)) { number += 1 }
      if !name.isEmpty { nextNumber[name] = number + 1 }
      let made = numbered(stem, number)
      taken.insert(made)
      seen.insert(made)
      result.append(made)
    }
    return result
  }

  /// `_1 _2 …`
  static func positional(_ count: Int) -> [[UInt8]] { (0..<count).map { numbered([], $0 + 1) } }

  private static func numbered(_ stem: [UInt8], _ number: Int) -> [UInt8] { stem + [UInt8(ascii: "_")] + Array(String(number).utf8) }
}
