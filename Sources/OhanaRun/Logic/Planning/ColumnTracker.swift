internal import OhanaCore
internal import OhanaEngine
internal import OhanaFormats

final class ColumnTracker: Sendable {
  init(layout: RecordLayout) {}
  var steps: [StageStep] { [] }
}
