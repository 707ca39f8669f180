public import OhanaCore

/// Rewrites values in a normal form.
public struct NormalizeStage: PlannedStage {
  public static let help = StageHelp(
    name: "normalize", usage: "F[:KIND],… [--into NAME]", summary: "rewrite values in a normal form",
    text: """
      Rewrites the texts of the fields named, in place: 'space' (the default) trims white space and makes its runs one blank; 'email' trims and \
      lower-cases an address, 'email/provider' also drops what gmail.com ignores; 'name' folds a name, drops punctuation and titles and turns \
      'Last, First'; 'phone' and 'phone/REGION' write E.164; 'fold' drops case and accents; 'lower', 'upper', 'nfc' and 'nfkc' do what they say. The texts are those that keys of the same \
      kinds compare. A text that has no such form (an address without @, no phone number) stays as it is, and so do values that are no text.
      """,
    options: [
      .init("--into", "NAME", "write the result into this field and leave the first one alone; null where there is no normal form")
    ],
    examples: [
      .init("ohana normalize email:email,first,last contacts.csv", "addresses, and names without stray blanks"),
      .init("ohana normalize full_name:name --into name_key contacts.ndjson", "a key beside the name"),
    ], memoryClass: .streaming)

  /// A field and what its values become.
  public struct Target: Sendable {
    /// The field.
    public var name: FieldName
    /// The form its values take.
    public var form: NormalForm
    /// The kind as written.
    public var word: String
    /// - Parameter word: the form as it was written.
    public init(name: FieldName, form: NormalForm, word: String) {
      self.name = name
      self.form = form
      self.word = word
    }
  }

  /// At least one.
  public let targets: [Target]
  /// Gets the normal form, while the field itself stays; nil: the field is rewritten.
  public let into: FieldName?

  /// - Precondition: `into` only with a single target.
  public init(_ targets: [Target], into: FieldName? = nil) {
    precondition(into == nil || targets.count == 1, "one field at most can be normalized into another")
    self.targets = targets
    self.into = into
  }

  /// - Parameter arguments: the words after `normalize`.
  public static func parse(arguments: [String]) throws(OhanaError) -> NormalizeStage {
    let arguments = try StageArguments(arguments, for: help)
    var targets: [Target] = []
    for list in arguments.positionals {
      for item in try ArgumentList.split(list, what: "normalize") {
        let (head, kinds) = try ArgumentList.suffixes(item, what: "normalize")
        if kinds.count > 1 { throw arguments.problem("bad-list", "'\(item)' has more than one kind", fix: "normalize it twice") }
        let name = try ArgumentList.field(head, what: "normalize")
        do {
          targets.append(Target(name: name, form: try NormalForm(parsing: kinds.first ?? "space"), word: kinds.first ?? "space"))
        } catch {
          throw arguments.problem(error.code, error.problem, fix: error.fix)
        }
      }
    }
    if targets.isEmpty { throw arguments.problem("missing-argument", "no field is named", fix: "write normalize email:email") }
    var into: FieldName?
    if let name = arguments.value("--into") {
      if targets.count > 1 {
        throw arguments.problem("bad-value", "--into takes one field, not \(targets.count)", fix: "use one stage for each")
      }
      into = try ArgumentList.field(name, what: "normalize --into")
    }
    return NormalizeStage(targets, into: into)
  }

  public var text: String {
    "normalize " + targets.map { "\($0.name):\($0.word)" }.joined(separator: ",") + (into.map { " --into \($0)" } ?? "")
  }
  public var memoryClass: MemoryClass { .streaming }
  public var dropReason: String? { nil }

  public func bind(_ schema: inout RecordSchema, _ context: StageContext) throws -> [StageStep] {
    var bound: [NormalizeStep.Target] = []
    for target in targets {
      if let into {
        let source = try schema.slot(reading: target.name)
        bound.append(.init(source: source, target: try schema.slot(writing: into), form: target.form))
      } else {
        let slot = try schema.slot(rewriting: target.name)
        bound.append(.init(source: slot, target: slot, form: target.form))
      }
    }
    return [.row(NormalizeStep(targets: bound))]
  }
}

private struct NormalizeStep: RowStage {
  struct Target: Sendable {
    var source: Int
    var target: Int
    var form: NormalForm
  }
  final class Scratch: @unchecked Sendable {  // because the pool lends it to one piece of work at a time
    let text = TextScratch()
    let result = ByteBuffer()
  }
  let targets: [Target]
  let scratch = ScratchPool { Scratch() }

  func process(_ batch: RecordBatch) throws -> StageTally {
    let scratch = scratch.take()
    defer {
      scratch.result.recycle(limit: 1 << 20)
      self.scratch.give(scratch)
    }
    for target in targets {
      for index in 0..<batch.selectedCount { try rewrite(target, of: Int(batch.selection[index]), batch, scratch) }
    }
    return StageTally()
  }

  @inline(__always)
  private func rewrite(_ target: Target, of record: Int, _ batch: RecordBatch, _ scratch: Scratch) throws {
    let field = batch.field(target.source, of: record)
    let isCopy = target.source != target.target
    guard field.kind == .string else {
      if isCopy { batch.overlay(target.target, of: record, offset: 0, length: 0, kind: .null, inPlace: false) }
      return
    }
    let text = batch.text(of: field, scratch: scratch.text.decoded)
    let result = scratch.result
    result.removeAll()
    guard target.form.append(text, to: result, scratch: scratch.text) else {
      if isCopy { batch.overlay(target.target, of: record, offset: 0, length: 0, kind: .null, inPlace: false) }
      return
    }
    // What is normal already keeps its own bytes.
    if !isCopy, result.count == text.count, result.bytes.elementsEqual(text) { return }
    guard batch.arena.count + result.count <= Int(UInt32.max) - ByteBuffer.padding else {
      throw OhanaError(
        .memory, "batch-too-large", "normalize: the values of one batch are larger than 4 GiB together", fix: "make smaller values")
    }
    let offset = batch.arena.count
    batch.arena.append(result.bytes)
    batch.overlay(target.target, of: record, offset: offset, length: result.count, kind: .string, inPlace: !isCopy)
  }
}
