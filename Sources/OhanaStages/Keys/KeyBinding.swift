internal import OhanaCore

/// Finds or makes the slots that hold keys' values.
struct KeyBinding {
  /// Steps that fill the slots of expressions; they go in front of the stage's own.
  private(set) var steps: [StageStep] = []

  /// The slot with `source`'s value.
  ///
  /// - Throws: `usage` for a field that is not there and an expression that does not compile.
  mutating func slot(of source: KeySource, _ schema: inout RecordSchema, _ context: StageContext) throws -> Int {
    switch source {
    case .field(let name):
      let slot = try schema.slot(reading: name)
      schema.slotsRead.insert(slot)
      return slot
    case .expression(let text):
      let expression = try Expression(text, functions: .standard).bind(&schema)
      let slot = schema.newSlot()
      steps.append(.row(AssignStep([.init(slot: slot, expression: expression)], changesRecords: false)))
      return slot
    }
  }
}
