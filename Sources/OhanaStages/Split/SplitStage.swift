public import OhanaCore

/// Makes one record of each field of a type.
public struct SplitStage: PlannedStage {
  public static let help = StageHelp(
    name: "split", usage: "--on TYPE [--keep-others]", summary: "one record for each field of a type",
    text: """
      Writes a contact once for each of its phones (e-mails, URLs, others), in their order: a copy that has just this one. A field of the list 'fields' \
      stays there alone; one out of columns comes in the column without a number (phone_2 as phone). Fields of the other types go, unless --keep-others \
      is given, and their columns with all that is in them, a list or an object too; names, addresses, tags and all else stay. A contact without a field of the type gives nothing.

      Columns of NDJSON are known up to phone_9 before reading. A record with a higher number ends the run (exit 3), since what is written of all \
      records is settled before the first: --optional phone_10,phone_11 in front of the first 'then' names such columns. Those of CSV are known \
      from the header. A record of so many fields that its rows would take 256 MiB, or 4 GiB of copying, is exit 5.
      """,
    options: [
      .init("--on", "phone|email|url|other", "the type"), .init("--keep-others", nil, "keep the fields of other types"),
    ],
    examples: [
      .init("ohana split --on phone contacts.ndjson", "a row for each number that can be called"),
      .init("ohana run contacts.csv then split --on email then dedupe --by email:email", "every address once, whatever column it stood in"),
    ], memoryClass: .streaming)

  /// Of the fields that become records.
  public let type: ContactFieldType
  /// Each record keeps the fields of other types.
  public let keepsOthers: Bool

  /// - Precondition: not `address`.
  public init(on type: ContactFieldType, keepsOthers: Bool = false) {
    precondition(type != .address, "records are split on fields, not on addresses")
    self.type = type
    self.keepsOthers = keepsOthers
  }

  /// - Parameter arguments: the words after `split`.
  public static func parse(arguments: [String]) throws(OhanaError) -> SplitStage {
    let arguments = try StageArguments(arguments, for: help)
    try arguments.noPositionals()
    guard let word = arguments.value("--on") else {
      throw arguments.problem("missing-argument", "--on TYPE is missing", fix: "write split --on phone")
    }
    let type = try arguments.fieldType(word, "--on", among: ContactFieldType.listed)
    return SplitStage(on: type, keepsOthers: arguments.has("--keep-others"))
  }

  public var text: String { "split --on \(type.rawValue)" + (keepsOthers ? " --keep-others" : "") }
  public var memoryClass: MemoryClass { .streaming }
  public var dropReason: String? { "no such field" }

  public func bind(_ schema: inout RecordSchema, _ context: StageContext) throws -> [StageStep] {
    let places = ContactFieldPlaces(of: keepsOthers ? [type] : [type] + ContactFieldType.listed.filter { $0 != type }, &schema)
    try places.require([type], in: &schema)
    let columns = places.columns.filter { $0.type == type }
    _ = try schema.slot(rewritingIfPresent: ContactFieldPlaces.listName)
    let target = columns.isEmpty ? nil : try schema.slot(writing: FieldName(whole: Array(type.rawValue.utf8)))
    var gone = columns.map(\.name).filter { !$0.elementsEqual(type.rawValue.utf8) }
    gone += places.columns.filter { $0.type != type }.map(\.name)
    // What the stage phone has written beside numbers goes with them.
    var formats: [SplitStep.Format] = []
    for format in PhoneFormat.allCases {
      func name(_ column: [UInt8]) -> [UInt8] { column + Array(".\(format.rawValue)".utf8) }
      gone += places.columns.filter { $0.type == .phone && ($0.type != type || !$0.name.elementsEqual("phone".utf8)) }.map { name($0.name) }
      guard type == .phone, target != nil else { continue }
      let sources = columns.map { schema.slot(readingIfPresent: FieldName(whole: name($0.name))) }
      guard sources.contains(where: { $0 != nil }) else { continue }
      formats.append(.init(target: try schema.slot(writing: FieldName(whole: name(Array("phone".utf8)))), sources: sources))
    }
    try schema.dropIfPresent(gone.map { FieldName(whole: $0) })
    return places.steps + [
      .row(
        SplitStep(
          type: type, keepsOthers: keepsOthers, columns: columns.map(\.slot), formats: formats, unbound: places.unbound, target: target,
          list: places.list,
          identities: schema.identitySlots))
    ]
  }
}

private struct SplitStep: RowStage {
  let type: ContactFieldType
  let keepsOthers: Bool
  /// Columns of the type, and the one that gets their values.
  let columns: [Int]
  /// A format of phone numbers: the column it has in rows, and those it had beside the numbers, one for each of `columns`.
  struct Format: Sendable {
    let target: Int
    let sources: [Int?]
  }
  let formats: [Format]
  let unbound: UnboundColumns?
  let target: Int?
  let list: ListColumn?
  let identities: [RecordSchema.Identity]
  let pool = ScratchPool { Scratch() }

  /// One piece of work at a time.
  final class Scratch: @unchecked Sendable {  // because the pool lends it to one piece of work at a time
    let text = ByteBuffer()
    let list = ByteBuffer()
    /// Fields of the type, with their places in the list, and of the others those that stay.
    var own: [(place: Int, start: Int, end: Int)] = []
    var others: [(place: Int, start: Int, end: Int)] = []
  }

  /// Bytes that the rows of one record may take together.
  private static let recordLimit = 256 << 20
  /// Bytes of a record times its rows: each row is written from all of it.
  private static let workLimit = 4 << 30

  func process(_ batch: RecordBatch) throws -> StageTally {
    let scratch = pool.take()
    defer { pool.give(scratch) }
    let parents = Array(UnsafeBufferPointer(start: batch.selection, count: batch.selectedCount))
    batch.selectedCount = 0
    batch.beginRows()
    var dropped = 0
    for parent in parents {
      let before = batch.selectedCount
      try split(Int(parent), batch, scratch)
      if batch.selectedCount == before { dropped += 1 }
    }
    scratch.list.recycle(limit: 1 << 20)
    return StageTally(dropped: dropped, made: batch.selectedCount - (parents.count - dropped))
  }

  private func split(_ parent: Int, _ batch: RecordBatch, _ scratch: Scratch) throws {
    try unbound?.requireNone(parent, of: batch, scratch.text)
    scratch.own.removeAll(keepingCapacity: true)
    scratch.others.removeAll(keepingCapacity: true)
    let hasList = list.map { $0.value(parent, of: batch).kind == .array } ?? false
    var listed = ListedFields(list, of: parent, in: batch)
    var place = 0
    while let entry = listed.next(scratch.text) {
      let found = (place, entry.span.jsonStart, entry.span.jsonEnd)
      if entry.type == type { scratch.own.append(found) } else if keepsOthers { scratch.others.append(found) }
      place += 1
    }
    var number: UInt32 = 0
    for (index, column) in columns.enumerated() {
      let field = batch.field(column, of: parent)
      guard field.isField(isWholeAddress: false), let target else { continue }
      let row = appendRow(of: parent, &number, batch)
      if column != target {
        batch.overlay(
          target, of: row, offset: Int(field.offset), length: Int(field.length), kind: field.kind, encoding: field.encoding, inPlace: true)
      }
      for format in formats { give(format.sources[index].map { batch.field($0, of: parent) }, to: format.target, of: row, batch) }
      if hasList { try writeList(keeping: nil, row, batch, scratch) }
    }
    var bytes = 0
    for index in scratch.own.indices {
      let row = appendRow(of: parent, &number, batch)
      if let target, batch.field(target, of: row).isField(isWholeAddress: false) || batch.field(target, of: row).kind == .null {
        batch.overlay(target, of: row, offset: 0, length: 0, kind: .missing, inPlace: true)
      }
      for format in formats { give(nil, to: format.target, of: row, batch) }
      bytes += try writeList(keeping: scratch.own[index], row, batch, scratch) + batch.slotCount * MemoryLayout<FieldSpan>.size
      if bytes > Self.recordLimit || Int(number) * Int(batch.records[parent].length) > Self.workLimit {
        throw RecordFault(
          OhanaError(
            .memory, "record-too-large", "split: a record has so many fields that its rows take too much memory or time",
            fix: keepsOthers ? "leave --keep-others out" : "leave such records out with a filter first"),
          in: parent, of: batch)
      }
    }
  }

  /// - Parameter field: nil for none.
  private func give(_ field: FieldSpan?, to slot: Int, of row: Int, _ batch: RecordBatch) {
    if let field, field.isPresent {
      batch.overlay(
        slot, of: row, offset: Int(field.offset), length: Int(field.length), kind: field.kind, encoding: field.encoding, inPlace: true)
    } else if batch.field(slot, of: row).kind != .missing {
      batch.overlay(slot, of: row, offset: 0, length: 0, kind: .missing, inPlace: true)
    }
  }

  private func appendRow(of parent: Int, _ number: inout UInt32, _ batch: RecordBatch) -> Int {
    let row = batch.appendRow(of: parent)
    batch.select(row)
    for identity in identities { identity.renew(row, of: batch, number: number) }
    number += 1
    return row
  }

  /// Writes the list of a row: one of the record's own fields, and those that stay. Returns its bytes.
  @discardableResult
  private func writeList(keeping kept: (place: Int, start: Int, end: Int)?, _ row: Int, _ batch: RecordBatch, _ scratch: Scratch) throws
    -> Int
  {
    let out = scratch.list
    out.removeAll()
    var due = kept
    func write(_ entry: (place: Int, start: Int, end: Int)) {
      out.append(out.count == 0 ? UInt8(ascii: "[") : UInt8(ascii: ","))
      out.append(batch.arena.base + entry.start, count: entry.end - entry.start)
    }
    for other in scratch.others {
      if let own = due, own.place < other.place {
        write(own)
        due = nil
      }
      write(other)
    }
    if let due { write(due) }
    out.append(out.count == 0 ? "[]" : "]")
    try list!.write(out.bytes, to: row, of: batch)
    return out.count
  }
}
