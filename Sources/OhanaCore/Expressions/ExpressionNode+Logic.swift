/// AND and OR of any number of terms; a term is evaluated only for the records that are not decided yet.
final class JunctionNode: ExpressionNode, @unchecked Sendable {
  private let terms: [ExpressionNode]
  /// The truth that decides: false for AND, true for OR.
  private let deciding: Truth

  init(_ terms: [ExpressionNode], isAnd: Bool) {
    self.terms = terms
    deciding = isAnd ? .no : .yes
  }
  override var children: [ExpressionNode] { terms }

  override func evaluate(_ scratch: ExpressionScratch, _ rows: UnsafePointer<UInt32>, _ count: Int, _ out: Column) throws(OhanaError) {
    try terms[0].evaluate(scratch, rows, count, out)
    let open = scratch.takeRows()
    let places = scratch.takeRows()
    defer {
      scratch.giveBack(open)
      scratch.giveBack(places)
    }
    for index in 0..<count { out[index] = Truth(out[index]).value }
    for term in terms.dropFirst() {
      var left = 0
      for index in 0..<count where Truth(out[index]) != deciding {
        open[left] = rows[index]
        places[left] = UInt32(truncatingIfNeeded: index)
        left &+= 1
      }
      if left == 0 { return }
      try with(term, scratch, open, left) { column throws(OhanaError) in
        for index in 0..<left {
          let truth = Truth(column[index])
          let place = Int(places[index])
          // Undecided with unknown stays unknown; the other way round the unknown wins.
          if truth == deciding || truth == .unknown { out[place] = truth.value }
        }
      }
    }
  }
}

final class NotNode: ExpressionNode, @unchecked Sendable {
  private let term: ExpressionNode
  init(_ term: ExpressionNode) { self.term = term }
  override var children: [ExpressionNode] { [term] }

  override func evaluate(_ scratch: ExpressionScratch, _ rows: UnsafePointer<UInt32>, _ count: Int, _ out: Column) throws(OhanaError) {
    try term.evaluate(scratch, rows, count, out)
    for index in 0..<count {
      let truth = Truth(out[index])
      out[index] = truth == .unknown ? .null : .bool(truth == .no)
    }
  }
}

/// `IS [NOT] NULL`.
final class IsNullNode: ExpressionNode, @unchecked Sendable {
  private let term: ExpressionNode
  private let negated: Bool
  init(_ term: ExpressionNode, negated: Bool) {
    self.term = term
    self.negated = negated
  }
  override var children: [ExpressionNode] { [term] }

  override func evaluate(_ scratch: ExpressionScratch, _ rows: UnsafePointer<UInt32>, _ count: Int, _ out: Column) throws(OhanaError) {
    try term.evaluate(scratch, rows, count, out)
    for index in 0..<count { out[index] = .bool(out[index].isNull != negated) }
  }
}

/// `IS [NOT] TRUE`, `IS [NOT] FALSE`.
final class IsTruthNode: ExpressionNode, @unchecked Sendable {
  private let term: ExpressionNode
  private let truth: Truth
  private let negated: Bool
  init(_ term: ExpressionNode, _ truth: Truth, negated: Bool) {
    self.term = term
    self.truth = truth
    self.negated = negated
  }
  override var children: [ExpressionNode] { [term] }

  override func evaluate(_ scratch: ExpressionScratch, _ rows: UnsafePointer<UInt32>, _ count: Int, _ out: Column) throws(OhanaError) {
    try term.evaluate(scratch, rows, count, out)
    for index in 0..<count { out[index] = .bool((Truth(out[index]) == truth) != negated) }
  }
}

/// `CASE` with conditions, or with a subject that conditions are compared with. Each branch sees only the records left over.
final class CaseNode: ExpressionNode, @unchecked Sendable {
  private let subject: ExpressionNode?
  private let branches: [(condition: ExpressionNode, result: ExpressionNode)]
  private let otherwise: ExpressionNode?

  init(subject: ExpressionNode?, branches: [(condition: ExpressionNode, result: ExpressionNode)], otherwise: ExpressionNode?) {
    self.subject = subject
    self.branches = branches
    self.otherwise = otherwise
  }
  override var children: [ExpressionNode] {
    [subject, otherwise].compactMap { $0 } + branches.flatMap { [$0.condition, $0.result] }
  }

  override func evaluate(_ scratch: ExpressionScratch, _ rows: UnsafePointer<UInt32>, _ count: Int, _ out: Column) throws(OhanaError) {
    let subjects = scratch.takeColumn()
    let open = scratch.takeRows()
    let places = scratch.takeRows()
    let takenRows = scratch.takeRows()
    let takenPlaces = scratch.takeRows()
    defer {
      scratch.giveBack(subjects)
      for list in [open, places, takenRows, takenPlaces] { scratch.giveBack(list) }
    }
    if let subject { try subject.evaluate(scratch, rows, count, subjects) }
    var left = count
    for index in 0..<count {
      open[index] = rows[index]
      places[index] = UInt32(truncatingIfNeeded: index)
    }
    for branch in branches where left > 0 {
      var taken = 0
      try with(branch.condition, scratch, open, left) { column throws(OhanaError) in
        var kept = 0
        for index in 0..<left {
          let place = places[index]
          let isTaken =
            if subject != nil {
              try Comparison.order(subjects[Int(place)], column[index], scratch) == 0
            } else {
              Truth(column[index]) == .yes
            }
          if isTaken {
            takenRows[taken] = open[index]
            takenPlaces[taken] = place
            taken &+= 1
          } else {
            open[kept] = open[index]
            places[kept] = place
            kept &+= 1
          }
        }
        left = kept
      }
      try scatter(branch.result, scratch, takenRows, takenPlaces, taken, out)
    }
    if let otherwise {
      try scatter(otherwise, scratch, open, places, left, out)
    } else {
      for index in 0..<left { out[Int(places[index])] = .null }
    }
  }
}

/// The first value that is not null.
final class CoalesceNode: ExpressionNode, @unchecked Sendable {
  private let terms: [ExpressionNode]
  init(_ terms: [ExpressionNode]) { self.terms = terms }
  override var children: [ExpressionNode] { terms }

  override func evaluate(_ scratch: ExpressionScratch, _ rows: UnsafePointer<UInt32>, _ count: Int, _ out: Column) throws(OhanaError) {
    try terms[0].evaluate(scratch, rows, count, out)
    let open = scratch.takeRows()
    let places = scratch.takeRows()
    defer {
      scratch.giveBack(open)
      scratch.giveBack(places)
    }
    for term in terms.dropFirst() {
      var left = 0
      for index in 0..<count where out[index].isNull {
        open[left] = rows[index]
        places[left] = UInt32(truncatingIfNeeded: index)
        left &+= 1
      }
      try scatter(term, scratch, open, places, left, out)
    }
  }
}

extension ExpressionNode {
  /// Evaluates `node` for `count` records and puts the values at their places of `out`.
  @inline(__always)
  fileprivate final func scatter(
    _ node: ExpressionNode, _ scratch: ExpressionScratch, _ rows: UnsafePointer<UInt32>, _ places: UnsafePointer<UInt32>, _ count: Int,
    _ out: Column
  ) throws(OhanaError) {
    if count == 0 { return }
    try with(node, scratch, rows, count) { column throws(OhanaError) in
      for index in 0..<count { out[Int(places[index])] = column[index] }
    }
  }
}
