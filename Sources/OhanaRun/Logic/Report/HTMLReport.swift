internal import OhanaCore

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
    body += timePicture(books) + queuePicture(books)
    body += table(
      "Stages", ["stage", "in", "made", "out", "dropped", "merged", "why", "seconds"],
      books.stages.map { stage in
        [stage.text] + [stage.input, stage.made, stage.output, stage.dropped, stage.merged].map(Quantity.grouped)
          + [stage.dropReason ?? "", Quantity.fixed(stage.seconds, 3)]
      })
    body += table("Keys by how often they were met", ["stage"] + ClusterSizes.names, ReportText.clusterRows(books))
    body += table("Inputs", ReportText.inputHead, ReportText.inputRows(state))
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
  private static func timePicture(_ books: RunBooks) -> String {
    let longest = books.stages.map(\.seconds).max() ?? 0
    guard longest > 0 else { return "" }
    return picture(
      "Time by stage", "Seconds spent in each stage, all threads together",
      books.stages.map { Bar(name: $0.text, length: $0.seconds / longest, value: "\(Quantity.fixed($0.seconds, 3)) s") })
  }

  /// Queue fill by piece of work, as bars for the mean with a mark for the most.
  private static func queuePicture(_ books: RunBooks) -> String {
    guard !books.queues.isEmpty else { return "" }
    return picture(
      "Waiting before each step", "Batches that waited before each step, as shares of all batches: the mean, and a mark at the most",
      books.queues.map { queue in
        let value = "\(Quantity.fixed(queue.mean * 100, 0)) %, at most \(Quantity.fixed(queue.most * 100, 0)) %"
        return Bar(name: queue.before.joined(separator: " + "), length: queue.mean, mark: queue.most, value: value)
      })
  }

  private struct Bar {
    var name: String
    /// Of the full length, like `mark`.
    var length: Double
    var mark: Double?
    var value: String
  }

  private static func picture(_ title: String, _ label: String, _ rows: [Bar]) -> String {
    let (rowHeight, width) = (30, 720)
    var bars = ""
    for (index, bar) in rows.enumerated() {
      let y = index * rowHeight
      let length = max(2, Int(bar.length * 340))
      let mark = bar.mark.map { Int($0 * 340) }
      let name = bar.name.count > 34 ? bar.name.prefix(33) + "…" : bar.name[...]
      bars += "<text x=\"0\" y=\"\(y + 19)\">\(escaped(String(name)))<title>\(escaped(bar.name))</title></text>"
      bars += "<rect x=\"240\" y=\"\(y + 6)\" width=\"\(length)\" height=\"18\" rx=\"2\"/>"
      if let mark { bars += "<rect x=\"\(240 + mark)\" y=\"\(y + 3)\" width=\"2\" height=\"24\"/>" }
      bars += "<text x=\"\(248 + max(length, mark ?? 0))\" y=\"\(y + 19)\" class=\"value\">\(bar.value)</text>\n"
    }
    return """
      <h2>\(title)</h2>
      <svg viewBox="0 0 \(width) \(rows.count * rowHeight)" role="img" aria-label="\(label)">
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
