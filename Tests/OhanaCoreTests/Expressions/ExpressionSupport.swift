import OhanaCore
import OhanaTestSupport

/// Values of `text` for rows of named fields.
func evaluate(_ text: String, names: [String], rows: [[TestValue]]) throws -> [TestValue] {
  var schema = RecordSchema(columns: nil, optional: .all)
  let compiled = try Expression(text).bind(&schema)
  // Slots are given in the order of first use; the batch has to be laid out in that order.
  let fields = schema.sourceFields.sorted { $0.slot < $1.slot }.map(\.name.description)
  let laidOut = rows.map { row in fields.map { name in names.firstIndex(of: name).map { row[$0] } ?? .missing } }
  let batch = RecordBatch.make(laidOut, slotCount: max(fields.count, 1), names: fields.isEmpty ? nil : fields)
  var results: [TestValue] = []
  try compiled.evaluate(batch, ExpressionScratch()) { _, values throws(OhanaError) in
    for value in values { results.append(testValue(value)) }
  }
  return results
}

func testValue(_ value: ExpressionValue) -> TestValue {
  let text = String(decoding: value.bytes, as: UTF8.self)
  return switch value.kind {
  case .missing: .missing
  case .null: .null
  case .true: .bool(true)
  case .false: .bool(false)
  case .number: .number(text)
  case .string: .text(text)
  case .array, .object: .json(text)
  }
}

/// Value of an expression without fields, or of one row.
func evaluate(_ text: String, _ row: [String: TestValue] = [:]) throws -> TestValue {
  let names = row.keys.sorted()
  return try evaluate(text, names: names, rows: [names.map { row[$0]! }])[0]
}

/// The usage error of an expression, as one line.
func refusal(_ text: String) -> String {
  do {
    var schema = RecordSchema(columns: nil, optional: .all)
    _ = try Expression(text).bind(&schema)
    return "accepted"
  } catch {
    return error.category == .usage ? error.description : "not a usage error"
  }
}
