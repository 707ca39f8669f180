public import OhanaCore

/// Something the run needs gets short.
public enum PressureActions {
  /// The disk of temporary files is nearly full; told once.
  public struct ShortDisk: RunUpdater {
    public let folder: FilePath
    /// In bytes.
    public let free: Int

    public func update(_ state: inout RunState) {
      guard !state.isDiskShort else { return }
      state.isDiskShort = true
      state.notes.append("\(folder): only \(Quantity.sized(free)) are free for temporary files; --temp-dir names another folder")
    }
  }
}
