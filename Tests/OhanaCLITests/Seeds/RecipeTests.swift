import Foundation
import OhanaTestSupport
import Testing

/// row O-97, O-98: the nine screens of Ohana's example app as commands, in `Data/recipes`.
@Suite("recipes: rows O-97") struct RecipeTests {
  static let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../../Data/recipes").standardized
  static let names = ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []).filter { $0.first?.isNumber ?? false }
    .sorted()

  @Test("there are nine") func nine() {
    #expect(Self.names.map { $0.prefix(2) } == (1...9).map { "0\($0)" })
  }

  @Test("prints what it says", arguments: names) func recipe(name: String) throws {
    let source = Self.folder.appending(path: name)
    let work = try Workdir()
    for file in ["contacts.ndjson", "command.sh"] { try work.write(file, Data(contentsOf: source.appending(path: file))) }
    let result = try work.run([], shell: "ohana() { \"$OHANA\" \"$@\"; }; . ./command.sh")
    #expect(result.status == 0, "\(result.err)")
    #expect(result.text == (try String(contentsOf: source.appending(path: "expected.txt"), encoding: .utf8)))
    #expect(work.isTemporaryEmpty)
  }

  @Test("O-98: a title falls back to the first field, then to a fixed text") func title() throws {
    let input = """
      {"full_name":"Ann","fields":[{"type":"phone","value":"1"}]}
      {"full_name":"","fields":[{"type":"phone","value":"2"}]}
      {"full_name":null}

      """
    try Conformance.expect(
      input, ["set", "id = coalesce(nullif(full_name, ''), fields[0].value, '(unnamed)')"], gives: ["Ann", "2", "(unnamed)"])
  }
}
