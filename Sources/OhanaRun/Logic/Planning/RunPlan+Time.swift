internal import OhanaEngine

extension RunPlan {
  /// The stage that has taken most of the time so far, all threads together.
  func limiting(_ counts: FlowCounts) -> String? {
    var times: [String: UInt64] = [:]
    // Reader and writer are the steps that belong to no stage: numbering ends the one, rendering begins the other.
    let firstStage = pipeline.steps.firstIndex { $0.stage != nil } ?? sinkStep - 1
    for (index, (step, count)) in zip(pipeline.steps, counts.steps).enumerated() {
      if let stage = step.stage {
        times[String(stages[stage].stage.text.prefix { $0 != " " }), default: 0] += count.nanoseconds
      } else {
        times[index < firstStage ? "reading" : "writing", default: 0] += count.nanoseconds
      }
    }
    // Of equals the first in order, so that the line does not flicker.
    return times.filter { $0.value > 0 }.max { ($0.value, $1.key) < ($1.value, $0.key) }?.key
  }
}
