public import OhanaCore
public import OhanaStages

/// Contacts that come out of all children; each child gets the same ones. In the order of the first child.
public struct AndPostProcessor: CompositePostProcessor {
  /// In the order given.
  public let children: [any PostProcessor]
  public let stage: any PlannedStage

  /// - Precondition: there is a child.
  public init(_ children: [any PostProcessor]) {
    self.children = children
    stage = GroupStage(.all, branches(children))
  }
}

/// Contacts that come out of a child; each child gets the same ones.
public struct OrPostProcessor: CompositePostProcessor {
  /// In the order given.
  public let children: [any PostProcessor]
  public let stage: any PlannedStage

  /// - Parameter order: `input` streams; `branch` gives all of the first child, then what the second one adds, and so on, as Ohana did.
  /// - Precondition: there is a child.
  public init(_ children: [any PostProcessor], order: GroupStage.Order = .input) {
    self.children = children
    stage = GroupStage(.any, branches(children), order: order)
  }
}

/// Contacts that come out of an odd number of children; each child gets the same ones, and all of them count to the end.
public struct XorPostProcessor: CompositePostProcessor {
  /// In the order given.
  public let children: [any PostProcessor]
  public let stage: any PlannedStage

  /// - Precondition: there is a child.
  public init(_ children: [any PostProcessor]) {
    self.children = children
    stage = GroupStage(.odd, branches(children))
  }
}

/// Post-processors, one after the other, as one: a child of a composite that is a chain.
public struct ChainPostProcessor: PostProcessor {
  /// In the order given.
  public let children: [any PostProcessor]

  /// - Precondition: there is a child.
  public init(_ children: [any PostProcessor]) {
    precondition(!children.isEmpty, "a chain has a child")
    self.children = children
  }

  public var text: String { children.map(\.text).joined(separator: " then ") }
  public var makesRows: Bool { children.contains(where: \.makesRows) }

  public var links: [any PlannedStage] { unwrapped(children) }

  /// - Precondition: never called: runs, data sources and composites take a chain apart, see ``links``.
  public func bind(_ schema: inout RecordSchema, _ context: StageContext) throws -> [StageStep] {
    preconditionFailure("a chain is taken apart before it is bound")
  }
}

/// What composites share.
public protocol CompositePostProcessor: StageBacked {
  /// In the order given; each gets the same contacts.
  var children: [any PostProcessor] { get }
}

extension CompositePostProcessor {
  public var makesRows: Bool { children.contains(where: \.makesRows) }
  public var optionalNames: [FieldName] { Ohana.optionalNames(of: children) }
}

/// Stages behind post-processors, so that the planner sees what it knows.
func unwrapped(_ processors: [any PostProcessor]) -> [any PlannedStage] {
  processors.flatMap { processor -> [any PlannedStage] in
    if let chain = processor as? ChainPostProcessor { return chain.links }
    return [(processor as? any StageBacked)?.stage ?? processor]
  }
}

/// What is equal may leave a group by its branches, far apart.
func givesByBranch(_ stage: any PlannedStage) -> Bool {
  guard let group = stage as? GroupStage else { return false }
  return group.kind != .all && group.order == .branch || group.branches.joined().contains(where: givesByBranch)
}

private func branches(_ children: [any PostProcessor]) -> [[any PlannedStage]] { children.map { unwrapped([$0]) } }

/// Fields that post-processors use where there are any.
func optionalNames(of processors: [any PostProcessor]) -> [FieldName] {
  processors.flatMap { processor -> [FieldName] in
    if let chain = processor as? ChainPostProcessor { return optionalNames(of: chain.children) }
    return (processor as? any StageBacked)?.optionalNames ?? []
  }
}
