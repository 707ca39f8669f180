/// Groups (`all`, `any`, `odd`): branches that all begin with the records of one point of the plan, and are joined behind it.
extension RecordSchema {
  /// What has to be done to the records at the end of a branch, so that they fit what the branches have in common.
  public struct BranchEnd: Sendable {
    /// Slots whose values the branch took away, or never had.
    public var blanks: [Int] = []
    /// Values that the branch has in other slots.
    public var copies: [(from: Int, to: Int)] = []
    /// Nothing bound yet.
    public init() {}
  }

  /// A slot for the identities of a group's records; in force until ``endGroup(_:)``.
  public mutating func beginGroup() -> Int {
    let slot = newSlot()
    groupSlots.append(slot)
    return slot
  }

  /// The schema that a branch begins with.
  ///
  /// - Parameter other: the schema at the end of the branch before it, so that no slot is given out twice and no field asked for twice.
  public func branch(after other: RecordSchema?) -> RecordSchema {
    var branch = self
    guard let other else { return branch }
    branch.slotCount = other.slotCount
    branch.stageNumber = other.stageNumber
    branch.needsMembers = needsMembers || other.needsMembers
    branch.needsText = needsText || other.needsText
    for field in other.sourceFields.dropFirst(sourceFields.count) where branch.bindings[field.name.whole] == nil {
      branch.bindings[field.name.whole] = .slot(field.slot)
    }
    branch.sourceFields = other.sourceFields
    branch.demands = other.demands
    return branch
  }

  /// Ends the group begun last: makes this the schema of the records that come out of it.
  ///
  /// - Parameter branches: their schemas at their ends, made one after the other by ``branch(after:)``; not empty.
  /// - Throws: `usage`/`branches-differ` where one layout cannot hold what all of them give.
  public mutating func endGroup(_ branches: [RecordSchema]) throws(OhanaError) -> [BranchEnd] {
    groupSlots.removeLast()
    let before = self
    self = branch(after: branches[branches.count - 1])
    groupSlots = before.groupSlots
    let layouts = branches.map(\.layout)
    guard layouts.allSatisfy({ $0.followsSource == layouts[0].followsSource }), layouts.allSatisfy({ $0.renamed == layouts[0].renamed })
    else {
      throw OhanaError(
        .usage, "branches-differ", "\(currentStage): the branches keep or rename different fields",
        fix: "use keep and rename before or behind the group, or in all of its branches alike")
    }
    var ends = Array(repeating: BranchEnd(), count: branches.count)
    layout = layouts[0]
    layout.entries = joinedEntries(layouts)
    if layout.followsSource {
      let everywhere = layouts.dropFirst().reduce(Set(layouts[0].removed)) { $0.intersection($1.removed) }
      let somewhere = layouts.reduce(Set<Int>()) { $0.union($1.removed) }.subtracting(everywhere)
      layout.removed = everywhere.sorted()
      for slot in somewhere.sorted() where !layout.entries.contains(where: { $0.slot == slot }) {
        let name = sourceFields.first { $0.slot == slot }.map(\.name.whole) ?? []
        var entry = RecordLayout.Entry(name: name, slot: slot)
        entry.onlyReplaces = true
        layout.entries.append(entry)
      }
      for (index, own) in layouts.enumerated() { ends[index].blanks = own.removed.filter { somewhere.contains($0) } }
    }
    for (index, own) in layouts.enumerated() {
      for entry in layout.entries {
        if let slot = own.entries.first(where: { $0.name == entry.name })?.slot {
          if slot != entry.slot { ends[index].copies.append((slot, entry.slot)) }
        } else if !own.followsSource {
          ends[index].blanks.append(entry.slot)
        }
      }
    }
    isClosed = branches.contains { $0.isClosed }
    rebind(branches)
    return ends
  }

  /// All branches' entries, in the order in which they come, each name once.
  private func joinedEntries(_ layouts: [RecordLayout]) -> [RecordLayout.Entry] {
    var entries: [RecordLayout.Entry] = []
    for own in layouts {
      var place = 0
      for entry in own.entries {
        if let known = entries.firstIndex(where: { $0.name == entry.name }) {
          entries[known].onlyReplaces = entries[known].onlyReplaces && entry.onlyReplaces
          if entries[known].companion != entry.companion { entries[known].companion = nil }
          place = known + 1
        } else {
          if let column = columns?.firstIndex(of: entry.name) {
            // Columns keep their order.
            place = entries.firstIndex { other in columns!.firstIndex(of: other.name).map { $0 > column } ?? true } ?? entries.count
          } else {
            // Behind what only other branches have.
            while place < entries.count, !own.entries.contains(where: { $0.name == entries[place].name }) { place += 1 }
          }
          entries.insert(entry, at: place)
          place += 1
        }
      }
    }
    return entries
  }

  private mutating func rebind(_ branches: [RecordSchema]) {
    for name in Set(branches.flatMap { $0.bindings.keys }) {
      let isGone = branches.allSatisfy { branch in if case .gone = branch.bindings[name] { true } else { false } }
      if isGone { bindings[name] = branches[0].bindings[name] }
    }
    for branch in branches {
      for (root, slot) in branch.writtenRoots { writtenRoots[root] = layout.entries.first { $0.name == root }?.slot ?? slot }
    }
    for root in writtenRoots.keys { forgetPaths(into: root) }
    for entry in layout.entries where !entry.onlyReplaces || bindings[entry.name] == nil { bindings[entry.name] = .slot(entry.slot) }
  }
}
