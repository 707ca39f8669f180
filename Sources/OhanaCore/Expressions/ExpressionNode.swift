/// A compiled expression's piece: makes one value for each record of a block. Immutable, so that many threads may run it.
class ExpressionNode: @unchecked Sendable {  // because nothing in a node changes after it is made
  typealias Column = UnsafeMutablePointer<ExpressionValue>

  /// The value, where it is the same for every record.
  var constant: ExpressionValue? { nil }
  /// Nodes it reads.
  var children: [ExpressionNode] { [] }

  /// Fills `out[0..<count]` for the records `rows[0..<count]` of the scratch's batch; `count` is at most ``ExpressionScratch/blockSize``.
  func evaluate(_ scratch: ExpressionScratch, _ rows: UnsafePointer<UInt32>, _ count: Int, _ out: Column) throws(OhanaError) {
    preconditionFailure("a node has to say how it is evaluated")
  }

  /// Evaluates `node` into a column lent for `body`.
  @inline(__always)
  final func with(
    _ node: ExpressionNode, _ scratch: ExpressionScratch, _ rows: UnsafePointer<UInt32>, _ count: Int,
    _ body: (Column) throws(OhanaError) -> Void
  ) throws(OhanaError) {
    let column = scratch.takeColumn()
    defer { scratch.giveBack(column) }
    try node.evaluate(scratch, rows, count, column)
    try body(column)
  }
}

final class ConstantNode: ExpressionNode, @unchecked Sendable {
  private let value: ExpressionValue
  private let memory: UnsafeMutablePointer<UInt8>

  init(_ value: ExpressionValue) {
    // Padded like every buffer, and never empty.
    memory = .allocate(capacity: value.count + ByteBuffer.padding)
    memory.update(from: value.base, count: value.count)
    var own = value
    own.base = UnsafePointer(memory)
    if value.kind == .missing { own.kind = .null }
    self.value = own
  }
  static func make(_ kind: ValueKind, _ bytes: [UInt8]) -> ConstantNode {
    bytes.withUnsafeBufferPointer { ConstantNode(ExpressionValue(kind, $0)) }
  }
  deinit { memory.deallocate() }

  override var constant: ExpressionValue? { value }

  override func evaluate(_ scratch: ExpressionScratch, _ rows: UnsafePointer<UInt32>, _ count: Int, _ out: Column) throws(OhanaError) {
    out.update(repeating: value, count: count)
  }
}

/// A field of the record.
final class FieldNode: ExpressionNode, @unchecked Sendable {
  let slot: Int
  init(slot: Int) { self.slot = slot }

  override func evaluate(_ scratch: ExpressionScratch, _ rows: UnsafePointer<UInt32>, _ count: Int, _ out: Column) throws(OhanaError) {
    let batch = scratch.batch!
    let fields = batch.fields + slot
    let slotCount = batch.slotCount
    let arena = UnsafePointer(batch.arena.base)
    for index in 0..<count {
      let span = fields[Int(rows[index]) &* slotCount]
      if span.kind.rawValue >= ValueKind.number.rawValue && span.encoding == .plain {
        out[index] = ExpressionValue(span.kind, arena + Int(span.offset), count: Int(span.length))
      } else {
        out[index] = try decoded(span, batch, scratch)
      }
    }
  }

  @inline(never)
  private func decoded(_ span: FieldSpan, _ batch: RecordBatch, _ scratch: ExpressionScratch) throws(OhanaError) -> ExpressionValue {
    switch span.kind {
    case .missing, .null: return .null
    case .true: return .bool(true)
    case .false: return .bool(false)
    default:
      let text = batch.text(of: span, scratch: scratch.builder)
      let copy = try scratch.allocate(text.count)
      if let base = text.baseAddress { copy.update(from: base, count: text.count) }
      return ExpressionValue(.string, copy, count: text.count)
    }
  }
}

/// A function call.
final class CallNode: ExpressionNode, @unchecked Sendable {
  private let arguments: [ExpressionNode]
  private let body: ExpressionFunction.Body

  init(_ arguments: [ExpressionNode], _ body: @escaping ExpressionFunction.Body) {
    self.arguments = arguments
    self.body = body
  }
  override var children: [ExpressionNode] { arguments }

  override func evaluate(_ scratch: ExpressionScratch, _ rows: UnsafePointer<UInt32>, _ count: Int, _ out: Column) throws(OhanaError) {
    let columns = UnsafeMutablePointer<Column>.allocate(capacity: arguments.count + 1)
    var taken = 0
    defer {
      for index in 0..<taken { scratch.giveBack(columns[index]) }
      columns.deallocate()
    }
    for argument in arguments {
      columns[taken] = scratch.takeColumn()
      taken += 1
      try argument.evaluate(scratch, rows, count, columns[taken - 1])
    }
    try body(FunctionFrame(count: count, argumentCount: arguments.count, scratch: scratch, out: out, columns: columns))
  }
}

/// `a || b || …`: null if any part is.
final class JoinNode: ExpressionNode, @unchecked Sendable {
  private let parts: [ExpressionNode]
  init(_ parts: [ExpressionNode]) { self.parts = parts }
  override var children: [ExpressionNode] { parts }

  override func evaluate(_ scratch: ExpressionScratch, _ rows: UnsafePointer<UInt32>, _ count: Int, _ out: Column) throws(OhanaError) {
    let columns = UnsafeMutablePointer<Column>.allocate(capacity: parts.count)
    var taken = 0
    defer {
      for index in 0..<taken { scratch.giveBack(columns[index]) }
      columns.deallocate()
    }
    for part in parts {
      columns[taken] = scratch.takeColumn()
      taken += 1
      try part.evaluate(scratch, rows, count, columns[taken - 1])
    }
    for index in 0..<count {
      var length = 0
      var hasNull = false
      for part in 0..<taken {
        let value = columns[part][index]
        hasNull = hasNull || value.isNull
        if value.isNested { columns[part][index] = ExpressionValue(.string, try scratch.textBytes(value)) }
        length &+= columns[part][index].count
      }
      if hasNull {
        out[index] = .null
        continue
      }
      let text = try scratch.allocate(length)
      var end = text
      for part in 0..<taken {
        let value = columns[part][index]
        end.update(from: value.base, count: value.count)
        end += value.count
      }
      out[index] = ExpressionValue(.string, text, count: length)
    }
  }
}
