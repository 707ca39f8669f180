internal import Synchronization

/// An expression of SQL's scalar language, parsed: names are not looked up yet.
///
/// See `ohana help functions` for the language. Where engines differ it answers as DuckDB does; what has no value (an overflow, a division by
/// zero, a failed cast) is null.
public struct Expression: Sendable {
  /// As written.
  public let text: String
  private let syntax: ExpressionSyntax

  /// - Throws: `usage`/`bad-expression` with the column and what was expected there.
  public init(_ text: String, functions: FunctionRegistry = .core) throws(OhanaError) {
    self.text = text
    syntax = try ExpressionParser.parse(text, functions)
  }

  /// The field, where the expression is just a name.
  public var singleField: FieldName? {
    if case .field(let name, _) = syntax { name } else { nil }
  }

  /// Looks its names up in `schema` and prepares it for evaluation.
  ///
  /// - Throws: `usage` for a name that is in no input, and for constant arguments that a function refuses.
  public func bind(_ schema: inout RecordSchema) throws(OhanaError) -> CompiledExpression {
    var bound = schema
    let compiler = ExpressionCompiler(text: text) { name throws(OhanaError) in try bound.slot(reading: name) }
    let node = try compiler.compile(syntax)
    schema = bound
    return CompiledExpression(text: text, node: node)
  }
}

/// An expression bound to slots. Immutable: any number of threads may evaluate it, each with a scratch of its own.
public struct CompiledExpression: Sendable {
  public let text: String
  let node: ExpressionNode

  /// Evaluates the expression for the selected records of a batch, in blocks.
  ///
  /// - Parameter body: gets the position in the selection of the block's first record, and one value per record. The values are valid until
  ///   it returns, and only as long as nothing is appended to the batch's arena. It may shorten the selection up to the end of the block.
  /// - Throws: `memory` if one record's values are too large to hold, whatever `body` throws.
  public func evaluate(
    _ batch: RecordBatch, _ scratch: ExpressionScratch,
    _ body: (_ first: Int, _ values: UnsafeMutableBufferPointer<ExpressionValue>) throws(OhanaError) -> Void
  ) throws(OhanaError) {
    scratch.batch = batch
    let column = scratch.takeColumn()
    defer {
      scratch.giveBack(column)
      scratch.resetArena()
      scratch.batch = nil
    }
    let total = batch.selectedCount
    var first = 0
    var size = ExpressionScratch.blockSize
    while first < total {
      let count = min(size, total - first)
      scratch.limit = count == 1 ? ExpressionScratch.recordLimit : ExpressionScratch.blockLimit
      do throws(OhanaError) {
        try node.evaluate(scratch, batch.selection + first, count, column)
      } catch {
        // Only what a single record needs may decide whether it fits: not the records around it.
        guard error.category == .memory, count > 1 else { throw error }
        scratch.resetArena()
        size = max(1, count / 8)
        continue
      }
      try body(first, UnsafeMutableBufferPointer(start: column, count: count))
      scratch.resetArena()
      first += count
    }
  }

  /// Keeps the selected records for which the expression is true; null is not true. Returns how many it dropped.
  public func filter(_ batch: RecordBatch, _ scratch: ExpressionScratch) throws(OhanaError) -> Int {
    let total = batch.selectedCount
    var kept = 0
    try evaluate(batch, scratch) { first, values throws(OhanaError) in
      let selection = batch.selection
      for index in 0..<values.count {
        selection[kept] = selection[first &+ index]
        kept &+= Truth(values[index]) == .yes ? 1 : 0
      }
    }
    batch.selectedCount = kept
    return total - kept
  }
}

/// Scratch memory for row stages, which run on several threads at once: a batch borrows one for its time.
public final class ExpressionScratchPool: Sendable {
  private let free = Mutex<[ExpressionScratch]>([])

  /// Empty; a scratch is made for each piece of work that finds none free.
  public init() {}

  /// Lends a scratch to `body`; it must not be kept. One lock when it is taken, one when it is put back.
  public func with<R>(_ body: (ExpressionScratch) throws(OhanaError) -> R) throws(OhanaError) -> R {
    let scratch = free.withLock { $0.popLast() } ?? ExpressionScratch()
    defer { free.withLock { $0.append(scratch) } }
    return try body(scratch)
  }
}
