internal import OhanaCore
internal import OhanaEngine
internal import OhanaFormats

/// From a request to a run ready to begin.
public enum PlanActions {
  /// Looks at the inputs and opens the outputs.
  struct Plan: RunEffect {
    let request: RunRequest
    let purpose: RunPurpose
    let desk: RunDesk

    func perform(in context: RunContext) async throws -> PreparedRun {
      let options = request.options
      let inputs = context.dependencies.inputs
      let threads = options.threads ?? context.dependencies.processors.usableCount
      let scheduler = WorkScheduler(width: threads)
      let spill = context.dependencies.makeSpill(options)
      desk.onClose { spill.close() }
      let paths = try request.files ?? InputResolver.resolve(request.inputs, filesFrom: request.filesFrom)
      let outputs = try OutputSet(
        options, inputs: paths, pool: scheduler,
        compressors: MemoryPlan(total: options.memory, threads: threads, outputs: 1, holders: []).compressors)
      desk.onClose { outputs.discard() }
      if let report = options.report {
        try outputs.reserve(report)
        desk.mayReport = true
      }
      var probed = try inputs.probe(paths, options: options)
      if options.ragged == .pad { probed = try inputs.widen(probed, options: options, spill: spill) }
      let sink = try purpose == .write ? SinkPlan(request, firstInput: probed.first?.format ?? .ndjson) : SinkPlan(nowhere: probed)
      let planner = RunPlanner(inputs: inputs, scheduler: scheduler, spill: spill)
      let request = purpose.effective(request)
      var table: CSVColumnTable?
      if sink.needsColumnsFirst(probed, request) {
        probed = try probed.map { try inputs.spool($0, to: spill) }
        let first = try planner.plan(
          request, probed: probed, sink: sink, threads: threads, outputs: outputs, onlyColumns: true)
        _ = try await context.drive(first, on: scheduler)
        table = first.collector?.table
      }
      let plan = try planner.plan(request, probed: probed, sink: sink, threads: threads, outputs: outputs, table: table)
      return PreparedRun(request: request, plan: plan, scheduler: scheduler, outputs: outputs)
    }
  }
}

/// What a run is for.
public enum RunPurpose: Sendable {
  /// To write the request's output.
  case write
  /// Only to read, pass the stages, and count.
  case count
  /// To read everything, however much of it is unreadable.
  case check

  /// `check` wants to know of everything.
  func effective(_ request: RunRequest) -> RunRequest {
    guard self == .check else { return request }
    var request = request
    request.options.maxRejects = .percent(100)
    request.options.onBadChunk = .skip
    return request
  }
}

extension SinkPlan {
  /// A sink that is none, for what was found.
  init(nowhere inputs: [ProbedInput]) { self.init(nowhere: inputs.first?.format ?? .ndjson) }

  /// CSV made of NDJSON, to a place where the header cannot be mended afterwards, by a chain that streams.
  func needsColumnsFirst(_ probed: [ProbedInput], _ request: RunRequest) -> Bool {
    guard format == .csv, probed.first?.format == .ndjson, request.options.columns == nil else { return false }
    if request.stages.contains(where: { $0.memoryClass == .breaker }) { return false }
    switch place {
    case .nowhere: return false
    case .standardOutput, .chunks: return true
    case .file(let path): return OutputTarget.isWrittenInPlace(path)
    }
  }
}
