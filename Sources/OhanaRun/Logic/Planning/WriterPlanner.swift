internal import OhanaCore
internal import OhanaEngine
internal import OhanaFormats

/// The steps that render records and move them to an output.
struct WriterPlanner: Sendable {
  let source: RecordFormat
  let options: RunOptions
  let outputs: OutputSet

  /// Steps of an output for records of `schema`'s layout.
  ///
  /// - Parameters:
  ///   - columns: fixed columns of a CSV output; nil: the layout's, or those `tracker` finds.
  func steps(
    _ sink: SinkPlan, schema: RecordSchema, role: RunOutput.Role, tracker: ColumnTracker? = nil, columns: [[UInt8]]? = nil
  ) throws -> [StageStep] {
    if sink.place == .nowhere { return [.ordered(CountingStage())] }
    let layout = schema.layout
    let isLast = role == .main
    switch sink.format {
    case .ndjson:
      var rendering = NDJSONRenderer.Options()
      if isLast {
        rendering.unflattens = options.unflatten
        rendering.lists = Set(options.lists)
        if layout.followsSource, rendering != NDJSONRenderer.Options() {
          throw OhanaError(.usage, "needs-columns", "--unflatten and --lists are for records made of columns: CSV input, or behind 'keep'")
        }
      }
      let renderer = try NDJSONRenderer(layout: layout, source: source == .csv ? .columns : .ndjson, options: rendering)
      return [.row(renderer), .ordered(OutputStage(try outputs.open(sink, role: role, header: { [] }), isLast: isLast))]
    case .csv:
      throw OhanaError(.usage, "later", "CSV output comes later")
    }
  }
}
