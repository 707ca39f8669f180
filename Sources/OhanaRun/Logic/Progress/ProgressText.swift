/// The line that tells how far a run is; a pure function of its state.
public enum ProgressText {
  /// Share and bytes done, records a second, the stage that limits, what is short, and the time left, as far as they are known.
  public static func line(_ progress: RunState.Progress) -> String {
    let (done, total, seconds) = (progress.bytesRead, progress.bytesTotal, progress.seconds)
    let rate = seconds > 0 ? Int(Double(progress.records) / seconds) : 0
    var parts: [String] = []
    if let total, total > 0 {
      parts.append("\(min(100, done * 100 / total)) %")
      parts.append("\(Quantity.sized(done)) of \(Quantity.sized(total))")
    } else {
      parts.append(Quantity.sized(done))
    }
    parts.append("\(Quantity.grouped(rate)) records/s")
    if let limiting = progress.limiting { parts.append("most of it in \(limiting)") }
    if let warning = progress.warning { parts.append(warning) }
    if let total, done > 0, done < total, seconds > 1 {
      let left = Int(seconds * Double(total - done) / Double(done))
      parts.append("\(left / 60):\(left % 60 < 10 ? "0" : "")\(left % 60) left")
    }
    return parts.joined(separator: ", ")
  }
}
