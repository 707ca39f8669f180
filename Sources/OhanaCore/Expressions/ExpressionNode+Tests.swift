internal import CXXHash

/// A comparison of two values.
final class CompareNode: ExpressionNode, @unchecked Sendable {
  private let comparison: ComparisonOperator
  private let left: ExpressionNode
  private let right: ExpressionNode
  init(_ comparison: ComparisonOperator, _ left: ExpressionNode, _ right: ExpressionNode) {
    self.comparison = comparison
    self.left = left
    self.right = right
  }
  override var children: [ExpressionNode] { [left, right] }

  override func evaluate(_ scratch: ExpressionScratch, _ rows: UnsafePointer<UInt32>, _ count: Int, _ out: Column) throws(OhanaError) {
    try left.evaluate(scratch, rows, count, out)
    if let constant = right.constant {
      for index in 0..<count { out[index] = try result(out[index], constant, scratch) }
      return
    }
    try with(right, scratch, rows, count) { column throws(OhanaError) in
      for index in 0..<count { out[index] = try result(out[index], column[index], scratch) }
    }
  }

  @inline(__always)
  private func result(_ a: ExpressionValue, _ b: ExpressionValue, _ scratch: ExpressionScratch) throws(OhanaError) -> ExpressionValue {
    let order = try Comparison.order(a, b, scratch)
    return order == Comparison.none ? .null : .bool(comparison.holds(order))
  }
}

/// `IS [NOT] DISTINCT FROM`: null is a value like others.
final class DistinctNode: ExpressionNode, @unchecked Sendable {
  private let left: ExpressionNode
  private let right: ExpressionNode
  private let negated: Bool
  init(_ left: ExpressionNode, _ right: ExpressionNode, negated: Bool) {
    self.left = left
    self.right = right
    self.negated = negated
  }
  override var children: [ExpressionNode] { [left, right] }

  override func evaluate(_ scratch: ExpressionScratch, _ rows: UnsafePointer<UInt32>, _ count: Int, _ out: Column) throws(OhanaError) {
    try left.evaluate(scratch, rows, count, out)
    try with(right, scratch, rows, count) { column throws(OhanaError) in
      for index in 0..<count {
        let isSame =
          if out[index].isNull || column[index].isNull {
            out[index].isNull && column[index].isNull
          } else {
            try Comparison.order(out[index], column[index], scratch) == 0
          }
        out[index] = .bool(isSame == negated)
      }
    }
  }
}

/// `[NOT] BETWEEN`: two comparisons joined by AND, the value evaluated once.
final class BetweenNode: ExpressionNode, @unchecked Sendable {
  private let value: ExpressionNode
  private let low: ExpressionNode
  private let high: ExpressionNode
  private let negated: Bool
  init(_ value: ExpressionNode, _ low: ExpressionNode, _ high: ExpressionNode, negated: Bool) {
    self.value = value
    self.low = low
    self.high = high
    self.negated = negated
  }
  override var children: [ExpressionNode] { [value, low, high] }

  override func evaluate(_ scratch: ExpressionScratch, _ rows: UnsafePointer<UInt32>, _ count: Int, _ out: Column) throws(OhanaError) {
    try value.evaluate(scratch, rows, count, out)
    try with(low, scratch, rows, count) { lows throws(OhanaError) in
      try with(high, scratch, rows, count) { highs throws(OhanaError) in
        for index in 0..<count {
          let low = try Comparison.order(out[index], lows[index], scratch)
          let high = try Comparison.order(out[index], highs[index], scratch)
          let isOutside = low != Comparison.none && low < 0 || high != Comparison.none && high > 0
          let isUnknown = !isOutside && (low == Comparison.none || high == Comparison.none)
          out[index] = isUnknown ? .null : .bool(isOutside == negated)
        }
      }
    }
  }
}

/// `[NOT] IN (…)`. A long list of constant texts is looked up by hash.
final class InNode: ExpressionNode, @unchecked Sendable {
  private let value: ExpressionNode
  private let items: [ExpressionNode]
  private let negated: Bool
  private let table: TextTable?

  init(_ value: ExpressionNode, _ items: [ExpressionNode], negated: Bool) {
    self.value = value
    self.items = items
    self.negated = negated
    let texts = items.compactMap { item in item.constant.flatMap { $0.kind == .string ? $0 : nil } }
    table = texts.count == items.count && items.count > 4 ? TextTable(texts) : nil
  }
  override var children: [ExpressionNode] { [value] + items }

  override func evaluate(_ scratch: ExpressionScratch, _ rows: UnsafePointer<UInt32>, _ count: Int, _ out: Column) throws(OhanaError) {
    try value.evaluate(scratch, rows, count, out)
    if let table {
      for index in 0..<count where out[index].kind == .string { out[index] = .bool(table.contains(out[index].bytes) != negated) }
      // The rest is rare: other kinds are converted item by item. What the table decided is a boolean now, so that the rest is told apart
      // by a list of its own.
      return try evaluateOthers(scratch, rows, count, out)
    }
    try evaluateEach(scratch, rows, count, out)
  }

  private func evaluateOthers(
    _ scratch: ExpressionScratch, _ rows: UnsafePointer<UInt32>, _ count: Int, _ out: Column
  ) throws(OhanaError) {
    try with(value, scratch, rows, count) { values throws(OhanaError) in
      for index in 0..<count where values[index].kind != .string {
        var truth = values[index].isNull ? Truth.unknown : .no
        for item in items where truth != .yes {
          let order = try Comparison.order(values[index], item.constant!, scratch)
          if order == Comparison.none { truth = .unknown } else if order == 0 { truth = .yes }
        }
        out[index] = truth == .unknown ? .null : .bool((truth == .yes) != negated)
      }
    }
  }

  private func evaluateEach(_ scratch: ExpressionScratch, _ rows: UnsafePointer<UInt32>, _ count: Int, _ out: Column) throws(OhanaError) {
    let truths = scratch.takeColumn()
    defer { scratch.giveBack(truths) }
    for index in 0..<count { truths[index] = out[index].isNull && !items.isEmpty ? .null : .bool(false) }
    for item in items {
      if let constant = item.constant {
        for index in 0..<count { try update(&truths[index], out[index], constant, scratch) }
      } else {
        try with(item, scratch, rows, count) { column throws(OhanaError) in
          for index in 0..<count { try update(&truths[index], out[index], column[index], scratch) }
        }
      }
    }
    for index in 0..<count { out[index] = truths[index].isNull ? .null : .bool((truths[index].kind == .true) != negated) }
  }

  @inline(__always)
  private func update(
    _ truth: inout ExpressionValue, _ value: ExpressionValue, _ item: ExpressionValue, _ scratch: ExpressionScratch
  ) throws(OhanaError) {
    if truth.kind == .true { return }
    let order = try Comparison.order(value, item, scratch)
    if order == Comparison.none { truth = .null } else if order == 0 { truth = .bool(true) }
  }
}

/// A fixed set of texts that belong to constants.
private struct TextTable: @unchecked Sendable {  // because its pointers belong to constants that live as long as the node
  private var slots: [ExpressionValue?]
  private let mask: Int

  init(_ texts: [ExpressionValue]) {
    var size = 16
    while size < texts.count * 2 { size *= 2 }
    mask = size - 1
    slots = [ExpressionValue?](repeating: nil, count: size)
    for text in texts where !contains(text.bytes) {
      var place = start(text.bytes)
      while slots[place] != nil { place = (place + 1) & mask }
      slots[place] = text
    }
  }

  private func start(_ text: UnsafeBufferPointer<UInt8>) -> Int {
    Int(truncatingIfNeeded: XXH3_64bits(text.baseAddress, text.count)) & mask
  }

  func contains(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
    var place = start(text)
    while let other = slots[place] {
      if other.count == text.count, Comparison.bytes(other.bytes, text) == 0 { return true }
      place = (place + 1) & mask
    }
    return false
  }
}

/// `[NOT] LIKE` and `ILIKE`.
final class LikeNode: ExpressionNode, @unchecked Sendable {
  private let value: ExpressionNode
  private let pattern: ExpressionNode
  private let escape: ExpressionNode?
  private let ignoresCase: Bool
  private let negated: Bool
  /// The pattern, where it is constant.
  private let prepared: LikePattern?

  init(_ value: ExpressionNode, pattern: ExpressionNode, escape: ExpressionNode?, ignoresCase: Bool, negated: Bool) throws(LikePattern
    .Fault)
  {
    self.value = value
    self.pattern = pattern
    self.escape = escape
    self.ignoresCase = ignoresCase
    self.negated = negated
    if let text = pattern.constant, !text.isNull, escape == nil || escape?.constant != nil {
      prepared = try Self.prepare(text.bytes, escape?.constant?.bytes, ignoresCase)
    } else {
      prepared = nil
    }
  }
  override var children: [ExpressionNode] { [value, pattern] + (escape.map { [$0] } ?? []) }

  private static func prepare(
    _ pattern: UnsafeBufferPointer<UInt8>, _ escape: UnsafeBufferPointer<UInt8>?, _ ignoresCase: Bool
  ) throws(LikePattern.Fault) -> LikePattern {
    let escape = escape.map { Array($0) } ?? []
    guard ignoresCase else { return try LikePattern(pattern, escape: escape) }
    let lowered = ByteBuffer()
    LikePattern.appendLowered(pattern, to: lowered)
    let loweredEscape = ByteBuffer()
    escape.withUnsafeBufferPointer { LikePattern.appendLowered($0, to: loweredEscape) }
    return try LikePattern(lowered.bytes, escape: Array(loweredEscape.bytes))
  }

  override func evaluate(_ scratch: ExpressionScratch, _ rows: UnsafePointer<UInt32>, _ count: Int, _ out: Column) throws(OhanaError) {
    try value.evaluate(scratch, rows, count, out)
    if let prepared {
      for index in 0..<count where !out[index].isNull { out[index] = .bool(try matches(prepared, out[index], scratch) != negated) }
      return
    }
    try with(pattern, scratch, rows, count) { patterns throws(OhanaError) in
      let escapes = scratch.takeColumn()
      defer { scratch.giveBack(escapes) }
      if let escape { try escape.evaluate(scratch, rows, count, escapes) }
      for index in 0..<count {
        let pattern = patterns[index]
        if out[index].isNull || pattern.isNull
          || escape != nil && (escapes[index].isNull || TextFunctions.codePoints(escapes[index].bytes) > 1)
        {
          out[index] = .null
          continue
        }
        let bytes = try scratch.textBytes(pattern)
        guard let prepared = try? Self.prepare(bytes, escape == nil ? nil : escapes[index].bytes, ignoresCase) else {
          out[index] = .null
          continue
        }
        out[index] = .bool(try matches(prepared, out[index], scratch) != negated)
      }
    }
  }

  @inline(__always)
  private func matches(_ pattern: LikePattern, _ value: ExpressionValue, _ scratch: ExpressionScratch) throws(OhanaError) -> Bool {
    let text = try scratch.textBytes(value)
    guard ignoresCase else { return pattern.matches(text) }
    scratch.builder.removeAll()
    LikePattern.appendLowered(text, to: scratch.builder)
    return pattern.matches(scratch.builder.bytes)
  }
}
