import Foundation
import OhanaTestSupport
import Testing

/// Case ACC: the worked example. The article prints Morticia before Gomez, which fits neither "last, then first" nor a
/// stable sort on last alone; the stated rule wins.
@Suite("The worked example (ACC)") struct FamilyTests {
  static let input = """
    {"first":"Marge","last":"Simpson","image":"marge.png"}
    {"first":"Mom","last":null,"image":"mom.png"}
    {"first":"Wednesday","last":"Addams","image":"wednesday.png"}
    {"first":"Homer","last":"Simpson","image":"homer.png"}
    {"first":"Maggie","last":"Simpson","image":null}
    {"first":"Morticia","last":"Addams","image":"morticia.png"}
    {"first":"Gomez","last":"Addams","image":"gomez.png"}
    {"first":"Bae","last":null,"image":null}

    """
  static let expected = """
    {"full_name":"Gomez Addams","image":"gomez.png"}
    {"full_name":"Morticia Addams","image":"morticia.png"}
    {"full_name":"Wednesday Addams","image":"wednesday.png"}
    {"full_name":"Homer Simpson","image":"homer.png"}
    {"full_name":"Marge Simpson","image":"marge.png"}

    """
  static let chain = [
    "then", "require", "first,last,image", "then", "sort", "last,first", "then", "set", "full_name = first || ' ' || last", "then", "keep",
    "full_name,image",
  ]

  @Test("ACC: gives the five records byte for byte, with 1, 2 and 8 threads, and with every record on disk") func main() throws {
    try Conformance.expect(Self.input, Array(Self.chain.dropFirst()), gives: Self.expected)
  }

  @Test("ACC: as printed by the article, Morticia before Gomez, is neither the stated order nor that of last names alone")
  func illustration()
    throws
  {
    let byLastName = ["require", "first,last,image", "then", "sort", "last"]
    try Conformance.expect(Self.input, byLastName, gives: ["Wednesday", "Morticia", "Gomez", "Marge", "Homer"], of: "first")
  }

  @Test("ACC: from gzip, one file or two members in one") func gzip() throws {
    let folder = try Workdir()
    try folder.write("family.ndjson", Self.input)
    let made = try folder.run(
      [],
      shell: "gzip -c family.ndjson > a.ndjson.gz && (head -n 3 family.ndjson | gzip; tail -n +4 family.ndjson | gzip) > b.ndjson.gz")
    try #require(made.status == 0, "\(made.err)")
    for name in ["a.ndjson.gz", "b.ndjson.gz"] { #expect(try folder.run(["run", name] + Self.chain).text == Self.expected) }
  }

  @Test("ACC: from standard input, and from two chunks in any cut", arguments: 0...8)
  func chunks(cut: Int) throws {
    let folder = try Workdir()
    let lines = Self.input.split(separator: "\n").map { $0 + "\n" }
    try folder.write("in/a.ndjson", lines.prefix(cut).joined())
    try folder.write("in/b.ndjson", lines.dropFirst(cut).joined())
    let chunked = try folder.run(["run", "in"] + Self.chain)
    #expect(chunked.status == 0, "\(chunked.err)")
    #expect(chunked.text == Self.expected)
    let piped = try folder.run(["run", "-"] + Self.chain, input: Data(Self.input.utf8))
    #expect(piped.text == Self.expected, "\(piped.err)")
  }

  @Test("ACC O-03: from CSV, with a blank, an empty and an absent value failing alike")
  func csv() throws {
    let folder = try Workdir()
    try folder.write(
      "a.csv", "first,last,image\nMarge,Simpson,marge.png\nMom,,mom.png\nWednesday,Addams,wednesday.png\nHomer,Simpson,homer.png\n")
    try folder.write("b.csv", "image,first,last\n\"\",Maggie,Simpson\nmorticia.png,Morticia,Addams\ngomez.png,Gomez,Addams\n")
    try folder.write("c.csv", "first,last\nBae,Nobody\n")
    let result = try folder.run(["run", "a.csv", "b.csv", "c.csv", "--to", "ndjson"] + Self.chain)
    #expect(result.status == 0, "\(result.err)")
    #expect(result.text == Self.expected)
  }
}
