public import OhanaCore

/// A post-processor that is a stage of the package under the name that a library's user looks for.
public protocol StageBacked: PostProcessor {
  /// What it does.
  var stage: any PlannedStage { get }
  /// Fields that it uses where there are any, and does not claim to exist.
  var optionalNames: [FieldName] { get }
}

extension StageBacked {
  /// As on the command line.
  public var text: String { stage.text }
  public var memoryClass: MemoryClass { stage.memoryClass }
  /// That of the stage.
  public var dropReason: String? { stage.dropReason }
  public var mayStopReading: Bool { stage.mayStopReading }
  public var sideOutputs: [FilePath] { stage.sideOutputs }
  public var makesRows: Bool { false }
  public var optionalNames: [FieldName] { [] }
  public func bind(_ schema: inout RecordSchema, _ context: StageContext) throws -> [StageStep] { try stage.bind(&schema, context) }
}
