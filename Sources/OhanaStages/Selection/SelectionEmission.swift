internal import OhanaCore

/// Which records come out of a stage that selects.
public enum SelectionEmission: String, Sendable, CaseIterable {
  /// Those that are selected.
  case selected
  /// The others.
  case rejected
  /// All, with `true` or `false` in the field `selected`.
  case both

  /// The field that marks records where both come out.
  public static let mark = "selected"

  /// What emits the records that `selection` lets through, the others, or both.
  func group(of selection: any PlannedStage) throws -> GroupStage {
    switch self {
    case .selected: GroupStage(.any, [[selection]])
    case .rejected: GroupStage(.odd, [[SkipStage(count: 0)], [selection]], order: .input)
    case .both:
      GroupStage(
        .any,
        [
          [selection, try SetStage.parse(arguments: ["\(Self.mark) = true"])], [try SetStage.parse(arguments: ["\(Self.mark) = false"])],
        ], order: .input)
    }
  }
}
