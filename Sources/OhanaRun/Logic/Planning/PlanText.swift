internal import OhanaCore
internal import OhanaEngine
internal import OhanaFormats

/// A plan for people: `ohana plan`. A pure function of the plan.
enum PlanText {
  static func lines(_ plan: RunPlan, options: RunOptions) -> [String] {
    var rows: [(String, String)] = []
    let sizes = plan.inputs.map(\.size)
    let total = sizes.contains { $0 == nil } ? "of unknown size" : Quantity.sized(sizes.reduce(0) { $0 + ($1 ?? 0) })
    let format = plan.inputs.first?.format.rawValue ?? "nothing"
    rows.append(("inputs", "\(plan.inputs.count) \(plan.inputs.count == 1 ? "file" : "files") of \(format), \(total)"))
    if options.interleave {
      let live = plan.inputs.count(where: \.isLive)
      rows.append(("order", "of arrival, not the same every time: \(live) to be waited for, \(plan.inputs.count - live) that are at hand"))
    }
    let fields = plan.schema.sourceFields.map(\.name.description).joined(separator: ", ")
    rows.append(("reads", fields.isEmpty ? "record boundaries only, and checks every value" : fields))
    if let columns = plan.schema.columns {
      rows.append(("columns", columns.map { String(decoding: $0, as: UTF8.self) }.joined(separator: ", ")))
    }

    var piece: [String] = ["read"]
    let isShared = plan.memory.reserveBytes > 0
    for stage in plan.stages {
      let memory = stage.weight > 0 ? ", \(Quantity.sized(stage.memory.bytes)) \(isShared ? "or more " : "")before it spills" : ""
      rows.append(("stage \(stage.index + 1)", "\(stage.stage.text)  [\(stage.stage.memoryClass.rawValue)\(memory)]"))
      var notes: [String] = []
      for step in stage.steps {
        switch step.step {
        case .row: piece.append(name(stage))
        case .ordered:
          notes.append(stage.stage.memoryClass == .breaker ? "waits for the whole input" : "sees records in order")
        }
      }
      if stage.steps.contains(where: \.stopsReading), stage.stage.mayStopReading { notes.append("stops reading when it has enough") }
      if stage.stage.memoryClass == .breaker {
        let carried = stage.payload.needsBytes ? "whole records" : "\(stage.payload.slots.count) values a record"
        notes.append("carries \(carried)")
      }
      if !notes.isEmpty { rows.append(("", Array(Set(notes)).sorted().joined(separator: ", "))) }
    }
    rows.append(("fused", fusedPieces(plan).joined(separator: " → ")))
    rows.append(("writes", writer(plan, options: options)))
    rows.append(
      (
        "memory",
        "\(Quantity.sized(plan.memory.total)): \(plan.memory.batchCount) batches of \(Quantity.sized(plan.memory.batchBytes)), \(plan.memory.compressors) compressors, \(Quantity.sized(plan.memory.stageBytes)) for stages"
      ))
    rows.append(("threads", String(plan.threads)))
    return rows.map { label, text in label + String(repeating: " ", count: 10 - label.count) + text }
  }

  /// Steps between two ordered ones run as one piece of work; `|` stands for an ordered step.
  private static func fusedPieces(_ plan: RunPlan) -> [String] {
    var pieces: [String] = []
    var piece: [String] = ["parse"]
    for step in plan.pipeline.steps.dropFirst() {
      switch step.step {
      case .row: piece.append(step.stage.map { name(plan.stages[$0]) } ?? "render")
      case .ordered:
        if !piece.isEmpty { pieces.append("[\(piece.joined(separator: " + "))]") }
        piece = []
        if let stage = step.stage { pieces.append(name(plan.stages[stage])) }
      }
    }
    if !piece.isEmpty { pieces.append("[\(piece.joined(separator: " + "))]") }
    return pieces + ["write"]
  }

  private static func name(_ stage: BoundStage) -> String { String(stage.stage.text.prefix { $0 != " " }) }

  private static func writer(_ plan: RunPlan, options: RunOptions) -> String {
    let layout = plan.schema.layout
    let shape =
      layout.isSourceAsIs
      ? "records as they are"
      : layout.followsSource
        ? "records with \(layout.entries.count + layout.renamed.count + layout.removed.count) fields changed"
        : layout.entries.map { String(decoding: $0.name, as: UTF8.self) }.joined(separator: ", ")
    let place: String =
      switch plan.sink.place {
      case .file(let path): path.description
      case .chunks(let pattern, let records): "\(pattern), \(Quantity.grouped(records)) records each"
      case .standardOutput: "standard output"
      case .sink: "a sink of the caller's"
      case .nowhere: "nowhere"
      }
    return "\(plan.sink.format.rawValue)\(plan.sink.isCompressed ? ", gzip level \(options.level)" : "") to \(place): \(shape)"
  }
}
