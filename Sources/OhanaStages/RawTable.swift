internal import CMalloc
internal import OhanaCore

/// Zeroed raw memory for a hash table. Large ones come straight from the system in huge pages, where it has them: a probe at random is a
/// miss in the page tables otherwise.
final class RawTable<Element: BitwiseCopyable> {
  private(set) var base: UnsafeMutablePointer<Element>
  private var byteCount: Int
  private var isMapped: Bool

  private static var leastMapped: Int { 4 << 20 }

  init(capacity: Int) {
    byteCount = capacity * MemoryLayout<Element>.stride
    (base, isMapped) = Self.memory(byteCount, capacity)
  }

  /// Adds zeroed elements at the end; the others keep their places in the table, which itself may move.
  func grow(to capacity: Int) {
    let size = capacity * MemoryLayout<Element>.stride
    precondition(size >= byteCount, "a table only grows")
    if isMapped, let moved = ohana_extend_mapping(base, byteCount, size) {
      Self.askForHugePages(moved, size)
      base = moved.bindMemory(to: Element.self, capacity: capacity)
    } else {
      let old = (base: base, byteCount: byteCount, isMapped: isMapped)
      (base, isMapped) = Self.memory(size, capacity)
      UnsafeMutableRawPointer(base).copyMemory(from: old.base, byteCount: old.byteCount)
      Self.release(old.base, old.byteCount, old.isMapped)
    }
    byteCount = size
  }

  private static func memory(_ byteCount: Int, _ capacity: Int) -> (UnsafeMutablePointer<Element>, isMapped: Bool) {
    if byteCount >= leastMapped,
      let mapped = mmap(nil, byteCount, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), mapped != MAP_FAILED
    {
      askForHugePages(mapped, byteCount)
      return (mapped.bindMemory(to: Element.self, capacity: capacity), true)
    }
    let raw = UnsafeMutableRawPointer.allocate(byteCount: max(byteCount, 1), alignment: 16)
    memset(raw, 0, byteCount)
    return (raw.bindMemory(to: Element.self, capacity: capacity), false)
  }

  private static func askForHugePages(_ memory: UnsafeMutableRawPointer, _ byteCount: Int) {
    #if os(Linux)
      madvise(memory, byteCount, Int32(MADV_HUGEPAGE))
    #endif
  }

  private static func release(_ base: UnsafeMutablePointer<Element>, _ byteCount: Int, _ isMapped: Bool) {
    if isMapped { munmap(base, byteCount) } else { UnsafeMutableRawPointer(base).deallocate() }
  }

  deinit { Self.release(base, byteCount, isMapped) }
}
