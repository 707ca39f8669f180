internal import OhanaCore
internal import OhanaFormats
internal import Synchronization

/// One output of a run, the main one or one beside it. Written by one ordered step.
final class RunOutput: @unchecked Sendable {  // because one ordered step writes it, and others look only when the pipeline is at rest
  enum Role: String, Sendable { case main, tee, duplicates, rejects }

  let sink: SinkPlan
  let role: Role
  private(set) var records = 0
  /// What a file begins with, known at the latest when the first record is written.
  private let header: @Sendable () -> [UInt8]
  private var hasHeader = false
  let writer: any RunWriter

  init(_ sink: SinkPlan, role: Role, writer: any RunWriter, header: @escaping @Sendable () -> [UInt8]) {
    self.sink = sink
    self.role = role
    self.writer = writer
    self.header = header
  }

  func write(_ batch: RecordBatch) throws {
    guard batch.outputCount > 0 else { return }
    try writeHeader()
    try writer.write(batch.output.bytes)
    records += batch.outputCount
  }

  /// Behind the last record: an output without records still has its header.
  func end() throws { try writeHeader() }

  private func writeHeader() throws {
    guard !hasHeader else { return }
    hasHeader = true
    let bytes = header()
    if !bytes.isEmpty { try bytes.withUnsafeBufferPointer { try writer.write($0) } }
  }
}

/// Where an output's bytes go.
protocol RunWriter: AnyObject, Sendable {
  func write(_ bytes: UnsafeBufferPointer<UInt8>) throws
}
