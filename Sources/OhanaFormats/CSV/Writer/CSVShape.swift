internal import OhanaCore

/// How the members of an NDJSON record become columns: the layout's edits, by name.
struct CSVShape: Sendable {
  enum Target: Sendable {
    case removed
    /// Written under another name.
    case renamed([UInt8])
  }
  let layout: RecordLayout
  /// By the source's name: top-level keys, and dotted names of nested values.
  let edits: [[UInt8]: Target]
  /// Slots whose value, where a stage wrote one, goes under a name.
  let overlays: [RecordLayout.Entry]
  let sourceSlots: Set<Int>

  init(layout: RecordLayout, fields: [RecordSchema.SourceField]) {
    self.layout = layout
    sourceSlots = Set(fields.map(\.slot))
    var names: [Int: [UInt8]] = [:]
    for field in fields { names[field.slot] = field.name.whole }
    var edits: [[UInt8]: Target] = [:]
    for slot in layout.removed { if let name = names[slot] { edits[name] = .removed } }
    for entry in layout.renamed { if let name = names[entry.slot] { edits[name] = .renamed(entry.name) } }
    self.edits = edits
    overlays = layout.renamed + layout.entries
  }

  /// The column name of a source name; nil where it is removed.
  func column(_ name: [UInt8]) -> [UInt8]? {
    switch edits[name] {
    case nil: name
    case .removed?: nil
    case .renamed(let new)?: new
    }
  }
}

/// Walks the scalar and array leaves of a nested object, with their dotted names.
struct CSVFlattener {
  private let name = ByteBuffer(capacity: 128)
  private let key = ByteBuffer(capacity: 128)

  /// Calls `body` with each leaf under `prefix`, in order. Names are valid during the call. An empty object has no leaves.
  func walk(
    _ object: FieldSpan, prefix: UnsafeBufferPointer<UInt8>, in base: UnsafePointer<UInt8>,
    _ body: (_ name: UnsafeBufferPointer<UInt8>, _ value: FieldSpan) throws -> Void
  ) rethrows {
    name.removeAll()
    name.append(prefix)
    try descend(object, in: base, body)
  }

  private func descend(
    _ object: FieldSpan, in base: UnsafePointer<UInt8>, _ body: (UnsafeBufferPointer<UInt8>, FieldSpan) throws -> Void
  ) rethrows {
    var members = JSONMembers(of: object, in: base)
    let length = name.count
    while let member = members.next() {
      name.count = length
      name.append(UInt8(ascii: "."))
      name.append(member.key(in: base, scratch: key))
      if member.value.kind == .object { try descend(member.value, in: base, body) } else { try body(name.bytes, member.value) }
    }
    name.count = length
  }
}
