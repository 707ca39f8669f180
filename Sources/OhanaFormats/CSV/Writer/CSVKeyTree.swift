internal import OhanaCore

/// The keys met in nested objects, level by level, by their spelling in the text.
///
/// A level is a number, ``top`` that of the records themselves. Levels lie in one list and know the one above them, so that neither a walk
/// nor an end of life is as deep as the objects: input decides how deep those are.
final class CSVKeyTree {
  static let top = 0

  private(set) var levels: [CSVKeyLevel]
  /// Keys at all levels.
  private(set) var count = 0
  /// Column of a new key's value, by its path; -1 for none.
  private let makeColumn: (_ path: [[UInt8]]) -> Int

  init(makeColumn: @escaping (_ path: [[UInt8]]) -> Int = { _ in -1 }) {
    self.makeColumn = makeColumn
    levels = [CSVKeyLevel(above: -1, child: -1)]
  }

  /// Index in `level` of the key spelled `raw`, added if it is new. `hint` is where it is expected.
  @inline(__always)
  func child(of level: CSVKeyLevel, _ raw: UnsafeBufferPointer<UInt8>, _ encoding: TextEncoding, hint: Int) -> Int {
    if hint < level.children.count, level.matches(hint, raw) { return hint }
    return find(level, raw, encoding)
  }

  /// The same by a decoded name: kept under that name as spelling, which is what unescaped keys have.
  func child(of level: CSVKeyLevel, decoded name: [UInt8], hint: Int = 0) -> Int {
    name.withUnsafeBufferPointer { child(of: level, $0, .plain, hint: hint) }
  }

  @inline(never)
  private func find(_ level: CSVKeyLevel, _ raw: UnsafeBufferPointer<UInt8>, _ encoding: TextEncoding) -> Int {
    if let known = level.index(of: raw) { return known }
    var name = Array(raw)
    if encoding == .json {
      let text = ByteBuffer()
      TextDecoding.appendJSON(raw, to: text)
      name = Array(text.bytes)
    }
    let child = level.append(raw: Array(raw), name: name)
    count += 1
    level.children[child].column = makeColumn(path(level, child))
    return child
  }

  /// The level below a key.
  func level(below child: Int, of level: CSVKeyLevel) -> CSVKeyLevel {
    let known = level.children[child].below
    if known >= 0 { return levels[known] }
    let below = CSVKeyLevel(above: level.number, child: child)
    below.number = levels.count
    level.children[child].below = below.number
    levels.append(below)
    return below
  }

  /// The keys that lead to a value, decoded, from the record down.
  func path(_ level: CSVKeyLevel, _ child: Int) -> [[UInt8]] {
    var path = [level.children[child].name]
    var level = level
    while level.above >= 0 {
      let above = levels[level.above]
      path.append(above.children[level.child].name)
      level = above
    }
    path.reverse()
    return path
  }
}

/// The keys of one level. Each remembers which keys came with it last, so that a record like the one before costs a comparison a key.
final class CSVKeyLevel {
  struct Child {
    /// As spelled between the quotes.
    var raw: [UInt8]
    /// Decoded.
    var name: [UInt8]
    /// Column of the value, -1 for none.
    var column = -1
    /// The lister's: the batch in which it was listed last.
    var mark = 0
    /// Number of the level below, -1 for none so far.
    var below = -1
  }

  var children: [Child] = []
  /// Number in the tree; those of the level and of the key above, -1 for none.
  fileprivate(set) var number = CSVKeyTree.top
  fileprivate let above: Int
  fileprivate let child: Int
  private var byRaw: [[UInt8]: Int] = [:]

  fileprivate init(above: Int, child: Int) {
    self.above = above
    self.child = child
  }

  fileprivate func append(raw: [UInt8], name: [UInt8]) -> Int {
    children.append(Child(raw: raw, name: name))
    byRaw[raw] = children.count - 1
    return children.count - 1
  }

  fileprivate func index(of raw: UnsafeBufferPointer<UInt8>) -> Int? {
    if children.count > 16 { return byRaw[Array(raw)] }
    for index in 0..<children.count where matches(index, raw) { return index }
    return nil
  }

  @inline(__always)
  fileprivate func matches(_ index: Int, _ raw: UnsafeBufferPointer<UInt8>) -> Bool {
    children[index].raw.withUnsafeBufferPointer {
      $0.count == raw.count && (raw.count == 0 || memcmp($0.baseAddress!, raw.baseAddress!, raw.count) == 0)
    }
  }
}

/// Walks an object's values and those of the objects in it, depth first, in the order of the text.
///
/// An object comes before what it holds; ``skip()`` leaves that out. Costs no allocation but for objects within objects.
struct CSVObjectWalk {
  struct Value {
    let span: FieldSpan
    /// Where its key is, and the key's index there.
    let level: CSVKeyLevel
    let child: Int
    /// Objects around it.
    let depth: UInt16
  }

  private let tree: CSVKeyTree
  private let base: UnsafePointer<UInt8>
  private var members: JSONMembers
  private var level: CSVKeyLevel
  /// Where the next key is expected.
  private var place = 0
  private var outer: [(members: JSONMembers, level: CSVKeyLevel, place: Int)] = []
  /// The object that came last, if it has not been entered.
  private var pending: FieldSpan?
  private let depth: UInt16

  /// - Parameters:
  ///   - span: an object; `level` is that of its keys.
  ///   - depth: of its values.
  init(_ span: FieldSpan, at level: CSVKeyLevel, of tree: CSVKeyTree, in base: UnsafePointer<UInt8>, depth: UInt16 = 1) {
    self.tree = tree
    self.base = base
    self.level = level
    self.depth = depth
    members = JSONMembers(of: span, in: base)
  }

  mutating func next() -> Value? {
    if let object = pending {
      pending = nil
      outer.append((members, level, place))
      level = tree.level(below: place - 1, of: level)
      members = JSONMembers(of: object, in: base)
      place = 0
    }
    while true {
      if let member = members.next() {
        let child = tree.child(of: level, member.rawKey(in: base), member.keyEncoding, hint: place)
        place = child + 1
        if member.value.kind == .object { pending = member.value }
        return Value(span: member.value, level: level, child: child, depth: depth &+ UInt16(truncatingIfNeeded: outer.count))
      }
      guard let last = outer.popLast() else { return nil }
      (members, level, place) = last
    }
  }

  /// The keys that lead to a value, from the record down.
  func path(of value: Value) -> [[UInt8]] { tree.path(value.level, value.child) }

  /// Does not enter the object that came last.
  mutating func skip() { pending = nil }
}
