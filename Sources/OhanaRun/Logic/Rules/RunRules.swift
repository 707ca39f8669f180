extension RunRule {
  /// All that a run does of itself. Whether a rule declines stands where the change is made.
  static func table(_ options: RunOptions) -> [RunRule] {
    [
      .onStart { _ in options.resume ? CheckpointActions.MeanToResume() : nil },
      .onEvent { event, _ in InterruptActions.ShowProgress(event) },
      .onEvent { event, _ in InterruptActions.Interrupt(event) },
      .onEvent { event, _ in ProgressActions.Tick(event) },
      .onEvent { event, state in PressureActions.ShortDisk(event, state) },
      .onEvent { event, state in PressureActions.ShortMemory(event, state) },
      .on(ProgressActions.Tick.self) { _, state in CheckpointActions.Due(state) },
    ]
  }
}
