public import OhanaCore

/// Counts each contact's fields, and writes the counts into it.
public struct CountFieldsStage: PlannedStage {
  public static let help = StageHelp(
    name: "count-fields", usage: "[--mobile-labels LABEL,…]", summary: "count each contact's fields",
    text: """
      Writes stats.fields, stats.phones, stats.emails, and stats.has_mobile: whether a phone of the list 'fields' has one of the labels, just so. \
      Counted are the objects of that list and the columns phone, email, url, numbered or not, that hold a text, empty or \
      not, a number, true or false. All are written, zero too.
      """,
    options: [.init("--mobile-labels", "LABEL,…", "labels of mobile phones; mobile,iPhone if not given")],
    examples: [
      .init("ohana run contacts.ndjson then count-fields then filter '\"stats.phones\" > 1'", "contacts with more than one number"),
      .init("ohana count-fields --mobile-labels cell,mobile contacts.ndjson", "labels of another address book"),
    ], memoryClass: .streaming)

  /// Labels of phones that count as mobile.
  public let mobileLabels: [String]

  /// - Parameter mobileLabels: labels of phones that count as mobile.
  public init(mobileLabels: [String] = ["mobile", "iPhone"]) { self.mobileLabels = mobileLabels }

  /// - Parameter arguments: the words after `count-fields`.
  public static func parse(arguments: [String]) throws(OhanaError) -> CountFieldsStage {
    let arguments = try StageArguments(arguments, for: help)
    try arguments.noPositionals()
    guard let labels = arguments.value("--mobile-labels") else { return CountFieldsStage() }
    return CountFieldsStage(mobileLabels: try ArgumentList.fields([labels], what: "count-fields --mobile-labels").map(\.description))
  }

  public var text: String {
    "count-fields" + (mobileLabels == ["mobile", "iPhone"] ? "" : " --mobile-labels " + mobileLabels.joined(separator: ","))
  }
  public var memoryClass: MemoryClass { .streaming }
  public var dropReason: String? { nil }

  public func bind(_ schema: inout RecordSchema, _ context: StageContext) throws -> [StageStep] {
    let places = ContactFieldPlaces(of: ContactFieldType.listed, &schema)
    try places.require(ContactFieldType.listed, in: &schema)
    var slots: [Int] = []
    for name in ["fields", "phones", "emails", "has_mobile"] {
      slots.append(try schema.slot(writing: FieldName(whole: Array("stats.\(name)".utf8))))
    }
    return places.steps + [.row(CountFieldsStep(places: places, slots: slots, labels: mobileLabels.map { Array($0.utf8) }))]
  }
}

private struct CountFieldsStep: RowStage {
  let places: ContactFieldPlaces
  /// Of fields, phones, e-mails, mobile.
  let slots: [Int]
  let labels: [[UInt8]]

  func process(_ batch: RecordBatch) throws -> StageTally {
    let scratch = ByteBuffer()
    for index in 0..<batch.selectedCount {
      let record = Int(batch.selection[index])
      var counts = (fields: 0, phones: 0, emails: 0)
      var hasMobile = false
      func count(_ type: ContactFieldType) {
        counts.fields += 1
        if type == .phone { counts.phones += 1 } else if type == .email { counts.emails += 1 }
      }
      for column in places.columns where column.holds(batch.field(column.slot, of: record)) { count(column.type) }
      if let unbound = places.unbound {
        for column in unbound.columns(record, of: batch, scratch) where column.isField { count(column.type) }
      }
      var entries = ListedFields(places.list, of: record, in: batch)
      while let entry = entries.next(scratch) {
        guard let type = entry.type else { continue }
        count(type)
        if type == .phone, !hasMobile, entry.label.kind == .string {
          let label = batch.text(of: entry.label, scratch: scratch)
          hasMobile = labels.contains { label.elementsEqual($0) }
        }
      }
      for (slot, number) in zip(slots, [counts.fields, counts.phones, counts.emails]) {
        scratch.removeAll()
        scratch.append(string: String(number))
        try batch.write(scratch.bytes, .number, to: slot, of: record)
      }
      batch.overlay(slots[3], of: record, offset: 0, length: 0, kind: hasMobile ? .true : .false, inPlace: false)
    }
    return StageTally()
  }
}
