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
    let scratch = pool.withLock { $0.popLast() } ?? CSVListScratch()
    defer { pool.withLock { $0.append(scratch) } }
    return layout.followsSource ? CSVColumnList(scratch.listMembers(batch, layout)) : scratch.listEntries(batch, layout.entries)
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
  private var root = CSVKeyNode(path: [])
  private var keyChildren: [Int] = []
  private var paths: [[[UInt8]]] = []
  private var batchNumber = 0
  private var flatNames: Set<[UInt8]> = []
  private var removed: [UInt32] = []
  private var size = 0

  private func begin() {
    batchNumber += 1
    paths = []
    flatNames.removeAll(keepingCapacity: true)
    if size > 4 * CSVColumnTable.maxColumns {  // odd input must not swell memory
      root = CSVKeyNode(path: [])
      size = 0
    }
  }

  /// A layout that follows the source.
  func listMembers(_ batch: RecordBatch, _ layout: RecordLayout) -> [[[UInt8]]] {
    begin()
    let members = batch.members
    let base = UnsafePointer(batch.arena.base)
    keyChildren = members.keys.map { key in key.withUnsafeBufferPointer { child(of: root, decoded: $0) } }
    let hasEdits = !layout.isSourceAsIs
    var pending = layout.entries.count
    var isAppended = [Bool](repeating: false, count: layout.entries.count)
    for record in 0..<members.recordCount {
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
          listObject(member.span, root.node(below: child), base)
        } else if root.children[child].mark != batchNumber {
          root.children[child].mark = batchNumber
          list(root.children[child].path)
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
      let row = batch.fields + record * batch.slotCount
      if flatCount == entries.count, !entries.contains(where: { row[$0.slot].kind == .object }) { continue }
      for (index, entry) in entries.enumerated() {
        let span = row[entry.slot]
        if span.kind == .object {
          let place = entry.name.withUnsafeBufferPointer { child(of: root, decoded: $0) }
          listObject(span, root.node(below: place), base)
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
    let place = name.withUnsafeBufferPointer { child(of: root, decoded: $0) }
    listObject(span, root.node(below: place), base)
  }

  private func list(_ path: [[UInt8]]) {
    if path.count == 1, !flatNames.insert(path[0]).inserted { return }
    paths.append(path)
  }

  private func listObject(_ span: FieldSpan, _ node: CSVKeyNode, _ base: UnsafePointer<UInt8>) {
    var members = JSONMembers(of: span, in: base)
    var place = 0
    while let member = members.next() {
      if !removed.isEmpty, removed.contains(member.value.key) { continue }
      let child = node.child(member.rawKey(in: base), member.keyEncoding, hint: place) { _ in
        size += 1
        return -1
      }
      place = child + 1
      if member.value.kind == .object {
        listObject(member.value, node.node(below: child), base)
      } else if node.children[child].mark != batchNumber {
        node.children[child].mark = batchNumber
        list(node.children[child].path)
      }
    }
  }

  /// A child by its decoded name: kept under that name as spelling, which is what unescaped keys have.
  private func child(of node: CSVKeyNode, decoded name: UnsafeBufferPointer<UInt8>) -> Int {
    node.child(name, .plain, hint: 0) { _ in
      size += 1
      return -1
    }
  }
}
