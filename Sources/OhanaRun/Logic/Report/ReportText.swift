public import OhanaCore

/// What became of a run, in one of the forms of `--report FILE`; told by the name, JSON if it tells nothing. Pure functions of the state.
public enum ReportText {
  /// Endings of names, each of which means a form.
  public static let endings = [".json", ".md", ".markdown", ".html", ".htm", ".prom"]

  /// Whether the name has an ending, and it means no form.
  public static func hasUnknownEnding(_ path: FilePath) -> Bool {
    let name = String(decoding: path.lastComponent.bytes, as: UTF8.self).lowercased()
    return name.dropFirst().contains(".") && !endings.contains { name.hasSuffix($0) }
  }

  /// The report in the form that the name stands for.
  public static func text(_ state: RunState, for path: FilePath) throws -> [UInt8] {
    let name = String(decoding: path.lastComponent.bytes, as: UTF8.self).lowercased()
    if name.hasSuffix(".md") || name.hasSuffix(".markdown") { return Array(MarkdownReport.text(state).utf8) }
    if name.hasSuffix(".html") || name.hasSuffix(".htm") { return Array(HTMLReport.text(state).utf8) }
    if name.hasSuffix(".prom") { return Array(PrometheusReport.text(state).utf8) }
    return try JSONReport(state).text
  }

  /// One line: how it ended.
  static func verdict(_ state: RunState) -> String {
    if let interruption = state.interruption, state.isInterrupted { return "interrupted by signal \(interruption.signal)" }
    if let failure = state.failure { return (state.phase == .published ? "published, but: " : "failed: ") + failure.message }
    return state.phase == .published ? "published" : "done"
  }

  /// A row for each stage that counts keys: its text, and the keys of each class of ``ClusterSizes``.
  static func clusterRows(_ books: RunBooks) -> [[String]] {
    books.stages.compactMap { stage in stage.clusters.map { [stage.text] + $0.keys.map(Quantity.grouped) } }
  }

  static let inputHead = ["input", "status", "read", "written", "rejected", "dropped", "merged", "made", "blank lines"]

  /// A row for each input, those left out too.
  static func inputRows(_ state: RunState) -> [[String]] {
    let books = state.books.inputs
    let read = books.enumerated().map { index, input in
      [input.name, index < state.inputs.count ? state.inputs[index].status.rawValue : ""]
        + [input.read, input.written, input.rejected, input.dropped, input.merged, input.made, input.blankLines].map(Quantity.grouped)
    }
    return read + state.inputs.dropFirst(books.count).map { [$0.name, $0.status.rawValue] + inputHead.dropFirst(2).map { _ in "–" } }
  }

  static func records(_ count: Int) -> String { "\(Quantity.grouped(count)) \(count == 1 ? "record" : "records")" }
}
