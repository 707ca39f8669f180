internal import OhanaCore

/// Puts the values of an NDJSON record into a row of columns.
///
/// Two ways that give the same row: from the batch's member table, or, where there is none (behind a sort), from the record's own text.
final class CSVSpreader {
  private let shape: CSVShape
  private var columns = CSVColumns([])
  private var isFixed = false
  private var capacity = 0
  /// One value per column; missing where the record has none.
  private(set) var row = UnsafeMutablePointer<FieldSpan>.allocate(capacity: 0)
  /// By number of the batch's keys: the column, -1 without one.
  private var columnOfKey: [Int] = []
  private var overlays: [(slot: Int, column: Int)] = []
  private var entries: [(slot: Int, column: Int, name: [UInt8])] = []
  private var usesMembers = false
  private let flattener = CSVFlattener()
  private let key = ByteBuffer(capacity: 128)
  /// Names met at this place in the record before, and their columns: records are alike.
  private var predicted: [(name: [UInt8], column: Int)] = []
  private var place = 0

  init(_ shape: CSVShape) { self.shape = shape }
  deinit { row.deallocate() }

  func begin(_ batch: RecordBatch, _ columns: CSVColumns, isFixed: Bool) {
    if self.columns !== columns {
      self.columns = columns
      predicted = []
    }
    self.isFixed = isFixed
    if columns.names.count > capacity {
      row.deallocate()
      capacity = columns.names.count
      row = .allocate(capacity: capacity)
    }
    usesMembers = shape.layout.followsSource && !batch.hasOrigins && batch.members.recordCount > 0
    if usesMembers { columnOfKey = batch.members.keys.map { column(ofSource: $0) } }
    overlays = shape.layout.followsSource ? shape.overlays.compactMap { entry in columns.index[entry.name].map { (entry.slot, $0) } } : []
    entries = shape.layout.followsSource ? [] : shape.layout.entries.map { ($0.slot, columns.index[$0.name] ?? -1, $0.name) }
  }

  /// Fills `row` with the values of record `record`.
  func spread(_ record: Int, of batch: RecordBatch) throws {
    row.update(repeating: .missing, count: columns.names.count)
    place = 0
    let base = UnsafePointer(batch.arena.base)
    if !shape.layout.followsSource { return try spreadEntries(record, of: batch, base) }
    if usesMembers {
      let members = batch.members.members
      for index in Int(batch.members.starts[record])..<Int(batch.members.starts[record + 1]) {
        let member = members[index]
        if member.span.kind == .object {
          try spread(object: member.span, under: batch.members.keys[Int(member.key)], base)
        } else {
          let column = columnOfKey[Int(member.key)]
          if column >= 0 { try put(member.span, column) }
        }
      }
    } else {
      try spreadText(batch.records[record], base)
    }
    for (slot, column) in overlays {
      let span = batch.field(slot, of: record)
      if span.flags.contains(.overlay) { row[column] = span }
    }
  }

  private func spreadText(_ record: RecordSpan, _ base: UnsafePointer<UInt8>) throws {
    var members = JSONMembers(in: base, at: Int(record.offset))
    while let member = members.next() {
      let name = member.key(in: base, scratch: key)
      if member.value.kind == .object {
        try spread(object: member.value, under: Array(name), base)
      } else {
        let column = predictedColumn(name)
        if column >= 0 { try put(member.value, column) }
      }
    }
  }

  private func spreadEntries(_ record: Int, of batch: RecordBatch, _ base: UnsafePointer<UInt8>) throws {
    for (slot, column, name) in entries {
      let span = batch.field(slot, of: record)
      if span.kind == .object {
        try name.withUnsafeBufferPointer { prefix in
          try flattener.walk(span, prefix: prefix, in: base) { leaf, value in
            let column = predictedColumn(leaf)
            if column >= 0 { try put(value, column) }
          }
        }
      } else if column >= 0, span.kind != .missing {
        try put(span, column)
      }
    }
  }

  private func spread(object: FieldSpan, under name: [UInt8], _ base: UnsafePointer<UInt8>) throws {
    // A fixed column of the object's own name gets it whole, as JSON.
    if isFixed, let column = columns.index[shape.column(name) ?? []] { return try put(object, column) }
    guard let prefix = shape.column(name) else { return }
    try prefix.withUnsafeBufferPointer { prefix in
      try flattener.walk(object, prefix: prefix, in: base) { leaf, value in
        let column = predictedColumn(leaf)
        if column >= 0 { try put(value, column) }
      }
    }
  }

  /// Later values win, like repeated keys; a nested value beside a flat one is the collector's business to refuse.
  @inline(__always)
  private func put(_ span: FieldSpan, _ column: Int) throws { row[column] = span }

  private func column(ofSource name: [UInt8]) -> Int { shape.column(name).flatMap { columns.index[$0] } ?? -1 }

  private func predictedColumn(_ name: UnsafeBufferPointer<UInt8>) -> Int {
    defer { place += 1 }
    if place < predicted.count, predicted[place].name.count == name.count,
      predicted[place].name.withUnsafeBufferPointer({ memcmp($0.baseAddress!, name.baseAddress!, name.count) == 0 })
    {
      return predicted[place].column
    }
    let copy = Array(name)
    let column = column(ofSource: copy)
    if place < predicted.count { predicted[place] = (copy, column) } else if place < 256 { predicted.append((copy, column)) }
    return column
  }
}
