import Foundation
import Testing

/// The rules of the control plane, by the numbers of the page `ControlPlane.md`, held against the sources.
@Suite("Rules of the control plane") struct ArchitectureRuleTests {
  struct Source: Sendable, CustomStringConvertible, CustomTestStringConvertible, CustomReflectable {
    /// Relative to Sources/OhanaRun.
    let path: String
    let text: String
    var description: String { path }
    var testDescription: String { path }
    var customMirror: Mirror { Mirror(self, children: []) }
    var name: String { String(path.split(separator: "/").last!.dropLast(6)) }
    /// Without comments.
    var code: String {
      text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
        line.range(of: "//").map { String(line[..<$0.lowerBound]) } ?? String(line)
      }.joined(separator: "\n")
    }
    var lineCount: Int { text.split(separator: "\n", omittingEmptySubsequences: false).count - 1 }

    /// A word ends at a full stop, which it does not for people.
    static func regex(_ pattern: String) -> Regex<AnyRegexOutput> { try! Regex(pattern).wordBoundaryKind(.simple) }
    func count(_ pattern: String) -> Int { code.matches(of: Self.regex(pattern)).count }
    func mentions(_ pattern: String) -> Bool { count(pattern) > 0 }
    /// Structs that conform to what ends like this, whatever else they conform to: what stands between `struct` and `{`, and the lines behind.
    func structs(conformingTo ending: String) -> [(head: String, indent: String, body: [String])] {
      let lines = code.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
      return lines.indices.compactMap { start in
        guard lines[start].contains(/\bstruct\s+\w+/) else { return nil }
        var (head, last) = (lines[start], start)
        while !head.contains("{"), last + 1 < lines.count {
          last += 1
          head += lines[last]
        }
        // What stands in angle brackets is no conformance.
        let conformances = head.prefix { $0 != "{" }.replacing(/<[^>]*>/, with: "")
        guard conformances.contains(Self.regex(#"[:,]\s*\w*\#(ending)\b"#)) else { return nil }
        let indent = String(lines[start].prefix { $0 == " " })
        let end =
          lines[last].filter { $0 == "{" }.count == lines[last].filter { $0 == "}" }.count
          ? last : lines[last...].firstIndex { $0 == indent + "}" } ?? lines.endIndex - 1
        return (head, indent, Array(lines[(last + 1)..<max(end, last + 1)]))
      }
    }
    /// Names of the types it declares.
    var types: [String] {
      code.matches(of: /\b(?:struct|class|enum|actor|protocol)\s+([A-Z]\w*)/).map { String($0.output.1) }
    }
  }

  static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
  static let sources: [Source] = {
    let folder = root.appending(path: "Sources/OhanaRun")
    let paths = FileManager.default.enumerator(atPath: folder.path)!.compactMap { $0 as? String }.filter { $0.hasSuffix(".swift") }
    return paths.sorted().map { Source(path: $0, text: try! String(contentsOf: folder.appending(path: $0), encoding: .utf8)) }
  }()
  static var managers: [Source] { sources.filter { $0.name.hasSuffix("Manager") } }
  static var observers: [Source] { sources.filter { $0.name.hasSuffix("Observer") } }
  static var actions: [Source] { sources.filter { $0.name.hasSuffix("Actions") } }
  static var logic: [Source] { sources.filter { $0.path.hasPrefix("Logic/") } }

  @Test("there is something to hold the rules against") func isNotEmpty() {
    #expect(Self.managers.count >= 4)
    #expect(Self.observers.count >= 2)
    #expect(Self.actions.count >= 5)
  }

  @Test("G-00: every rule checked here stands on the page, and every rule of the page is checked here or names what holds it")
  func theRulesAreWrittenDown() throws {
    let page = try String(
      contentsOf: Self.root.appending(path: "Sources/OhanaRun/OhanaRun.docc/ControlPlane.md"), encoding: .utf8)
    let own = try String(contentsOf: URL(filePath: #filePath), encoding: .utf8)
    let checked = Set(own.matches(of: /@Test\("(G-\d\d)/).map { String($0.output.1) })
    #expect(checked.count > 12)
    for rule in checked { #expect(page.contains("| \(rule) |"), "\(rule) is not on the page") }
    for line in page.split(separator: "\n") where line.hasPrefix("| G-") {
      let rule = String(line.dropFirst(2).prefix(4))
      let others = ["compiler", "`.ci/api`", "`PublicDocumentationTests`"]
      #expect(checked.contains(rule) || others.contains { line.contains($0) }, "\(rule) is checked nowhere")
    }
  }

  @Test("G-11: a manager's file holds one type of its name, and no other type bears the suffix", arguments: managers)
  func managersHaveTheirFiles(_ source: Source) {
    #expect(source.types.filter { $0.hasSuffix("Manager") } == [source.name])
    for other in Self.sources where other.path != source.path { #expect(!other.types.contains(source.name)) }
  }

  @Test("G-11: no type is called a manager elsewhere") func noOtherManagers() {
    let named = Self.sources.flatMap { source in source.types.filter { $0.hasSuffix("Manager") } }
    #expect(Set(named) == Set(Self.managers.map(\.name)))
  }

  @Test("G-12: managers neither dispatch nor look at the state", arguments: managers)
  func managersAreNotInTheKnow(_ source: Source) {
    for word in [#"\bRunStore\b"#, #"\bRunState\b"#, #"\bRunContext\b"#, #"\bdispatch\("#, #"\bpost\("#, #"\bperform\("#] {
      #expect(!source.mentions(word), "\(word)")
    }
  }

  /// Stored properties that change, ones of types that may, and what every manager would see.
  static func changing(in source: Source) -> [String] {
    source.code.split(separator: "\n").map(String.init).filter { line in
      // Deeper lines are in bodies; those of nested types are one of the other cases.
      guard let declared = line.firstMatch(of: /^( {0,2})((?:[a-z]\w*(?:\([a-z]+\))?\s+)*)(let|var)\s+\w+(.*)/) else { return false }
      let (modifiers, kind, rest) = (String(declared.output.2), declared.output.3, String(declared.output.4))
      if modifiers.contains("nonisolated(unsafe)") || modifiers.contains("lazy") { return true }
      if kind == "var" { return !rest.contains("{") || rest.contains(/=|\b(did|will)Set\b/) }
      return !modifiers.contains("static") && rest.contains(/=\s*[A-Z]\w*\(/)
    } + [#"\bMutex\b"#, #"\bLocked\b"#, #"\bAtomic\b"#, #"static var "#, #"\bclass\s+\w"#].filter { source.mentions($0) }
  }

  @Test("G-13: managers are structs that hold nothing that changes", arguments: managers)
  func managersHoldNothing(_ source: Source) {
    // What its interface refines is Sendable.
    #expect(source.mentions(#"struct \#(source.name): (Sendable|\#(Self.interface(of: source)))\b"#))
    #expect(Self.changing(in: source) == [])
  }

  /// Managers that a source knows by more than their interfaces.
  static func known(in source: Source) -> [String] {
    managers.filter { manager in
      // Of its own module's files, some may be a part of it.
      let isModule = manager.path.split(separator: "/").dropLast() == source.path.split(separator: "/").dropLast()
      return manager.path != source.path
        && source.mentions(isModule ? #"[:=]\s*\#(manager.name)\b|\b\#(manager.name)\("# : #"\b\#(manager.name)\b"#)
    }.map(\.name)
  }

  @Test("G-14: managers are made in the container, or handed to one another", arguments: sources)
  func managersAreMadeInOnePlace(_ source: Source) {
    guard source.name != "RunDependencies" else { return }
    #expect(Self.known(in: source) == [])
  }

  @Test("G-15: there is one container") func thereIsOneContainer() {
    #expect(Self.sources.flatMap(\.types).filter { $0.hasSuffix("Dependencies") } == ["RunDependencies"])
  }

  /// `LockManaging` of the `LockManager`.
  static func interface(of manager: Source) -> String { manager.name.dropLast("Manager".count) + "Managing" }

  @Test("G-15: the container holds every manager by its interface, and each has a fake that a test runs on", arguments: managers)
  func managersHaveFakes(_ manager: Source) throws {
    let interface = Self.interface(of: manager)
    #expect(manager.mentions(#"protocol \#(interface): Sendable"#), "\(manager.name) has no interface to make a fake of")
    let container = try #require(Self.sources.first { $0.name == "RunDependencies" }).code
    let held = try #require(
      container.firstMatch(of: try Regex(#"var (\w+): any \#(interface) = \#(manager.name)\(\)"#)),
      "\(manager.name) is not in the container")
    let property = try #require(held.output[1].substring)
    let folder = Self.root.appending(path: "Tests/OhanaRunTests")
    let paths = FileManager.default.enumerator(atPath: folder.path)!.compactMap { $0 as? String }.filter { $0.hasSuffix(".swift") }
    let tests = try paths.map { Source(path: $0, text: try String(contentsOf: folder.appending(path: $0), encoding: .utf8)) }
    #expect(tests.contains { $0.mentions(#"\b(struct|class) Fake\#(manager.name): \#(interface)\b"#) }, "\(manager.name) has no fake")
    #expect(tests.contains { $0.mentions(#"\.\#(property) = "#) }, "no test runs on another \(manager.name)")
  }

  @Test("G-21: signals, timers and pressure are seen by observers only") func onlyObserversLookOut() {
    let outside = [#"DispatchSource\."#, #"\bsignal\("#, #"\bsigaction\("#, #"SIG_IGN"#, #"/proc/pressure"#, #"inotify_"#]
    for source in Self.sources where !source.name.hasSuffix("Observer") {
      for word in outside { #expect(!source.mentions(word), "\(source.path): \(word)") }
    }
  }

  /// What only rules, updaters and effects may know; and what is more or less than something is theirs to say.
  static func judgements(in source: Source) -> [String] {
    [#"Actions\b"#, #"\bRunUpdater\b"#, #"\bRunStore\b"#, #"\w+Manag(er|ing)\b"#, #"\b(if|guard)\b.* [<>]=? "#].filter {
      source.mentions($0)
    }
  }

  @Test("G-21: an observer is short, calls no manager, judges nothing, and stops what it began", arguments: observers)
  func observersAreSmall(_ source: Source) {
    #expect(source.mentions(#"\bRunEvent\b"#) && source.lineCount <= 80)
    #expect(Self.judgements(in: source) == [])
    #expect(source.mentions(#"deinit"#) && source.mentions(#"\.cancel\(\)"#))
    #expect(source.types == [source.name])
  }

  @Test("G-21: observers are made in the container") func observersAreMadeInOnePlace() {
    for source in Self.sources where source.name != "RunDependencies" {
      for observer in Self.observers { #expect(!source.mentions(#"\b\#(observer.name)\("#), "\(source.path)") }
    }
  }

  @Test("G-22: nobody polls") func nobodyPolls() {
    for source in Self.sources where !source.name.hasSuffix("Observer") {
      #expect(!source.mentions(#"\b(u?sleep|nanosleep)\("#), "\(source.path)")
      #expect(!source.mentions(#"Task\.sleep"#), "\(source.path)")
    }
  }

  static func longEffects(in source: Source) -> [String] {
    source.structs(conformingTo: "RunEffect").filter { effect in
      guard let start = effect.body.firstIndex(where: { $0.contains("func perform(in context") }),
        let close = effect.body[start...].firstIndex(where: { $0 == effect.indent + "  }" })
      else { return true }
      let stored = effect.body.filter { line in
        line.contains(Source.regex("^\(effect.indent)  ([a-z]+ )*(let|var) ")) && !line.contains("static ") && !line.hasSuffix("{")
          && !line.hasSuffix("}")
      }
      return close - start - 1 > 30 || stored.count > 3 || stored.contains { $0.contains(/\bBool\b/) }
    }.map(\.head)
  }

  @Test("G-31: an effect is a short chain with few parameters and no mode", arguments: logic)
  func effectsAreShort(_ source: Source) { #expect(Self.longEffects(in: source) == []) }

  /// Effects that a source performs itself, as the store is asked to or behind its back.
  static func performed(in source: Source) -> [String] {
    source.code.matches(of: /context\.perform\((\w+\.\w+|\w+)/).map { "\(source.name) → \($0.output.1)" }
      + (source.mentions(#"\.perform\(in:"#) ? ["\(source.name) → itself"] : [])
  }

  @Test("G-32: only the two kinds of runs perform another effect, their commit") func effectsPerformNoEffects() {
    #expect(
      Self.logic.flatMap(Self.performed).sorted() == ["GenerateActions → PublishActions.Commit", "RunActions → PublishActions.Commit"])
  }

  @Test("G-41: updaters and effects stand in the enum of their module", arguments: logic)
  func dispatchablesAreNamespaced(_ source: Source) {
    for dispatchable in source.structs(conformingTo: "(Updater|RunEffect)") {
      #expect(source.name.hasSuffix("Actions") && dispatchable.indent == "  ", "\(source.path): \(dispatchable.head)")
    }
    if source.name.hasSuffix("Actions") { #expect(source.types.first == source.name) }
  }

  /// What updaters look at beside the state and what they were given.
  static func impurities(in source: Source) -> [String] {
    let lines = source.code.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    return lines.indices.filter { lines[$0].contains("func update(_ state: inout RunState)") }.flatMap { index in
      let indent = lines[index].prefix { $0 == " " }
      let end = lines[index].hasSuffix("}") ? index : lines[index...].firstIndex { $0 == indent + "}" } ?? lines.endIndex - 1
      let body = lines[index...end].joined(separator: "\n")
      return [
        #"\b[cC]lock\("#, "monotonic", #"\b[rR]andom\w*\b"#, #"\bgetenv\b"#, #"\bopen\w*\("#, #"Manag(er|ing)\b"#, #"\bstore\b"#,
        #"\bDate\b"#,
        #"\bProcessInfo\b"#, #"\bContinuousClock\b"#, #"\bfileStatus\b"#, #"\bcontents\("#, #"\bprint\("#, #"\bTask\b"#, "Dispatch",
        #"\bUUID\b"#,
        #"\bwrite\w*\("#, #"\bread\w*\("#,
      ].filter { body.contains(Source.regex($0)) }
    }
  }

  @Test("K-02: updaters look at no clock, file or chance", arguments: logic) func updatersArePure(_ source: Source) {
    #expect(Self.impurities(in: source) == [])
  }

  struct Breach: Sendable, CustomTestStringConvertible {
    let rule: String
    let code: String
    var path = "Logic/X/XManager.swift"
    let find: @Sendable (Source) -> [String]
    var testDescription: String { "\(rule): \(code.prefix(60))" }
  }
  static let breaches: [Breach] =
    [
      "  var hits = 0", "  private var hits = 0 { didSet { tell() } }", "  private(set) var hits: Int", "  private let memo = Memo()",
      "nonisolated(unsafe) private var ever: [Int] = []", "private var ever = 0", "  lazy var memo = 1", "  static var hits = 0",
      "  let lock = Mutex(0)", "  private final class Memo {}",
    ].map { Breach(rule: "G-13", code: "struct XManager: XManaging {\n\($0)\n}", find: changing) }
    + ["    let locks: LockManager = .init()", "    LockManager().clearUp([])", "extension LockManager {}"].map {
      Breach(rule: "G-14", code: $0, path: "Logic/X/XActions.swift", find: known)
    }
    + [
      "  init(_ locks: any LockManaging) {}", "  func x() { LockActions.Take() }", "    guard free < 64 << 20 else { return }",
      "  let store: RunStore",
    ].map { Breach(rule: "G-21", code: $0, path: "Logic/X/XObserver.swift", find: judgements) }
    + [
      "", "    let a: Int\n    let b: Int\n    private let c: Int\n    var d: Int\n", "    let isMode: Bool\n",
    ].enumerated().flatMap { index, stored in
      ["RunEffect", "Sendable, RunEffect", "Sendable,\n    RunEffect"].map { head in
        let body = String(repeating: "      print(0)\n", count: index == 0 ? 31 : 1)
        let effect = "  struct Long: \(head) {\n\(stored)    func perform(in context: RunContext) async throws {\n\(body)    }\n  }\n"
        return Breach(rule: "G-31", code: "enum XActions {\n\(effect)}", path: "Logic/X/XActions.swift", find: longEffects)
      }
    }
    + ["context.perform(LockActions.Take())", "Take().perform(in: context)"].map {
      Breach(rule: "G-32", code: $0, path: "Logic/X/XActions.swift", find: performed)
    }
    + [
      "Date().timeIntervalSince1970", "FileManager.default.contents(atPath: x)", "clock()", "Int.random(in: 0...1)", "fileStatus(path)",
      "readFully(1, x)",
    ].map {
      Breach(
        rule: "K-02", code: "    func update(_ state: inout RunState) {\n      state.x = \($0)\n    }", path: "Logic/X/XActions.swift",
        find: impurities)
    }

  @Test("K-02 G-13 G-14 G-21 G-31 G-32: a breach is found, however it is written", arguments: breaches)
  func breachesAreFound(_ breach: Breach) {
    #expect(!breach.find(Source(path: breach.path, text: breach.code)).isEmpty)
  }

  @Test("K-12: what a run is made of comes from the container that it was given") func theContainerIsHandedOn() {
    for source in Self.sources where source.name != "RunDependencies" {
      let made = source.code.split(separator: "\n").filter { $0.contains("RunDependencies()") }
      // As a default of what callers give.
      #expect(made.allSatisfy { $0.contains("dependencies: RunDependencies = RunDependencies()") }, "\(source.path)")
    }
  }

  @Test("K-15: the tool looks at the state, listens, and changes nothing but by ending the run") func theToolOnlyReads() throws {
    let folder = Self.root.appending(path: "Sources/OhanaCLI")
    let paths = FileManager.default.enumerator(atPath: folder.path)!.compactMap { $0 as? String }.filter { $0.hasSuffix(".swift") }
    let texts = try paths.map { try String(contentsOf: folder.appending(path: $0), encoding: .utf8) }
    #expect(texts.contains { $0.contains("store.listen") })
    for (path, text) in zip(paths, texts) {
      for word in ["store.post", "store.dispatch", "store.perform", "store.start", "Actions."] {
        #expect(!text.contains(word), "\(path): \(word)")
      }
    }
  }

  @Test("K-19: the store is small, and few changes and effects there are") func theStoreStaysSmall() {
    #expect(Self.sources.first { $0.name == "RunStore" }!.lineCount <= 160)
    let dispatchables = Self.logic.reduce(0) { $0 + $1.structs(conformingTo: "(Updater|RunEffect)").count }
    #expect(dispatchables >= 20 && dispatchables <= 34, "\(dispatchables)")
  }

  @Test("G-61: state and logic are the two folders, and the container stands at the root of the logic") func foldersAreTwo() {
    #expect(Set(Self.sources.map { $0.path.split(separator: "/").first! }) == ["State", "Logic"])
    #expect(Self.sources.contains { $0.path == "Logic/RunDependencies.swift" })
  }

  @Test("G-62: every module of the logic has a folder") func modulesHaveFolders() {
    for source in Self.logic where source.path != "Logic/RunDependencies.swift" {
      #expect(source.path.split(separator: "/").count == 3, "\(source.path)")
    }
    for source in Self.sources where source.path.hasPrefix("State/") {
      for suffix in ["Actions", "Manager", "Observer"] { #expect(!source.name.hasSuffix(suffix), "\(source.path)") }
    }
  }

  @Test("G-63: the state is changed by updaters only: nobody outside them takes it inout") func theStateIsChangedByUpdaters() {
    for source in Self.logic where !source.name.hasSuffix("Actions") { #expect(!source.mentions(#"inout RunState"#), "\(source.path)") }
  }
}
