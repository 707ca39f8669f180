internal import OhanaCore

/// Collects items one by one, for work that is ordered from the start, and hands them to a sorter as sorted runs.
final class RunBuilder {
  private let items = ByteBuffer()
  private let sorted = ByteBuffer()
  private var sorter = KeySorter()
  private var starts = RawArray<Int>()
  private var count = 0

  /// Of the items collected.
  var byteCount: Int { items.count }

  /// Adds an item; `payload` appends what it carries.
  func append(key: UnsafeRawBufferPointer, payload: (ByteBuffer) -> Void) {
    let start = items.count
    let keySize = max(SortItem.prefixSize, key.count)
    items.reserve(SortItem.headerSize + keySize)
    let item = UnsafeMutableRawPointer(items.base + start)
    item.storeBytes(of: UInt32(truncatingIfNeeded: key.count), toByteOffset: 4, as: UInt32.self)
    item.storeBytes(of: 0, toByteOffset: 8, as: UInt64.self)
    item.storeBytes(of: 0, toByteOffset: 16, as: UInt64.self)
    UnsafeMutableRawBufferPointer(start: item + SortItem.headerSize, count: key.count).copyMemory(from: key)
    items.count += SortItem.headerSize + keySize
    payload(items)
    UnsafeMutableRawPointer(items.base + start).storeBytes(of: UInt32(truncatingIfNeeded: items.count - start), as: UInt32.self)
    starts.reserve(count + 1, used: count)
    starts.base[count] = start
    count += 1
  }

  func flush(to target: ExternalSorter) throws {
    let count = self.count
    guard count > 0 else { return }
    finish()
    try target.add(sorted.base, byteCount: sorted.count, count: count)
    sorted.recycle(limit: 1 << 18)
  }

  /// Appends all items, in order, to `target`, and forgets them. Returns their number.
  func flush(to target: ByteBuffer) -> Int {
    let count = self.count
    guard count > 0 else { return 0 }
    finish()
    target.append(sorted.bytes)
    sorted.recycle(limit: 1 << 18)
    return count
  }

  /// Moves the items, sorted, to where they are taken from.
  private func finish() {
    sorter.removeAll()
    sorter.reserve(count)
    for index in 0..<count {
      let start = starts.base[index]
      sorter.append(
        keys: items.base, offset: start + SortItem.headerSize, length: SortItem.keyLength(items.base + start), place: index, record: index)
    }
    sorter.sort(keys: items.base, laterFirst: false)
    sorted.removeAll()
    sorted.reserve(items.count)
    for index in 0..<count {
      let item = items.base + starts.base[Int(sorter.base[index].record)]
      sorted.append(item, count: SortItem.size(item))
    }
    items.recycle(limit: 1 << 18)
    count = 0
  }
}
