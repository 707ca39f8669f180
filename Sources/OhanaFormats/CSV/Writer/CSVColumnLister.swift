internal import OhanaCore
internal import Synchronization

/// Lists a batch's columns: the row-local half of ``CSVColumnCollector``.
///
/// All records count, as the layout at the writer would have them written: members that a stage removes are left out, renamed ones have
/// their new names, and what stages add follows the record's own.
final class CSVColumnLister: RowStage {
  private let layout: RecordLayout
  private let pool = Mutex<[CSVListScratch]>([])
  private let last = Locked<CSVColumnList?>(nil)

  init(layout: RecordLayout) { self.layout = layout }

  func process(_ batch: RecordBatch) -> StageTally {
    let list = list(batch)
    // One object for all batches alike, so that the ordered half need not look into it.
    if let known = last.value, known == list {
      batch.writerState = known
    } else {
      last.value = list
      batch.writerState = list
    }
    return StageTally()
  }

  private func list(_ batch: RecordBatch) -> CSVColumnList {
    let members = batch.members
    let isPlain = layout.isSourceAsIs && !holdsObjects(members)
    if isPlain {
      if let known = last.value, known.paths.count == members.keys.count,
        zip(known.paths, members.keys).allSatisfy({ $0.count == 1 && $0[0] == $1 })
      {
        return known
      }
      return CSVColumnList(members.keys.map { [$0] })
    }
    return listRecords(batch).list
  }

  /// The same list with the record of each path. Looks at every record, whatever the batch is like.
  func place(_ batch: RecordBatch) -> CSVPlacedList {
    let (list, records) = listRecords(batch)
    let first = RecordOrigin(source: UInt32(truncatingIfNeeded: batch.source), ordinal: UInt64(truncatingIfNeeded: batch.firstOrdinal))
    return CSVPlacedList(list: list, records: records, first: first)
  }

  private func listRecords(_ batch: RecordBatch) -> (list: CSVColumnList, records: [Int]) {
    let scratch = pool.withLock { $0.popLast() } ?? CSVListScratch()
    defer { pool.withLock { $0.append(scratch) } }
    let list = layout.followsSource ? CSVColumnList(scratch.listMembers(batch, layout)) : scratch.listEntries(batch, layout.entries)
    return (list, scratch.records)
  }

  private func holdsObjects(_ members: MemberTable) -> Bool {
    guard members.keyHoldsNested.prefix(members.keys.count).contains(true) else { return false }
    let base = members.members
    for index in 0..<members.count where base[index].span.kind == .object { return true }
    return false
  }
}

/// What has been listed of one batch; one piece of work at a time.
final class CSVListScratch: @unchecked Sendable {  // because the pool hands it to one piece of work at a time
  private var tree = CSVKeyTree()
  private var root: CSVKeyLevel { tree.levels[CSVKeyTree.top] }
  private var keyChildren: [Int] = []
  private var paths: [[[UInt8]]] = []
  /// Record of each path, and the one at hand.
  private(set) var records: [Int] = []
  private var record = 0
  private var batchNumber = 0
  private var flatNames: Set<[UInt8]> = []
  private var removed: [UInt32] = []

  private func begin() {
    batchNumber += 1
    paths = []
    records.removeAll(keepingCapacity: true)
    record = 0
    flatNames.removeAll(keepingCapacity: true)
    if tree.count > 4 * CSVColumnTable.maxColumns { tree = CSVKeyTree() }  // odd input must not swell memory
  }

  /// A layout that follows the source.
  func listMembers(_ batch: RecordBatch, _ layout: RecordLayout) -> [[[UInt8]]] {
    begin()
    let members = batch.members
    let base = UnsafePointer(batch.arena.base)
    let root = root
    keyChildren = members.keys.map { tree.child(of: root, decoded: $0) }
    let hasEdits = !layout.isSourceAsIs
    var pending = layout.entries.count
    var isAppended = [Bool](repeating: false, count: layout.entries.count)
    for record in 0..<members.recordCount {
      self.record = record
      removed.removeAll(keepingCapacity: true)
      let row = batch.fields + record * batch.slotCount
      if hasEdits {
        for slot in layout.removed where row[slot].flags.contains(.inSource) { removed.append(row[slot].key) }
        for entry in layout.renamed where row[entry.slot].flags.contains(.inSource) && row[entry.slot].flags.contains(.nested) {
          removed.append(row[entry.slot].key)
        }
        if batch.records[record].flags.contains(.repeatsKey) { removeRepeats(members, record) }
      }
      for index in Int(members.starts[record])..<Int(members.starts[record + 1]) {
        let member = members.members[index]
        let child = keyChildren[Int(member.key)]
        if hasEdits {
          if removed.contains(member.span.key) { continue }
          if let renamed = layout.renamed.first(where: { row[$0.slot].flags.contains(.inSource) && row[$0.slot].key == member.span.key }) {
            listRenamed(member.span, renamed.name, base)
            continue
          }
        }
        if member.span.kind == .object {
          listObject(member.span, below: child, base)
        } else if root.children[child].mark != batchNumber {
          root.children[child].mark = batchNumber
          list([root.children[child].name])
        }
      }
      if hasEdits {
        for entry in layout.renamed where row[entry.slot].flags.contains(.inSource) && row[entry.slot].flags.contains(.nested) {
          list([entry.name])
        }
        for index in 0..<layout.entries.count
        where pending > 0 && !isAppended[index] && !layout.entries[index].onlyReplaces
          && !row[layout.entries[index].slot].flags.contains(.inSource)
          && layout.entries[index].companion.map({ row[$0].flags.contains(.inSource) }) ?? true
        {
          isAppended[index] = true
          pending -= 1
          list([layout.entries[index].name])
        }
      }
    }
    return paths
  }

  /// An explicit layout: all entries are columns from the stream's first record on, but for objects.
  func listEntries(_ batch: RecordBatch, _ entries: [RecordLayout.Entry]) -> CSVColumnList {
    begin()
    guard batch.recordCount > 0 else { return CSVColumnList([]) }
    let base = UnsafePointer(batch.arena.base)
    var isFlat = [Bool](repeating: false, count: entries.count)
    var flatCount = 0
    var opening: [[[UInt8]]] = []
    var taken = 0
    for record in 0..<batch.recordCount {
      self.record = record
      let row = batch.fields + record * batch.slotCount
      if flatCount == entries.count, !entries.contains(where: { row[$0.slot].kind == .object }) { continue }
      for (index, entry) in entries.enumerated() {
        let span = row[entry.slot]
        if span.kind == .object {
          listObject(span, below: tree.child(of: root, decoded: entry.name), base)
        } else if !isFlat[index], span.kind != .missing {
          isFlat[index] = true
          flatCount += 1
          list([entry.name])
        }
        if record == 0 {
          opening += paths[taken...]  // what this entry added
          taken = paths.count
          if span.kind == .missing { opening.append([entry.name]) }
        }
      }
    }
    return CSVColumnList(paths, opening: opening)
  }

  /// Takes earlier members of a removed key as removed too.
  private func removeRepeats(_ members: MemberTable, _ record: Int) {
    let own = Int(members.starts[record])..<Int(members.starts[record + 1])
    let keys = own.filter { removed.contains(members.members[$0].span.key) }.map { members.members[$0].key }
    removed += own.filter { keys.contains(members.members[$0].key) }.map { members.members[$0].span.key }
  }

  private func listRenamed(_ span: FieldSpan, _ name: [UInt8], _ base: UnsafePointer<UInt8>) {
    guard span.kind == .object else { return list([name]) }
    listObject(span, below: tree.child(of: root, decoded: name), base)
  }

  private func list(_ path: [[UInt8]]) {
    if path.count == 1, !flatNames.insert(path[0]).inserted { return }
    paths.append(path)
    records.append(record)
  }

  /// Lists what an object under a key of the record holds.
  private func listObject(_ span: FieldSpan, below child: Int, _ base: UnsafePointer<UInt8>) {
    var walk = CSVObjectWalk(span, at: tree.level(below: child, of: root), of: tree, in: base)
    while let value = walk.next() {
      if !removed.isEmpty, removed.contains(value.span.key) {
        walk.skip()
      } else if value.span.kind != .object, value.level.children[value.child].mark != batchNumber {
        value.level.children[value.child].mark = batchNumber
        list(tree.path(value.level, value.child))
      }
    }
  }
}
