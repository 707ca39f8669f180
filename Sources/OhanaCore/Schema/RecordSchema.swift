/// The names in force at one point of the plan, and the slots behind them. Stages are bound to it one after the other, in order; what
/// they ask for is what the reader will be asked for.
public struct RecordSchema: Sendable {
  /// One field the reader has to find. Its index in ``sourceFields`` is *not* its slot: see `slot`.
  public struct SourceField: Sendable {
    /// As stages ask for it: looked up whole first, then as a path.
    public var name: FieldName
    /// Where the reader puts the value.
    public var slot: Int
    /// A user named it, so that it has to exist somewhere in the input.
    public var mustExist: Bool

    /// A field for a reader that is used without a schema.
    public init(name: FieldName, slot: Int, mustExist: Bool) {
      self.name = name
      self.slot = slot
      self.mustExist = mustExist
    }
  }

  /// Columns of the inputs, where they are known before reading (CSV): the union, in input order. nil for NDJSON.
  public let columns: [[UInt8]]?
  private let columnNames: Set<[UInt8]>
  /// What stages have asked for so far; the reader gets the list when all are bound.
  public internal(set) var sourceFields: [SourceField] = []
  /// Slots given out so far.
  public internal(set) var slotCount = 0
  /// How records are written at this point of the plan.
  public internal(set) var layout = RecordLayout(followsSource: true)
  /// Slots read by the stage being bound; the planner empties it between stages.
  public var slotsRead: Set<Int> = []
  /// The stages so far need every member of a record, not only slots (`distinct --by record`, `--keep most-complete`).
  public var needsMembers = false
  /// The stages so far look into the text of records of NDJSON, for members that no slot stands for.
  package var needsText = false
  /// What only the records can tell whether it is there, beside ``SourceField/mustExist``.
  package var demands: [FieldDemand] = []
  /// Names that a slot stands for, that are gone, or that may be missing (`--optional`).
  package var knownNames: Set<[UInt8]> {
    let names = Set(bindings.keys)
    if case .names(let optional) = optional { return names.union(optional) }
    return names
  }

  /// Slots of the identities in force: one for each group (`all`, `any`, `odd`) that the stage being bound stands in. A stage that makes
  /// rows of records renews them.
  public var identitySlots: [Identity] { groupSlots.map { Identity(slot: $0, stage: stageNumber) } }
  var groupSlots: [Int] = []
  /// Of the stage being bound, no other has the same.
  var stageNumber: UInt32 = 0

  enum Binding: Sendable { case slot(Int), gone(by: String) }
  var bindings: [[UInt8]: Binding] = [:]
  private let optional: OptionalFields
  /// Slots of fields whose values stages wrote: paths into them are followed there and not in what was read.
  var writtenRoots: [[UInt8]: Int] = [:]
  private var pathsIntoWritten: Set<[UInt8]> = []
  private var extractions: [PathExtraction] = []
  /// Set by a `keep`: names not in the layout are gone.
  var isClosed = false
  /// Name of the stage being bound, within a group that of the group's stage.
  package var currentStage = ""

  /// Names that may be absent from the whole input (`--optional`).
  public enum OptionalFields: Sendable, Equatable {
    /// Any name.
    case all
    /// Just these, as ``FieldName/whole`` has them.
    case names(Set<[UInt8]>)

    /// These, too.
    package func union(_ more: [[UInt8]]) -> OptionalFields {
      if case .names(let names) = self { .names(names.union(more)) } else { self }
    }
  }

  /// - Parameter columns: of the inputs' headers; nil where names are known only from the records (NDJSON).
  public init(columns: [[UInt8]]?, optional: OptionalFields = .names([])) {
    self.columns = columns
    columnNames = Set(columns ?? [])
    self.optional = optional
  }

  /// Called by the planner before a stage is bound; `stage` is named in messages.
  public mutating func beginStage(_ stage: String) {
    currentStage = stage
    stageNumber += 1
    slotsRead = []
  }

  /// The slot that holds `name` here.
  ///
  /// - Throws: `usage`/`unknown-field` if the inputs' headers lack it, or an earlier stage dropped it.
  public mutating func slot(reading name: FieldName) throws(OhanaError) -> Int {
    let slot = try bind(name, mustExist: true)
    slotsRead.insert(slot)
    return slot
  }

  /// The step, if any, that has to go in front of those of the stage that has been bound: it follows paths into values that stages wrote.
  public mutating func takeExtractor() -> StageStep? {
    defer { extractions = [] }
    return extractions.isEmpty ? nil : .row(PathExtractor(extractions))
  }

  /// The slot that holds `name` here, where any record may have it: nil if the inputs' headers lack it, or an earlier stage dropped it.
  public mutating func slot(readingIfPresent name: FieldName) -> Int? {
    switch bindings[name.whole] {
    case .gone: return nil
    case .slot: break
    case nil: if root(of: name) == nil, isClosed || columns != nil && !isColumn(name.whole) { return nil }
    }
    guard let slot = try? bind(name, mustExist: false) else { return nil }
    slotsRead.insert(slot)
    return slot
  }

  /// A slot for values under `name` that the stage being bound writes, whether or not the record has such a field.
  public mutating func slot(writing name: FieldName) throws(OhanaError) -> Int {
    try makeExplicitIfColumnar()
    let slot: Int
    switch bindings[name.whole] {
    case .slot(let bound): slot = bound
    case .gone, nil:
      if isClosed || !isColumn(name.whole) && columns != nil || isGone(name.whole) {
        slot = newSlot()
        bindings[name.whole] = .slot(slot)
      } else {
        // It may be a member of the source: then the new value takes its place.
        slot = addSourceField(FieldName(whole: name.whole), mustExist: false)
        bindings[name.whole] = .slot(slot)
      }
    }
    noteWritten(name.whole, slot)
    if layout.followsSource {
      if layout.renamed.contains(where: { $0.slot == slot }) { return slot }
      if let index = layout.entries.firstIndex(where: { $0.name == name.whole }) {
        layout.entries[index].onlyReplaces = false
        layout.entries[index].companion = nil
      } else {
        layout.entries.append(.init(name: name.whole, slot: slot))
      }
    } else if !layout.entries.contains(where: { $0.name == name.whole }) {
      layout.entries.append(.init(name: name.whole, slot: slot))
    }
    return slot
  }

  /// The same for values that only records with a field of the source in slot `companion` get.
  public mutating func slot(writing name: FieldName, beside companion: Int) throws(OhanaError) -> Int {
    let isKnown = layout.entries.contains { $0.name == name.whole }
    let slot = try slot(writing: name)
    if !isKnown, layout.followsSource, let index = layout.entries.firstIndex(where: { $0.name == name.whole }) {
      layout.entries[index].companion = companion
    }
    return slot
  }

  /// A slot for values that `name`'s own values are replaced by, in place (`normalize`): nested values too.
  public mutating func slot(rewriting name: FieldName) throws(OhanaError) -> Int {
    try makeExplicitIfColumnar()
    let slot = try self.slot(reading: name)
    if pathsIntoWritten.contains(name.whole) {
      throw OhanaError(
        .usage, "path-into-written", field: name.description, "\(currentStage): a stage before it wrote the value that this is a part of",
        fix: "do this before that stage, or write the part to a field of its own with 'set'")
    }
    noteWritten(name.whole, slot)
    if layout.followsSource, !layout.renamed.contains(where: { $0.slot == slot }), !layout.entries.contains(where: { $0.slot == slot }) {
      layout.entries.append(.init(name: name.whole, slot: slot))
    }
    return slot
  }

  /// The same where any record may have `name`, and with values taken out (`missing`) too: nil if the inputs' headers lack it, or an earlier
  /// stage dropped it. No record gets such a field that has none.
  public mutating func slot(rewritingIfPresent name: FieldName) throws(OhanaError) -> Int? {
    try makeExplicitIfColumnar()
    guard let slot = slot(readingIfPresent: name) else { return nil }
    noteWritten(name.whole, slot)
    if layout.followsSource, !layout.renamed.contains(where: { $0.slot == slot }), !layout.entries.contains(where: { $0.slot == slot }) {
      var entry = RecordLayout.Entry(name: name.whole, slot: slot)
      entry.onlyReplaces = true
      layout.entries.append(entry)
    }
    return slot
  }

  /// A slot without a name.
  public mutating func newSlot() -> Int {
    defer { slotCount += 1 }
    return slotCount
  }

  /// Only these, in this order.
  public mutating func keep(_ names: [FieldName]) throws(OhanaError) {
    var entries: [RecordLayout.Entry] = []
    for name in names where !entries.contains(where: { $0.name == name.whole }) {
      entries.append(.init(name: name.whole, slot: try slot(reading: name)))
    }
    layout = RecordLayout(followsSource: false)
    layout.entries = entries
    isClosed = true
    bindings = [:]
    for entry in entries { bindings[entry.name] = .slot(entry.slot) }
  }

  /// All but these.
  public mutating func drop(_ names: [FieldName]) throws(OhanaError) {
    try makeExplicitIfColumnar()
    for name in names {
      let slot = try slot(reading: name)
      layout.entries.removeAll { $0.slot == slot }
      layout.renamed.removeAll { $0.slot == slot }
      if layout.followsSource { layout.removed.append(slot) }
      bindings[name.whole] = .gone(by: currentStage)
    }
  }

  /// All but these, where any record may have them.
  public mutating func dropIfPresent(_ names: [FieldName]) throws(OhanaError) {
    try drop(names.filter { slot(readingIfPresent: $0) != nil })
  }

  /// Takes a field away before the first stage, as if no record had it, where `optional` allows for that (`--no-image`).
  package mutating func leaveOut(_ name: FieldName) throws(OhanaError) {
    guard slot(readingIfPresent: name) != nil else { return }
    try drop([name])
    slotsRead = []
  }

  /// The slot that stands for `name` here; nil where no stage has asked for it, or it is gone.
  package func slot(boundTo name: FieldName) -> Int? {
    if case .slot(let slot) = bindings[name.whole] { return slot }
    return nil
  }

  /// Whether records are known to be written with a field `name` here: a column that is read, or what a stage writes. What only the records of
  /// NDJSON tell is not known.
  package func hasOutput(_ name: FieldName) -> Bool {
    if layout.entries.contains(where: { $0.name == name.whole && !$0.onlyReplaces && $0.companion == nil }) { return true }
    if layout.renamed.contains(where: { $0.name == name.whole }) { return true }
    return layout.followsSource && isColumn(name.whole)
  }

  /// New names for fields, in place.
  ///
  /// - Throws: `usage` if a new name is taken where the names are known. Where they are not (NDJSON), a record that holds both is rejected
  ///   by the writer.
  public mutating func rename(_ pairs: [(old: FieldName, new: FieldName)]) throws(OhanaError) {
    try makeExplicitIfColumnar()
    var bound: [(old: FieldName, new: FieldName, slot: Int)] = []
    for pair in pairs { bound.append((pair.old, pair.new, try slot(reading: pair.old))) }
    for pair in bound { bindings[pair.old.whole] = .gone(by: currentStage) }
    for (old, new, slot) in bound {
      if case .slot = bindings[new.whole] {
        throw OhanaError(
          .usage, "name-taken", field: new.description, "\(currentStage): there is a field of that name already",
          fix: "drop it first, or choose another name")
      }
      bindings[new.whole] = .slot(slot)
      if let index = layout.entries.firstIndex(where: { $0.slot == slot }) {
        layout.entries[index].name = new.whole
      } else if layout.followsSource {
        if let index = layout.renamed.firstIndex(where: { $0.slot == slot }) {
          layout.renamed[index].name = new.whole
        } else {
          layout.renamed.append(.init(name: new.whole, slot: slot))
        }
      }
      _ = old
    }
  }

  /// Replaces the whole layout by `entries` (a stage that makes new records: `count-by`).
  public mutating func replaceLayout(_ entries: [RecordLayout.Entry]) {
    layout = RecordLayout(followsSource: false)
    layout.entries = entries
    isClosed = true
    bindings = [:]
    for entry in entries { bindings[entry.name] = .slot(entry.slot) }
  }

  /// Gives every column a slot, so that records are written from their cells: needed as soon as a CSV record's shape changes, or the
  /// writer's dialect is not the reader's. Nothing to do for NDJSON.
  public mutating func makeExplicitIfColumnar() throws(OhanaError) {
    guard let columns, layout.followsSource else { return }
    var entries: [RecordLayout.Entry] = []
    for column in columns { entries.append(.init(name: column, slot: try bind(FieldName(whole: column), mustExist: false))) }
    layout = RecordLayout(followsSource: false)
    layout.entries = entries
  }

  /// The schema of an output beside the main one (`--duplicates FILE`): this layout with a value under `name` behind the others.
  ///
  /// The slots that it takes are given out here too, so that one batch serves both outputs; the layout here stays as it is.
  public mutating func withSideField(_ name: FieldName) throws(OhanaError) -> (schema: RecordSchema, slot: Int) {
    var side = self
    let slot = try side.slot(writing: name)
    sourceFields = side.sourceFields
    slotCount = side.slotCount
    for (bound, binding) in side.bindings where bound != name.whole && bindings[bound] == nil { bindings[bound] = binding }
    return (side, slot)
  }

  /// Paths into `name` lead into what a stage writes from here on.
  private mutating func noteWritten(_ name: [UInt8], _ slot: Int) {
    writtenRoots[name] = slot
    forgetPaths(into: name)
  }

  /// Paths into `name` are looked up anew: they lead into what a stage wrote.
  mutating func forgetPaths(into name: [UInt8]) {
    for field in sourceFields where field.name.path.first == .key(name) {
      if case .slot(field.slot) = bindings[field.name.whole] { bindings[field.name.whole] = nil }
    }
    for path in pathsIntoWritten where FieldName(unquoted: path).path.first == .key(name) { bindings[path] = nil }
  }

  /// Where a path into a value begins that is not, or no longer, what was read.
  private func root(of name: FieldName) -> Int? {
    guard case .key(let key)? = name.path.first else { return nil }
    if let slot = writtenRoots[key] { return slot }
    if isClosed, case .slot(let slot) = bindings[key] { return slot }
    return nil
  }

  private func isColumn(_ name: [UInt8]) -> Bool { columnNames.contains(name) }
  private func isGone(_ name: [UInt8]) -> Bool {
    if case .gone = bindings[name] { return true }
    return false
  }

  private mutating func addSourceField(_ name: FieldName, mustExist: Bool) -> Int {
    let slot = newSlot()
    sourceFields.append(SourceField(name: name, slot: slot, mustExist: mustExist && !isOptional(name.whole)))
    return slot
  }

  func isOptional(_ name: [UInt8]) -> Bool {
    switch optional {
    case .all: true
    case .names(let names): names.contains(name)
    }
  }

  private mutating func bind(_ name: FieldName, mustExist: Bool) throws(OhanaError) -> Int {
    switch bindings[name.whole] {
    case .slot(let slot): return slot
    case .gone(let stage):
      if isOptional(name.whole) { break }
      throw OhanaError(
        .usage, "unknown-field", field: name.description, "\(currentStage): the stage '\(stage)' before it took this field away",
        fix: "use it before that stage")
    case nil: break
    }
    if !isColumn(name.whole), let root = root(of: name) {
      let slot = newSlot()
      bindings[name.whole] = .slot(slot)
      pathsIntoWritten.insert(name.whole)
      slotsRead.insert(root)
      extractions.append(PathExtraction(root: root, steps: Array(name.path.dropFirst()), target: slot))
      return slot
    }
    if isClosed || isGone(name.whole) {
      guard isOptional(name.whole) else {
        throw unknownField(name, among: layout.entries.map(\.name))
      }
      let slot = newSlot()
      bindings[name.whole] = .slot(slot)
      return slot
    }
    if let columns, mustExist, !isColumn(name.whole), !isOptional(name.whole) { throw unknownField(name, among: columns) }
    let slot = addSourceField(name, mustExist: mustExist)
    bindings[name.whole] = .slot(slot)
    return slot
  }

  func unknownField(_ name: FieldName, among names: [[UInt8]]) -> OhanaError {
    OhanaError(
      .usage, "unknown-field", field: name.description, "\(currentStage): no input has a field of this name",
      fix: Self.suggestion(for: name.whole, among: names) + ", or --optional \(name) where it may be missing")
  }

  /// "did you mean x; there are a, b, c": near names first.
  public static func suggestion(for name: [UInt8], among names: [[UInt8]]) -> String {
    let near = NearMiss.best(for: name, among: names)
    let list = names.prefix(12).map { String(decoding: $0, as: UTF8.self) }.joined(separator: ", ") + (names.count > 12 ? ", …" : "")
    if let near { return "did you mean \(String(decoding: near, as: UTF8.self))? there are \(list)" }
    return names.isEmpty ? "there are no fields" : "there are \(list)"
  }
}
