internal import OhanaCore

/// Finds or makes the slots that hold keys' values.
struct KeyBinding {
  /// Steps that fill the slots of expressions; they go in front of the stage's own.
  private(set) var steps: [StageStep] = []

  /// The slot with `source`'s value.
  ///
  /// - Throws: `usage` for a field that is not there and an expression that does not compile.
  mutating func slot(of source: KeySource, _ schema: inout RecordSchema) throws(OhanaError) -> Int {
    switch source {
    case .field(let name):
      let slot = try schema.slot(reading: name)
      schema.slotsRead.insert(slot)
      return slot
    case .expression(let text):
      let expression = try Expression(text, functions: .standard)
      if let field = expression.singleField { return try slot(of: .field(field), &schema) }
      let compiled = try expression.bind(&schema)
      let slot = schema.newSlot()
      steps.append(.row(AssignStep([.init(slot: slot, expression: compiled)], changesRecords: false)))
      return slot
    }
  }

  /// Equality keys, bound.
  mutating func parts(of keys: [EqualityKey], _ schema: inout RecordSchema) throws(OhanaError) -> [BoundEqualityKey] {
    var parts: [BoundEqualityKey] = []
    for key in keys { parts.append(BoundEqualityKey(slot: try slot(of: key.source, &schema), kind: key.kind)) }
    return parts
  }
}
