public import OhanaCore

/// All stages by name, for whoever reads them from words: the command line, pipeline files.
public enum StageCatalog {
  /// A stage by name: its help page, and what makes it of words.
  public struct Entry: Sendable {
    public let help: StageHelp
    private let parser: @Sendable ([String], _ depth: Int) throws -> any PlannedStage
    private let positionals: Positionals

    /// How many of a line's plain words belong to the stage when inputs follow them.
    enum Positionals: Sendable {
      case none, one
      /// One, unless one of these options is given.
      case oneUnless([String])
      /// One, and an expression behind the word `where`.
      case oneWhere
      /// Chains in braces, which are no plain words.
      case braces
      /// All that look like `NAME=…`.
      case assignments
    }

    init(_ help: StageHelp, _ positionals: Positionals, _ parser: @escaping @Sendable ([String]) throws -> any PlannedStage) {
      self.init(help: help, positionals) { words, _ in try parser(words) }
    }

    init(group kind: GroupStage.Kind) {
      self.init(help: GroupStage.help(kind), .braces) { words, depth in try GroupStage.parse(kind, arguments: words, depth: depth) }
    }

    private init(
      help: StageHelp, _ positionals: Positionals, _ parser: @escaping @Sendable ([String], _ depth: Int) throws -> any PlannedStage
    ) {
      self.help = help
      self.positionals = positionals
      self.parser = parser
    }

    /// Understands the words behind the stage's name, its options included.
    ///
    /// - Parameter depth: of the groups that the stage stands in, itself included.
    public func parse(_ words: [String], depth: Int = 1) throws -> any PlannedStage { try parser(words, depth) }

    /// Chains in braces are among its words.
    public var takesBraces: Bool { if case .braces = positionals { true } else { false } }

    /// Plain words are among its arguments.
    package var takesPositionals: Bool {
      switch positionals {
      case .none, .braces: false
      default: true
      }
    }

    /// How many of `words`, the line's words that are no options, are the stage's own and no inputs.
    public func positionalCount(_ words: [String], _ options: [String]) -> Int {
      switch positionals {
      case .none: 0
      case .one: min(1, words.count)
      case .oneUnless(let names):
        options.contains { option in names.contains { option == $0 || option.hasPrefix($0 + "=") } } ? 0 : min(1, words.count)
      case .oneWhere: words.count > 1 && words[1].lowercased() == "where" ? min(3, words.count) : min(1, words.count)
      case .braces: 0
      case .assignments: words.prefix { $0.contains("=") }.count
      }
    }
  }

  /// - Complexity: O(number of stages).
  public static func entry(named name: String) -> Entry? { all.first { $0.help.name == name } }

  /// The stage of words that begin with its name.
  ///
  /// - Throws: `usage` for an unknown name, with the nearest one, and whatever the stage says of the rest.
  public static func stage(_ words: [String], depth: Int = 1) throws -> any PlannedStage {
    guard let name = words.first else {
      throw OhanaError(.usage, "missing-stage", "there is no stage behind 'then'", fix: "'ohana help' lists the stages")
    }
    guard let entry = entry(named: name) else {
      let near = NearMiss.best(for: name, among: all.map(\.help.name)).map { "did you mean \($0)? " } ?? ""
      throw OhanaError(.usage, "unknown-stage", "there is no stage '\(name)'", fix: near + "'ohana help' lists them")
    }
    return try entry.parse(Array(words.dropFirst()), depth: depth)
  }

  /// Words of a chain, cut at `then`. A `then` within braces belongs to the group.
  public static func chain(_ words: [String]) -> [[String]] {
    var stages: [[String]] = [[]]
    var depth = 0
    for word in words {
      if word == "{" { depth += 1 } else if word == "}" { depth -= 1 }
      if word == "then", depth == 0 { stages.append([]) } else { stages[stages.count - 1].append(word) }
    }
    return stages
  }

  /// In the order of the help page.
  public static let all: [Entry] = [
    Entry(RequireStage.help, .oneUnless(["--type", "--has-tag"])) { try RequireStage.parse(arguments: $0) },
    Entry(FilterStage.help, .one) { try FilterStage.parse(arguments: $0) },
    Entry(SetStage.help, .assignments) { try SetStage.parse(arguments: $0) },
    Entry(RenameStage.help, .assignments) { try RenameStage.parse(arguments: $0) },
    Entry(KeepStage.help, .one) { try KeepStage.parse(arguments: $0) },
    Entry(DropStage.help, .one) { try DropStage.parse(arguments: $0) },
    Entry(NormalizeStage.help, .one) { try NormalizeStage.parse(arguments: $0) },
    Entry(PhoneStage.help, .none) { try PhoneStage.parse(arguments: $0) },
    Entry(TagStage.help, .oneWhere) { try TagStage.parse(arguments: $0) },
    Entry(CountFieldsStage.help, .none) { try CountFieldsStage.parse(arguments: $0) },
    Entry(SplitStage.help, .none) { try SplitStage.parse(arguments: $0) },
    Entry(DedupeStage.help, .none) { try DedupeStage.parse(arguments: $0) },
    Entry(DistinctStage.help, .none) { try DistinctStage.parse(arguments: $0) },
    Entry(CountByStage.help, .one) { try CountByStage.parse(arguments: $0) },
    Entry(SuppressStage.help, .none) { try SuppressStage.parse(arguments: $0) },
    Entry(MatchStage.help, .one) { try MatchStage.parse(arguments: $0) },
    Entry(SelectStage.help, .none) { try SelectStage.parse(arguments: $0) },
    Entry(DeselectStage.help, .none) { try DeselectStage.parse(arguments: $0) },
    Entry(SortStage.help, .one) { try SortStage.parse(arguments: $0) },
    Entry(ReverseStage.help, .none) { try ReverseStage.parse(arguments: $0) },
    Entry(SkipStage.help, .one) { try SkipStage.parse(arguments: $0) },
    Entry(LimitStage.help, .one) { try LimitStage.parse(arguments: $0) },
    Entry(SampleStage.help, .one) { try SampleStage.parse(arguments: $0) },
    Entry(group: .all), Entry(group: .any), Entry(group: .odd),
    Entry(TeeStage.help, .one) { try TeeStage.parse(arguments: $0) },
  ]
}
