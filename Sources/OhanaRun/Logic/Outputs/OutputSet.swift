internal import OhanaCore
internal import OhanaEngine
internal import OhanaFormats
internal import Synchronization

/// All outputs of one run: opened before the first record, complete before the first of them appears, published together.
final class OutputSet: Checkpointable, Sendable {
  private struct State {
    var outputs: [RunOutput] = []
    var rejects: RunOutput?
  }
  private let checks: OutputChecks
  private let overwrites: Bool
  private let level: CompressionLevel
  private let workspace: GzipWorkspace
  /// Names the private files of all outputs.
  let names: TemporaryNames
  /// Nothing is opened: for looking at a plan.
  private let isDry: Bool
  private let state = Mutex(State())

  /// Opens nothing, whatever it is asked for.
  static func dry(_ options: RunOptions, pool: any WorkPool) throws -> OutputSet {
    try OutputSet(options, inputs: [], pool: pool, compressors: 1, isDry: true)
  }

  /// - Parameter compressors: blocks of one output compressed at once.
  init(
    _ options: RunOptions, inputs: [FilePath], pool: any WorkPool, compressors: Int, names: TemporaryNames = .random(), isDry: Bool = false
  ) throws {
    self.isDry = isDry
    self.names = names
    checks = OutputChecks(inputs: inputs, overwrites: options.overwrite)
    overwrites = options.overwrite
    level = try CompressionLevel(options.level, codec: options.useZlib ? .zlib : .fast)
    workspace = GzipWorkspace(level: level, pool: pool, blocksUnderWay: compressors)
  }

  /// Opens an output.
  ///
  /// - Parameters:
  ///   - table: the columns of CSV that grow while it is written; see ``widen(_:)``.
  ///   - header: what each file begins with; asked when the first record is written.
  /// - Throws: `usage` if it would destroy something, `io` if it cannot be written.
  func open(_ sink: SinkPlan, role: RunOutput.Role, table: CSVColumnTable? = nil, header: @escaping @Sendable () throws -> [UInt8]) throws
    -> RunOutput
  {
    let output: RunOutput
    switch sink.place {
    case .nowhere, .sink: preconditionFailure("nothing is opened for an output that goes nowhere")
    case .standardOutput: output = RunOutput(sink, role: role, file: try file("-", sink), header: header)
    case .file(let path): output = RunOutput(sink, role: role, file: try file(path, sink), header: header)
    case .chunks where isDry: output = RunOutput(sink, role: role, file: try file("/dev/null", sink), header: header)
    case .chunks(let pattern, let records):
      guard let name = try ChunkName(pattern) else { preconditionFailure("a chunked name has its placeholder") }
      let chunks = try ChunkedOutput(
        name, recordsPerChunk: records, checks: checks, overwrites: overwrites, gzip: sink.isCompressed ? workspace : nil, names: names
      ) { file in
        let text = try header()
        if !text.isEmpty { try text.withUnsafeBufferPointer { bytes throws(OhanaError) in try file.write(bytes) } }
      }
      output = RunOutput(sink, role: role, chunks: chunks, header: header)
    }
    output.table = table
    state.withLock { state in
      if role == .rejects { state.rejects = output } else { state.outputs.append(output) }
    }
    return output
  }

  // MARK: Checkpoints

  var canCheckpoint: Bool { !isDry && all.allSatisfy(\.canCheckpoint) }

  func save(to writer: CheckpointWriter) throws {
    try writer.put(all.count)
    for output in all { try output.save(to: writer) }
    for folder in folders { syncFolder(folder) }
  }

  func restore(from reader: CheckpointReader) throws {
    guard try reader.count() == all.count else { throw CheckpointReader.damaged }
    for output in all { try output.restore(from: reader) }
  }

  /// Private files in use, from the root.
  var temporaryPaths: Set<FilePath> { Set(all.flatMap(\.openTargets).compactMap { $0.temporaryPath?.absolute }) }

  /// Lets go of everything, and leaves the private files for a run that goes on with this one.
  func leave() { for output in all { output.leave() } }

  /// Folders that private files are in, from the root.
  var folders: Set<FilePath> {
    // Of a set of chunks, any may be a link to somewhere else.
    Set(all.flatMap { [OutputTarget.folder(of: $0.name)] + $0.openTargets.map { $0.temporaryPath?.absolute?.parent } }.compactMap { $0 })
  }

  /// Makes sure that a file written when all is over destroys nothing: the report, the manifest, the trace.
  func reserve(_ path: FilePath) throws {
    try checks.check(path)
    try OutputTarget.checkFolder(of: path)
  }

  /// Opens a file beside the outputs, that appears with them.
  func openBeside(_ path: FilePath) throws -> OutputTarget { try OutputTarget(path, overwrites: overwrites, names: names) }

  /// Nothing more will be read. - Throws: `badInput` if records that count cannot be written under the columns of one file.
  func settleColumns() throws(OhanaError) {
    for output in state.withLock({ $0.outputs }) { try output.table?.settle() }
  }

  /// Brings the rows of CSV outputs that were written before all columns were known to their full width.
  func widen(_ options: RunOptions) async throws {
    for output in state.withLock({ $0.outputs }) {
      guard let columns = output.table?.columns.names else { continue }
      let writing = WriterPlanner.csvOptions(options, sink: output.sink, role: output.role)
      try await output.widen(to: columns.count, head: writing.fileHead(columns), options: writing, useZlib: options.useZlib) {
        OutputFile(try OutputTarget(output.name, overwrites: overwrites, names: names), gzip: output.sink.isCompressed ? workspace : nil)
      }
    }
  }

  private func file(_ path: FilePath, _ sink: SinkPlan) throws -> OutputFile {
    if isDry { return OutputFile(try OutputTarget("/dev/null", overwrites: true)) }
    try checks.check(path)
    return OutputFile(try OutputTarget(path, overwrites: overwrites, names: names), gzip: sink.isCompressed ? workspace : nil)
  }

  /// Completes all outputs.
  func finish() async throws {
    for output in all { try await output.finish() }
  }

  /// The rejects behind the others.
  private var all: [RunOutput] { state.withLock { $0.outputs + ($0.rejects.map { [$0] } ?? []) } }

  /// Of a main output that is written in place; nil if it appears at the end.
  var recordsInPlace: Int? {
    all.first { $0.role == .main && $0.openTargets.allSatisfy { $0.isInPlace } }?.records
  }

  /// What there is, when everything is finished.
  var books: [RunBooks.Output] {
    all.flatMap(\.books)
  }

  /// What earlier sets of chunks left behind the last ones of these. - Throws: `usage` where nothing may be overwritten.
  func surplus() throws -> [PendingRemoval] { try all.flatMap { try $0.surplus() } }

  /// All files in the order in which they appear, when everything is finished. - Throws: `io` if they cannot be made durable.
  func files() throws -> [FinishedFile] { try all.flatMap { try $0.files() } }

  /// After a failure: the rejects appear all the same, the rest never does.
  func publishRejects() async throws {
    guard let rejects = state.withLock({ $0.rejects }) else { return }
    try await rejects.finish()
    try OutputTarget.publish(try rejects.files().map(\.target).filter { !$0.isPublished })
  }

  /// Leaves nothing of what is not published.
  func discard() {
    let (outputs, rejects) = state.withLock { ($0.outputs, $0.rejects) }
    for output in outputs { output.discard() }
    rejects?.discard()
  }
}
