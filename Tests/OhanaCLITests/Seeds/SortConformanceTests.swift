import OhanaTestSupport
import Testing

@Suite("sort and reverse: rows O-61 to O-63") struct SortConformanceTests {
  static let input = """
    {"id":"1","first":"Zoe","last":"adams"}
    {"id":"2","first":"Al","last":"Adams"}
    {"id":"3","first":"Bo","last":null}
    {"id":"4","first":null,"last":"Young"}
    {"id":"5","first":null}
    {"id":"6","first":"","last":"Adams"}
    {"id":"7","first":"Ann","last":""}
    {"id":"8","first":"Al","last":"Adams"}
    {"id":"9","first":"Éva","last":"Zhu"}
    {"id":"10","first":"Eva","last":"Zhu"}

    """
  private func ids(_ text: String) -> [String] { text.split(separator: " ").map(String.init) }

  @Test("SORT: by last name with ties by first, by first name with ties by last; missing last, stable") func sort() throws {
    try Conformance.expect(Self.input, ["sort", "last:ohana,first:ohana"], gives: ids("2 8 6 4 10 9 1 7 3 5"))
    try Conformance.expect(Self.input, ["sort", "first:ohana,last:ohana"], gives: ids("2 8 7 3 10 9 1 6 4 5"))
    let names = ["Bo", nil, "Al", "", "Bo"].enumerated().map { index, name in
      "{\"id\":\"\(index + 1)\",\"full_name\":\(name.map { "\"\($0)\"" } ?? "null")}\n"
    }
    try Conformance.expect(names.joined(), ["sort", "full_name:ohana"], gives: ids("3 1 5 2 4"))
  }

  @Test("SORT: code points of the decomposed text, from any order", arguments: 0..<4 as Range<UInt64>) func order(seed: UInt64) throws {
    let sorted = ["Abel", "Ann", "Eric", "Éric", "O'Neil", "ONeil", "Zoe", "Zoë", "ann", "ábel", "eric", "zoe"]
    var generator = SeededGenerator(seed: seed)
    let input = sorted.shuffled(using: &generator).map { "{\"id\":\"\($0)\"}\n" }.joined()
    try Conformance.expect(input, ["sort", "id:ohana"], gives: sorted)
  }

  @Test("REV: missing first, ties turned round; twice is nothing") func reverse() throws {
    try Conformance.expect(Self.input, ["sort", "last:ohana,first:ohana", "then", "reverse"], gives: ids("5 3 7 1 9 10 4 6 8 2"))
    try Conformance.expect(Self.input, ["reverse", "then", "reverse"], gives: (1...10).map(String.init))
    try Conformance.expect(
      Self.input, ["sort", "last:ohana,first:ohana", "then", "reverse", "then", "reverse"], gives: ids("2 8 6 4 10 9 1 7 3 5"))
  }
}
