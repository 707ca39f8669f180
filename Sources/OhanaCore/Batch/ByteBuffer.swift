/// A growable run of raw bytes: the arena of a batch, and the text a writer makes.
///
/// Memory is malloc'ed and never shrinks by itself, so that a recycled buffer costs no new pages. There are always at least
/// ``padding`` readable bytes behind `count`, for kernels that load whole vectors. Growing moves `base`: hold offsets, not pointers,
/// across an append.
///
/// Not thread-safe: it belongs to one queue at a time, and travels with its batch.
public final class ByteBuffer: @unchecked Sendable {  // because it is handed over with its batch, never shared
  /// Readable bytes behind the capacity, in bytes: a vector load may run over the end.
  public static let padding = 64

  /// First byte. Valid for `capacity + padding` bytes until the next append or reserve.
  @exclusivity(unchecked) @usableFromInline private(set) final var storage: UnsafeMutablePointer<UInt8>
  /// Bytes in use.
  @exclusivity(unchecked) public final var count = 0
  /// Bytes that fit without growing; `padding` more are allocated.
  @exclusivity(unchecked) public private(set) final var capacity: Int

  /// - Parameter capacity: in bytes; nothing is allocated for 0.
  public init(capacity: Int = 0) {
    self.capacity = capacity
    storage = .allocate(capacity: capacity + Self.padding)
  }
  deinit { storage.deallocate() }

  /// First byte. Changes whenever the buffer grows: fetch it again behind every append.
  @inlinable public final var base: UnsafeMutablePointer<UInt8> {
    @inline(__always) get { storage }
  }

  /// The bytes in use, valid until the next append.
  @inlinable public final var bytes: UnsafeBufferPointer<UInt8> {
    @inline(__always) get { UnsafeBufferPointer(start: storage, count: count) }
  }

  /// Empties the buffer and keeps its memory.
  @inlinable @inline(__always) public final func removeAll() { count = 0 }

  /// Makes room for `extra` more bytes; growth at least doubles, so appends are amortised O(1).
  @inlinable @inline(__always) public final func reserve(_ extra: Int) {
    if count &+ extra > capacity { grow(to: count &+ extra) }
  }

  /// Makes room for `needed` bytes in all, at least twice what there was, so that appending costs O(1) a byte.
  @inline(never) public final func grow(to needed: Int) {
    let target = max(needed, capacity * 2, 4096)
    let new = UnsafeMutablePointer<UInt8>.allocate(capacity: target + Self.padding)
    new.update(from: storage, count: count)
    storage.deallocate()
    storage = new
    capacity = target
  }

  /// Gives memory beyond `limit` bytes back, and empties the buffer. Called when a batch is recycled after an unusually long record.
  public final func recycle(limit: Int) {
    count = 0
    guard capacity > limit else { return }
    storage.deallocate()
    capacity = limit
    storage = .allocate(capacity: limit + Self.padding)
  }

  @inlinable @inline(__always) public final func append(_ byte: UInt8) {
    reserve(1)
    storage[count] = byte
    count &+= 1
  }

  @inlinable @inline(__always) public final func append(_ start: UnsafePointer<UInt8>, count n: Int) {
    reserve(n)
    (storage + count).update(from: start, count: n)
    count &+= n
  }

  /// As ``append(_:count:)``, for bytes with 32 readable ones behind them, such as another buffer's: see ``copyBytes(from:to:count:)``.
  @inlinable @inline(__always) public final func appendPadded(_ start: UnsafePointer<UInt8>, count n: Int) {
    reserve(n)
    copyBytes(from: start, to: storage + count, count: n)
    count &+= n
  }

  @inlinable @inline(__always) public final func append(_ buffer: UnsafeBufferPointer<UInt8>) {
    if let start = buffer.baseAddress { append(start, count: buffer.count) }
  }

  @inlinable public final func append(_ text: StaticString) { append(text.utf8Start, count: text.utf8CodeUnitCount) }

  /// Not for hot paths: a `String` has to be made first.
  public final func append(string text: String) {
    var text = text
    text.withUTF8 { append($0) }
  }
}

/// A copy that does not branch on lengths up to 32, which nobody can predict: most fields are that short.
///
/// Reads up to 32 bytes from `start` whatever `n` is; so does it write. Both sides must have that room, which ``ByteBuffer/padding``
/// gives.
@inlinable @inline(__always)
public func copyBytes(from start: UnsafePointer<UInt8>, to target: UnsafeMutablePointer<UInt8>, count n: Int) {
  guard n <= 32 else { return target.update(from: start, count: n) }
  let source = UnsafeRawPointer(start)
  let head = source.loadUnaligned(as: SIMD16<UInt8>.self)
  let tail = source.loadUnaligned(fromByteOffset: 16, as: SIMD16<UInt8>.self)
  UnsafeMutableRawPointer(target).storeBytes(of: head, as: SIMD16<UInt8>.self)
  UnsafeMutableRawPointer(target).storeBytes(of: tail, toByteOffset: 16, as: SIMD16<UInt8>.self)
}
