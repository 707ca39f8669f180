public import OhanaCore

/// All stages by name, for whoever reads them from words: the command line, pipeline files.
public enum StageCatalog {
  public struct Entry: Sendable {
    public let help: StageHelp
    private let parser: @Sendable ([String]) throws -> any PlannedStage
    private let positionals: Positionals

    /// How many of a line's plain words belong to the stage when inputs follow them.
    enum Positionals: Sendable {
      case none, one
      /// One, unless one of these options is given.
      case oneUnless([String])
      /// One, and an expression behind the word `where`.
      case oneWhere
      /// A group of chains in braces: everything up to the last brace.
      case braces
      /// All that look like `NAME=…`.
      case assignments
    }

    init(_ help: StageHelp, _ positionals: Positionals, _ parser: @escaping @Sendable ([String]) throws -> any PlannedStage) {
      self.help = help
      self.positionals = positionals
      self.parser = parser
    }

    /// Understands the words behind the stage's name, its options included.
    public func parse(_ words: [String]) throws -> any PlannedStage { try parser(words) }

    /// How many of `words`, the line's words that are no options, are the stage's own and no inputs.
    public func positionalCount(_ words: [String], _ options: [String]) -> Int {
      switch positionals {
      case .none: 0
      case .one: min(1, words.count)
      case .oneUnless(let names):
        options.contains { option in names.contains { option == $0 || option.hasPrefix($0 + "=") } } ? 0 : min(1, words.count)
      case .oneWhere: words.count > 1 && words[1].lowercased() == "where" ? min(3, words.count) : min(1, words.count)
      case .braces: words.lastIndex(of: "}").map { $0 + 1 } ?? 0
      case .assignments: words.prefix { $0.contains("=") }.count
      }
    }
  }

  public static func entry(named name: String) -> Entry? { all.first { $0.help.name == name } }

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
    Entry(SortStage.help, .one) { try SortStage.parse(arguments: $0) },
    Entry(ReverseStage.help, .none) { try ReverseStage.parse(arguments: $0) },
    Entry(SkipStage.help, .one) { try SkipStage.parse(arguments: $0) },
    Entry(LimitStage.help, .one) { try LimitStage.parse(arguments: $0) },
    Entry(SampleStage.help, .one) { try SampleStage.parse(arguments: $0) },
    Entry(TeeStage.help, .one) { try TeeStage.parse(arguments: $0) },
  ]
}
