internal import OhanaCore
internal import OhanaFormats

/// Reads a second input whole, beside the stream: a suppression list. Not for large results: `body` sees one batch at a time and nothing
/// is kept.
struct ListReader: Sendable {
  let inputs: any InputManaging
  let options: RunOptions

  /// - Parameters:
  ///   - fields: names of the columns wanted, in the order of the slots `body` sees. A CSV list of one column is read by that column,
  ///     whatever its name; where it has not the name asked for, it may have no header at all, and its first line counts as a value too.
  ///     nil: the only column.
  /// - Throws: `usage` if the list has no such column, `badInput` for the first record that cannot be read.
  /// - Returns: how many records, or values, there were.
  func read(_ path: FilePath, fields: [FieldName]?, _ body: (RecordBatch) throws -> Void) throws -> Int {
    // The list's dialect is its own: what was said of the inputs says nothing of it.
    var own = RunOptions()
    own.maxRecord = options.maxRecord
    (own.useZlib, own.readRetries) = (options.useZlib, options.readRetries)
    let input = try inputs.probe(path, options: own)
    if input.isEmpty { return 0 }
    let names = try names(fields, of: input)
    var schema = RecordSchema(columns: input.header?.columns, optional: .names([]))
    schema.beginStage("the list \(path)")
    for name in names { _ = try schema.slot(reading: name) }
    let stream = try input.open ?? inputs.openText(path, options: own).stream
    let framer: any RecordFramer
    let parser: any RowStage
    var foundFields: (() -> [Bool])?
    switch input.format {
    case .ndjson:
      framer = NDJSONFramer(stream, maxRecordBytes: own.maxRecord)
      let ndjson = NDJSONParser(fields: schema.sourceFields, maxRecordBytes: own.maxRecord)
      foundFields = { ndjson.foundFields }
      parser = ndjson
    case .csv:
      framer = CSVFramer(stream: stream, header: input.header!)
      parser = CSVParser(fields: schema.sourceFields, slotCount: schema.slotCount, marksVerbatim: false)
    }
    let batch = RecordBatch()
    var values = 0
    if let columns = input.header?.columns, columns.count == 1, fields?.first?.whole != columns[0] {
      batch.slotCount = schema.slotCount
      try body(Self.onlyValue(columns[0], in: batch, slot: schema.sourceFields[0].slot))
      values = 1
    }
    var line = 0
    var count = 0
    while true {
      batch.recycle(limit: 1 << 20)
      batch.slotCount = schema.slotCount
      guard try framer.next(into: batch) else { break }
      _ = try parser.process(batch)
      if let reject = batch.rejects.first {
        throw OhanaError(
          .badInput, reject.reason.rawValue, at: .init(path, line: line + reject.line + 1, byte: reject.column), reject.detail,
          fix: "mend the list")
      }
      line += batch.lineCount
      count += batch.recordCount
      try body(batch)
    }
    if let fault = stream.fault { throw fault }
    if count > 0, let found = foundFields?(), let missing = zip(names, found).first(where: { !$0.1 })?.0 {
      throw OhanaError(.usage, "unknown-field", at: .init(path), field: missing.description, "no record of the list has this field")
    }
    return values + count
  }

  /// A batch of one record of one value.
  private static func onlyValue(_ value: [UInt8], in batch: RecordBatch, slot: Int) -> RecordBatch {
    let length = UInt32(value.count)
    value.withUnsafeBufferPointer { batch.arena.append($0) }
    let record = batch.appendRecord(RecordSpan(offset: 0, length: length))
    batch.fields[record * batch.slotCount + slot] = FieldSpan(length: length, kind: .string)
    batch.selectAll()
    return batch
  }

  private func names(_ fields: [FieldName]?, of input: ProbedInput) throws -> [FieldName] {
    guard let columns = input.header?.columns else {
      guard let fields else {
        throw OhanaError(
          .usage, "missing-field", at: .init(input.path), "an NDJSON list needs a named key", fix: "key by a field of the list")
      }
      return fields
    }
    guard let fields else {
      guard columns.count == 1 else {
        throw OhanaError(
          .usage, "ambiguous-list", at: .init(input.path), "the list has \(columns.count) columns",
          fix: "key by the name of one of them: " + RecordSchema.suggestion(for: [], among: columns))
      }
      return [FieldName(whole: columns[0])]
    }
    if columns.count == 1, fields.count == 1 { return [FieldName(whole: columns[0])] }
    return fields
  }
}
