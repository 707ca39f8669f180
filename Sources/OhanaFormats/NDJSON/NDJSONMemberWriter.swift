internal import OhanaCore

/// Writes records of an explicit layout: the fields asked for and nothing else, as compact JSON objects.
struct NDJSONMemberWriter: Sendable {
  /// One step of writing a record; objects of `--unflatten` are opened and closed between their members.
  private struct Step: Sendable {
    enum Action: Sendable { case field, list, open, close }
    var action: Action
    var slot = 0
    /// Where `,"name":` stands in `names`; `open` has its brace too.
    var name = 0
    var nameLength = 0
  }

  private let steps: [Step]
  private let names: NDJSONNameTable
  private let isNDJSON: Bool

  init(_ entries: [RecordLayout.Entry], source: NDJSONRenderer.Source, options: NDJSONRenderer.Options) throws {
    isNDJSON = source == .ndjson
    let names = NDJSONNameTable()
    var tree = NameTree()
    for entry in entries {
      let path = options.unflattens ? Self.path(entry.name) : [entry.name]
      guard tree.insert(path, slot: entry.slot, isList: options.lists.contains(entry.name)) else {
        throw OhanaError(
          .usage, "name-conflict", field: String(decoding: entry.name, as: UTF8.self),
          "--unflatten would make one name of the output both a value and an object", fix: "rename or drop one of the two fields")
      }
    }
    var steps: [Step] = []
    // What is still to be written of each open object, its next member last; -1 closes one.
    var open = Array(tree.nodes[0].children.reversed())
    while let number = open.popLast() {
      guard number >= 0 else {
        steps.append(Step(action: .close))
        continue
      }
      let node = tree.nodes[number]
      let (name, length) = names.add(node.name, opensObject: !node.children.isEmpty)
      if node.children.isEmpty {
        steps.append(Step(action: node.isList ? .list : .field, slot: node.slot, name: name, nameLength: length))
      } else {
        steps.append(Step(action: .open, name: name, nameLength: length))
        open.append(-1)
        open += node.children.reversed()
      }
    }
    self.steps = steps
    self.names = names
  }

  /// A name as the keys of nested objects; whole where a key would be empty.
  private static func path(_ name: [UInt8]) -> [[UInt8]] {
    let keys = name.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).map(Array.init)
    return keys.contains { $0.isEmpty } ? [name] : keys
  }

  /// Names as keys of objects within objects, in one list: the input decides how deep they go.
  private struct NameTree {
    struct Node {
      var name: [UInt8] = []
      var slot = 0
      var isList = false
      var children: [Int] = []
    }
    private(set) var nodes = [Node()]
    /// By key and node above.
    private var children: [[UInt8]: [Int: Int]] = [:]

    /// False if the name is taken by a value where an object is needed, or the other way round.
    mutating func insert(_ path: [[UInt8]], slot: Int, isList: Bool) -> Bool {
      var place = 0
      for (index, key) in path.enumerated() {
        let isLeaf = index == path.count - 1
        if let known = children[key]?[place] {
          if isLeaf || nodes[known].children.isEmpty { return false }
          place = known
          continue
        }
        nodes[place].children.append(nodes.count)
        children[key, default: [:]][place] = nodes.count
        place = nodes.count
        nodes.append(Node(name: key, slot: slot, isList: isList))
      }
      return true
    }
  }

  func write(_ batch: RecordBatch) {
    let base = UnsafePointer(batch.arena.base)
    let keys = UnsafePointer(names.bytes.base)
    let slotCount = batch.slotCount
    let fields = batch.fields
    let selection = batch.selection
    let isNDJSON = isNDJSON
    let scratch = ByteBuffer()
    var out = OutputCursor(batch.output)
    steps.withUnsafeBufferPointer { steps in
      for index in 0..<batch.selectedCount {
        let row = fields + Int(selection[index]) &* slotCount
        out.append(UInt8(ascii: "{"))
        var needsComma = false
        var step = 0
        while step < steps.count {
          let current = steps[step]
          step &+= 1
          switch current.action {
          case .close:
            out.append(UInt8(ascii: "}"))
            needsComma = true
          case .open:
            // An object none of whose fields is there is not there either.
            let (isEmpty, end) = skipEmptyObject(steps, from: step, row)
            if isEmpty {
              step = end
            } else {
              out.append(keys + (current.name + (needsComma ? 0 : 1)), current.nameLength - (needsComma ? 0 : 1))
              needsComma = false
            }
          case .field, .list:
            let cell = row + current.slot
            if cell.pointee.kind == .missing { continue }
            let length = Int(cell.pointee.length)
            let skipped = needsComma ? 0 : 1
            // One look at the room for name, quotes and a value that needs no escapes.
            out.reserve(current.nameLength &+ length &+ 2)
            out.appendReserved(keys + (current.name &+ skipped), current.nameLength &- skipped)
            needsComma = true
            if current.action == .list {
              writeList(cell.pointee, batch, scratch, &out)
            } else if cell.pointee.kind == .string, cell.pointee.encoding == .plain, !isNDJSON {
              out.appendReserved(UInt8(ascii: "\""))
              out.appendEscaped(base + Int(cell.pointee.offset), length)
              out.append(UInt8(ascii: "\""))
            } else {
              Self.writeValue(cell.pointee, base, isNDJSON, &out, scratch)
            }
          }
        }
        out.append(UInt8(ascii: "}"))
        out.append(0x0a)
      }
    }
    out.finish()
  }

  private func skipEmptyObject(
    _ steps: UnsafeBufferPointer<Step>, from start: Int, _ row: UnsafePointer<FieldSpan>
  ) -> (isEmpty: Bool, end: Int) {
    var depth = 1
    var step = start
    var isEmpty = true
    while depth > 0 {
      switch steps[step].action {
      case .open: depth += 1
      case .close: depth -= 1
      case .field, .list: if row[steps[step].slot].kind != .missing { isEmpty = false }
      }
      step += 1
    }
    return (isEmpty, step)
  }

  /// Writes one value. Text that a reader found in JSON needs no look: it has been written without escapes before.
  static func writeValue(
    _ span: FieldSpan, _ base: UnsafePointer<UInt8>, _ isNDJSON: Bool, _ out: inout OutputCursor, _ scratch: ByteBuffer
  ) {
    let start = base + Int(span.offset)
    let length = Int(span.length)
    switch span.kind {
    case .string:
      out.append(UInt8(ascii: "\""))
      let isJSON =
        span.encoding == .json || isNDJSON && span.encoding == .plain && span.flags.intersection([.inSource, .overlay]) == .inSource
      if isJSON {
        out.append(start, length)
      } else if span.encoding == .plain {
        out.appendEscaped(start, length)
      } else {
        scratch.removeAll()
        TextDecoding.appendCSV(UnsafeBufferPointer(start: start, count: length), to: scratch)
        out.appendEscaped(scratch.base, scratch.count)
      }
      out.append(UInt8(ascii: "\""))
    case .number, .array, .object: out.append(start, length)
    case .true, .false, .null, .missing: out.appendLiteral(span.kind)
    }
  }

  /// Text cut at semicolons; nothing, null or empty, is an empty list, as the CSV writer writes one.
  private func writeList(_ span: FieldSpan, _ batch: RecordBatch, _ scratch: ByteBuffer, _ out: inout OutputCursor) {
    switch span.kind {
    case .array, .object: return Self.writeValue(span, batch.arena.base, isNDJSON, &out, scratch)
    default: break
    }
    scratch.removeAll()
    let text = batch.text(of: span, scratch: scratch)
    if let range = ListText.array(in: text) {
      out.withBuffer { JSONScanner.appendCompact(UnsafeBufferPointer(rebasing: text[range]), to: $0) }
      return
    }
    out.append(UInt8(ascii: "["))
    var start = 0
    for index in 0...text.count where text.count > 0 {
      guard index == text.count || text[index] == UInt8(ascii: ";") else { continue }
      if start > 0 { out.append(UInt8(ascii: ",")) }
      out.append(UInt8(ascii: "\""))
      out.appendEscaped(text.baseAddress! + start, index - start)
      out.append(UInt8(ascii: "\""))
      start = index + 1
    }
    out.append(UInt8(ascii: "]"))
  }
}

/// `,"name":` for every key a writer writes, end to end. Written before the first record, only read after.
final class NDJSONNameTable: @unchecked Sendable {  // because it is never changed once its owner is made
  let bytes = ByteBuffer()

  /// Returns where `,"name":` stands, behind it `{` if asked for.
  func add(_ name: [UInt8], opensObject: Bool) -> (offset: Int, length: Int) {
    let offset = bytes.count
    bytes.append(UInt8(ascii: ","))
    name.withUnsafeBufferPointer { JSONEscaping.appendQuoted($0, to: bytes) }
    bytes.append(UInt8(ascii: ":"))
    if opensObject { bytes.append(UInt8(ascii: "{")) }
    return (offset, bytes.count - offset)
  }
}
