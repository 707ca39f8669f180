internal import OhanaCore
internal import OhanaEngine

extension RunRequest {
  /// Whether something of this may go to temporary files.
  var maySpill: Bool { options.resume || stages.contains { $0.memoryClass != .streaming } }

  /// A folder for temporary files that is of no use is found out before anything is read, not when something spills for the first time: one
  /// that `--temp-dir` names always, `TMPDIR`, which may be meant for other tools, where something may go there.
  ///
  /// - Throws: `io`, naming the folder.
  func checkTemporaryFolder() throws {
    if let folder = options.tempDir { return try FileSpillStore.check(folder) }
    guard maySpill, getenv("TMPDIR").map({ $0.pointee != 0 }) ?? false else { return }
    try FileSpillStore.check(FileSpillStore.defaultFolder, namedBy: "TMPDIR")
  }
}
