internal import CZlib
internal import Dispatch
internal import OhanaCore

/// What ``GzipPipeline`` knows, under its lock: events go in, the next thing to do comes out.
struct GzipPipelineState {
  struct Block {
    let number: Int
    let text: ByteBuffer
  }
  struct Fragment {
    let number: Int
    let bytes: ByteBuffer
    let crc: UInt32
    let textCount: Int
  }

  typealias Completion = @Sendable (OhanaError?) -> Void

  /// Blocks that nobody has begun, oldest first.
  private var pending: [Block] = []
  private var compressing = 0
  /// Fragments that wait for their turn.
  private var ready: [Fragment] = []
  private var isWriting = false
  private var nextToWrite = 0
  private var crc: UInt = 0
  private var length = 0

  private(set) var failure: OhanaError?
  private var completions: [Completion] = []
  private var isClosed = false
  private var hasTrailer = false
  private var waiters: [DispatchSemaphore] = []

  var hasPending: Bool { !pending.isEmpty }

  // MARK: Events

  mutating func add(_ block: Block) {
    if failure == nil { pending.append(block) }
  }

  mutating func takePending() -> Block? {
    guard !pending.isEmpty else { return nil }
    compressing += 1
    return pending.removeFirst()
  }

  mutating func complete(_ fragment: Fragment) {
    compressing -= 1
    if failure == nil { ready.append(fragment) }
    wakeWaiters()
  }

  mutating func endWrite(_ error: OhanaError?) {
    isWriting = false
    if let error { fail(error) }
    wakeWaiters()
  }

  /// The first failure stays; nothing that is not begun will be.
  mutating func fail(_ error: OhanaError) {
    failure = failure ?? error
    pending = []
    ready = []
    wakeWaiters()
  }

  /// No text follows. `completion` is called when all is done.
  mutating func close(_ completion: @escaping Completion) {
    isClosed = true
    completions.append(completion)
  }

  private mutating func wakeWaiters() {
    for waiter in waiters { waiter.signal() }
    waiters = []
  }

  // MARK: Checkpoints

  func save(to writer: CheckpointWriter) throws {
    for number in [nextToWrite, Int(crc), length] { try writer.put(number) }
  }

  mutating func restore(from reader: CheckpointReader) throws {
    nextToWrite = try reader.count()
    crc = UInt(try reader.count())
    length = try reader.count()
  }

  // MARK: What to do

  enum Room {
    case open
    case failed(OhanaError)
    /// Compress a block.
    case help
    /// All blocks are in other hands; signalled at the next event.
    case wait(DispatchSemaphore)
  }

  /// For a caller that has added a block.
  mutating func room(limit: Int) -> Room {
    if let failure { return .failed(failure) }
    if pending.count + compressing + ready.count + (isWriting ? 1 : 0) <= limit { return .open }
    if !pending.isEmpty { return .help }
    let waiter = DispatchSemaphore(value: 0)
    waiters.append(waiter)
    return .wait(waiter)
  }

  enum Step {
    case nothing
    case write(ByteBuffer)
    case writeTrailer([UInt8])
    case settled([Completion], OhanaError?)
  }

  /// For a thread that could write.
  mutating func nextStep() -> Step {
    if isWriting { return .nothing }
    if failure == nil, let index = ready.firstIndex(where: { $0.number == nextToWrite }) {
      let fragment = ready.remove(at: index)
      nextToWrite += 1
      crc = crc32_combine(crc, UInt(fragment.crc), fragment.textCount)
      length += fragment.textCount
      isWriting = true
      return .write(fragment.bytes)
    }
    guard isClosed, pending.isEmpty, compressing == 0, !completions.isEmpty else { return .nothing }
    if failure == nil, !hasTrailer {
      hasTrailer = true
      isWriting = true
      let header = nextToWrite == 0 ? GzipMember.header : []
      return .writeTrailer(header + GzipMember.trailer(crc: UInt32(truncatingIfNeeded: crc), length: length))
    }
    defer { completions = [] }
    return .settled(completions, failure)
  }
}
