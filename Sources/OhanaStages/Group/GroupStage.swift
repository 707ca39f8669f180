public import OhanaCore

/// Chains that all get the same records, joined as sets: `all`, `any`, `odd`.
///
/// Records are told apart by their place in the stream, never by what they hold; each row that a stage makes of one is another record.
public struct GroupStage: PlannedStage {
  /// How the branches' answers are put together.
  public enum Kind: String, Sendable, CaseIterable {
    /// Those that come out of every branch.
    case all
    /// Those that come out of a branch.
    case any
    /// Those that come out of an odd number of branches.
    case odd
  }

  /// In which order records come out.
  public enum Order: String, Sendable, CaseIterable {
    /// `all`: as out of the first branch. `any`: what the first branch gives, then what the second one adds, and so on. `odd`: likewise, a
    /// record where a branch added it last.
    case branch
    /// As they came in, rows behind the record that they were made of.
    case input
  }

  /// How the branches' answers are put together.
  public let kind: Kind
  /// A chain of stages each; every one sees every record.
  public let branches: [[any PlannedStage]]
  /// The order in which records come out.
  public let order: Order

  /// - Parameter order: nil is by branch for `all` and `odd`, and by input for `any`.
  /// - Precondition: there is a branch, and none is empty.
  public init(_ kind: Kind, _ branches: [[any PlannedStage]], order: Order? = nil) {
    precondition(!branches.isEmpty && branches.allSatisfy { !$0.isEmpty }, "a group has branches, and a branch has stages")
    self.kind = kind
    self.branches = branches.map { StageFusion.fused($0) }
    self.order = order ?? (kind == .any ? .input : .branch)
  }

  public static func help(_ kind: Kind) -> StageHelp {
    let which =
      switch kind {
      case .all: "all of its branches"
      case .any: "at least one of its branches"
      case .odd: "an odd number of its branches"
      }
    let order =
      switch kind {
      case .all: "They come out in the order of the first branch."
      case .any:
        "They come out in the order they came in, or with --order branch as the first branch gives them, then what the second one adds, and so on."
      case .odd:
        """
        They come out as the first branch gives them, then what the second one adds, and so on, a record where it was added last; with --order input in \
        the order they came in. Branches count to the end: what a branch takes out, a later one can put in again.
        """
      }
    return StageHelp(
      name: kind.rawValue, usage: "{ STAGE ARGS [then STAGE ARGS]… } { … }…" + (kind == .all ? "" : " [--order branch|input]"),
      summary: "the records that come out of \(which)",
      text: """
        Every branch is a chain of stages and gets the same records. Kept are those that come out of \(which). \(order) A record is the same one in two \
        branches if it is at the same place in the stream, whatever they did to it, and keeps what the branch it is taken from did; each row made by a \
        split is a record of its own. Groups nest. In the books a group is one stage. Branches of require, filter and match alone stream.
        """,
      options: kind == .all ? [] : [.init("--order", "branch|input", "the order of what comes out")],
      examples: kind == .all
        ? [
          .init(
            "ohana run contacts.ndjson then all { require --type phone } { dedupe --by email:email }",
            "first of their address, with a phone")
        ]
        : kind == .any
          ? [
            .init(
              "ohana run contacts.ndjson then any { split --on phone } { split --on email } then sort last",
              "a row for each way to reach someone"),
            .init("ohana any { require phone } { require email } contacts.csv", "whoever can be reached"),
          ]
          : [.init("ohana odd { require phone } { require email } contacts.csv", "a phone or an e-mail address, not both")],
      memoryClass: .breaker,
      memoryNote: "Streams where all branches are of require, filter and match" + (kind == .odd ? ", with --order input" : ""))
  }

  /// How deep groups may stand in one another.
  static let deepest = 16

  /// - Parameter arguments: the words after the name, braces as words of their own.
  public static func parse(_ kind: Kind, arguments words: [String], depth: Int = 1) throws -> GroupStage {
    var branches: [[any PlannedStage]] = []
    var rest: [String] = []
    var index = 0
    let help = help(kind)
    func problem(_ text: String, _ fix: String) -> OhanaError { OhanaError(.usage, "bad-group", "\(kind.rawValue): \(text)", fix: fix) }
    guard depth <= deepest else { throw problem("groups stand more than \(deepest) deep in one another", "use fewer") }
    while index < words.count {
      guard words[index] == "{" else {
        rest.append(words[index])
        index += 1
        continue
      }
      var open = 1
      let start = index + 1
      index = start
      while index < words.count {
        if words[index] == "{" { open += 1 } else if words[index] == "}" { open -= 1 }
        if open == 0 { break }
        index += 1
      }
      if open > 0 { throw problem("a brace is never closed", "write { and } as words of their own") }
      let chain = StageCatalog.chain(Array(words[start..<index]))
      if chain == [[]] { throw problem("a branch is empty", "write a stage between { and }") }
      branches.append(try chain.map { try StageCatalog.stage($0, depth: depth + 1) })
      index += 1
    }
    let arguments = try StageArguments(rest, for: help)
    try arguments.noPositionals()
    if branches.isEmpty { throw problem("there is no branch", "usage: \(help.name) \(help.usage)") }
    return GroupStage(kind, branches, order: try arguments.choice("--order", of: Order.self))
  }

  public var text: String {
    let isUsual = order == (kind == .any ? .input : .branch)
    return kind.rawValue + branches.map { " { " + $0.map(\.text).joined(separator: " then ") + " }" }.joined()
      + (isUsual ? "" : " --order \(order.rawValue)")
  }
  public var isPredicate: Bool { (kind == .all || order == .input) && branches.joined().allSatisfy(\.isPredicate) }
  public var memoryClass: MemoryClass { isPredicate ? .streaming : .breaker }
  public var sideOutputs: [FilePath] { branches.joined().flatMap(\.sideOutputs) }
  public var dropReason: String? {
    switch kind {
    case .all: "not in all branches"
    case .any: "in no branch"
    case .odd: "in an even number of branches"
    }
  }

  public func bind(_ schema: inout RecordSchema, _ context: StageContext) throws -> [StageStep] {
    isPredicate ? try bindPredicates(&schema, context) : try bindBranches(&schema, context)
  }

  private func bindPredicates(_ schema: inout RecordSchema, _ context: StageContext) throws -> [StageStep] {
    var bound: [[any RowStage]] = []
    var reads: Set<Int> = []
    for branch in branches {
      var steps: [StageStep] = []
      for stage in branch {
        schema.beginStage(String(stage.text.prefix { $0 != " " }))
        let own = try stage.bind(&schema, context)
        steps += (schema.takeExtractor().map { [$0] } ?? []) + own
        reads.formUnion(schema.slotsRead)
      }
      bound.append(
        steps.map { step in
          guard case .row(let row) = step else { preconditionFailure("a predicate is made of row-local steps") }
          return row
        })
    }
    schema.slotsRead = reads
    return [.row(PredicateGroup(kind: kind, branches: bound))]
  }

  private func bindBranches(_ schema: inout RecordSchema, _ context: StageContext) throws -> [StageStep] {
    try schema.makeExplicitIfColumnar()
    let identity = schema.beginGroup()
    let payload = RecordPayload()
    let sides = ScratchPool<RecordLayout> { RecordLayout(followsSource: false) }
    var reads: Set<Int> = [identity]
    var ends: [RecordSchema] = []
    var allShares: [[(share: MemoryShare, weight: Int)]] = []
    var bound: [GroupBranch] = []
    for chain in branches {
      var branch = schema.branch(after: ends.last)
      var steps: [StageStep] = []
      var shares: [(share: MemoryShare, weight: Int)] = []
      for stage in chain {
        branch.beginStage(String(stage.text.prefix { $0 != " " }))
        let share = MemoryShare()
        var own = context
        own.memory = share
        own.payload = payload
        own.openOutput = { path, schema in
          sides.give(schema.layout)
          return try context.openOutput(path, schema)
        }
        let made = try stage.bind(&branch, own)
        steps += (branch.takeExtractor().map { [$0] } ?? []) + made
        shares.append((share, stage.memoryClass == .streaming ? 0 : stage.memoryClass == .keyed ? 1 : 2))
        reads.formUnion(branch.slotsRead)
      }
      ends.append(branch)
      allShares.append(shares)
      bound.append(GroupBranch(steps: steps))
    }
    let (membersBefore, textBefore) = (schema.needsMembers, schema.needsText)
    let fits = try schema.endGroup(ends)
    for (index, end) in fits.enumerated() {
      bound[index].end = end
      reads.formUnion(end.copies.map(\.from))
    }
    var needsBytes = schema.needsMembers && !membersBefore || schema.needsText && !textBefore
    while let layout = sides.takeIfAny() {
      reads.formUnion(layout.slots)
      needsBytes = needsBytes || layout.followsSource
    }
    schema.slotsRead = reads
    let setup = GroupSetup(context, inner: payload, reads: reads, needsBytes: needsBytes, shares: allShares)
    let shapes = bound.indices.map { branch in
      // Of `all`, only what the first branch gives comes out.
      GroupItems.Shape(
        identity: identity, branch: branch,
        carrying: kind == .all && branch > 0 ? .nothing : order == .input ? .record : .recordByPlace)
    }
    let numbering = GroupNumbering(setup)
    let fork = GroupFork(setup, numbering: numbering, branches: bound, shapes: shapes, identity: identity)
    let group = GroupCollector(kind: kind, order: order, branches: bound, shapes: shapes, setup: setup, fork: fork)
    return [.ordered(numbering), .row(fork), .ordered(group)]
  }
}
