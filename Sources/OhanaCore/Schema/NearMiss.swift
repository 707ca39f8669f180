/// Suggestions for mistyped names.
public enum NearMiss {
  /// The candidate with the smallest edit distance (insert, delete, replace, swap neighbours; case counts nothing), if it is near enough:
  /// at most a third of the name's length, at least 1. Ties: the earliest. Cost: names × lengths².
  public static func best(for name: [UInt8], among candidates: [[UInt8]]) -> [UInt8]? {
    let limit = max(1, name.count / 3)
    var best: (distance: Int, name: [UInt8])?
    for candidate in candidates where abs(candidate.count - name.count) <= limit {
      let distance = distance(lowered(name), lowered(candidate))
      if distance <= limit, distance < best?.distance ?? Int.max { best = (distance, candidate) }
    }
    return best?.name
  }

  /// The same over texts.
  public static func best(for name: String, among candidates: [String]) -> String? {
    best(for: Array(name.utf8), among: candidates.map { Array($0.utf8) }).map { String(decoding: $0, as: UTF8.self) }
  }

  private static func lowered(_ bytes: [UInt8]) -> [UInt8] { bytes.map { $0 >= 0x41 && $0 <= 0x5a ? $0 | 0x20 : $0 } }

  private static func distance(_ a: [UInt8], _ b: [UInt8]) -> Int {
    var beforeLast: [Int] = []
    var last = Array(0...b.count)
    for i in 0..<a.count {
      var row = [i + 1]
      for j in 0..<b.count {
        var cost = min(last[j] + (a[i] == b[j] ? 0 : 1), last[j + 1] + 1, row[j] + 1)
        if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] { cost = min(cost, beforeLast[j - 1] + 1) }
        row.append(cost)
      }
      beforeLast = last
      last = row
    }
    return last[b.count]
  }
}
