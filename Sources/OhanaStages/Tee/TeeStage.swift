public import OhanaCore

/// `tee FILE`: writes what passes, and passes it on.
public struct TeeStage: PlannedStage {
  /// Where the records are written too; format and compression by name.
  public let path: FilePath
  /// - Parameter path: opened when the run begins, published with its main output.
  public init(path: FilePath) { self.path = path }

  public var text: String { "tee \(path)" }
  public var memoryClass: MemoryClass { .streaming }
  public var sideOutputs: [FilePath] { [path] }
  public var dropReason: String? { nil }

  public static func parse(arguments words: [String]) throws -> TeeStage {
    let arguments = try StageArguments(words, for: help)
    return TeeStage(path: FilePath(try arguments.single("FILE")))
  }

  public static let help = StageHelp(
    name: "tee", usage: "FILE", summary: "write what passes to a file, and pass it on",
    text: """
      The file gets every record that reaches this place, as it is here; format and compression follow its name. A limit behind it no longer \
      stops the reading.
      """,
    examples: [
      .init("ohana run in.ndjson -o clean.ndjson then dedupe --by email then tee unsorted.csv then sort last", "two results of one run")
    ],
    memoryClass: .streaming)

  public func bind(_ schema: inout RecordSchema, _ context: StageContext) throws -> [StageStep] { try context.openOutput(path, schema) }
}
