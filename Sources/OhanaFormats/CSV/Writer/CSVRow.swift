internal import OhanaCore

/// Memory of one piece of rendering at a time.
final class CSVRowScratch: @unchecked Sendable {  // because the pool hands it to one piece of work at a time
  let text = ByteBuffer()
  let splicer: NDJSONSplicer
  /// A record with its edits, as JSON.
  let edited = ByteBuffer()
  /// Top-level keys as spelled in the text, and decoded: `a\nb` may be either, and means two things.
  private(set) var spelled = CSVKeyTree()
  private(set) var decoded = CSVKeyTree()
  private var columns: CSVColumns?
  /// Keys of the batch's member table, the column of each, and where it stands below `decoded`.
  private var keys: [[UInt8]] = []
  private(set) var keyColumns: [Int] = []
  private(set) var keyChildren: [Int] = []
  /// Column of each entry of an explicit layout.
  private(set) var entryColumns: [Int] = []
  /// Names of columns that keys led to.
  private(set) var metColumns: Set<[UInt8]> = []
  private let layout: RecordLayout
  /// A row whose values do not come in the order of the columns; all missing between two rows.
  private(set) var spans = UnsafeMutablePointer<FieldSpan>.allocate(capacity: 0)
  private(set) var depths = UnsafeMutablePointer<UInt16>.allocate(capacity: 0)
  private var width = 0

  init(_ layout: RecordLayout) {
    self.layout = layout
    splicer = NDJSONSplicer(layout)
  }
  deinit {
    spans.deallocate()
    depths.deallocate()
  }

  /// Prepares for a batch whose rows have these columns.
  func begin(_ batch: RecordBatch, _ columns: CSVColumns) {
    if self.columns !== columns || spelled.count + decoded.count > 4 * CSVColumnTable.maxColumns {
      let number = { [unowned self] path in
        guard let number = columns.number(of: CSVColumnList.name(path)) else { return -1 }
        metColumns.insert(columns.names[number])
        return number
      }
      spelled = CSVKeyTree(makeColumn: number)
      decoded = CSVKeyTree(makeColumn: number)
      self.columns = columns
      if columns.count > width {
        spans.deallocate()
        depths.deallocate()
        width = columns.count
        spans = .allocate(capacity: width)
        depths = .allocate(capacity: width)
        spans.initialize(repeating: .missing, count: width)
        depths.initialize(repeating: 0, count: width)
      }
      entryColumns = layout.entries.map { columns.number(of: $0.name) ?? -1 }
    } else if keys == batch.members.keys {
      return
    }
    keys = batch.members.keys
    keyColumns = batch.members.keys.map { columns.number(of: $0) ?? -1 }
    keyChildren = batch.members.keys.map { decoded.child(of: decoded.levels[CSVKeyTree.top], decoded: $0) }
  }
}

/// The row being written.
///
/// Values are written at once while they come in the order of the columns; at the first that does not, the row is begun again with all
/// its values put into place first.
struct CSVRow {
  var out: OutputCursor
  private let scratch: CSVRowScratch
  private let columns: CSVColumns
  private let cells: CSVCellWriter
  private let isOnly: Bool
  /// The user named the columns: what has none is left out.
  private let isFixed: Bool
  private let width: Int
  /// Column behind the value written last.
  private var next = 0
  private var isScattered = false

  init(_ scratch: CSVRowScratch, columns: CSVColumns, isFixed: Bool, cells: CSVCellWriter, isOnly: Bool, output: ByteBuffer) {
    self.isFixed = isFixed
    self.scratch = scratch
    self.columns = columns
    self.cells = cells
    self.isOnly = isOnly
    width = columns.count
    out = OutputCursor(output)
  }

  /// Writes the selected records of a batch.
  mutating func write(_ batch: RecordBatch, _ layout: RecordLayout) throws {
    let selection = batch.selection
    let count = batch.selectedCount
    guard layout.isSourceAsIs, !batch.hasOrigins, batch.members.recordCount == batch.recordCount else {
      for index in 0..<count { try write(record: Int(selection[index]), of: batch, layout) }
      return
    }
    // Nearly all records are flat, with keys in the order of the columns: those take this loop, which keeps all it touches in locals.
    let base = UnsafePointer(batch.arena.base)
    let records = batch.records
    let starts = batch.members.starts
    let members = batch.members.members
    let columns = scratch.keyColumns
    let cells = cells
    let text = scratch.text
    let isOnly = isOnly
    let isFixed = isFixed
    let width = width
    try columns.withUnsafeBufferPointer { columns in
      for index in 0..<count {
        let record = Int(selection[index])
        var place = Int(starts[record])
        let end = Int(starts[record &+ 1])
        let start = out.count
        var next = 0
        if !records[record].flags.contains(.repeatsKey) {
          while place < end {
            let member = members[place]
            let column = columns[Int(member.key)]
            if column < next || member.span.kind == .object {
              guard column < 0, isFixed, member.span.kind != .object else { break }
              place &+= 1  // not wanted
              continue
            }
            while next < column {
              if next > 0 { cells.appendDelimiter(to: &out) }
              next &+= 1
            }
            if column > 0 { cells.appendDelimiter(to: &out) }
            cells.append(member.span, base, isOnly: isOnly, text, to: &out)
            next = column &+ 1
            place &+= 1
          }
        }
        if place < end || next == 0 {
          out.rewind(to: start)
          try write(record: record, of: batch, layout)
          continue
        }
        while next < width {
          cells.appendDelimiter(to: &out)
          next &+= 1
        }
        cells.endRow(&out)
      }
    }
  }

  private mutating func write(record: Int, of batch: RecordBatch, _ layout: RecordLayout) throws {
    let start = out.count
    next = 0
    isScattered = false
    if try !values(record, batch, layout) {
      out.rewind(to: start)
      isScattered = true
      do { _ = try values(record, batch, layout) } catch {
        clear()
        throw error
      }
    }
  }

  /// Walks the record's values and writes the row. Returns false where they are not in order.
  private mutating func values(_ record: Int, _ batch: RecordBatch, _ layout: RecordLayout) throws -> Bool {
    var base = UnsafePointer(batch.arena.base)
    if !layout.followsSource {
      let row = batch.fields + record * batch.slotCount
      for index in 0..<layout.entries.count {
        let span = row[layout.entries[index].slot]
        if span.kind == .missing { continue }
        let isWritten: Bool
        if span.kind == .object {
          let top = scratch.decoded.levels[CSVKeyTree.top]
          let child = scratch.decoded.child(of: top, decoded: layout.entries[index].name, hint: index)
          isWritten = try object(span, column: scratch.entryColumns[index], child, base)
        } else {
          isWritten = try value(span, column: scratch.entryColumns[index], base, depth: 1) { layout.entries[index].name }
        }
        if !isWritten { return false }
      }
      end(base)
      return true
    }
    let span = batch.records[record]
    var open = Int(span.offset)
    if span.flags.contains(.repeatsKey) || !layout.isSourceAsIs && scratch.splicer.hasEdits(record, of: batch, span) {
      scratch.edited.removeAll()
      var edited = OutputCursor(scratch.edited)
      try scratch.splicer.write(record, of: batch, to: &edited)
      edited.finish()
      base = UnsafePointer(scratch.edited.base)
      open = 0
    } else if !batch.hasOrigins, record < batch.members.recordCount {
      let members = batch.members
      for index in Int(members.starts[record])..<Int(members.starts[record + 1]) {
        let member = members.members[index]
        let key = Int(member.key)
        let isWritten =
          member.span.kind == .object
          ? try object(member.span, column: scratch.keyColumns[key], scratch.keyChildren[key], base)
          : try value(member.span, column: scratch.keyColumns[key], base, depth: 1) { members.keys[key] }
        if !isWritten { return false }
      }
      end(base)
      return true
    }
    // The record's own text: it has been sorted or spilled, or edited.
    let whole = FieldSpan(offset: UInt32(truncatingIfNeeded: JSONScanner.skipWhitespace(base, open)), length: 0, kind: .object)
    if try !values(of: CSVObjectWalk(whole, at: scratch.spelled.levels[CSVKeyTree.top], of: scratch.spelled, in: base), base) {
      return false
    }
    end(base)
    return true
  }

  /// Writes what an object holds. Within it, an object becomes the columns of what it holds; where the user named a column just so, that
  /// has the object's JSON text.
  private mutating func values(of walk: consuming CSVObjectWalk, _ base: UnsafePointer<UInt8>) throws -> Bool {
    while let value = walk.next() {
      let column = value.level.children[value.child].column
      if value.span.kind == .object, !isFixed || column < 0 { continue }
      let isWritten = try self.value(value.span, column: column, base, depth: value.depth) {
        CSVColumnList.name(walk.path(of: value))
      }
      if !isWritten { return false }
    }
    return true
  }

  /// The same for a value of the record that is an object, at `child` among the decoded keys.
  private mutating func object(_ span: FieldSpan, column: Int, _ child: Int, _ base: UnsafePointer<UInt8>) throws -> Bool {
    if isFixed, column >= 0, try !value(span, column: column, base, depth: 1, name: { [] }) { return false }
    let tree = scratch.decoded
    let level = tree.level(below: child, of: tree.levels[CSVKeyTree.top])
    return try values(of: CSVObjectWalk(span, at: level, of: tree, in: base, depth: 2), base)
  }

  /// Puts a value into its column. Returns false if it comes too late to be written at once.
  @inline(__always)
  private mutating func value(
    _ span: FieldSpan, column: Int, _ base: UnsafePointer<UInt8>, depth: UInt16, name: () -> [UInt8]
  ) throws -> Bool {
    if column < 0 { return try noColumn(span, name) }
    if isScattered { return try put(span, column, depth) }
    if column < next { return false }
    while next < column {
      if next > 0 { cells.appendDelimiter(to: &out) }
      next &+= 1
    }
    if column > 0 { cells.appendDelimiter(to: &out) }
    cells.append(span, base, isOnly: isOnly, scratch.text, to: &out)
    next = column &+ 1
    return true
  }

  private func noColumn(_ span: FieldSpan, _ name: () -> [UInt8]) throws -> Bool {
    if isFixed { return true }
    throw OhanaError(
      .badInput, "unknown-column", field: String(decoding: name(), as: UTF8.self), "a record has a value for which there is no column",
      fix: "name the wanted columns with --columns A,B,…")
  }

  private func put(_ span: FieldSpan, _ column: Int, _ depth: UInt16) throws -> Bool {
    if scratch.depths[column] != 0, scratch.depths[column] != depth {
      throw OhanaError(
        .badInput, "column-conflict", field: String(decoding: columns.names[column], as: UTF8.self),
        "a record holds this name both as a field and within an object", fix: "rename or drop one of the two")
    }
    scratch.depths[column] = depth
    scratch.spans[column] = span
    return true
  }

  private mutating func end(_ base: UnsafePointer<UInt8>) {
    if isScattered {
      for column in 0..<width {
        if column > 0 { cells.appendDelimiter(to: &out) }
        cells.append(scratch.spans[column], base, isOnly: isOnly, scratch.text, to: &out)
      }
      clear()
    } else {
      if next == 0, isOnly { cells.appendQuoted(base, 0, to: &out) }
      while next < width {
        if next > 0 { cells.appendDelimiter(to: &out) }
        next &+= 1
      }
    }
    cells.endRow(&out)
  }

  private func clear() {
    scratch.spans.update(repeating: .missing, count: width)
    scratch.depths.update(repeating: 0, count: width)
  }
}

extension OutputCursor {
  /// Takes back what was written behind the first `count` bytes.
  mutating func rewind(to count: Int) { advance(count - self.count) }
}
