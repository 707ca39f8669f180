public import OhanaCore

/// Selects records, as one attempt over the whole stream.
public struct SelectStage: PlannedStage {
  public static let help = StageHelp(
    name: "select",
    usage: """
      [--max N] [--on-exceed refuse|trim|stop] [--min N] [--require-type TYPE]… [--ids FILE [--by KEY]] \
      [--emit selected|rejected|both]
      """,
    summary: "select records, and refuse what is too many or too few",
    text: """
      The whole stream is one attempt. --require-type, --ids and --max work in the order they are written, each on what the one before it let through. \
      More than --max records are refused as a whole: the run fails with exit status 8 and publishes nothing; --on-exceed trim selects the first N, and \
      stop also reads no further. Fewer than --min records in the end fail the run too. --max 0 is no limit. \
      --emit says which records come out: those selected, those that are not, or both, in the order they came in and with 'selected' true or false; \
      a field of that name that is there already is refused.
      """,
    options: [
      .init("--max", "N", "the most records that may be selected"),
      .init("--on-exceed", "refuse|trim|stop", "what to do about more: fail (default), keep the first N, or keep them and read no further"),
      .init("--min", "N", "the fewest"),
      .init(
        "--require-type", "phone|email|url|other|address", "only records with a field of this type; may be repeated", isRepeatable: true),
      .init("--ids", "FILE", "only records whose id is in this file of any format: a selection that was saved"),
      .init("--by", "KEY", "what --ids looks up; 'id' if not given"),
      .init("--emit", "selected|rejected|both", "which records come out, both marked in the field 'selected'; selected if not given"),
    ],
    examples: [
      .init(
        "ohana run contacts.ndjson then sort last then select --require-type phone --max 50 --on-exceed trim", "the first fifty to call"),
      .init("ohana select --ids chosen.txt contacts.ndjson.gz", "a saved selection"),
      .init(
        "ohana run today.csv -o clean.csv then dedupe --by email:email then select --min 90000", "a nightly job that refuses a catastrophe"),
    ], memoryClass: .streaming, memoryNote: "K with --ids, and with --max unless it trims or stops; B with --emit rejected and both")

  /// What happens when more than the maximum would be selected: the run fails, the first are kept, or they are kept and reading stops.
  public enum ExceedPolicy: String, Sendable, CaseIterable { case refuse, trim, stop }

  /// One of the filters an attempt passes, in order.
  public enum Rule: Sendable {
    /// At most so many; 0 is no limit.
    case max(Int)
    /// Only records with a field of this type.
    case type(ContactFieldType)
    /// Only records whose key is in this file.
    case ids(FilePath, by: EqualityKey)
  }

  /// In the order in which records pass them.
  public let rules: [Rule]
  /// Fewer selected records fail the run.
  public let min: Int
  /// For every rule of kind `max`.
  public let onExceed: ExceedPolicy
  /// Which records come out.
  public let emit: SelectionEmission
  private let arguments: String

  /// - Parameters:
  ///   - min: the fewest records that may come out.
  ///   - text: the arguments as they were written.
  /// - Precondition: a selection that stops reading emits just what it selects.
  public init(_ rules: [Rule], min: Int = 0, onExceed: ExceedPolicy = .refuse, emit: SelectionEmission = .selected, text: String) {
    precondition(emit == .selected || onExceed != .stop, "what is not read is not known")
    self.rules = rules
    self.min = min
    self.onExceed = onExceed
    self.emit = emit
    arguments = text
  }

  /// - Parameter arguments: the words after `select`.
  public static func parse(arguments words: [String]) throws -> SelectStage {
    let arguments = try StageArguments(words, for: help)
    try arguments.noPositionals()
    var rules: [Rule] = []
    for option in arguments.given {
      switch option.name {
      case "--max":
        let count = try arguments.number("--max")!
        if count > 0 { rules.append(.max(count)) }
      case "--require-type": rules.append(.type(try arguments.fieldType(option.value, "--require-type")))
      case "--ids": rules.append(.ids(FilePath(option.value), by: try arguments.idKey(of: "select")))
      default: break
      }
    }
    let min = try arguments.number("--min") ?? 0
    if !["--max", "--min", "--require-type", "--ids"].contains(where: arguments.has) {
      throw arguments.problem(
        "missing-argument", "nothing says what to select", fix: "write --max N, --min N, --require-type TYPE or --ids FILE")
    }
    if arguments.has("--on-exceed"), !arguments.has("--max") {
      throw arguments.problem("bad-value", "--on-exceed goes with --max", fix: "write --max N too")
    }
    if arguments.has("--by"), !arguments.has("--ids") {
      throw arguments.problem("bad-value", "--by goes with --ids", fix: "write --ids FILE too")
    }
    let onExceed = try arguments.choice("--on-exceed", of: ExceedPolicy.self) ?? .refuse
    let emit = try arguments.choice("--emit", of: SelectionEmission.self) ?? .selected
    if emit != .selected, onExceed == .stop {
      throw arguments.problem(
        "bad-value", "what lies behind a stop is not read, so --emit cannot tell of it", fix: "write --on-exceed trim")
    }
    return SelectStage(rules, min: min, onExceed: onExceed, emit: emit, text: words.joined(separator: " "))
  }

  private var hasMax: Bool { rules.contains { if case .max = $0 { true } else { false } } }
  private var hasList: Bool { rules.contains { if case .ids = $0 { true } else { false } } }

  public var text: String { "select \(arguments)" }
  public var memoryClass: MemoryClass { emit != .selected ? .breaker : hasList || hasMax && onExceed == .refuse ? .keyed : .streaming }
  public var dropReason: String? { emit == .rejected ? "selected" : "not selected" }
  public var mayStopReading: Bool { hasMax && onExceed == .stop }

  public func bind(_ schema: inout RecordSchema, _ context: StageContext) throws -> [StageStep] {
    if emit != .selected {
      return try emit.bind(SelectStage(rules, min: min, onExceed: onExceed, text: arguments), &schema, context)
    }
    var steps: [StageStep] = []
    for rule in rules {
      switch rule {
      case .type(let type): steps += try RequireStage([], types: [type]).bind(&schema, context)
      case .ids(let path, let key):
        var binding = KeyBinding()
        let parts = try binding.parts(of: [key], &schema)
        let maker = FingerprintMaker(parts, seed: context.settings.fingerprintSeed, blanks: .equalNothing)
        let list = try ListFingerprints(path, keys: [key], isHashed: false, context)
        steps += binding.steps + [.row(maker), .ordered(Suppressor(context, list, keepsListed: true))]
      case .max(let count):
        switch onExceed {
        case .refuse: steps.append(.ordered(RefusingSelector(context, max: count)))
        case .trim, .stop: steps.append(.ordered(Limiter(count, stops: onExceed == .stop)))
        }
      }
    }
    if min > 0 || steps.isEmpty { steps.append(.ordered(MinimumGuard(min, of: "select"))) }
    return steps
  }
}
