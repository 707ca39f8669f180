public import OhanaCore

/// What a finished run tells a person; a pure function of its state.
public enum SummaryText {
  /// - Parameter output: the name of the main output, as given; nil: standard output.
  public static func lines(_ state: RunState, output: FilePath?) -> [String] {
    let books = state.books
    let records = ReportText.records
    var lines: [String] = []
    let inputs =
      books.inputs.count == 1 ? books.inputs[0].name == "-" ? "standard input" : books.inputs[0].name : "\(books.inputs.count) inputs"
    var head = "read \(records(books.read)) from \(inputs), wrote \(Quantity.grouped(books.written))"
    if let output, output != "-" { head += " to \(output)" }
    head += " in \(Quantity.fixed(books.seconds, books.seconds < 10 ? 2 : 0)) s"
    if books.seconds > 0.2 { head += " (\(Quantity.grouped(Int(Double(books.read) / books.seconds))) records/s)" }
    lines.append(head)
    for stage in books.stages {
      var parts: [String] = []
      if stage.dropped > 0 { parts.append("\(Quantity.grouped(stage.dropped)) dropped" + (stage.dropReason.map { " (\($0))" } ?? "")) }
      if stage.noted > 0 { parts.append("\(Quantity.grouped(stage.noted)) \(stage.noteReason ?? "noted")") }
      if stage.merged > 0 { parts.append("\(Quantity.grouped(stage.merged)) merged") }
      if stage.made > 0 { parts.append("\(Quantity.grouped(stage.made)) made") }
      if !parts.isEmpty { lines.append("  \(stage.text): " + parts.joined(separator: ", ")) }
    }
    if books.rejected > 0 {
      let reasons = books.rejectReasons.sorted { $0.key < $1.key }.map { "\(Quantity.grouped($0.value)) \($0.key)" }.joined(separator: ", ")
      lines.append("  rejected: \(records(books.rejected)) (\(reasons))")
    }
    for input in books.inputs {
      for text in input.warningTexts { lines.append("  \(input.name): \(text)") }
      if let fault = input.fault { lines.append("  " + fault) }
    }
    let blank = books.inputs.reduce(0) { $0 + $1.blankLines }
    if blank > 0 { lines.append("  \(Quantity.grouped(blank)) blank \(blank == 1 ? "line" : "lines") skipped") }
    if books.stoppedEarly { lines.append("  stopped reading early: a stage had enough") }
    for output in books.outputs where output.role != "main" {
      lines.append("  \(output.role): \(records(output.records)) to \(output.name)")
    }
    return lines
  }
}
