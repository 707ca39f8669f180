internal import OhanaCore

/// The ordered half of `stats`: adds up what ``ValueDigester`` left in the batches.
final class StatisticsCollector: OrderedStage, Checkpointable, @unchecked Sendable {  // because one piece of work at a time uses it
  private let fields: StatisticsFields
  private let slots: StatisticsSlots
  private let report: StatisticsReport
  private let context: StageContext

  private var counts: [FieldStatistics] = []
  /// One per field of `counts`; there is room for as many as are allowed, and memory for those there are.
  private let counters = UnsafeMutablePointer<ValueCounters>.allocate(capacity: StatisticsStage.maxFields)
  private var numbers: [[UInt8]: Int] = [:]
  private var records = 0
  private var memory = 0
  private let scratch = TextScratch()
  private let text = ByteBuffer()

  init(_ fields: StatisticsFields, slots: StatisticsSlots, report: StatisticsReport, _ context: StageContext) {
    self.fields = fields
    self.slots = slots
    self.report = report
    self.context = context
  }

  deinit {
    counters.deinitialize(count: counts.count)
    counters.deallocate()
  }

  var tally: StageTally { StageTally(made: report.fields.count, merged: records) }

  func process(_ batch: RecordBatch) throws -> OrderedOutcome {
    records += batch.selectedCount
    switch fields {
    case .members:
      let table = batch.members
      let digest = BatchDigest(batch.keyBytes, fieldCount: table.keys.count)
      let met = (0..<table.keys.count).filter { digest.fields[$0].present > 0 }.sorted { digest.fields[$0].rank < digest.fields[$1].rank }
      var known = [Int](repeating: -1, count: table.keys.count)
      for key in met { known[key] = try number(of: table.keys[key], batch) }
      try add(batch, digest, known, spans: { table.members[$0].span })
    case .slots(let entries):
      if counts.count < entries.count { for entry in entries { _ = try number(of: entry.name, batch) } }
      let digest = BatchDigest(batch.keyBytes, fieldCount: entries.count)
      try add(batch, digest, Array(0..<entries.count), spans: { batch.fields[$0] })
    }
    return .consumed
  }

  private func number(of name: [UInt8], _ batch: RecordBatch) throws -> Int {
    if let number = numbers[name] { return number }
    let number = counts.count
    guard number < StatisticsStage.maxFields else {
      let source = batch.source < context.settings.sources.count ? context.settings.sources[batch.source] : nil
      throw OhanaError(
        .badInput, "too-many-fields", at: source.map { OhanaError.Location($0) },
        "stats: there are more than \(StatisticsStage.maxFields) different fields",
        fix: "look at the ones that matter: keep F,… in front of it")
    }
    numbers[name] = number
    counts.append(FieldStatistics(name: String(decoding: name, as: UTF8.self)))
    (counters + number).initialize(to: ValueCounters())
    memory += counters[number].size
    return number
  }

  @inline(__always)
  private func add(_ batch: RecordBatch, _ digest: BatchDigest, _ known: [Int], spans: (Int) -> FieldSpan) throws {
    for (key, number) in known.enumerated() where number >= 0 { merge(digest.fields[key], into: &counts[number]) }
    let counters = self.counters
    let values = digest.values
    let count = BatchDigest.valueCount(batch.keyBytes, fieldCount: known.count)
    try known.withUnsafeBufferPointer { known in
      for index in 0..<count {
        let value = values[index]
        let number = known[Int(value.field)]
        if !counters[number].head.count(value.hash) { try insert(value, spans(Int(value.place)), number, batch) }
      }
    }
  }

  private func merge(_ digest: FieldDigest, into field: inout FieldStatistics) {
    field.present += Int(digest.present)
    field.null += Int(digest.null)
    field.empty += Int(digest.empty)
    guard digest.minLength <= digest.maxLength else { return }
    field.minLength = min(field.minLength ?? .max, Int(digest.minLength))
    field.maxLength = max(field.maxLength ?? 0, Int(digest.maxLength))
  }

  @inline(never)
  private func insert(_ value: ValueDigest, _ span: FieldSpan, _ number: Int, _ batch: RecordBatch) throws {
    let growth = counters[number].insert(value.hash, kind: span.kind, text: ValueText.text(of: span, in: batch, scratch, text))
    if growth == 0 { return }
    memory += growth
    text.recycle(limit: 1 << 20)
    guard memory <= context.memory.bytes else {
      throw OhanaError(
        .memory, "statistics-exceed-memory", "stats: its share of memory cannot hold what it counts for \(counts.count) fields",
        fix: "give the run more with --memory, or keep fewer fields")
    }
  }

  func save(to writer: CheckpointWriter) throws {
    try writer.put(records)
    try writer.put(counts.count)
    for (name, number) in numbers.sorted(by: { $0.value < $1.value }) {
      let field = counts[number]
      try writer.put(name)
      for count in [field.present, field.null, field.empty, field.minLength ?? -1, field.maxLength ?? -1] { try writer.put(count) }
      try counters[number].save(to: writer)
    }
  }

  func restore(from reader: CheckpointReader) throws {
    records = try reader.count()
    let batch = RecordBatch()
    for expected in 0..<(try reader.count(StatisticsStage.maxFields)) {
      let number = try number(of: try reader.bytes(), batch)
      guard number == expected else { throw CheckpointReader.damaged }
      counts[number].present = try reader.count()
      counts[number].null = try reader.count()
      counts[number].empty = try reader.count()
      let (least, most) = (try reader.int(), try reader.int())
      if least >= 0 { (counts[number].minLength, counts[number].maxLength) = (least, most) }
      memory -= counters[number].size
      try counters[number].restore(from: reader)
      memory += counters[number].size
    }
  }

  func finish() throws -> (any BatchSource)? {
    if case .slots(let entries) = fields, counts.count < entries.count {
      // No record came.
      let none = RecordBatch()
      for entry in entries { _ = try number(of: entry.name, none) }
    }
    for number in counts.indices {
      counts[number].missing = records - counts[number].present
      (counts[number].distinct, counts[number].isDistinctEstimate) = counters[number].distinct
      (counts[number].top, counts[number].isTopEstimate) = counters[number].top(5)
    }
    report.fill(counts, records: records)
    return StatisticsSource(counts, slots)
  }
}

/// Streams one record per field.
final class StatisticsSource: BatchSource, @unchecked Sendable {  // because one piece of work at a time uses it
  private let fields: [FieldStatistics]
  private let slots: StatisticsSlots
  private var next = 0

  init(_ fields: [FieldStatistics], _ slots: StatisticsSlots) { (self.fields, self.slots) = (fields, slots) }

  func next(into batch: RecordBatch) throws -> Bool {
    guard next < fields.count else { return false }
    while next < fields.count, batch.arena.count < 1 << 18 {
      append(fields[next], to: batch)
      next += 1
    }
    return true
  }

  private func append(_ field: FieldStatistics, to batch: RecordBatch) {
    let record = batch.appendRecord(RecordSpan(offset: UInt32(batch.arena.count), length: 0, flags: .changed))
    func put(_ slot: Int, _ kind: ValueKind, _ text: String) {
      let offset = batch.arena.count
      batch.arena.append(string: text)
      batch.fields[record * batch.slotCount + slot] = FieldSpan(
        offset: UInt32(offset), length: UInt32(batch.arena.count - offset), kind: kind, flags: .overlay)
    }
    func put(_ slot: Int, _ number: Int?) {
      if let number {
        put(slot, .number, String(number))
      } else {
        batch.fields[record * batch.slotCount + slot] = FieldSpan(kind: .null, flags: .overlay)
      }
    }
    put(slots.field, .string, field.name)
    put(slots.present, field.present)
    put(slots.missing, field.missing)
    put(slots.null, field.null)
    put(slots.empty, field.empty)
    put(slots.distinct, field.distinct)
    if field.isDistinctEstimate { put(slots.distinctIsEstimate, .true, "") }
    put(slots.minLength, field.minLength)
    put(slots.maxLength, field.maxLength)
    let top = field.top.map { "{\"value\":\($0.json),\"count\":\($0.count)\($0.isCut ? ",\"value_is_cut\":true" : "")}" }
    put(slots.top, .array, "[" + top.joined(separator: ",") + "]")
    if field.isTopEstimate { put(slots.topIsEstimate, .true, "") }
    batch.select(record)
  }
}
