public import OhanaCore

/// One output, plain or as one gzip member, from the first byte to its appearance under its name.
///
/// Plain text goes to the descriptor in the calls' own pieces. Text to be compressed is copied into blocks of 1 MiB that the pool
/// compresses; failures of their writing surface at the next ``write(_:)`` or at the end. `write`, `finish` and `discard` come from one
/// piece of work at a time.
public final class OutputFile: Sendable {
  /// Where the bytes go, and how they get there.
  public let target: OutputTarget
  private let gzip: GzipPipeline?

  /// - Parameter gzip: what gzip outputs share; nil writes plain text.
  public init(_ target: OutputTarget, gzip workspace: GzipWorkspace? = nil) {
    self.target = target
    gzip = workspace.map { GzipPipeline($0) { bytes throws(OhanaError) in try target.write(bytes) } }
  }

  /// The name under which it is published.
  public var path: FilePath { target.path }

  /// Adds bytes, which are the caller's again when it returns. Waits for the disk or pipe, or for a block that another thread is
  /// compressing at that moment; never for work that is only queued.
  ///
  /// - Throws: `io`, see ``OutputTarget/write(_:)``.
  public func write(_ bytes: UnsafeBufferPointer<UInt8>) throws(OhanaError) {
    if let gzip { try gzip.append(bytes) } else { try target.write(UnsafeRawBufferPointer(bytes)) }
  }

  /// Writes what is left, syncs and closes the file; nothing appears yet. Waits like ``write(_:)``, so that it may be called within a
  /// pool's own work.
  ///
  /// - Parameter syncs: see ``OutputTarget/complete(syncs:)``.
  public func finish(syncs: Bool = true) throws(OhanaError) {
    if let gzip { try gzip.finish() }
    try target.complete(syncs: syncs)
  }

  /// As ``finish(syncs:)``, without waiting for other threads: `completion` is called once, with the first failure, by whoever writes
  /// the last byte. That may be this thread, before the call returns.
  public func finish(syncs: Bool = true, completion: @escaping @Sendable (OhanaError?) -> Void) {
    guard let gzip else {
      completion(closing(nil, syncs: syncs))
      return
    }
    gzip.finish { [self] error in completion(closing(error, syncs: syncs)) }
  }

  private func closing(_ error: OhanaError?, syncs: Bool) -> OhanaError? {
    if let error { return error }
    do throws(OhanaError) {
      try target.complete(syncs: syncs)
      return nil
    } catch {
      return error
    }
  }

  /// Another process can go on with it.
  public var canCheckpoint: Bool { target.canCheckpoint }

  /// Writes down where the file stands, once all text that makes a whole block is in it.
  public func save(to writer: CheckpointWriter) throws {
    try gzip?.rest()
    try target.save(to: writer)
    try gzip?.save(to: writer)
  }

  /// Goes on with the file of an earlier process.
  public func restore(from reader: CheckpointReader) throws {
    try target.restore(from: reader)
    try gzip?.restore(from: reader)
  }

  /// Lets the finished file appear; see ``OutputTarget/publish(_:)`` for many.
  public func publish() throws(OhanaError) { try OutputTarget.publish([target]) }

  /// Leaves nothing of an output that is not published. The file's name is gone on return; threads that still compress let go of the
  /// rest. May be called at any time, and again.
  public func discard() {
    target.unlinkTemporary()
    if let gzip { gzip.abort { [target] in target.discard() } } else { target.discard() }
  }

  /// Lets go of the file, and leaves it under its private name if a checkpoint names it. As ``discard()`` otherwise.
  public func leave() {
    guard target.isNamed else { return discard() }
    if let gzip { gzip.abort { [target] in target.leave() } } else { target.leave() }
  }
}
