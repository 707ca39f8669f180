internal import OhanaCore

/// Zeroed raw memory for a hash table. Large ones come straight from the system in huge pages, where it has them: a probe at random is a
/// miss in the page tables otherwise.
final class RawTable<Element: BitwiseCopyable> {
  let base: UnsafeMutablePointer<Element>
  private let byteCount: Int
  private let isMapped: Bool

  init(capacity: Int) {
    byteCount = capacity * MemoryLayout<Element>.stride
    if byteCount >= 4 << 20,
      let mapped = mmap(nil, byteCount, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), mapped != MAP_FAILED
    {
      #if os(Linux)
        madvise(mapped, byteCount, Int32(MADV_HUGEPAGE))
      #endif
      base = mapped.bindMemory(to: Element.self, capacity: capacity)
      isMapped = true
    } else {
      let raw = UnsafeMutableRawPointer.allocate(byteCount: max(byteCount, 1), alignment: 16)
      memset(raw, 0, byteCount)
      base = raw.bindMemory(to: Element.self, capacity: capacity)
      isMapped = false
    }
  }

  deinit {
    if isMapped { munmap(base, byteCount) } else { UnsafeMutableRawPointer(base).deallocate() }
  }
}
