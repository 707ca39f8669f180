internal import OhanaCore

/// The report for Prometheus' text file collector (text exposition format 0.0.4); a pure function of the state.
enum PrometheusReport {
  static func text(_ state: RunState) -> String {
    let books = state.books
    var text = ""
    func family(_ name: String, _ help: String, _ samples: [(labels: [(String, String)], value: String)]) {
      guard !samples.isEmpty else { return }
      text += "# HELP ohana_\(name) \(help)\n# TYPE ohana_\(name) gauge\n"
      for sample in samples {
        let labels = sample.labels.map { "\($0)=\"\(escaped($1))\"" }.joined(separator: ",")
        text += "ohana_\(name)\(labels.isEmpty ? "" : "{\(labels)}") \(sample.value)\n"
      }
    }
    family("run_exit_status", "Exit status of the last run.", [([], "\(state.exitStatus)")])
    family("run_published", "Whether the last run has published its outputs.", [([], state.phase == .published ? "1" : "0")])
    family("run_seconds", "Duration of the last run.", [([], Quantity.fixed(books.seconds, 3))])
    let totals = [
      ("read", books.read), ("made", books.made), ("written", books.written), ("rejected", books.rejected), ("dropped", books.dropped),
      ("merged", books.merged),
    ]
    family("run_records", "Records of the last run, by what became of them.", totals.map { ([("fate", $0)], "\($1)") })
    family(
      "run_rejects", "Rejected records of the last run, by reason.",
      books.rejectReasons.sorted { $0.key < $1.key }.map { ([("reason", $0.key)], "\($0.value)") })
    family(
      "input_records", "Records of the last run, by input and by what became of them.",
      books.inputs.flatMap { input in
        [("read", input.read), ("written", input.written), ("rejected", input.rejected), ("dropped", input.dropped)].map {
          ([("input", input.name), ("fate", $0)], "\($1)")
        }
      })
    family(
      "stage_records", "Records of the last run, by stage and by what became of them.",
      books.stages.enumerated().flatMap { index, stage in
        [("in", stage.input), ("made", stage.made), ("out", stage.output), ("dropped", stage.dropped), ("merged", stage.merged)].map {
          ([("stage", "\(index + 1)"), ("text", stage.text), ("fate", $0)], "\($1)")
        }
      })
    family(
      "stage_seconds", "Time spent in a stage, all threads together.",
      books.stages.enumerated().map { ([("stage", "\($0 + 1)"), ("text", $1.text)], Quantity.fixed($1.seconds, 3)) })
    family(
      "stage_keys", "Keys that a stage met, by how often it met them.",
      books.stages.enumerated().flatMap { index, stage in
        zip(ClusterSizes.names, stage.clusters?.keys ?? []).map {
          ([("stage", "\(index + 1)"), ("text", stage.text), ("times", $0)], "\($1)")
        }
      })
    family(
      "output_records", "Records in an output of the last run.",
      books.outputs.map { ([("output", $0.name), ("role", $0.role)], "\($0.records)") })
    return text
  }

  private static func escaped(_ text: String) -> String {
    var result = ""
    for character in text {
      switch character {
      case "\\": result += "\\\\"
      case "\"": result += "\\\""
      case "\n": result += "\\n"
      default: result.append(character)
      }
    }
    return result
  }
}
