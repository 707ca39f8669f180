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

  /// Binds what emits the records that `selection` lets through, the others, or both.
  ///
  /// - Throws: `usage`/`name-taken` where records have a field `selected` already and both come out. Where only the records tell (NDJSON), the
  ///   first that has one ends the run.
  func bind(_ selection: any PlannedStage, _ schema: inout RecordSchema, _ context: StageContext) throws -> [StageStep] {
    var steps: [StageStep] = []
    if self == .both {
      let name = FieldName(whole: Array(Self.mark.utf8))
      if schema.hasOutput(name) { throw MarkGuard.problem(schema.currentStage) }
      if let slot = schema.slot(readingIfPresent: name) { steps.append(.row(MarkGuard(slot: slot, stage: schema.currentStage))) }
    }
    return try steps + group(of: selection).bind(&schema, context)
  }

  /// What emits the records that `selection` lets through, the others, or both.
  private func group(of selection: any PlannedStage) throws -> GroupStage {
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

/// Lets no record pass that has a field of the mark's name.
private struct MarkGuard: RowStage {
  let slot: Int
  let stage: String

  func process(_ batch: RecordBatch) throws -> StageTally {
    for index in 0..<batch.selectedCount where batch.field(slot, of: Int(batch.selection[index])).kind != .missing {
      throw Self.problem(stage)
    }
    return StageTally()
  }

  static func problem(_ stage: String) -> OhanaError {
    let mark = SelectionEmission.mark
    return OhanaError(
      .usage, "name-taken", field: mark, "\(stage): --emit both writes a field of this name, and there is one already",
      fix: "put 'rename \(mark)=NAME' or 'drop \(mark)' in front")
  }
}
