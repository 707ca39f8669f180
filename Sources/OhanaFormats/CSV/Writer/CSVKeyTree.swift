internal import OhanaCore

/// The keys met at one level of nested objects, by their spelling in the text. Each remembers which keys came with it last, so that a
/// record like the one before costs a comparison a key.
final class CSVKeyNode {
  struct Child {
    /// As spelled between the quotes.
    var raw: [UInt8]
    /// Decoded, from the record down.
    var path: [[UInt8]]
    /// Column of the value, -1 for none; meaning is the owner's.
    var column: Int
    /// Same number in the lister: the batch in which it was listed last.
    var mark = 0
    var node: CSVKeyNode?
  }

  var children: [Child] = []
  private var byRaw: [[UInt8]: Int] = [:]
  private let path: [[UInt8]]

  init(path: [[UInt8]]) { self.path = path }

  /// Index of the child spelled `raw`, made with `makeColumn` if it is new. `hint` is where it is expected.
  @inline(__always)
  func child(_ raw: UnsafeBufferPointer<UInt8>, _ encoding: TextEncoding, hint: Int, makeColumn: (_ path: [[UInt8]]) -> Int) -> Int {
    if hint < children.count, matches(hint, raw) { return hint }
    return find(raw, encoding, makeColumn)
  }

  @inline(never)
  private func find(_ raw: UnsafeBufferPointer<UInt8>, _ encoding: TextEncoding, _ makeColumn: (_ path: [[UInt8]]) -> Int) -> Int {
    if children.count <= 16 {
      for index in 0..<children.count where matches(index, raw) { return index }
    } else if let known = byRaw[Array(raw)] {
      return known
    }
    var name = Array(raw)
    if encoding == .json {
      let text = ByteBuffer()
      TextDecoding.appendJSON(raw, to: text)
      name = Array(text.bytes)
    }
    let path = path + [name]
    children.append(Child(raw: Array(raw), path: path, column: makeColumn(path)))
    byRaw[Array(raw)] = children.count - 1
    return children.count - 1
  }

  @inline(__always)
  private func matches(_ index: Int, _ raw: UnsafeBufferPointer<UInt8>) -> Bool {
    children[index].raw.withUnsafeBufferPointer {
      $0.count == raw.count && (raw.count == 0 || memcmp($0.baseAddress!, raw.baseAddress!, raw.count) == 0)
    }
  }

  /// The level below child `index`.
  func node(below index: Int) -> CSVKeyNode {
    if let node = children[index].node { return node }
    let node = CSVKeyNode(path: children[index].path)
    children[index].node = node
    return node
  }
}
