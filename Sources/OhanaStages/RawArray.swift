/// Raw growable memory for plain values, as ``RecordBatch`` uses it.
struct RawArray<Element: BitwiseCopyable>: ~Copyable {
  private(set) var base: UnsafeMutablePointer<Element>
  private(set) var capacity = 0

  init() { base = .allocate(capacity: 0) }
  deinit { base.deallocate() }

  /// Makes room for `count` elements, of which the first `used` are kept.
  @inline(__always)
  mutating func reserve(_ count: Int, used: Int) {
    if count > capacity { grow(count, used: used) }
  }

  @inline(never)
  private mutating func grow(_ count: Int, used: Int) {
    let target = max(count, capacity * 2, 64)
    let new = UnsafeMutablePointer<Element>.allocate(capacity: target)
    new.update(from: base, count: used)
    base.deallocate()
    base = new
    capacity = target
  }
}
