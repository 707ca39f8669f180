internal import OhanaCore

/// The report as Markdown, for people; a pure function of the state.
enum MarkdownReport {
  static func text(_ state: RunState) -> String {
    let books = state.books
    var lines = ["# ohana run", "", "**\(escaped(ReportText.verdict(state)))**", ""]
    lines.append(
      "Read \(ReportText.records(books.read)), wrote \(Quantity.grouped(books.written)), rejected \(Quantity.grouped(books.rejected)), "
        + "in \(Quantity.fixed(books.seconds, 2)) s.")
    for note in state.notes { lines += ["", "> " + escaped(note)] }
    lines += section("Inputs", ReportText.inputHead, ReportText.inputRows(state))
    let faults = books.inputs.compactMap(\.fault) + books.inputs.flatMap { input in input.warningTexts.map { "\(input.name): \($0)" } }
    if !faults.isEmpty { lines += [""] + faults.map { "- " + escaped($0) } }
    let stageRows = books.stages.map { stage in
      [stage.text] + [stage.input, stage.made, stage.output, stage.dropped, stage.merged].map(Quantity.grouped)
        + [stage.dropReason ?? "", Quantity.fixed(stage.seconds, 3)]
    }
    lines += section("Stages", ["stage", "in", "made", "out", "dropped", "merged", "why", "seconds"], stageRows)
    lines += section("Keys by how often they were met", ["stage"] + ClusterSizes.names, ReportText.clusterRows(books))
    lines += section(
      "Rejects", ["reason", "records"], books.rejectReasons.sorted { $0.key < $1.key }.map { [$0.key, Quantity.grouped($0.value)] })
    lines += section(
      "Outputs", ["file", "role", "records", "bytes of text"],
      books.outputs.map { [$0.name, $0.role, Quantity.grouped($0.records), Quantity.grouped($0.bytes)] })
    if !state.plan.isEmpty { lines += ["", "## Plan", "", "```"] + state.plan + ["```"] }
    return lines.joined(separator: "\n") + "\n"
  }

  private static func section(_ title: String, _ head: [String], _ rows: [[String]]) -> [String] {
    guard !rows.isEmpty else { return [] }
    let rule = head.enumerated().map { $0.offset == 0 ? "---" : "---:" }
    return ["", "## " + title, ""] + ([head, rule] + rows).map { "| " + $0.map(escaped).joined(separator: " | ") + " |" }
  }

  /// So that a name breaks no table and is no markup.
  static func escaped(_ text: String) -> String {
    var result = ""
    for character in text {
      if "\\`*_[]<>|#".contains(character) { result.append("\\") }
      result.append(character.isNewline ? " " : character)
    }
    return result
  }
}
