internal import OhanaCore
internal import OhanaEngine
internal import OhanaFormats

/// The steps that render records and move them to an output.
struct WriterPlanner: Sendable {
  let source: RecordFormat
  let options: RunOptions
  let outputs: OutputSet

  let inputs: [ProbedInput]
  /// What takes the records where the output is no file.
  let receiver: (any RecordSink)?

  /// Steps of an output for records of `schema`'s layout.
  ///
  /// - Parameters:
  ///   - collector: finds the columns of a CSV output made of NDJSON; nil where they are known or follow from the layout.
  ///   - columns: fixed columns of a CSV output.
  func steps(
    _ sink: SinkPlan, schema: RecordSchema, role: RunOutput.Role, collector: CSVColumnCollector? = nil, columns: [[UInt8]]? = nil
  ) throws -> [StageStep] {
    if sink.place == .nowhere { return [.ordered(CountingStage())] }
    let isLast = role == .main
    if sink.place == .sink {
      guard let receiver else { preconditionFailure("a sink was planned, and there is none") }
      let renderer = try NDJSONRenderer(
        layout: schema.layout, source: source == .csv ? .columns : .ndjson, options: try ndjsonOptions(schema, isLast: isLast))
      return [.row(renderer), .ordered(SinkStage(receiver))]
    }
    switch sink.format {
    case .ndjson:
      let renderer = try NDJSONRenderer(
        layout: schema.layout, source: source == .csv ? .columns : .ndjson, options: try ndjsonOptions(schema, isLast: isLast))
      return [.row(renderer), .ordered(OutputStage(try outputs.open(sink, role: role, header: { [] }), isLast: isLast))]
    case .csv:
      if !isLast, collector == nil, source == .ndjson, schema.layout.followsSource {
        throw OhanaError(
          .usage, "columns-unknown",
          "\(role.rawValue): the columns of NDJSON records are known only at the end, and what is written here cannot be mended then",
          fix: "name a .ndjson output or a regular file, or choose the fields with 'keep' before")
      }
      let writing = Self.csvOptions(options, sink: sink, role: role)
      let (renderer, header) = csvRenderer(schema, writing, isLast: isLast, collector: collector, columns: columns)
      let output = try outputs.open(sink, role: role, table: collector?.table) { writing.fileHead(try header()) }
      return [.row(renderer), .ordered(OutputStage(output, isLast: isLast))]
    }
  }

  /// Finds the columns of an output beside the main one that is CSV made of NDJSON; nil where they need not be found, or where rows
  /// cannot be mended behind the last record.
  func sideCollector(_ sink: SinkPlan, layout: RecordLayout) -> CSVColumnCollector? {
    guard source == .ndjson, sink.format == .csv, case .file(let path) = sink.place, !OutputTarget.isWrittenInPlace(path) else {
      return nil
    }
    return CSVColumnCollector(layout: layout, isMain: false)
  }

  /// How CSV is written; options speak of the main output only.
  static func csvOptions(_ options: RunOptions, sink: SinkPlan, role: RunOutput.Role) -> CSVWriterOptions {
    var writing = CSVWriterOptions(delimiter: sink.delimiter)
    guard role == .main else { return writing }
    writing.quotesAll = options.quoteAll
    writing.endsWithCRLF = options.crlf
    writing.hasByteOrderMark = options.bom
    writing.hasHeader = options.outHeader
    return writing
  }

  private func ndjsonOptions(_ schema: RecordSchema, isLast: Bool) throws -> NDJSONRenderer.Options {
    guard isLast else { return NDJSONRenderer.Options() }
    let rendering = NDJSONRenderer.Options(unflattens: options.unflatten, lists: Set(options.lists))
    if schema.layout.followsSource, rendering != NDJSONRenderer.Options() {
      throw OhanaError(.usage, "needs-columns", "--unflatten and --lists are for records made of columns: CSV input, or behind 'keep'")
    }
    for name in options.lists { try schema.requireOutput(FieldName(whole: name), option: "--lists") }
    return rendering
  }

  private func csvRenderer(
    _ schema: RecordSchema, _ writing: CSVWriterOptions, isLast: Bool, collector: CSVColumnCollector?, columns: [[UInt8]]?
  ) -> (renderer: CSVRenderer, header: @Sendable () throws -> [[UInt8]]) {
    let layout = schema.layout
    let names = layout.entries.map(\.name)
    if let columns, isLast {
      let renderer = CSVRenderer(layout: layout, fields: schema.sourceFields, columns: .fixed(columns), options: writing)
      return (renderer, { columns })
    }
    if let collector {
      let table = collector.table
      let renderer = CSVRenderer(
        layout: layout, fields: schema.sourceFields, columns: isLast ? .collected(table) : .growing(table), options: writing)
      return (
        renderer,
        {
          // Where no row is written before the columns are known, the header need not be one that can be mended.
          if isLast, !table.endsWhileWriting { try table.settle() }
          return table.columns.names
        }
      )
    }
    if layout.isSourceAsIs, let union = schema.columns {
      let dialect = inputs.lazy.compactMap(\.header).first?.dialect ?? CSVDialect()
      let renderer = CSVRenderer(
        layout: layout, fields: schema.sourceFields, columns: .layout, options: writing, source: (dialect, union.count))
      return (renderer, { union })
    }
    return (CSVRenderer(layout: layout, fields: schema.sourceFields, columns: .layout, options: writing), { names })
  }
}
