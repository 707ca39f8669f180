/// Memory for evaluating expressions, kept from batch to batch. One piece of work at a time uses it: take it from an ``ExpressionScratchPool``.
public final class ExpressionScratch: @unchecked Sendable {  // because a pool lends it to one piece of work at a time
  /// Records evaluated at once: a column is 8 KiB, so that a few of them stay in the first-level cache.
  static let blockSize = 512
  /// Bytes of values that one block may make before it is evaluated in smaller blocks, and that one record may make at all.
  static let blockLimit = 16 << 20
  static let recordLimit = 256 << 20

  /// For functions: text of unknown length, see ``makeText(_:)``.
  public final let builder = ByteBuffer()
  /// For functions: a second one.
  public final let other = ByteBuffer()
  public final let text = TextScratch()

  final var batch: RecordBatch?
  final var limit = ExpressionScratch.blockLimit
  final var regexCache = RegularExpressionCache()
  private var arena = ValueArena()
  private var columns: [UnsafeMutablePointer<ExpressionValue>] = []
  private var rowLists: [UnsafeMutablePointer<UInt32>] = []

  /// Memory is taken when it is first needed.
  public init() {}
  deinit {
    for column in columns { column.deallocate() }
    for list in rowLists { list.deallocate() }
  }

  /// `count` bytes that stay where they are until the block is done.
  ///
  /// - Throws: `memory` if the block has made too many: it is then evaluated in smaller pieces, down to single records.
  @inline(__always)
  public final func allocate(_ count: Int) throws(OhanaError) -> UnsafeMutablePointer<UInt8> {
    if arena.used &+ count > limit { throw Self.tooLarge }
    return arena.allocate(count)
  }

  /// A value that holds a copy of what was appended to `builder`.
  @inline(__always)
  public final func makeText(_ builder: ByteBuffer, kind: ValueKind = .string) throws(OhanaError) -> ExpressionValue {
    let bytes = try allocate(builder.count)
    bytes.update(from: builder.base, count: builder.count)
    return ExpressionValue(kind, bytes, count: builder.count)
  }

  /// To be called while a builder grows by more than its input, so that it cannot swell.
  @inline(__always)
  public final func check(_ builder: ByteBuffer) throws(OhanaError) {
    if builder.count > limit { throw Self.tooLarge }
  }

  /// The text of a value: what `CAST(x AS TEXT)` gives. Nothing for null.
  @inline(__always)
  public final func textBytes(_ value: ExpressionValue) throws(OhanaError) -> UnsafeBufferPointer<UInt8> {
    value.isNested ? try compactBytes(value) : value.bytes
  }

  @inline(never)
  private final func compactBytes(_ value: ExpressionValue) throws(OhanaError) -> UnsafeBufferPointer<UInt8> {
    let compact = ByteBuffer(capacity: value.count)
    JSONScanner.appendCanonical(value.bytes, to: compact, scratch: text.words)
    return try makeText(compact).bytes
  }

  static let tooLarge = OhanaError(
    .memory, "value-too-large", "an expression makes more than \(recordLimit >> 20) MiB of text out of one record",
    fix: "leave such records out with a filter on length() first")

  // MARK: For nodes

  final func resetArena() {
    arena.reset()
    builder.recycle(limit: 1 << 20)
    other.recycle(limit: 1 << 20)
  }

  final func takeColumn() -> UnsafeMutablePointer<ExpressionValue> { columns.popLast() ?? .allocate(capacity: Self.blockSize) }
  final func giveBack(_ column: UnsafeMutablePointer<ExpressionValue>) { columns.append(column) }
  final func takeRows() -> UnsafeMutablePointer<UInt32> { rowLists.popLast() ?? .allocate(capacity: Self.blockSize) }
  final func giveBack(_ rows: UnsafeMutablePointer<UInt32>) { rowLists.append(rows) }
}

/// Bytes that never move: chunks that are handed out front to back and taken back all at once.
private struct ValueArena: ~Copyable {
  private static let chunkSize = 64 << 10
  private var chunks: [(base: UnsafeMutablePointer<UInt8>, capacity: Int)] = []
  private var current = -1
  private var next: UnsafeMutablePointer<UInt8>
  private var left = 0
  private(set) var used = 0

  /// Never written to while nothing is left.
  init() { next = UnsafeMutablePointer(mutating: StaticString("").utf8Start) }
  deinit { for chunk in chunks { chunk.base.deallocate() } }

  @inline(__always)
  mutating func allocate(_ count: Int) -> UnsafeMutablePointer<UInt8> {
    if count > left || current < 0 { advance(count) }
    let result = next
    next += count
    left &-= count
    used &+= count
    return result
  }

  @inline(never)
  private mutating func advance(_ count: Int) {
    while current + 1 < chunks.count {
      current += 1
      if chunks[current].capacity >= count {
        next = chunks[current].base
        left = chunks[current].capacity
        return
      }
    }
    let capacity = max(count, Self.chunkSize)
    // Room behind the end, for copies and loads of whole vectors.
    chunks.append((.allocate(capacity: capacity + ByteBuffer.padding), capacity))
    current = chunks.count - 1
    next = chunks[current].base
    left = capacity
  }

  mutating func reset() {
    // What one block needed is likely to be needed again, unless it was unusual.
    var kept = 0
    var bytes = 0
    while kept < chunks.count, bytes + chunks[kept].capacity <= 1 << 20 {
      bytes += chunks[kept].capacity
      kept += 1
    }
    for chunk in chunks[kept...] { chunk.base.deallocate() }
    chunks.removeLast(chunks.count - kept)
    current = -1
    left = 0
    used = 0
  }
}
