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

    func count(_ pattern: String) -> Int { code.matches(of: try! Regex(pattern)).count }
    func mentions(_ pattern: String) -> Bool { count(pattern) > 0 }
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

  @Test("G-13: managers are structs that hold nothing that changes", arguments: managers)
  func managersHoldNothing(_ source: Source) {
    // What its interface refines is Sendable.
    #expect(source.mentions(#"struct \#(source.name): (Sendable|\#(Self.interface(of: source)))\b"#))
    let members = source.code.split(separator: "\n").filter { $0.hasPrefix("  ") && !$0.hasPrefix("   ") }
    for member in members {
      let isStored = member.contains(" var ") && !member.contains("{")
      #expect(!isStored, "\(member)")
    }
    for word in [#"\bMutex\b"#, #"\bLocked\b"#, #"\bAtomic\b"#, #"static var "#] { #expect(!source.mentions(word), "\(word)") }
  }

  @Test("G-14: managers are made in the container, or handed to one another") func managersAreMadeInOnePlace() {
    // The generator is a command of its own, with no run around it.
    for source in Self.sources where source.name != "RunDependencies" && !source.path.hasPrefix("Logic/Generate/") {
      for manager in Self.managers {
        #expect(!source.mentions(#"\b\#(manager.name)\("#), "\(source.path) makes a \(manager.name)")
      }
      #expect(!source.mentions(#"static (let|var) shared"#), "\(source.path)")
    }
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

  @Test("G-21: an observer is short, calls no manager, judges nothing, and stops what it began", arguments: observers)
  func observersAreSmall(_ source: Source) {
    #expect(source.mentions(#"\bRunEvent\b"#) && !source.mentions(#"Actions\b|\bRunUpdater\b|\bRunStore\b"#))
    #expect(source.lineCount <= 80)
    for manager in Self.managers { #expect(!source.mentions(#"\b\#(manager.name)\b"#)) }
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

  @Test("G-31: an effect is a short chain with few parameters and no mode", arguments: actions)
  func effectsAreShort(_ source: Source) throws {
    let lines = source.code.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    for (index, line) in lines.enumerated() where line.contains(": RunEffect") {
      let indent = line.prefix { $0 == " " }
      let end = lines[index...].firstIndex { $0 == indent + "}" }!
      let body = lines[index..<end]
      let start = try #require(body.firstIndex { $0.contains("func perform(in context") })
      let close = try #require(body[start...].firstIndex { $0 == indent + "  }" })
      #expect(close - start - 1 <= 30, "\(source.path): \(line)")
      let stored = body.filter { $0.hasPrefix(indent + "  let ") }
      #expect(stored.count <= 3, "\(source.path): \(line)")
      #expect(!stored.contains { $0.contains(": Bool") }, "\(source.path): \(line)")
    }
  }

  @Test("G-32: only the two kinds of runs perform another effect, their commit") func effectsPerformNoEffects() {
    var performed: [String] = []
    for source in Self.logic {
      performed += source.code.matches(of: /context\.perform\((\w+\.\w+|\w+)/).map { "\(source.name) → \($0.output.1)" }
    }
    #expect(performed.sorted() == ["GenerateActions → PublishActions.Commit", "RunActions → PublishActions.Commit"])
  }

  @Test("G-41: updaters and effects stand in the enum of their module", arguments: logic)
  func dispatchablesAreNamespaced(_ source: Source) {
    let lines = source.code.split(separator: "\n").map(String.init)
    for line in lines where line.firstMatch(of: /struct \w+: (\w+Updater|RunEffect)\b/) != nil {
      #expect(source.name.hasSuffix("Actions"), "\(source.path): \(line)")
      #expect(line.hasPrefix("  "), "\(source.path): \(line)")
    }
    if source.name.hasSuffix("Actions") { #expect(source.types.first == source.name) }
  }

  @Test("K-02: updaters look at no clock, file or chance", arguments: logic) func updatersArePure(_ source: Source) {
    let lines = source.code.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    for (index, line) in lines.enumerated() where line.contains("func update(_ state: inout RunState)") {
      let indent = line.prefix { $0 == " " }
      let end = line.hasSuffix("}") ? index : lines[index...].firstIndex { $0 == indent + "}" }!
      let body = lines[index...end].joined(separator: "\n")
      for word in [#"\b[cC]lock\("#, "monotonic", #"\brandom\b"#, #"\bgetenv\b"#, #"\bopen\("#, #"Manager\b"#, #"\bstore\b"#] {
        #expect(body.firstMatch(of: try! Regex(word)) == nil, "\(source.path): \(word)")
      }
    }
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
    let dispatchables = Self.logic.reduce(0) { $0 + $1.count(#"struct \w+: \w*(Updater|RunEffect)"#) }
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
