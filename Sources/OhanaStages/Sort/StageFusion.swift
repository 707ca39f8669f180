public import OhanaCore

/// Neighbouring stages that cost less together. What comes out is the same, and so are the stages' number and order.
public enum StageFusion {
  /// A `reverse` behind a `sort` turns the sort's merge round; a `limit` behind it, with any `skip` between, lets the sort keep no more
  /// than that many records.
  public static func fused(_ stages: [any PlannedStage]) -> [any PlannedStage] {
    var stages = stages
    for index in stages.indices {
      guard var sort = stages[index] as? SortStage else { continue }
      var next = index + 1
      while next < stages.count, var reverse = stages[next] as? ReverseStage {
        sort.reversed.toggle()
        reverse.isDoneBySort = true
        stages[next] = reverse
        next += 1
      }
      var skipped = 0
      while next < stages.count, let skip = stages[next] as? SkipStage {
        skipped += skip.count
        next += 1
      }
      if next < stages.count, let limit = stages[next] as? LimitStage {
        let (sum, overflow) = skipped.addingReportingOverflow(limit.count)
        if !overflow { sort.topLimit = sum }
      }
      stages[index] = sort
    }
    return stages
  }
}
