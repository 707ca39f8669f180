internal import OhanaCore

/// Copies records' own bytes, a line feed behind each: those that lie one behind the other with a line feed between as one run.
struct RecordRun {
  private let base: UnsafePointer<UInt8>
  private var start = 0
  /// Behind the last record of the run.
  private var end = 0

  @inline(__always) init(_ base: UnsafePointer<UInt8>) { self.base = base }

  @inline(__always)
  mutating func add(_ span: RecordSpan, to out: inout OutputCursor) {
    let offset = Int(span.offset)
    if end == start || offset != end &+ 1 || base[end] != 0x0a {
      copy(to: &out)
      start = offset
    }
    end = offset &+ Int(span.length)
  }

  /// Writes what has been added.
  @inline(__always)
  mutating func end(_ out: inout OutputCursor) {
    copy(to: &out)
    start = 0
    end = 0
  }

  @inline(__always)
  private func copy(to out: inout OutputCursor) {
    guard end > start else { return }
    out.append(base + start, end &- start)
    out.append(0x0a)
  }
}
