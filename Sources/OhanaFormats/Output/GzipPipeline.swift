internal import Dispatch
internal import OhanaCore

/// Packs text into one gzip member on all threads of a pool.
///
/// ```
/// append ─ block of 1 MiB ─ pending ─┬─ a thread of the pool compresses ─┬─ ready ─ whoever completes the next one in order writes
///                                    └─ so does the caller, at the limit ┘
/// ```
/// Blocks are cut without regard to calls, so the output depends on the text alone. Nobody waits for work that is only queued: a caller
/// that has to wait compresses pending blocks itself, and then waits, if at all, for what another thread is compressing or writing at that
/// moment. At most ``GzipWorkspace/blocksUnderWay`` blocks are held, and one being filled.
final class GzipPipeline: Sendable {
  private let workspace: GzipWorkspace
  private let output: @Sendable (UnsafeRawBufferPointer) throws(OhanaError) -> Void
  private let state = Locked(GzipPipelineState())
  private let current = CurrentBlock()

  /// The block being filled; outside the lock, since it is the caller's alone.
  private final class CurrentBlock: @unchecked Sendable {  // because append and finish come from one piece of work at a time
    var text: ByteBuffer?
    var number = 0
  }

  /// - Parameter output: writes bytes; called by one thread at a time, in order, and not after a failure.
  init(_ workspace: GzipWorkspace, output: @escaping @Sendable (UnsafeRawBufferPointer) throws(OhanaError) -> Void) {
    self.workspace = workspace
    self.output = output
  }

  // MARK: The caller's side

  /// Adds text; copies it. - Throws: the first failure of a write so far.
  func append(_ bytes: UnsafeBufferPointer<UInt8>) throws(OhanaError) {
    if let failure = state.withLock({ $0.failure }) { throw failure }
    var rest = bytes
    while let start = rest.baseAddress, !rest.isEmpty {
      let text = current.text ?? workspace.takeText()
      current.text = text
      let count = min(rest.count, BlockCompressor.blockSize - text.count)
      text.append(start, count: count)
      rest = UnsafeBufferPointer(rebasing: rest[count...])
      if text.count == BlockCompressor.blockSize {
        submitCurrent()
        try waitForRoom()
      }
    }
  }

  /// Compresses the rest and ends the member. `completion` is called once, by whoever writes the last byte or, after a failure, lets go
  /// last; that may be this thread, before the call returns.
  func finish(completion: @escaping @Sendable (OhanaError?) -> Void) {
    submitCurrent()
    state.withLock { $0.close(completion) }
    writeReady()
  }

  /// Ends the member, helps with the blocks nobody has begun, and waits for those in hand. - Throws: the first failure.
  func finish() throws(OhanaError) {
    let outcome = FinishOutcome()
    finish { outcome.set($0) }
    while state.withLock({ $0.hasPending }) { compressNext() }
    if let error = outcome.wait() { throw error }
  }

  // MARK: Checkpoints

  /// Helps until every whole block is written. - Throws: the first failure.
  func rest() throws(OhanaError) {
    while true {
      switch state.withLock({ $0.room(limit: 0) }) {
      case .open: return
      case .failed(let error): throw error
      case .help: compressNext()
      case .wait(let change): change.wait()
      }
    }
  }

  /// The block being filled, and what the trailer will say of those before. At rest only.
  func save(to writer: CheckpointWriter) throws {
    try writer.put(current.number)
    try current.text.map { try writer.put($0) } ?? writer.put([])
    try state.withLock { try $0.save(to: writer) }
  }

  func restore(from reader: CheckpointReader) throws {
    current.number = try reader.count()
    let text = workspace.takeText()
    try reader.bytes(to: text)
    guard text.count < BlockCompressor.blockSize else { throw CheckpointReader.damaged }
    current.text = text
    try state.withLock { try $0.restore(from: reader) }
  }

  /// Drops what is not written. `completion` is called when nothing will be written any more.
  func abort(completion: @escaping @Sendable () -> Void) {
    state.withLock { state in
      state.fail(OhanaError(.io, "aborted", "the output was given up"))
      state.close { _ in completion() }
    }
    writeReady()
  }

  private func submitCurrent() {
    guard let text = current.text, text.count > 0 else { return }
    let block = GzipPipelineState.Block(number: current.number, text: text)
    current.text = nil
    current.number += 1
    state.withLock { $0.add(block) }
    workspace.pool.submit { [self] in compressNext() }
  }

  private func waitForRoom() throws(OhanaError) {
    while true {
      switch state.withLock({ $0.room(limit: workspace.blocksUnderWay) }) {
      case .open: return
      case .failed(let error): throw error
      case .help: compressNext()
      case .wait(let change): change.wait()
      }
    }
  }

  // MARK: Everybody's side

  /// Compresses the oldest block that nobody has begun, if there is one.
  private func compressNext() {
    guard let block = state.withLock({ $0.takePending() }) else { return }
    let compressor = workspace.takeCompressor()
    let fragment = workspace.takeFragment()
    if block.number == 0 { GzipMember.header.withUnsafeBufferPointer { fragment.append($0) } }
    let crc = compressor.compress(block.text.bytes, into: fragment)
    let count = block.text.count
    workspace.give(compressor, text: block.text)
    state.withLock { $0.complete(.init(number: block.number, bytes: fragment, crc: crc, textCount: count)) }
    writeReady()
  }

  /// Writes what has its turn, unless another thread is at it.
  private func writeReady() {
    while true {
      switch state.withLock({ $0.nextStep() }) {
      case .nothing: return
      case .write(let fragment):
        write(UnsafeRawBufferPointer(fragment.bytes))
        workspace.give(fragment: fragment)
      case .writeTrailer(let trailer): trailer.withUnsafeBytes { write($0) }
      case .settled(let completions, let failure):
        for completion in completions { completion(failure) }
        return
      }
    }
  }

  private func write(_ bytes: UnsafeRawBufferPointer) {
    do throws(OhanaError) {
      try output(bytes)
      state.withLock { $0.endWrite(nil) }
    } catch {
      state.withLock { $0.endWrite(error) }
    }
  }
}

/// How a member ended, for the one that waits for it.
private final class FinishOutcome: Sendable {
  private let error = Locked<OhanaError?>(nil)
  private let done = DispatchSemaphore(value: 0)

  func set(_ error: OhanaError?) {
    self.error.withLock { $0 = error }
    done.signal()
  }
  func wait() -> OhanaError? {
    done.wait()
    return error.withLock { $0 }
  }
}
