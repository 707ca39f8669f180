/// The report as one self-contained page, for people; a pure function of the state.
enum HTMLReport {
  static func text(_ state: RunState) -> String {
    let books = state.books
    let isGood = state.exitStatus == 0
    var body = "<h1>ohana run</h1>\n<p class=\"verdict \(isGood ? "good" : "bad")\">\(escaped(ReportText.verdict(state)))</p>\n"
    let figures = [
      ("read", Quantity.grouped(books.read)), ("written", Quantity.grouped(books.written)), ("rejected", Quantity.grouped(books.rejected)),
      ("dropped", Quantity.grouped(books.dropped)), ("merged", Quantity.grouped(books.merged)),
      ("seconds", Quantity.fixed(books.seconds, 2)),
      ("records/s", books.seconds > 0 ? Quantity.grouped(Int(Double(books.read) / books.seconds)) : "–"),
    ]
    body += "<dl>" + figures.map { "<div><dt>\($0)</dt><dd>\($1)</dd></div>" }.joined() + "</dl>\n"
    for note in state.notes { body += "<p class=\"note\">\(escaped(note))</p>\n" }
    body += picture(books)
    body += table(
      "Stages", ["stage", "in", "made", "out", "dropped", "merged", "why", "seconds"],
      books.stages.map { stage in
        [stage.text] + [stage.input, stage.made, stage.output, stage.dropped, stage.merged].map(Quantity.grouped)
          + [stage.dropReason ?? "", Quantity.fixed(stage.seconds, 3)]
      })
    body += table(
      "Inputs", ["input", "read", "written", "rejected", "dropped", "merged", "made", "blank lines"],
      books.inputs.map { input in
        [input.name]
          + [input.read, input.written, input.rejected, input.dropped, input.merged, input.made, input.blankLines].map(Quantity.grouped)
      })
    for fault in books.inputs.compactMap(\.fault) { body += "<p class=\"note\">\(escaped(fault))</p>\n" }
    body += table(
      "Rejects", ["reason", "records"], books.rejectReasons.sorted { $0.key < $1.key }.map { [$0.key, Quantity.grouped($0.value)] })
    body += table(
      "Outputs", ["file", "role", "records", "bytes of text"],
      books.outputs.map { [$0.name, $0.role, Quantity.grouped($0.records), Quantity.grouped($0.bytes)] })
    if !state.plan.isEmpty { body += "<h2>Plan</h2>\n<pre>\(escaped(state.plan.joined(separator: "\n")))</pre>\n" }
    return """
      <!DOCTYPE html>
      <html lang="en">
      <head>
      <meta charset="utf-8">
      <meta name="viewport" content="width=device-width, initial-scale=1">
      <title>ohana run: \(escaped(isGood ? "published" : "failed"))</title>
      <style>\(style)</style>
      </head>
      <body>
      <main>
      \(body)</main>
      </body>
      </html>

      """
  }

  /// Time by stage, as bars.
  private static func picture(_ books: RunBooks) -> String {
    let longest = books.stages.map(\.seconds).max() ?? 0
    guard longest > 0 else { return "" }
    let (rowHeight, width) = (30, 720)
    var bars = ""
    for (index, stage) in books.stages.enumerated() {
      let y = index * rowHeight
      let length = max(2, Int(stage.seconds / longest * 420))
      let name = stage.text.count > 34 ? stage.text.prefix(33) + "…" : stage.text[...]
      bars += "<text x=\"0\" y=\"\(y + 19)\">\(escaped(String(name)))<title>\(escaped(stage.text))</title></text>"
      bars += "<rect x=\"240\" y=\"\(y + 6)\" width=\"\(length)\" height=\"18\" rx=\"2\"/>"
      bars += "<text x=\"\(248 + length)\" y=\"\(y + 19)\" class=\"value\">\(Quantity.fixed(stage.seconds, 3)) s</text>\n"
    }
    let height = books.stages.count * rowHeight
    return """
      <h2>Time by stage</h2>
      <svg viewBox="0 0 \(width) \(height)" role="img" aria-label="Seconds spent in each stage, all threads together">
      \(bars)</svg>

      """
  }

  private static func table(_ title: String, _ head: [String], _ rows: [[String]]) -> String {
    guard !rows.isEmpty else { return "" }
    var text = "<h2>\(title)</h2>\n<div class=\"wide\"><table>\n<thead><tr>"
    text += head.map { "<th scope=\"col\">\($0)</th>" }.joined() + "</tr></thead>\n<tbody>\n"
    for row in rows {
      text += "<tr><th scope=\"row\">\(escaped(row[0]))</th>" + row.dropFirst().map { "<td>\(escaped($0))</td>" }.joined() + "</tr>\n"
    }
    return text + "</tbody>\n</table></div>\n"
  }

  private static let style = """
    :root{color-scheme:light dark;--ink:#1d2126;--soft:#5c6670;--line:#d8dde2;--paper:#fff;--bar:#2f6f9f;--good:#1d6b3a;--bad:#a32020}
    @media(prefers-color-scheme:dark){:root{--ink:#e4e8ec;--soft:#9aa5b0;--line:#39424b;--paper:#15191d;--bar:#5fa3d4;--good:#6fce93;--bad:#ff8d85}}
    body{margin:0;background:var(--paper);color:var(--ink);font:15px/1.5 system-ui,sans-serif}
    main{max-width:60rem;margin:0 auto;padding:1.5rem}
    h1{font-size:1.4rem;margin:0}h2{font-size:1.05rem;margin:2rem 0 .5rem}
    .verdict{font-weight:600;overflow-wrap:anywhere}.good{color:var(--good)}.bad{color:var(--bad)}
    .note{border-left:3px solid var(--line);padding-left:.75rem;color:var(--soft);overflow-wrap:anywhere}
    dl{display:flex;flex-wrap:wrap;gap:.5rem 2rem;margin:1rem 0}dt{color:var(--soft);font-size:.85rem}dd{margin:0;font-size:1.2rem;font-variant-numeric:tabular-nums}
    .wide{overflow-x:auto}table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}
    th,td{border-bottom:1px solid var(--line);padding:.3rem .75rem .3rem 0;text-align:right;white-space:nowrap}
    th:first-child{text-align:left;font-weight:400;white-space:normal;overflow-wrap:anywhere}thead th{color:var(--soft);font-weight:400;font-size:.85rem}
    svg{width:100%;max-width:720px;height:auto}svg text{fill:var(--ink);font-size:13px}svg .value{fill:var(--soft)}svg rect{fill:var(--bar)}
    pre{overflow-x:auto;background:color-mix(in srgb,var(--line) 30%,transparent);padding:.75rem}
    """

  private static func escaped(_ text: String) -> String {
    var result = ""
    for character in text {
      switch character {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "\"": result += "&quot;"
      default: result.append(character)
      }
    }
    return result
  }
}
