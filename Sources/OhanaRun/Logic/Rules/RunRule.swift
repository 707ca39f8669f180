internal import OhanaCore

/// Something that happens outside a run, as observers see it: measured, and not judged.
enum RunEvent: Sendable, Equatable {
  /// A signal of the process, by its number.
  case signalled(Int32)
  /// Time has passed: seconds since the run began.
  case time(Double)
  /// Bytes that are free for temporary files, and where those are.
  case disk(FilePath, free: Int)
  /// Percent of the last seconds that processes have waited for memory; and whether their group has run into its limits meanwhile.
  case memory(share: Double, meetsLimits: Bool)
}

/// What a run does of itself: when something happens, a change comes of it, or none where the rule declines.
///
/// Changes are dispatched behind what was dispatched before, in the order of the rules, one for each time that a rule says so.
struct RunRule: Sendable {
  /// What may set a rule off.
  enum Occasion {
    /// The store lets changes through from now on.
    case start
    /// A change has applied; the state before it.
    case applied(any RunUpdater, to: RunState)
    /// Something has happened outside.
    case event(RunEvent)
  }
  /// - Parameter state: as it is now, the occasion included.
  let reaction: @Sendable (_ occasion: Occasion, _ state: RunState) -> (any RunUpdater)?

  /// When the run starts.
  static func onStart(_ make: @escaping @Sendable (RunState) -> (any RunUpdater)?) -> RunRule {
    RunRule { occasion, state in if case .start = occasion { make(state) } else { nil } }
  }

  /// When the state has become another one.
  static func onChange(_ make: @escaping @Sendable (_ old: RunState, _ new: RunState) -> (any RunUpdater)?) -> RunRule {
    RunRule { occasion, state in if case .applied(_, let old) = occasion, old != state { make(old, state) } else { nil } }
  }

  /// Behind each change of exactly this type that was not refused.
  static func on<Updater: RunUpdater>(
    _ type: Updater.Type, _ make: @escaping @Sendable (Updater, RunState) -> (any RunUpdater)?
  ) -> RunRule {
    RunRule { occasion, state in
      guard case .applied(let updater, _) = occasion, let updater = updater as? Updater else { return nil }
      return make(updater, state)
    }
  }

  /// When something happens outside.
  static func onEvent(_ make: @escaping @Sendable (RunEvent, RunState) -> (any RunUpdater)?) -> RunRule {
    RunRule { occasion, state in if case .event(let event) = occasion { make(event, state) } else { nil } }
  }
}
