internal import OhanaCore
internal import OhanaEngine
internal import OhanaFormats
internal import Synchronization

final class PlainWriter: RunWriter, @unchecked Sendable {
  let fd: Int32
  init(_ fd: Int32) { self.fd = fd }
  func write(_ bytes: UnsafeBufferPointer<UInt8>) throws { _ = OhanaCore.write(fd, bytes.baseAddress!, bytes.count) }
}
final class OutputSet: @unchecked Sendable {
  init(_ request: RunRequest, inputs: [FilePath], scheduler: WorkScheduler) throws {}
  func open(_ sink: SinkPlan, role: RunOutput.Role, header: @escaping @Sendable () -> [UInt8]) throws -> RunOutput {
    var fd: Int32 = 1
    if case .file(let path) = sink.place { fd = path.withCString { OhanaCore.open($0, O_WRONLY | O_CREAT | O_TRUNC, 0o644) } }
    return RunOutput(sink, role: role, writer: PlainWriter(fd), header: header)
  }
  func rejectWriter(_ options: RunOptions) throws -> (@Sendable (FilePath, RecordBatch, Reject) throws -> Void)? { nil }
  func finish() async throws {}
  func publish() throws -> [RunBooks.Output] { [] }
  func publishRejects() async throws {}
  func discard() {}
}
struct FileSpillStore2 {}
