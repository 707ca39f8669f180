/// The line that tells how far a run is; a pure function of its state.
public enum ProgressText {
  /// Share done, of bytes to read or, behind the last of them, of the records that a stage held back; records a second, the stage that limits,
  /// what is short, and the time left of that, as far as they are known.
  public static func line(_ progress: RunState.Progress) -> String {
    var parts = share(progress)
    let (records, seconds) =
      progress.held.map { ($0.passed, progress.seconds - $0.since) } ?? (progress.records, progress.seconds)
    parts.append("\(Quantity.grouped(seconds > 0 ? Int(Double(records) / seconds) : 0)) records/s")
    if let limiting = progress.limiting { parts.append("most of it in \(limiting)") }
    if let warning = progress.warning { parts.append(warning) }
    if let left = progress.secondsLeft.map({ Int(min($0, 1e9)) }) {
      parts.append("\(left / 60):\(left % 60 < 10 ? "0" : "")\(left % 60) left")
    }
    return parts.joined(separator: ", ")
  }

  /// As much of a line as fits into so many columns of a terminal and leaves the last one free: there, some go on to the next line.
  public static func cut(_ line: String, toColumns columns: Int) -> String { String(line.prefix(max(0, columns - 1))) }

  private static func share(_ progress: RunState.Progress) -> [String] {
    let percent = progress.percent.map { "\($0) %" }
    if let held = progress.held {
      return ["\(held.stage): \(percent ?? "")", "\(Quantity.grouped(held.passed)) of \(Quantity.grouped(held.total)) records"]
    }
    guard let percent, let total = progress.bytesTotal else { return [Quantity.sized(progress.bytesRead)] }
    return [percent, "\(Quantity.sized(progress.bytesRead)) of \(Quantity.sized(total))"]
  }
}
