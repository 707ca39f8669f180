internal import OhanaEngine

extension RunPlan {
  /// How far a flow of this plan is.
  ///
  /// - Parameter began: when the run began, on the monotonic clock.
  func progress(_ runner: PipelineRunner, since began: UInt64) -> ProgressMeter.Flow {
    let counts = runner.counts
    let held = runner.held.map { held in
      RunState.Progress.Held(
        stage: pipeline.steps[held.step].stage.map { name($0) } ?? "writing", passed: held.passed, total: held.count,
        since: Double(held.began - began) / 1e9)
    }
    // The first step is the reader's: what leaves it are the good records.
    return .init(records: counts.steps[0].output, held: held, limiting: limiting(counts))
  }

  private func name(_ stage: Int) -> String { String(stages[stage].stage.text.prefix { $0 != " " }) }

  /// The stage that has taken most of the time so far, all threads together.
  private func limiting(_ counts: FlowCounts) -> String? {
    var times: [String: UInt64] = [:]
    // Reader and writer are the steps that belong to no stage: numbering ends the one, rendering begins the other.
    let firstStage = pipeline.steps.firstIndex { $0.stage != nil } ?? sinkStep - 1
    for (index, (step, count)) in zip(pipeline.steps, counts.steps).enumerated() {
      if let stage = step.stage {
        times[name(stage), default: 0] += count.nanoseconds
      } else {
        times[index < firstStage ? "reading" : "writing", default: 0] += count.nanoseconds
      }
    }
    // Of equals the first in order, so that the line does not flicker.
    return times.filter { $0.value > 0 }.max { ($0.value, $1.key) < ($1.value, $0.key) }?.key
  }
}
