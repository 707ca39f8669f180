public import OhanaCore

/// Something the run needs gets short.
public enum PressureActions {
  /// The disk of temporary files is nearly full; told once.
  public struct ShortDisk: RunUpdater {
    /// Where temporary files are.
    public let folder: FilePath
    /// In bytes.
    public let free: Int

    public func update(_ state: inout RunState) {
      guard !state.isDiskShort else { return }
      state.isDiskShort = true
      state.progress.warning = "disk is short"
      state.notes.append("\(folder): only \(Quantity.sized(free)) are free for temporary files; --temp-dir names another folder")
    }
  }

  /// Processes wait for memory; told once. What stages have no claim on they get no more, so that they spill earlier.
  public struct ShortMemory: RunUpdater {
    /// Percent of the last seconds.
    public let share: Double

    /// - Parameter share: percent of the time that was waited.
    public init(share: Double) { self.share = share }

    public func update(_ state: inout RunState) {
      guard !state.isMemoryShort else { return }
      state.isMemoryShort = true
      state.progress.warning = "memory is short"
      state.notes.append(
        "memory is short: processes wait for it \(Quantity.fixed(share, 0)) % of the time; this run takes what it has, and no more of its "
          + "--memory")
    }
  }
}
