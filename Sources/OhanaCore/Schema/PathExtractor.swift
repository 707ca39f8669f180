/// A path into a value that a stage wrote, or that is all a `keep` left of a record: readers follow paths of what they read only.
public struct PathExtraction: Sendable {
  /// Of the value the path begins at.
  var root: Int
  /// Behind the first one.
  var steps: [FieldName.Step]
  /// That gets what is found.
  var target: Int
}

/// Follows paths in values and points slots at what is there; missing where nothing is.
public struct PathExtractor: RowStage {
  private let extractions: [PathExtraction]

  /// - Parameter extractions: carried out in this order, so that one may go on from what another found.
  public init(_ extractions: [PathExtraction]) { self.extractions = extractions }

  public func process(_ batch: RecordBatch) -> StageTally {
    let scratch = ByteBuffer()
    for extraction in extractions {
      for index in 0..<batch.selectedCount {
        let record = Int(batch.selection[index])
        batch.fields[record &* batch.slotCount &+ extraction.target] = find(extraction, record, batch, scratch)
      }
    }
    return StageTally()
  }

  private func find(_ extraction: PathExtraction, _ record: Int, _ batch: RecordBatch, _ scratch: ByteBuffer) -> FieldSpan {
    var field = batch.field(extraction.root, of: record)
    let text = UnsafePointer(batch.arena.base)
    for step in extraction.steps {
      var found = FieldSpan.missing
      switch (step, field.kind) {
      case (.key(let key), .object):
        var members = JSONMembers(of: field, in: text)
        while let member = members.next() {
          if member.key(in: text, scratch: scratch).elementsEqual(key) { found = member.value }  // the last one wins
        }
      case (.index(var left), .array):
        var elements = JSONElements(of: field, in: text)
        while let element = elements.next() {
          if left == 0 {
            found = element
            break
          }
          left -= 1
        }
      default: break
      }
      field = found
    }
    field.key = 0
    field.flags = .overlay
    if field.kind.rawValue < ValueKind.number.rawValue { (field.offset, field.length) = (0, 0) }
    return field
  }
}
