public import OhanaCore

/// Something the run needs gets short.
public enum PressureActions {
  /// The disk of temporary files is nearly full, with less than 64 MiB; told once.
  public struct ShortDisk: RunUpdater {
    /// Where temporary files are.
    public let folder: FilePath
    /// In bytes.
    public let free: Int

    init(folder: FilePath, free: Int) { (self.folder, self.free) = (folder, free) }

    /// Declines where there is room, and when it has been told.
    init?(_ event: RunEvent, _ state: RunState) {
      guard case .disk(let folder, let free) = event, free < 64 << 20, !state.isDiskShort else { return nil }
      self.init(folder: folder, free: free)
    }

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

    /// Short it is when processes have waited a tenth of the time, or a hundredth while their group ran into its limits: those alone tell
    /// nothing, since files that are read and written fill a group too. Declines otherwise, and when it has been told.
    init?(_ event: RunEvent, _ state: RunState) {
      guard case .memory(let share, let meetsLimits) = event, !state.isMemoryShort else { return nil }
      guard share >= 10 || meetsLimits && share >= 1 else { return nil }
      self.share = share
    }

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
